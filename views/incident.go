package views

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"ax/app/alert"
	"ax/app/fault"
	"ax/views/ui"
)

// MembersShown is how many members of an incident a page has.
const MembersShown = 100

// ToldLine is one message to one channel.
type ToldLine struct {
	alert.Delivery
	Channel alert.Channel // zero: it is gone
}

// IncidentPage is one incident: what it is, since when, who was told and who
// has it.
type IncidentPage struct {
	IncidentRow
	Rule    *alert.Rule // nil: it is gone
	Told    []ToldLine  // the latest first
	ToldAll bool        // Told has all of them
	From    int         // place of the first member shown
	People  []string    // logins of the team, to assign to
	Audit   string      // address of its lines in the audit, for those who may read it

	Assignee, Note string // as typed
	Errors         []fault.FieldError
	Refused        string
}

func (p IncidentPage) path() string { return incidentURL(p.ID) }

func (p IncidentPage) title(ctx context.Context) string { return incidentTitle(ctx, p.Incident) }

func (p IncidentPage) crumbs(ctx context.Context) []ui.Crumb {
	on := ui.Crumb{Label: t(ctx, "Alerts"), Href: AlertsNow}
	if !p.Open() {
		return []ui.Crumb{on, {Label: t(ctx, "History"), Href: AlertsHistory}}
	}
	return []ui.Crumb{on}
}

// membersPath is the page that begins with the member at that place.
func (p IncidentPage) membersPath(from int) string {
	if from <= 0 {
		return p.path()
	}
	return p.path() + "?" + url.Values{"from": {strconv.Itoa(from)}}.Encode()
}

// membersShown are those of this page.
func (p IncidentPage) members() []alert.Member {
	from := min(max(p.From, 0), len(p.Members))
	return p.Members[from:min(from+MembersShown, len(p.Members))]
}

func (p IncidentPage) pager(ctx context.Context) ui.Pager {
	out := ui.Pager{NewerWord: t(ctx, "Worse ones"), OldWord: t(ctx, "More of them")}
	from, n := min(max(p.From, 0), len(p.Members)), len(p.members())
	out.Shown = t(ctx, "%s to %s of %s", number(from+1), number(from+n), number(len(p.Members)))
	if from > 0 {
		out.Newer = p.membersPath(max(from-MembersShown, 0))
	}
	if from+n < len(p.Members) {
		out.Older = p.membersPath(from + MembersShown)
	}
	return out
}

// membersTitle names what breaks the rule, or broke it at the end.
func (p IncidentPage) membersTitle(ctx context.Context) string {
	if !p.Open() {
		return t(ctx, "What it was at the end")
	}
	return t(ctx, "What breaks the rule now")
}

// membersSub counts them, also those that have mended.
func (p IncidentPage) membersSub(ctx context.Context) string {
	if p.Everyone > len(p.Members) {
		return t(ctx, "%s of %s since it began, the worst first", number(len(p.Members)), number(p.Everyone))
	}
	return tn(ctx, "%d, the worst first", len(p.Members))
}

// house tells whether the only member says no more than the head does.
func (p IncidentPage) plainMembers() bool {
	if len(p.Members) != 1 {
		return len(p.Members) == 0
	}
	k := p.Members[0].Subject.Kind
	return (k == alert.HouseSubject || k == alert.ScopeSubject) && p.Members[0].Detail == ""
}

// endWords say how it ended.
func (p IncidentPage) endWords(ctx context.Context) string {
	if p.EndedBy == "rule" {
		return t(ctx, "Its rule was switched off or deleted: nobody measured that it was over.")
	}
	if p.EndedBy != "" {
		return t(ctx, "Ended by %s.", p.EndedBy)
	}
	return t(ctx, "Nothing had broken the rule for %s.", viewer(ctx).Span(alert.Hold(p.Quiets)))
}

// silencedWords say what a silence does to it.
func (p IncidentPage) pendingWords(ctx context.Context) string {
	if p.Rule == nil || p.Rule.For == 0 {
		return t(ctx, "It has not lasted long enough to be told of.")
	}
	return t(ctx, "It is told of once it has lasted %s.", viewer(ctx).Span(p.Rule.For))
}

