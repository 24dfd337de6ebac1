package app

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/views"
)

// tryRule reads what is typed, says what it means, and tries it on the past. A
// past that can't be read is said at its place: the form works without it.
func (a *App) tryRule(c *gin.Context, page *views.RulePage, stored alert.Rule, team access.Team) error {
	ctx, cancel := context.WithTimeout(c.Request.Context(), tryLimit)
	defer cancel()
	scope := actor(c).Scope()
	if stored.TeamID != 0 {
		scope = scope.Only(stored.TeamID)
	}
	tasks, err := a.past.MarksOf(ctx, scope)
	if err != nil {
		a.log.WarnContext(ctx, "the form of a rule can't read the tasks", "error", err)
	}
	offerScopes(page, tasks)
	page.Queues = a.tasks.Defaults().Queues
	r, err := a.drafted(c, page, stored, team)
	if err != nil || page.Draft == nil {
		return err
	}
	if !r.Meter().History {
		page.Test = views.BackTest{NoHistory: true}
		return nil
	}
	now := a.now()
	past, err := a.past.Series(ctx, r, tasks, now.AddDate(0, 0, -triedDays), now)
	if err != nil {
		a.log.WarnContext(ctx, "a rule can't be tried on the past", "rule", r.ID, "metric", string(r.Metric), "error", err)
		page.Test = views.BackTest{Failed: views.Translate(a.viewer(c).Lang, "The past could not be read in time. The rule can be saved all the same.")}
		return nil
	}
	page.Now.Value, page.Now.Subject, page.Now.Known = nowOf(r, past)
	page.Test, err = a.backTest(c, r, past)
	if err != nil {
		return err
	}
	a.otherNumbers(ctx, page, r, tasks, past)
	return nil
}

// drafted is the rule that is typed. What is wrong with it is not yet said at
// its fields: somebody may be typing still.
func (a *App) drafted(c *gin.Context, page *views.RulePage, stored alert.Rule, team access.Team) (alert.Rule, error) {
	if !page.MayEdit {
		page.Draft = &stored
		return stored, nil
	}
	f := &form{zone: a.zoneOf(c)}
	spec := f.ruleSpec(page.Values, team.Code)
	if spec.Name == "" {
		spec.Name = "-" // a name changes nothing of what it does
	}
	r, err := a.alerts.Rules.Draft(c.Request.Context(), actor(c), stored.ID, spec)
	if err = f.with(err); err != nil {
		if fault.KindOf(err) != fault.KindInvalid {
			return r, err
		}
		if len(page.Errors) == 0 && c.Request.Method == "GET" && c.Query("measured") != "" {
			page.Errors = errorsOf(err)
		}
		return r, nil
	}
	page.Draft = &r
	return r, nil
}

// offerScopes lists what a scope can name.
func offerScopes(page *views.RulePage, tasks []alert.TaskMark) {
	for _, t := range tasks {
		page.Tasks = append(page.Tasks, t.Code)
		page.Tags = append(page.Tags, t.Tags...)
		if t.Group != "" {
			page.Groups = append(page.Groups, t.Group)
		}
	}
	for _, list := range []*[]string{&page.Tasks, &page.Tags, &page.Groups} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
		*list = (*list)[:min(len(*list), 500)]
	}
}

// nowOf is the worst of the latest values, and whose it is.
func nowOf(r alert.Rule, past alert.Series) (value float64, subject string, known bool) {
	m := r.Meter()
	for _, l := range past.Lines {
		if len(l.Points) == 0 || l.Points[len(l.Points)-1].Blank {
			continue
		}
		p := l.Points[len(l.Points)-1]
		if !known || m.Worse(value, p.Value) == p.Value && p.Value != value {
			value, known, subject = p.Value, true, ""
			if l.Subject.Kind != alert.ScopeSubject {
				subject = l.Subject.Key
			}
		}
	}
	return value, subject, known
}

