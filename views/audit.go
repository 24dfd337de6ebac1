package views

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"ax/app/access"
	"ax/app/fault"
	"ax/views/ui"
)

// Periods of the audit, as its address has them.
const (
	AuditToday  = "today"
	AuditWeek   = "7d" // what the list shows by itself
	AuditMonth  = "30d"
	auditAlways = PeriodAll
)

// AuditPeriods are the periods to choose from, shortest first.
func AuditPeriods() []string { return []string{AuditToday, AuditWeek, AuditMonth, auditAlways} }

// AuditQuery is what narrows the audit, as its address has it. The team is
// that of the whole console.
type AuditQuery struct {
	Actor   string // name
	Action  string // "task.update", or "task." for all of a kind
	Kind    string // of the object
	ID      string // of the object
	Words   string // in the object's name
	Result  access.Outcome
	Period  string // one of AuditPeriods; "" is the usual
	From    string // a date or moment as it was typed
	To      string // the same; a date is meant to its end
	After   string // key of the page
	Before  string
	BadTeam string // a team that was asked for and isn't there
}

// In is the period in force; "" when the bounds are given one by one.
func (q AuditQuery) In() string {
	switch {
	case q.From != "" || q.To != "":
		return ""
	case q.Period == "":
		return AuditWeek
	}
	return q.Period
}

func (q AuditQuery) values() url.Values {
	values := url.Values{}
	for _, p := range [...]struct{ key, value string }{
		{"actor", q.Actor}, {"action", q.Action}, {"object", q.Kind}, {"id", q.ID}, {"words", q.Words}, {"result", string(q.Result)},
		{"period", q.Period}, {"from", q.From}, {"to", q.To}, {"after", q.After}, {"before", q.Before},
	} {
		if p.value != "" {
			values.Set(p.key, p.value)
		}
	}
	return values
}