// peopleOptions are those to whom it can be given.
func (p IncidentPage) peopleOptions(ctx context.Context) []ui.Option {
	out := []ui.Option{{Value: "", Label: t(ctx, "Nobody")}}
	has := map[string]bool{"": true}
	for _, login := range append(append([]string{}, p.People...), viewer(ctx).User.Login, p.IncidentRow.Assignee, p.Assignee) {
		if !has[login] {
			has[login] = true
			out = append(out, ui.Option{Value: login, Label: login})
		}
	}
	return out
}

// steps are the stations of the incident, in the order of time.
func (p IncidentPage) steps(ctx context.Context) []ui.Step {
	type station struct {
		at         time.Time
		look       ui.State
		title, sub string
	}
	plain := func(icon, class, word string) ui.State { return ui.State{Icon: icon, Class: class, Word: word} }
	all := []station{{at: p.Since, look: plain("alert-triangle", "late", t(ctx, "Broke")), title: t(ctx, "The rule broke")}}
	if !p.OpenedAt.IsZero() {
		all = append(all, station{at: p.OpenedAt, look: incidentLook(ctx, "firing"), title: t(ctx, "Opened: it had lasted long enough")})
	}
	if !p.ToldFirst.IsZero() {
		all = append(all, station{at: p.ToldFirst, look: plain("send", "run", t(ctx, "Told")), title: t(ctx, "First message"), sub: channelsWords(ctx, p.To)})
	}
	if p.Acked() {
		all = append(all, station{at: p.AckedAt, look: incidentLook(ctx, "acked"), title: t(ctx, "Acknowledged by %s", p.AckedBy)})
	}
	if p.IncidentRow.Told > 1 {
		all = append(all, station{at: p.ToldAt, look: plain("repeat", "run", t(ctx, "Told")), title: t(ctx, "Latest of %s messages", number(p.IncidentRow.Told))})
	}
	if !p.QuietSince.IsZero() {
		all = append(all, station{at: p.QuietSince, look: incidentLook(ctx, "quiet"), title: t(ctx, "Quiet: nothing breaks the rule"), sub: p.quietSub(ctx)})
	}
	if !p.EndedAt.IsZero() {
		all = append(all, station{at: p.EndedAt, look: incidentLook(ctx, "over"), title: t(ctx, "Over|incident"), sub: p.endWords(ctx)})
	}
	var out []ui.Step
	for i, s := range inOrder(all, func(s station) time.Time { return s.at }) {
		step := ui.Step{State: s.look, At: clock(ctx, s.at), Title: s.title, Sub: s.sub}
		if i > 0 {
			step.Gap = "+" + viewer(ctx).Span(s.at.Sub(p.Since))
		}
		out = append(out, step)
	}
	return out
}

func (p IncidentPage) quietSub(ctx context.Context) string {
	if p.Quiets == 0 {
		return ""
	}
	return tn(ctx, "It was quiet and broke again %d times.", p.Quiets)
}

func incidentLook(ctx context.Context, name string) ui.State { return lookUp(ctx, incidentLooks, name) }

// toldWhy is why a message went out, in words.
type toldWhy struct{ word string }

// toldKinds say why a message went out.
var toldKinds = map[alert.MessageKind]toldWhy{
	alert.Opened: {msg("It began")}, alert.Repeated: {msg("Still so")}, alert.Grown: {msg("It grew")}, alert.Escalated: {msg("Nobody had acknowledged")},
	alert.Closed: {msg("It is over")}, alert.Event: {msg("Event|message")}, alert.Test: {msg("Test|message")}, alert.Summing: {msg("Digest|message")}, alert.Ran: {msg("A run ended|message")},
}

func toldKind(ctx context.Context, k alert.MessageKind) string {
	x, ok := toldKinds[k]
	if !ok {
		return string(k)
	}
	return t(ctx, x.word)
}

// toldTo is the channel of a message.
func (l ToldLine) toldTo(ctx context.Context) string {
	if l.Channel.ID == "" {
		return t(ctx, "a channel that is gone")
	}
	return channelTitle(ctx, l.Channel)
}