// backTest is what the rule would have done, beside what was real.
func (a *App) backTest(c *gin.Context, r alert.Rule, past alert.Series) (views.BackTest, error) {
	trial := alert.BackTest(r, past)
	b := views.BackTest{Asked: true, Metric: r.Metric, Threshold: r.Threshold, From: trial.From, To: trial.To, Messages: trial.Messages}
	if trial.Known.After(trial.From.Add(time.Hour)) {
		b.Kept = trial.Known
	}
	b.Points = worstOf(r.Meter(), past)
	var real []alert.Incident
	if r.ID != 0 {
		var err error
		real, err = a.alerts.Incidents.List(c.Request.Context(), actor(c), alert.IncidentFilter{RuleID: r.ID, Since: trial.From, Limit: 200})
		if err != nil {
			return b, err
		}
		open, err := a.firing(c, r)
		if err != nil {
			return b, err
		}
		if open != nil {
			real = append(real, *open)
		}
	}
	for _, x := range trial.Incidents {
		i := views.TestIncident{From: x.OpenedAt, To: x.EndedAt, Worst: x.Worst, Real: realOf(x, real)}
		if len(x.Subjects) > 0 && x.Subjects[0].Kind != alert.ScopeSubject {
			i.Subject = x.Subjects[0].Key
		}
		if i.Real != nil {
			b.Real++
			if i.Real.Acked() {
				b.Acted++
			}
		}
		b.Incidents = append(b.Incidents, i)
	}
	return b, nil
}

// realOf is the incident that was open while the one of the trial would have
// been.
func realOf(x alert.TrialIncident, real []alert.Incident) *alert.Incident {
	for _, i := range real {
		if i.OpenedAt.IsZero() || !x.EndedAt.IsZero() && i.OpenedAt.After(x.EndedAt) || !i.EndedAt.IsZero() && i.EndedAt.Before(x.OpenedAt) {
			continue
		}
		return &i
	}
	return nil
}

// worstOf is the worst value of all subjects in even steps of time.
func worstOf(m alert.Meter, past alert.Series) []views.TestPoint {
	span := past.To.Sub(past.From)
	if span <= 0 {
		return nil
	}
	out := make([]views.TestPoint, triedPoints)
	for i := range out {
		out[i] = views.TestPoint{At: past.From.Add(span * time.Duration(i) / triedPoints), Gap: true}
	}
	for _, l := range past.Lines {
		for i, p := range l.Points {
			if p.Blank {
				continue
			}
			until := past.To
			if i+1 < len(l.Points) {
				until = l.Points[i+1].At
			}
			spread(m, out, past.From, span, p, until)
		}
	}
	return out
}

// spread puts a value at the steps of its stretch.
func spread(m alert.Meter, out []views.TestPoint, from time.Time, span time.Duration, p alert.Point, until time.Time) {
	step := func(at time.Time) int {
		return min(max(int(float64(len(out))*float64(at.Sub(from))/float64(span)), 0), len(out)-1)
	}
	for i := step(p.At); i <= step(until.Add(-1)); i++ {
		if out[i].Gap {
			out[i].Value, out[i].Gap = p.Value, false
		} else {
			out[i].Value = m.Worse(out[i].Value, p.Value)
		}
	}
}

// otherNumbers tries the neighbours of the rule. Another window needs another
// past, which is left out when it can't be read in time.
func (a *App) otherNumbers(ctx context.Context, page *views.RulePage, r alert.Rule, tasks []alert.TaskMark, past alert.Series) {
	path := "/alerts/rules/new"
	if page.Stored.ID != 0 {
		path = "/alerts/rules/" + strconv.FormatInt(page.Stored.ID, 10)
	}
	count := func(r alert.Rule, past alert.Series) (incidents, acted int) {
		trial := alert.BackTest(r, past)
		seen := map[string]bool{}
		for _, x := range trial.Incidents {
			for _, known := range page.Test.Incidents {
				if i := known.Real; i != nil && i.Acked() && !seen[i.ID] && realOf(x, []alert.Incident{*i}) != nil {
					seen[i.ID] = true
					acted++
				}
			}
		}
		return len(trial.Incidents), acted
	}
	for _, v := range append([]alert.Rule{r}, alert.Variants(r)...) {
		of := past
		if v.Window != r.Window {
			var err error
			if of, err = a.past.Series(ctx, v, tasks, past.From, past.To); err != nil {
				continue
			}
		}
		n, acted := count(v, of)
		other := views.OtherNumbers{Threshold: v.Threshold, Window: v.Window, Incidents: n, Acted: acted, Now: v.Threshold == r.Threshold && v.Window == r.Window}
		if !other.Now {
			other.Use = ruleQuery(path, page.Team.Code, page.Values, v)
		}
		page.Test.Others = append(page.Test.Others, other)
	}
	if !page.MayEdit {
		page.Test.Others = nil
	}
}
