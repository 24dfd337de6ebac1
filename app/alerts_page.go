package app

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/views"
)

func (a *App) alertRoutes() []route {
	return []route{
		{http.MethodGet, "/alerts", (*App).showAlerts, access.Read, false},
		{http.MethodGet, "/alerts/rules", (*App).listRules, access.Read, false},
		{http.MethodGet, "/alerts/channels", (*App).listChannels, access.Read, false},
		{http.MethodGet, "/alerts/silences", (*App).listSilences, access.Read, false},
		{http.MethodGet, "/alerts/silences/new", (*App).showNewSilence, access.Silence, false},
		{http.MethodGet, "/alerts/silences/preview", (*App).previewSilence, access.Silence, false},
		{http.MethodPost, "/alerts/silences", (*App).createSilence, access.Silence, false},
		{http.MethodPost, "/alerts/silences/:id/end", (*App).endSilence, access.Silence, false},
		{http.MethodGet, "/alerts/history", (*App).listAlertHistory, access.Read, false},
		{http.MethodGet, "/alerts/incidents/:id", (*App).showIncident, access.Read, false},
		{http.MethodPost, "/alerts/incidents/:id/acknowledge", (*App).acknowledge, access.Acknowledge, false},
		{http.MethodPost, "/alerts/incidents/:id/reopen", (*App).takeBack, access.Acknowledge, false},
		{http.MethodPost, "/alerts/incidents/:id/note", (*App).noteIncident, access.Acknowledge, false},
	}
}

const (
	// openShown bounds the open incidents of the page.
	openShown = 200
	// overShown is how many that are over stand beside what fires.
	overShown = 6
)

// teamless tells whether the person sees no team at all.
func teamless(c *gin.Context) bool {
	s := scopeOf(c)
	return !s.All && len(s.Teams) == 0
}

// teamNamed is the name of a team that the actor may read, else "".
func teamNamed(c *gin.Context, id int64) string {
	for _, t := range teamsOf(c) {
		if t.ID == id {
			return t.Name
		}
	}
	return ""
}

// alertsTop is what the tabs have in common, with what it was counted of.
type alertsTop struct {
	views.AlertsTop
	rules    []alert.Rule
	channels []alert.Channel
	silences []alert.Silence
}

func (a *App) alertsTop(c *gin.Context) (t alertsTop, err error) {
	ctx, by, scope := c.Request.Context(), actor(c), scopeOf(c)
	if t.rules, err = a.alerts.Rules.List(ctx, by, scope); err != nil {
		return t, err
	}
	if t.channels, err = a.alerts.Channels.List(ctx, by, scope); err != nil {
		return t, err
	}
	if t.silences, err = a.alerts.Silences.Open(ctx, by, scope); err != nil {
		return t, err
	}
	firing, err := a.alerts.Live.Firing(ctx, by, scope)
	t.AlertsTop = views.AlertsTop{
		Firing: firing.All(), Rules: len(t.rules), Channels: len(t.channels), Silences: len(t.silences),
		MaySilence: mayAnywhere(by, access.Silence), MayRule: mayAnywhere(by, access.EditRule), MayChannel: mayAnywhere(by, access.ManageChannels),
	}
	return t, err
}

// showAlerts shows what is wrong at this moment.
func (a *App) showAlerts(c *gin.Context) (reply, error) {
	if teamless(c) {
		return show(views.AlertsNowTab(views.AlertsNowPage{NoTeam: true})), nil
	}
	p, err := a.alertsNow(c)
	if err != nil {
		return reply{}, err
	}
	return show(views.AlertsNowTab(p)).piecewise(views.AlertsNowBody(p)), nil
}

func (a *App) alertsNow(c *gin.Context) (views.AlertsNowPage, error) {
	ctx, by, now := c.Request.Context(), actor(c), a.viewer(c).Now
	top, err := a.alertsTop(c)
	if err != nil {
		return views.AlertsNowPage{}, err
	}
	open, err := a.alerts.Incidents.List(ctx, by, alert.IncidentFilter{Scope: scopeOf(c), Open: true, Limit: openShown})
	if err != nil {
		return views.AlertsNowPage{}, err
	}
	over, err := a.alerts.Incidents.List(ctx, by, alert.IncidentFilter{Scope: scopeOf(c), Since: now.Add(-24 * time.Hour), Limit: overShown})
	if err != nil {
		return views.AlertsNowPage{}, err
	}
	p := views.AlertsNowPage{AlertsTop: top.AlertsTop, MayListen: top.MayRule || top.MayChannel}
	rows, err := a.incidentRows(c, open, top.channels)
	if err != nil {
		return p, err
	}
	for _, r := range rows {
		if r.State == alert.Pending {
			p.Pending = append(p.Pending, r)
		} else {
			p.Firing = append(p.Firing, r)
		}
	}
	slices.SortStableFunc(p.Firing, worstFirst)
	if p.Over, err = a.incidentRows(c, over, top.channels); err != nil {
		return p, err
	}
	for _, s := range a.silenceRows(c, top.silences, top.rules) {
		if !s.Until.IsZero() {
			p.Silent = append(p.Silent, s)
		}
	}
	p.Listening, err = a.listening(c, top.rules, top.channels)
	p.Unheard = err == nil && len(p.Listening) == 0 && len(top.rules) > 0
	for _, r := range top.rules {
		if r.Enabled && r.Broken != "" {
			p.Broken++
		}
	}
	return p, err
}

