package views

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"ax/app/alert"
	"ax/views/ui"
)

// HistoryQuery is what narrows the incidents that are over, as its address has
// it.
type HistoryQuery struct {
	Since  string // "7d", "30d", "90d"; else 7 days
	Rule   int64  // 0: of every rule
	Before string // id of the last one on the page before
}

// historySpans are how far back the list looks.
var historySpans = []struct {
	name string
	days int
}{{"7d", 7}, {"30d", 30}, {"90d", 90}, {"1y", 366}}

// Span that the list looks back.
func (q HistoryQuery) Span() time.Duration {
	for _, s := range historySpans {
		if s.name == q.Since {
			return time.Duration(s.days) * 24 * time.Hour
		}
	}
	return 7 * 24 * time.Hour
}

// Path is the list's address.
func (q HistoryQuery) Path() string {
	v := url.Values{}
	if q.Since != "" && q.Since != historySpans[0].name {
		v.Set("since", q.Since)
	}
	if q.Rule != 0 {
		v.Set("rule", strconv.FormatInt(q.Rule, 10))
	}
	if q.Before != "" {
		v.Set("before", q.Before)
	}
	if len(v) == 0 {
		return AlertsHistory
	}
	return AlertsHistory + "?" + v.Encode()
}

// HistoryPage lists incidents that are over.
type HistoryPage struct {
	AlertsTop
	Query  HistoryQuery
	Rule   string // name of the one asked for
	Rows   []IncidentRow
	Older  string // id to go on from; "" at the end
	NoTeam bool
}

func (p HistoryPage) spans(ctx context.Context) []ui.Tab {
	var out []ui.Tab
	for i, s := range historySpans {
		q := p.Query
		q.Since, q.Before = s.name, ""
		word := tn(ctx, "%d days", s.days)
		if s.days > 300 {
			word = t(ctx, "1 year")
		}
		out = append(out, ui.Tab{Label: word, Href: q.Path(), On: p.Query.Since == s.name || i == 0 && p.Query.Span() == 7*24*time.Hour})
	}
	return out
}

func (p HistoryPage) pager(ctx context.Context) ui.Pager {
	out := ui.Pager{Shown: tn(ctx, "%d incidents shown", len(p.Rows)), NewerWord: t(ctx, "To the newest"), OldWord: t(ctx, "Older")}
	if p.Query.Before != "" {
		first := p.Query
		first.Before = ""
		out.Newer = first.Path()
	}
	if p.Older != "" {
		next := p.Query
		next.Before = p.Older
		out.Older = next.Path()
	}
	return out
}

// allRules is the list without the rule.
func (p HistoryPage) allRules() string {
	q := p.Query
	q.Rule, q.Before = 0, ""
	return q.Path()
}

// wider is the list that looks back the longest.
func (p HistoryPage) wider() string {
	q := p.Query
	q.Since, q.Before = historySpans[len(historySpans)-1].name, ""
	return q.Path()
}

// actedWords is who took it, or that nobody did.
func actedWords(ctx context.Context, i alert.Incident) string {
	if !i.Acked() {
		return t(ctx, "nobody")
	}
	return i.AckedBy
}