func withQuery(path string, values url.Values) string {
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// Path is the list's address.
func (q AuditQuery) Path() string { return withQuery("/audit", q.values()) }

// csv is the address of all of the list as a file.
func (q AuditQuery) csv(team string) string {
	values := q.first().values()
	values.Set("team", team)
	return withQuery("/audit.csv", values)
}

// first is the query without the place in the list.
func (q AuditQuery) first() AuditQuery {
	q.After, q.Before = "", ""
	return q
}

// hidden are the filters that a form carries along, but for those named.
func (q AuditQuery) hidden(but ...string) []ui.Hidden {
	var out []ui.Hidden
	for key, values := range q.first().values() {
		if !slices.Contains(but, key) {
			out = append(out, ui.Hidden{Name: key, Value: values[0]})
		}
	}
	slices.SortFunc(out, func(a, b ui.Hidden) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// AuditOf is the address of the audit of one object.
func AuditOf(kind, id string) string {
	return AuditQuery{Kind: kind, ID: id, Period: auditAlways}.Path()
}

// AuditPage is the list of the audit.
type AuditPage struct {
	Query  AuditQuery
	Rows   []access.Entry
	Teams  map[int64]string // codes of the teams that the viewer sees
	Newer  string           // keys of the pages beside this one
	Older  string
	Chain  *access.Chain // nil: it could not be looked at
	Errors []fault.FieldError
}

// tokens are the filters in force, each with the way out.
func (p AuditPage) tokens(ctx context.Context) []ui.Token {
	q := p.Query.first()
	var out []ui.Token
	add := func(key, value string, field func(*AuditQuery) *string) {
		if value == "" {
			return
		}
		rest := q
		*field(&rest) = ""
		out = append(out, ui.Token{Key: key, Value: value, Remove: rest.Path(), Label: t(ctx, "Remove the filter %s", key)})
	}
	add("who", q.Actor, func(q *AuditQuery) *string { return &q.Actor })
	add("action", q.Action, func(q *AuditQuery) *string { return &q.Action })
	add("object", q.Kind, func(q *AuditQuery) *string { return &q.Kind })
	add("id", q.ID, func(q *AuditQuery) *string { return &q.ID })
	add("named", q.Words, func(q *AuditQuery) *string { return &q.Words })
	add("from", q.From, func(q *AuditQuery) *string { return &q.From })
	add("to", q.To, func(q *AuditQuery) *string { return &q.To })
	return out
}

func (p AuditPage) periods(ctx context.Context) []ui.Tab {
	words := map[string]string{AuditToday: t(ctx, "Today"), AuditWeek: t(ctx, "7 d"), AuditMonth: t(ctx, "30 d"), auditAlways: t(ctx, "All|period")}
	tabs := make([]ui.Tab, 0, len(words))
	for _, period := range AuditPeriods() {
		q := p.Query.first()
		q.Period, q.From, q.To = period, "", ""
		tabs = append(tabs, ui.Tab{Label: words[period], Href: q.Path(), On: p.Query.In() == period})
	}
	return tabs
}

func (p AuditPage) results(ctx context.Context) []ui.Tab {
	var tabs []ui.Tab
	for _, r := range []struct {
		word   string
		result access.Outcome
	}{{t(ctx, "Everything|audit"), ""}, {t(ctx, "Done|audit"), access.Done}, {t(ctx, "Refused|audit"), access.Refused}} {
		q := p.Query.first()
		q.Result = r.result
		tabs = append(tabs, ui.Tab{Label: r.word, Href: q.Path(), On: p.Query.Result == r.result})
	}
	return tabs
}

// pager is the foot of the list.
func (p AuditPage) pager(ctx context.Context) ui.Pager {
	out := ui.Pager{NewerWord: t(ctx, "Newer"), OldWord: t(ctx, "Older"), Shown: tn(ctx, "%d shown, newest first", len(p.Rows))}
	q := p.Query.first()
	if p.Newer != "" {
		newer := q
		newer.Before = p.Newer
		out.Newer = newer.Path()
	}
	if p.Older != "" {
		older := q
		older.After = p.Older
		out.Older = older.Path()
	}
	return out
}

// by is the same list of one actor only.
func (p AuditPage) by(a access.Actor) string {
	q := p.Query.first()
	q.Actor = a.Name
	return q.Path()
}

// all is the list without any filter.
func (p AuditPage) all() string { return AuditQuery{Period: auditAlways}.Path() }

// chainShort is a hash as people compare it.
func chainShort(hash string) string {
	if len(hash) < 8 {
		return hash
	}
	return hash[:4] + "…" + hash[len(hash)-4:]
}

// maxDiffShown is how much of a value a row shows, in characters; the file has
// all of it.
const maxDiffShown = 600

// diffValue is a value of a change as a row shows it.
func diffValue(v string) string {
	if utf8.RuneCountInString(v) <= maxDiffShown {
		return v
	}
	return string([]rune(v)[:maxDiffShown]) + "…"
}

// hidden tells whether of the change only is told that it was one.
func hiddenChange(c access.Change) bool { return c.Old == access.Masked && c.New == access.Masked }

// diffOf are the changes that unfold below a row.
func diffOf(e access.Entry) []access.Change {
	if e.Refused() {
		return nil // said in the row itself
	}
	return e.Changes
}

// ObjectHistory is what was done to an object, for its page.
type ObjectHistory struct {
	Entries []access.Entry // newest first
	More    string         // the object in the audit; "" when the viewer may not read that
	Cut     bool           // there are older entries
}

// dateOf is what a date field can show of what was typed.
func dateOf(typed string) string {
	if len(typed) >= len("2006-01-02") {
		return typed[:len("2006-01-02")]
	}
	return ""
}

// auditReason is the reason as it was given; what ax itself says is not
// quoted.
func auditReason(ctx context.Context, e access.Entry) string {
	switch {
	case e.Reason == "":
		return ""
	case e.Refused():
		return e.Reason
	}
	return t(ctx, "“%s”", e.Reason)
}

// auditTeam is the code of the entry's team; the installation has none.
func auditTeam(ctx context.Context, teams map[int64]string, id int64) string {
	switch code := teams[id]; {
	case code != "":
		return code
	case id == 0:
		return t(ctx, "installation")
	}
	return "#" + number(id)
}

// actorFace are the initials of who did it.
func actorFace(a access.Actor) string {
	if a.Name == "" {
		return "?"
	}
	return initials(a.Name)
}

// fieldNames are the fields that changed, as the line to unfold names them.
func fieldNames(changes []access.Change) string {
	const most = 3
	var names []string
	for _, c := range changes[:min(len(changes), most)] {
		names = append(names, c.Field)
	}
	if len(changes) > most {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}
