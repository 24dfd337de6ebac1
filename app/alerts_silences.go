package app

import (
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/views"
)

// endedShown is how many silences that are over the list has.
const endedShown = 20

// listSilences shows what is silent, what will be, and what was lately.
func (a *App) listSilences(c *gin.Context) (reply, error) {
	top, err := a.alertsTop(c)
	if err != nil {
		return reply{}, err
	}
	p := views.SilencesPage{AlertsTop: top.AlertsTop}
	for _, r := range a.silenceRows(c, top.silences, top.rules) {
		if r.Until.IsZero() {
			p.Coming = append(p.Coming, r)
		} else {
			p.Active = append(p.Active, r)
		}
	}
	ended, err := a.alerts.Silences.List(c.Request.Context(), actor(c), scopeOf(c), alert.SilenceEnded, 0, endedShown)
	p.Ended = a.silenceRows(c, ended, top.rules)
	return show(views.AlertsSilencesTab(p)).piecewise(views.AlertsSilencesBody(p)), err
}

// silenceRows name teams and rules of silences, and when they are.
func (a *App) silenceRows(c *gin.Context, all []alert.Silence, rules []alert.Rule) []views.SilenceRow {
	by, now := actor(c), a.viewer(c).Now
	names := map[int64]string{}
	for _, r := range rules {
		names[r.ID] = r.Name
	}
	out := make([]views.SilenceRow, len(all))
	for i, s := range all {
		r := views.SilenceRow{Silence: s, Team: teamNamed(c, s.TeamID), Rule: names[s.RuleID]}
		if until, ok := s.Active(now); ok {
			r.Until = until
		} else if next, ok := s.NextStart(now); ok {
			r.Next = next
		}
		r.MayEnd = !s.Over(now) && by.CheckShared(access.Silence, s.TeamID) == nil
		out[i] = r
	}
	return out
}

// endSilence ends a silence before its time.
func (a *App) endSilence(c *gin.Context) (reply, error) {
	id, err := numberedID(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	if _, err := a.alerts.Silences.EndNow(c.Request.Context(), actor(c), id, f.text("reason")); err != nil {
		return reply{}, err
	}
	a.flash(c, "The silence is over")
	return goBack(c, views.AlertsSilences), nil
}
