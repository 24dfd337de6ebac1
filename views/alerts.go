package views

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"ax/app/alert"
	"ax/views/ui"
)

// The tabs of the alerts, each with its own address.
const (
	AlertsNow      = "/alerts"
	AlertsRules    = "/alerts/rules"
	AlertsChannels = "/alerts/channels"
	AlertsSilences = "/alerts/silences"
	AlertsHistory  = "/alerts/history"
)

// AlertsTop is what the tabs have in common.
type AlertsTop struct {
	Firing, Rules, Channels, Silences int // beside the tabs; 0 shows none
	// What the viewer may make, in some team.
	MaySilence, MayRule, MayChannel bool
}

func (p AlertsTop) tabs(ctx context.Context, on string) []ui.Tab {
	tab := func(word, path string, n int) ui.Tab {
		out := ui.Tab{Label: word, Href: path, On: path == on}
		if n > 0 {
			out.Count = number(n)
		}
		return out
	}
	return []ui.Tab{
		tab(t(ctx, "Now|alerts"), AlertsNow, p.Firing), tab(t(ctx, "Rules"), AlertsRules, p.Rules),
		tab(t(ctx, "Channels"), AlertsChannels, p.Channels), tab(t(ctx, "Silences"), AlertsSilences, p.Silences),
		tab(t(ctx, "History"), AlertsHistory, 0),
	}
}

// IncidentRow is one incident in a list.
type IncidentRow struct {
	alert.Incident
	Team string // name; empty: the installation
	// To are the channels that have been told, or will be.
	To []alert.Channel
	// Unheard: no channel listens, so that nobody is told.
	Unheard    bool
	MayTouch   bool // acknowledge, assign, note
	MaySilence bool
}

// AlertsNowPage is what is wrong at this moment.
type AlertsNowPage struct {
	AlertsTop
	Firing  []IncidentRow // the worst first
	Pending []IncidentRow
	Over    []IncidentRow // ended within the day, the latest first
	Silent  []SilenceRow  // active
	// Listening channels, of any rule: without one nobody would be told.
	Listening []alert.Channel
	// Unheard: rules watch, and no channel listens to any.
	Unheard   bool
	MayListen bool // the viewer can change that
	Broken    int  // rules that can't be judged
	NoTeam    bool
}

// incidentURL is the page of an incident.
func incidentURL(id string) string { return "/alerts/incidents/" + url.PathEscape(id) }

func ruleURL(id int64) string { return AlertsRules + "/" + strconv.FormatInt(id, 10) }

func channelURL(id string) string { return AlertsChannels + "/" + url.PathEscape(id) }

func ruleIncidents(id int64) string {
	return AlertsHistory + "?" + url.Values{"rule": {strconv.FormatInt(id, 10)}, "since": {"30d"}}.Encode()
}

// silenceURL is the form of a new silence, filled in for an incident: its one
// task, else its rule.
func silenceURL(i alert.Incident) string {
	q := url.Values{"rule": {strconv.FormatInt(i.RuleID, 10)}}
	if len(i.Members) == 1 && i.Members[0].Subject.Kind == alert.TaskSubject {
		q.Set("task", i.Members[0].Subject.Key)
	}
	return AlertsSilences + "/new?" + q.Encode()
}

// firingSub counts what is firing and what somebody has seen.
func (p AlertsNowPage) firingSub(ctx context.Context) string {
	if len(p.Firing) == 0 {
		return ""
	}
	seen := 0
	for _, i := range p.Firing {
		if i.Acked() {
			seen++
		}
	}
	if seen == 0 {
		return tn(ctx, "%d, nobody has acknowledged one", len(p.Firing))
	}
	return tn(ctx, "%d, of which %s acknowledged", len(p.Firing), number(seen))
}

// detail is the second line of an incident: whose it is, its value, who was
// told and who has it.
func (r IncidentRow) detail(ctx context.Context) string {
	value := ""
	if len(r.Members) > 1 || r.Metric == alert.InARow || r.Metric == alert.TriggerLag || r.Metric == alert.OpenLetters || r.Metric == alert.LetterAge ||
		r.Metric == alert.NodeOffline || r.Metric == alert.NotServed || r.Metric == alert.ClockOffset || r.Metric == alert.RedisMemory || r.Metric == alert.PlanningLate || r.Metric == alert.MissedRun {
		value = againstLimit(ctx, r.Metric, r.Value, r.Threshold)
	}
	return joined(" · ", teamOrHouse(ctx, r.Team), ruleName(ctx, r.RuleName), value, r.toldWords(ctx), r.ackWords(ctx))
}

// teamOrHouse is a team's name, or the installation.
func teamOrHouse(ctx context.Context, name string) string {
	if name == "" {
		return t(ctx, "the installation")
	}
	return name
}

// channelsNamed is how many channels a line names.
const channelsNamed = 2

func channelsWords(ctx context.Context, to []alert.Channel) string {
	said := ""
	for _, c := range to[:min(len(to), channelsNamed)] {
		said = joined(t(ctx, ", |list"), said, channelTitle(ctx, c))
	}
	if rest := len(to) - channelsNamed; rest > 0 {
		said = t(ctx, "%s and %s more", said, number(rest))
	}
	return said
}

func (r IncidentRow) toldWords(ctx context.Context) string {
	switch {
	case r.Unheard:
		return "" // said aloud
	case r.Told > 0:
		return joined(" · ", channelsWords(ctx, r.To), tn(ctx, "%d messages", r.Told))
	case r.Silenced:
		return t(ctx, "messages are held back")
	}
	return t(ctx, "nobody told yet")
}

func (r IncidentRow) ackWords(ctx context.Context) string {
	with := ""
	if r.Assignee != "" {
		with = t(ctx, "with %s", r.Assignee)
	}
	if !r.Acked() {
		return with
	}
	return joined(" · ", t(ctx, "seen by %s, %s|who, when", r.AckedBy, clock(ctx, r.AckedAt)), with)
}

// lasted is how long an incident lasted, or lasts by now.
func lasted(ctx context.Context, i alert.Incident) time.Duration {
	end := i.EndedAt
	if end.IsZero() {
		end = viewer(ctx).Now
	}
	return max(end.Sub(i.Since), 0)
}

// pendingWords is the quiet line of what has not lasted long enough.
func (p AlertsNowPage) pendingSub(ctx context.Context) string {
	return tn(ctx, "%d have not lasted long enough to be told of", len(p.Pending))
}

// watchedBy says how many rules watch while all is quiet.
func (p AlertsNowPage) watchedBy(ctx context.Context) string {
	if p.Rules == 0 {
		return t(ctx, "No rule watches anything yet.")
	}
	return tn(ctx, "%d rules watch.", p.Rules)
}

// goesTo says where messages go.
func (p AlertsNowPage) goesTo(ctx context.Context) string {
	if len(p.Listening) == 0 {
		return ""
	}
	return t(ctx, "Messages go to %s.", channelsWords(ctx, p.Listening))
}
