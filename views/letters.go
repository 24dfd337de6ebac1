package views

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// The views of the list of dead letters that are no single status.
const (
	LettersTodo = "todo" // open and taken; what the list shows by itself
	LettersAll  = "all"
)

// LetterQuery is what narrows the list of dead letters, as its address has it.
type LetterQuery struct {
	Status   string // a status, LettersTodo (also "") or LettersAll
	Task     string // code
	BizID    string // its beginning
	Assignee string // login
	Mine     bool   // assigned to who looks
	After    string // key of the page
	Before   string
}

// Path is the list's address.
func (q LetterQuery) Path() string {
	values := url.Values{}
	for _, p := range [...]struct{ key, value string }{
		{"status", q.Status}, {"task", q.Task}, {"biz", q.BizID}, {"assignee", q.Assignee}, {"after", q.After}, {"before", q.Before},
	} {
		if p.value != "" {
			values.Set(p.key, p.value)
		}
	}
	if q.Mine {
		values.Set("mine", "1")
	}
	if len(values) == 0 {
		return "/dead-letters"
	}
	return "/dead-letters?" + values.Encode()
}

// Statuses that the query asks for; nil: all.
func (q LetterQuery) Statuses() []sched.LetterStatus {
	switch q.Status {
	case LettersAll:
		return nil
	case LettersTodo, "":
		return []sched.LetterStatus{sched.LetterOpen, sched.LetterTaken}
	}
	return []sched.LetterStatus{sched.LetterStatus(q.Status)}
}

func (q LetterQuery) first() LetterQuery {
	q.After, q.Before = "", ""
	return q
}

// narrowed tells whether more than the status narrows the list.
func (q LetterQuery) narrowed() bool {
	return q.Task != "" || q.BizID != "" || q.Assignee != "" || q.Mine
}

// hidden are the filters that a search from the box carries along.
func (q LetterQuery) hidden() []ui.Hidden {
	var out []ui.Hidden
	for _, h := range []ui.Hidden{{Name: "status", Value: q.Status}, {Name: "task", Value: q.Task}, {Name: "biz", Value: q.BizID}, {Name: "assignee", Value: q.Assignee}} {
		if h.Value != "" {
			out = append(out, h)
		}
	}
	if q.Mine {
		out = append(out, ui.Hidden{Name: "mine", Value: "1"})
	}
	return out
}

// LettersPage is the list of dead letters.
type LettersPage struct {
	Query  LetterQuery
	Todo   string // how many are open or taken: "23", or "200+"; "" when it isn't known
	Rows   []sched.Letter
	Tasks  map[int64]sched.Task
	Newer  string // keys of the pages beside this one
	Older  string
	Errors []fault.FieldError
}

func (p LettersPage) tabs(ctx context.Context) []ui.Tab {
	tab := func(label, status string, mine bool) ui.Tab {
		q := p.Query.first()
		q.Status, q.Mine = status, mine
		if mine {
			q.Assignee = ""
		}
		on := p.Query.Mine == mine && (p.Query.Status == status || status == "" && p.Query.Status == LettersTodo)
		return ui.Tab{Label: label, Href: q.Path(), On: on}
	}
	todo := tab(t(ctx, "To do|dead letters"), "", false)
	todo.Count = p.Todo
	out := []ui.Tab{todo, tab(t(ctx, "Mine|dead letters"), "", true)}
	for _, s := range sched.LetterStatuses() {
		out = append(out, tab(letterState(ctx, string(s)).Word, string(s), false))
	}
	return append(out, tab(t(ctx, "All|dead letters"), LettersAll, false))
}

func (p LettersPage) tokens(ctx context.Context) []ui.Token {
	q := p.Query.first()
	var out []ui.Token
	add := func(key, value string, without LetterQuery) {
		if value != "" {
			out = append(out, ui.Token{Key: key, Value: value, Remove: without.Path(), Label: t(ctx, "Remove the filter %s", key)})
		}
	}
	rest := q
	rest.Task = ""
	add("task", q.Task, rest)
	rest, rest.BizID = q, ""
	if q.BizID != "" {
		add("biz", q.BizID+"…", rest)
	}
	rest, rest.Assignee = q, ""
	add("with", q.Assignee, rest)
	return out
}

func (p LettersPage) pager(ctx context.Context) ui.Pager {
	out := ui.Pager{NewerWord: t(ctx, "Newer"), OldWord: t(ctx, "Older"), Shown: tn(ctx, "%d shown, newest first", len(p.Rows))}
	if p.Newer != "" {
		q := p.Query.first()
		q.Before = p.Newer
		out.Newer = q.Path()
	}
	if p.Older != "" {
		q := p.Query.first()
		q.After = p.Older
		out.Older = q.Path()
	}
	return out
}

// emptiness says why the list has no rows.
func (p LettersPage) emptiness() string {
	q := p.Query
	switch {
	case q.After != "" || q.Before != "":
		return "end"
	case q.Mine && q.Task == "" && q.BizID == "":
		return "mine"
	case q.narrowed():
		return "filtered"
	case slices.Contains([]string{"", LettersTodo, string(sched.LetterOpen)}, q.Status):
		return "none open"
	case q.Status == LettersAll:
		return "new"
	}
	return "filtered"
}

// age is how long the case is open, or was until it was closed.
func age(now time.Time, l sched.Letter) time.Duration {
	if !l.ClosedAt.IsZero() {
		now = l.ClosedAt
	}
	return max(now.Sub(l.OpenedAt), 0)
}

// closedText says who closed a letter.
func closedText(ctx context.Context, l sched.Letter) string {
	if _, ok := replayID(l.ClosedBy); ok {
		return t(ctx, "by a replay that succeeded")
	}
	return t(ctx, "by %s", l.ClosedBy)
}

// replayID gives the instance of a letter that a replay closed.
func replayID(closedBy string) (string, bool) { return strings.CutPrefix(closedBy, "replay ") }
