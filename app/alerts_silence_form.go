package app

import (
	"cmp"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/cron"
	"ax/app/fault"
	"ax/views"
)

const (
	// windowsShown is how many windows of a recurring silence are told.
	windowsShown = 5
	// firingLooked bounds the incidents that a silence is held against.
	firingLooked = 200
)

// showNewSilence is the form, filled in for ?task=, ?rule=, ?tag=, ?group=.
func (a *App) showNewSilence(c *gin.Context) (reply, error) {
	v := views.SilenceValues{What: string(alert.All), Length: "3600", Zone: a.zoneOf(c).String(), Rule: c.Query("rule")}
	for _, k := range []struct {
		name string
		kind alert.ScopeKind
	}{{"task", alert.OfTask}, {"tag", alert.OfTag}, {"group", alert.OfGroup}, {"queue", alert.OfQueue}} {
		if value := c.Query(k.name); value != "" {
			v.What, v.Value = string(k.kind), value
		}
	}
	teams := a.silenceTeams(c)
	if viewed := a.viewer(c).Team; slices.ContainsFunc(teams, func(t access.Team) bool { return t.Code == viewed }) {
		v.Team = viewed
	} else if len(teams) > 0 {
		v.Team = teams[0].Code
	}
	if v.What == string(alert.OfTask) {
		if t, err := a.tasks.Get(c.Request.Context(), actor(c), v.Value); err == nil {
			v.Team = cmp.Or(teamCode(c, t.TeamID), v.Team)
		}
	}
	p, err := a.silenceForm(c, v, nil)
	return show(views.SilenceForm(p)), err
}

// silenceTeams are those in which the person may silence.
func (a *App) silenceTeams(c *gin.Context) []access.Team {
	return slices.DeleteFunc(slices.Clone(teamsOf(c)), func(t access.Team) bool { return !actor(c).Can(access.Silence, t.ID) })
}

// silenceForm is the form with what it means so far.
func (a *App) silenceForm(c *gin.Context, v views.SilenceValues, why error) (views.SilenceFormPage, error) {
	by := actor(c)
	p := views.SilenceFormPage{
		Values: v, Teams: a.silenceTeams(c), MayAll: by.CheckShared(access.Silence, 0) == nil, MayHold: mayAnywhere(by, access.PauseTask),
		Zones: cron.Zones(), Errors: fault.Fields(why),
	}
	rules, err := a.alerts.Rules.List(c.Request.Context(), by, access.Scope{})
	if err != nil {
		return p, err
	}
	team := a.silenceTeam(c, v.Team)
	for _, r := range rules {
		if team == 0 || r.TeamID == 0 || r.TeamID == team {
			p.Rules = append(p.Rules, r)
		}
	}
	p.Preview, err = a.silenceMeaning(c, v)
	return p, err
}

// silenceTeam is the id of a team by its code; 0 for every team.
func (a *App) silenceTeam(c *gin.Context, code string) int64 {
	for _, t := range teamsOf(c) {
		if t.Code == code {
			return t.ID
		}
	}
	return 0
}

// silenceMeaning tells what the form would make; nothing while it can't be told.
func (a *App) silenceMeaning(c *gin.Context, v views.SilenceValues) (views.SilencePreview, error) {
	f := &form{zone: a.zoneOf(c)}
	w := silenceSpec(f, v)
	w.Reason = "preview" // it is asked for last
	team := a.silenceTeam(c, v.Team)
	if team == 0 && v.Team != "" || len(f.bad) > 0 {
		return views.SilencePreview{}, nil
	}
	now := a.viewer(c).Now
	s, err := w.Resolve(team, now)
	if err != nil { // said when it is sent
		return views.SilencePreview{}, nil
	}
	p := views.SilencePreview{Silence: s}
	if p.Tasks, err = a.alerts.Live.Covered(c.Request.Context(), s); err != nil {
		return p, err
	}
	from := now
	for range windowsShown {
		next, ok := s.NextStart(from)
		if s.Cron == "" || !ok {
			break
		}
		p.Next, from = append(p.Next, next), next
	}
	if _, active := s.Active(now); active {
		p.Firing, err = a.heldBack(c, s)
	}
	return p, err
}

