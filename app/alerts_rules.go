package app

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
	"ax/views"
)

// numberedID is the id of the address; what is no number is not there.
func numberedID(c *gin.Context) (int64, error) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || id <= 0 {
		return 0, access.NoObject()
	}
	return id, nil
}

// listRules shows the rules with their values now.
func (a *App) listRules(c *gin.Context) (reply, error) {
	ctx, by := c.Request.Context(), actor(c)
	top, err := a.alertsTop(c)
	if err != nil {
		return reply{}, err
	}
	values, err := a.ruleValues(ctx, by, enabledRules(top.rules))
	if err != nil {
		return reply{}, err
	}
	counts, err := a.alerts.Live.Counts(ctx, by, top.rules)
	if err != nil {
		return reply{}, err
	}
	p := views.RulesPage{AlertsTop: top.AlertsTop}
	for _, r := range top.rules {
		v := values[r.ID]
		p.Rows = append(p.Rows, views.RuleRow{
			Rule: r, Team: teamNamed(c, r.TeamID), Value: v.Value, Unread: v.Failed != nil, Count: counts[r.ID], MayEdit: r.MayEdit(by),
		})
	}
	return show(views.AlertsRulesTab(p)).piecewise(views.AlertsRulesBody(p)), nil
}

// valuesFor is how long the values of rules are shown to others: they are read
// from the whole ledger, by a question for each metric.
const valuesFor = 5 * time.Second

// ruleValues are the values of the rules as the actor may see them. They are
// read once for all who look at the same rules; a rule that was changed is read
// anew.
func (a *App) ruleValues(ctx context.Context, by access.Actor, rules []alert.Rule) (map[int64]alert.LiveValue, error) {
	values, err := a.values.get(rulesKey(rules), a.now(), valuesFor, func() (alert.LiveValues, error) { return a.alerts.Live.Values(ctx, rules) })
	return values.For(by), err
}

// rulesKey names a set of rules as they are now.
func rulesKey(rules []alert.Rule) string {
	h := sha256.New()
	for _, r := range rules {
		fmt.Fprintf(h, "%d.%d ", r.ID, r.Version)
	}
	return string(h.Sum(nil))
}

func enabledRules(all []alert.Rule) []alert.Rule {
	var out []alert.Rule
	for _, r := range all {
		if r.Enabled {
			out = append(out, r)
		}
	}
	return out
}