// worstFirst puts what nobody has in hand before the rest, the loud before the
// quiet, and what lasts the longest first.
func worstFirst(x, y views.IncidentRow) int {
	rank := func(r views.IncidentRow) int {
		n := 0
		if r.Acked() || r.Silenced || !r.QuietSince.IsZero() {
			n += 2
		}
		if r.Level != alert.P1 {
			n++
		}
		return n
	}
	return cmp.Or(cmp.Compare(rank(x), rank(y)), x.Since.Compare(y.Since))
}

// incidentRows names teams and channels of incidents, and what the actor may do.
func (a *App) incidentRows(c *gin.Context, all []alert.Incident, channels []alert.Channel) ([]views.IncidentRow, error) {
	by := actor(c)
	listening, err := a.alerts.Live.Listening(c.Request.Context(), all)
	if err != nil {
		return nil, err
	}
	out := make([]views.IncidentRow, len(all))
	for i, x := range all {
		x.SortMembers()
		r := views.IncidentRow{Incident: x, Team: teamNamed(c, x.TeamID), Unheard: len(listening[x.ID]) == 0}
		for _, id := range listening[x.ID] {
			if at := slices.IndexFunc(channels, func(ch alert.Channel) bool { return ch.ID == id }); at >= 0 {
				r.To = append(r.To, channels[at])
			}
		}
		r.MayTouch = alert.MayTouch(by, x.TeamID) == nil
		r.MaySilence = by.CheckShared(access.Silence, x.TeamID) == nil
		out[i] = r
	}
	return out, nil
}

// listening are the channels that any of the rules tells.
func (a *App) listening(c *gin.Context, rules []alert.Rule, channels []alert.Channel) ([]alert.Channel, error) {
	probes := make([]alert.Incident, 0, 2*len(rules))
	for _, r := range rules {
		probes = append(probes, alert.Incident{ID: "rule", RuleID: r.ID, TeamID: r.TeamID, Level: alert.P1})
	}
	for _, t := range scopedTeams(c) { // what the installation's rules find of a team's work
		probes = append(probes, alert.Incident{ID: "team", TeamID: t, Level: alert.P1})
	}
	seen := map[string]bool{}
	for i := range probes {
		probes[i].ID = probes[i].ID + string(rune('0'+i))
	}
	heard, err := a.alerts.Live.Listening(c.Request.Context(), probes)
	for _, ids := range heard {
		for _, id := range ids {
			seen[id] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(channels), func(ch alert.Channel) bool { return !seen[ch.ID] }), err
}

// scopedTeams are the ids of the teams that lists show.
func scopedTeams(c *gin.Context) []int64 {
	var out []int64
	scope := scopeOf(c)
	for _, t := range teamsOf(c) {
		if scope.All || slices.Contains(scope.Teams, t.ID) {
			out = append(out, t.ID)
		}
	}
	return out
}

// firingCount counts what the sidebar shows; what can't be read shows nothing.
func (a *App) firingCount(ctx context.Context, by access.Actor, scope access.Scope) alert.FiringCount {
	if !scope.All && len(scope.Teams) == 0 {
		return alert.FiringCount{}
	}
	n, err := a.alerts.Live.Firing(ctx, by, scope)
	if err != nil {
		return alert.FiringCount{}
	}
	return n
}

// firingShown is how many incidents the first page names.
const firingShown = 8

// firingRows are the worst that fire, for the first page.
func (a *App) firingRows(c *gin.Context) ([]views.IncidentRow, error) {
	open, err := a.alerts.Incidents.List(c.Request.Context(), actor(c), alert.IncidentFilter{Scope: scopeOf(c), Open: true, Limit: openShown})
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(i alert.Incident) bool { return i.State != alert.Firing })
	rows, err := a.incidentRows(c, open, nil)
	slices.SortStableFunc(rows, worstFirst)
	return rows[:min(len(rows), firingShown)], err
}