// heldBack counts what fires now and would go quiet.
func (a *App) heldBack(c *gin.Context, s alert.Silence) (int, error) {
	open, err := a.alerts.Incidents.List(c.Request.Context(), actor(c), alert.IncidentFilter{Open: true, Limit: firingLooked})
	if err != nil {
		return 0, err
	}
	return a.alerts.Live.HeldBack(c.Request.Context(), s, open)
}

// silenceSpec reads what was typed.
func silenceSpec(f *form, v views.SilenceValues) alert.SilenceSpec {
	w := alert.SilenceSpec{Team: v.Team, Scope: alert.Scope{Kind: alert.ScopeKind(v.What), Value: v.Value}, Reason: v.Reason, Hold: v.Hold}
	if w.Scope.Kind == alert.All {
		w.Scope.Value = ""
	}
	f.values = map[string][]string{"rule_id": {v.Rule}, "lasts": {v.Lasts}, "starts_at": {v.StartsAt}, "ends_at": {v.EndsAt}, "last_day": {v.LastDay}, "length": {v.Length}}
	w.RuleID = int64(f.number("rule_id"))
	switch v.Length {
	case views.SilenceUntil:
		w.StartsAt, w.EndsAt = f.time("starts_at"), f.time("ends_at")
	case views.SilenceAgain:
		w.Cron, w.Zone, w.Lasts, w.EndsAt = v.Cron, v.Zone, f.number("lasts")*int(time.Minute/time.Second), f.time("last_day")
		if v.Cron == "" {
			f.refuse("cron", "When does it begin? Such as 0 3 * * 3")
		}
	default:
		w.Lasts = f.number("length")
	}
	return w
}

// silenceValues are the fields as typed.
func silenceValues(f *form) views.SilenceValues {
	return views.SilenceValues{
		Team: f.text("team"), What: cmp.Or(f.text("scope.kind"), string(alert.All)), Value: f.text("scope.value"), Rule: f.text("rule_id"), Length: f.text("length"),
		StartsAt: f.text("starts_at"), EndsAt: f.text("ends_at"), Cron: f.text("cron"), Zone: f.text("zone"), Lasts: f.text("lasts"), LastDay: f.text("last_day"),
		Reason: f.text("reason"), Hold: f.ticked("hold"),
	}
}

// previewSilence tells what the form means as it is filled in.
func (a *App) previewSilence(c *gin.Context) (reply, error) {
	f := &form{values: c.Request.URL.Query(), zone: a.zoneOf(c)}
	p, err := a.silenceForm(c, silenceValues(f), nil)
	return fragment(views.SilencePreviewPart(p)), err
}

// createSilence makes a silence, or with look= only tells what it would be.
func (a *App) createSilence(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	v, look := silenceValues(f), f.has("look")
	if look {
		p, err := a.silenceForm(c, v, nil)
		return show(views.SilenceForm(p)), err
	}
	w := silenceSpec(f, v)
	made, err := alert.Silence{}, f.err()
	if err == nil {
		made, err = a.alerts.Silences.Create(c.Request.Context(), actor(c), w)
	}
	if err == nil {
		if _, active := made.Active(a.now()); active {
			a.flash(c, "Messages are held back from now on")
		} else {
			a.flash(c, "The silence is planned")
		}
		return reply{to: views.AlertsSilences}, nil
	}
	if k := fault.KindOf(err); k != fault.KindInvalid && k != fault.KindConflict {
		return reply{}, err
	}
	p, failed := a.silenceForm(c, v, atFields(err))
	if failed != nil {
		return reply{}, failed
	}
	return show(views.SilenceForm(p)), err
}

// atFields puts what is wrong with a length in seconds where it was typed.
func atFields(err error) error {
	fields := slices.Clone(fault.Fields(err))
	for i := range fields {
		if fields[i].Name == "lasts_seconds" {
			fields[i].Name = "lasts"
		}
	}
	if len(fields) == 0 {
		return err
	}
	return fault.Invalid(fields...)
}
