package app

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/views"
)

// alertTeams are the teams in which the person may do v, the one that the lists
// show first; one without code is the installation.
func (a *App) alertTeams(c *gin.Context, v access.Verb) []access.Team {
	var out []access.Team
	seen, _ := visited(c)
	for _, t := range teamsOf(c) {
		switch {
		case !actor(c).Can(v, t.ID):
		case seen != nil && t.ID == seen.team:
			out = append([]access.Team{t}, out...)
		default:
			out = append(out, t)
		}
	}
	if actor(c).Can(v, 0) {
		out = append(out, access.Team{})
	}
	return out
}

// alertTeam is the team of a new rule or channel: the one asked for, else the
// first in which it may be made. Faults: NotFound, Denied.
func (a *App) alertTeam(c *gin.Context, v access.Verb, asked string, named bool) (access.Team, []views.Team, error) {
	teams := a.alertTeams(c, v)
	var shown []views.Team
	for _, t := range teams {
		shown = append(shown, views.Team{Code: t.Code, Name: cmp.Or(t.Name, views.Translate(a.viewer(c).Lang, "The whole installation"))})
	}
	if !named {
		if len(teams) == 0 {
			return access.Team{}, nil, actor(c).CheckShared(v, 0)
		}
		return teams[0], shown, nil
	}
	for _, t := range teams {
		if t.Code == asked {
			return t, shown, nil
		}
	}
	for _, t := range teamsOf(c) {
		if t.Code == asked {
			return t, nil, actor(c).Check(v, t.ID)
		}
	}
	if asked == "" {
		return access.Team{}, nil, actor(c).CheckShared(v, 0)
	}
	return access.Team{}, nil, access.NoObject()
}

// teamByID is a team that the person sees; the zero Team is the installation.
func teamByID(c *gin.Context, id int64) access.Team {
	for _, t := range teamsOf(c) {
		if t.ID == id {
			return t
		}
	}
	return access.Team{}
}

// queryForm reads what is typed from the address, as a preview sends it.
func (a *App) queryForm(c *gin.Context) (*form, error) {
	f := &form{values: c.Request.URL.Query(), zone: a.zoneOf(c)}
	for _, values := range f.values {
		for _, v := range values {
			if len(v) > 4*maxPreviewed {
				return nil, tooLarge()
			}
		}
	}
	return f, nil
}

// showNewRule shows the form of a new rule; the address may hold what is typed.
func (a *App) showNewRule(c *gin.Context) (reply, error) {
	code, named := c.GetQuery("team")
	team, teams, err := a.alertTeam(c, access.EditRule, code, named)
	if err != nil {
		return reply{}, err
	}
	f, err := a.queryForm(c)
	if err != nil {
		return reply{status: http.StatusRequestEntityTooLarge}, err
	}
	metric := alert.Metric(f.text("metric"))
	if _, known := alert.MeterOf(metric); !known {
		metric = alert.InARow
		if team.ID == 0 {
			metric = alert.QueueDepth
		}
	}
	v := ruleValues(newRule(metric))
	if f.has("measured") {
		v = f.typedRule(alert.Rule{})
	}
	page, err := a.rulePage(c, alert.Rule{TeamID: team.ID}, team, v, nil)
	page.Teams = teams
	return show(views.RuleForm(page)).piecewise(views.RuleAnswer(page, c.Query("part"))), err
}

func ruleID(c *gin.Context) (int64, error) { return rowNumber(c.Param("id")) }

func (a *App) ruleOf(c *gin.Context) (alert.Rule, error) {
	id, err := ruleID(c)
	if err != nil {
		return alert.Rule{}, err
	}
	return a.alerts.Rules.Find(c.Request.Context(), actor(c), id)
}

// showRule shows a rule; the address may hold other numbers to try.
func (a *App) showRule(c *gin.Context) (reply, error) {
	r, err := a.ruleOf(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.queryForm(c)
	if err != nil {
		return reply{status: http.StatusRequestEntityTooLarge}, err
	}
	v := ruleValues(r)
	typed := f.has("measured")
	if typed {
		v = f.typedRule(r)
	}
	page, err := a.rulePage(c, r, teamByID(c, r.TeamID), v, nil)
	if !typed && err == nil {
		page.Values.Tell, err = a.toldBy(c, r)
	}
	return show(views.RuleForm(page)).piecewise(views.RuleAnswer(page, c.Query("part"))), err
}

// rulePage is the form with all that stands around it.
func (a *App) rulePage(c *gin.Context, r alert.Rule, team access.Team, v views.RuleValues, failed error) (views.RulePage, error) {
	ctx := c.Request.Context()
	page := views.RulePage{
		Stored: r, Team: views.Team{Code: team.Code, Name: team.Name}, Values: v, Errors: errorsOf(failed),
		MayEdit: actor(c).CheckShared(access.EditRule, r.TeamID) == nil,
	}
	if r.ID == 0 {
		page.Stored = alert.Rule{}
	}
	if text, ok := fault.TextOf(failed); ok && fault.KindOf(failed) == fault.KindConflict && len(fault.Fields(failed)) == 0 {
		page.Moved, page.Errors = views.TranslateText(a.viewer(c).Lang, text), nil
	}
	channels, err := a.alerts.Channels.List(ctx, actor(c), access.Scope{Teams: []int64{r.TeamID}})
	if err != nil {
		return page, err
	}
	for _, x := range channels {
		if x.TeamID == r.TeamID && x.UserID == 0 {
			page.Channels = append(page.Channels, x)
		}
	}
	if page.Anyway, err = a.toldAnyway(c, r.TeamID); err != nil {
		return page, err
	}
	page.Now.Firing, err = a.firing(c, r)
	if err == nil {
		err = a.tryRule(c, &page, r, team)
	}
	return page, err
}

// subscriptionsOf a team, or of the installation, that the person may see.
func (a *App) subscriptionsOf(c *gin.Context, team int64) ([]alert.Subscribed, error) {
	all, err := a.alerts.Subscriptions.List(c.Request.Context(), actor(c), access.Scope{Teams: []int64{team}})
	return slices.DeleteFunc(all, func(s alert.Subscribed) bool { return s.TeamID != team }), err
}

// toldAnyway are who hears of every rule of the team.
func (a *App) toldAnyway(c *gin.Context, team int64) ([]views.RuleListener, error) {
	all, err := a.subscriptionsOf(c, team)
	var out []views.RuleListener
	for _, s := range all {
		if s.RuleID == 0 && len(s.Events) == 0 && s.On {
			out = append(out, views.RuleListener{Channel: s.Channel, Person: s.Login, P1: s.Level == alert.P1, After: s.After})
		}
	}
	return out, err
}

// ownSubscriptions are those of channels to the rule alone.
func (a *App) ownSubscriptions(c *gin.Context, r alert.Rule) ([]alert.Subscribed, error) {
	all, err := a.subscriptionsOf(c, r.TeamID)
	return slices.DeleteFunc(all, func(s alert.Subscribed) bool { return s.RuleID != r.ID || s.Login != "" }), err
}

// toldBy are the channels that the rule tells by itself.
func (a *App) toldBy(c *gin.Context, r alert.Rule) ([]views.RuleTell, error) {
	own, err := a.ownSubscriptions(c, r)
	var out []views.RuleTell
	for _, s := range own {
		out = append(out, views.RuleTell{ChannelID: s.ChannelID, After: wholeSeconds(s.After)})
	}
	return out, err
}

// firing is the open incident of the rule, the latest; nil when it is quiet.
func (a *App) firing(c *gin.Context, r alert.Rule) (*alert.Incident, error) {
	if r.ID == 0 {
		return nil, nil //nolint:nilnil // there is none, which is no fault
	}
	open, err := a.alerts.Incidents.List(c.Request.Context(), actor(c), alert.IncidentFilter{RuleID: r.ID, Open: true, Limit: 10})
	for _, i := range open {
		if i.State == alert.Firing {
			return &i, err
		}
	}
	return nil, err
}

// createRule makes a rule of what the form says, and has its channels told.
func (a *App) createRule(c *gin.Context) (reply, error) {
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	team, teams, err := a.alertTeam(c, access.EditRule, f.text("team"), true)
	if err != nil {
		return reply{}, err
	}
	v := f.typedRule(alert.Rule{})
	spec := f.ruleSpec(v, team.Code)
	made, err := alert.Rule{}, f.err()
	if err == nil {
		made, err = a.alerts.Rules.Create(c.Request.Context(), actor(c), spec)
	} else if _, more := a.alerts.Rules.Draft(c.Request.Context(), actor(c), 0, spec); more != nil {
		err = f.with(more)
	}
	if err != nil {
		return a.ruleAgain(c, alert.Rule{TeamID: team.ID}, team, teams, v, err)
	}
	if err := a.tellOf(c, made, v); err != nil {
		return reply{}, err
	}
	a.flash(c, "The rule %s is made", made.Name)
	return goTo("/alerts/rules/" + strconv.FormatInt(made.ID, 10)), nil
}

// ruleAgain shows the form with what was typed and what is wrong.
func (a *App) ruleAgain(c *gin.Context, r alert.Rule, team access.Team, teams []views.Team, v views.RuleValues, err error) (reply, error) {
	if kind := fault.KindOf(err); kind != fault.KindInvalid && kind != fault.KindConflict {
		return reply{}, err
	}
	if r.ID != 0 && fault.KindOf(err) == fault.KindConflict && len(fault.Fields(err)) == 0 {
		now, failed := a.alerts.Rules.Find(c.Request.Context(), actor(c), r.ID)
		if failed != nil {
			return reply{}, failed
		}
		r, v.Version = now, now.Version // saving again goes over theirs
	}
	page, failed := a.rulePage(c, r, team, v, err)
	if failed != nil {
		return reply{}, failed
	}
	page.Teams = teams
	return show(views.RuleForm(page)), err
}

// saveRule changes a rule, and which channels it tells.
func (a *App) saveRule(c *gin.Context) (reply, error) {
	r, err := a.ruleOf(c)
	if err == nil {
		err = actor(c).CheckShared(access.EditRule, r.TeamID)
	}
	if err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	v := f.typedRule(r)
	team := teamByID(c, r.TeamID)
	spec := f.ruleSpec(v, team.Code)
	is, err := r, f.err()
	if err == nil {
		is, err = a.alerts.Rules.Update(c.Request.Context(), actor(c), r.ID, spec)
	}
	if err == nil {
		err = renamed(a.tellOf(c, is, v), "channel_id", "tell")
	}
	if err != nil {
		return a.ruleAgain(c, r, team, nil, v, err)
	}
	a.flash(c, "The rule %s is saved", is.Name)
	return goTo("/alerts/rules/" + strconv.FormatInt(is.ID, 10)), nil
}

// tellOf brings the subscriptions to the rule in line with what is ticked.
func (a *App) tellOf(c *gin.Context, r alert.Rule, v views.RuleValues) error {
	ctx := c.Request.Context()
	own, err := a.ownSubscriptions(c, r)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, s := range own {
		same := slices.Contains(v.Tell, views.RuleTell{ChannelID: s.ChannelID, After: wholeSeconds(s.After)})
		if same && !kept[s.ChannelID] {
			kept[s.ChannelID] = true
			continue
		}
		if err := a.alerts.Subscriptions.Delete(ctx, actor(c), s.ID, v.Reason); err != nil {
			return err
		}
	}
	for _, x := range v.Tell {
		if kept[x.ChannelID] {
			continue
		}
		after, _ := strconv.Atoi(x.After) // a list to choose from: what isn't on it is at once
		spec := alert.SubscriptionSpec{Team: teamByID(c, r.TeamID).Code, ChannelID: x.ChannelID, RuleID: r.ID, After: after, Reason: v.Reason}
		if _, err := a.alerts.Subscriptions.Create(ctx, actor(c), spec); err != nil {
			return err
		}
		kept[x.ChannelID] = true
	}
	return nil
}

func (a *App) enableRule(c *gin.Context) (reply, error)  { return a.switchRule(c, true) }
func (a *App) disableRule(c *gin.Context) (reply, error) { return a.switchRule(c, false) }

func (a *App) switchRule(c *gin.Context, on bool) (reply, error) {
	id, err := ruleID(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	r, err := a.alerts.Rules.SetEnabled(c.Request.Context(), actor(c), id, on, f.text("reason"))
	if err != nil {
		return reply{}, err
	}
	if on {
		a.flash(c, "The rule %s is switched on", alert.RuleName(a.viewer(c).Lang, r.Name))
	} else {
		a.flash(c, "The rule %s is switched off: it tells nobody", alert.RuleName(a.viewer(c).Lang, r.Name))
	}
	return goBack(c, "/alerts/rules/"+strconv.FormatInt(id, 10)), nil
}

func (a *App) deleteRule(c *gin.Context) (reply, error) {
	r, err := a.ruleOf(c)
	if err != nil {
		return reply{}, err
	}
	f, err := a.form(c)
	if err != nil {
		return reply{}, err
	}
	if err := a.alerts.Rules.Delete(c.Request.Context(), actor(c), r.ID, f.text("delete_reason")); err != nil {
		return reply{}, err
	}
	a.flash(c, "The rule %s is deleted", r.Name)
	return goTo("/alerts/rules"), nil
}

// The past that rules are tried on.
const (
	triedDays = 30
	// tryLimit bounds what a page waits for a back-test.
	tryLimit = 5 * time.Second
	// triedPoints is about how many points the chart has.
	triedPoints = 360
)

// alertPast is what the ledger keeps of what rules measure.
type alertPast interface {
	MarksOf(ctx context.Context, s access.Scope) ([]alert.TaskMark, error)
	Series(ctx context.Context, r alert.Rule, tasks []alert.TaskMark, from, to time.Time) (alert.Series, error)
}
