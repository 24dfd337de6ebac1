package app

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
)

// ruleIn names a rule.
type ruleIn struct {
	ID string `path:"id" doc:"The rule's number" example:"7"`
}

// ruleBody is a rule.
type ruleBody struct {
	ID        int64        `json:"id" example:"7"`
	Team      string       `json:"team" doc:"Code of the team; empty: the installation" example:"payments"`
	Name      string       `json:"name" example:"Success rate"`
	Metric    alert.Metric `json:"metric" example:"success_rate"`
	Unit      alert.Unit   `json:"unit" example:"percent"`
	Scope     alert.Scope  `json:"scope"`
	Threshold float64      `json:"threshold" example:"95"`
	Window    int          `json:"window_seconds" doc:"That windowed metrics look back over"`
	Least     int          `json:"least" doc:"Ended runs below which the metric says nothing"`
	For       int          `json:"for_seconds" doc:"How long it must last; 0: at once"`
	Level     alert.Level  `json:"level" doc:"p1, p2, or task: the task's own"`
	EachTry   bool         `json:"each_try" doc:"Counts every failed attempt, not only what ended after its last retry"`
	Repeat    int          `json:"repeat_seconds" doc:"Between messages until somebody acknowledges; 0: never again"`
	Recovery  bool         `json:"recovery" doc:"Says when it is over"`
	Mention   bool         `json:"mention" doc:"Mentions the owners of the tasks"`
	Enabled   bool         `json:"enabled"`
	Broken    string       `json:"broken" doc:"Why it could not be judged at its last turn; empty: it could"`
	Version   int          `json:"version" doc:"Raised by every change; send it back with one"`
	ChangedAt instant      `json:"changed_at" nullable:"false"`
	ChangedBy string       `json:"changed_by"`
}

func ruleShape(r alert.Rule, team string) ruleBody {
	return ruleBody{
		ID: r.ID, Team: team, Name: r.Name, Metric: r.Metric, Unit: r.Meter().Unit, Scope: r.Scope, Threshold: r.Threshold,
		Window: int(r.Window.Seconds()), Least: r.Least, For: int(r.For.Seconds()), Level: r.Level, EachTry: r.EachTry,
		Repeat: int(r.Repeat.Seconds()), Recovery: r.Recovery, Mention: r.Mention, Enabled: r.Enabled, Broken: r.Broken,
		Version: r.Version, ChangedAt: instant(r.ChangedAt), ChangedBy: r.ChangedBy,
	}
}

// ruleObject finds the rule of the path.
func ruleObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	n, err := rowNumber(c.Param("id"))
	if err == nil {
		_, err = s.alerts.Rules.Find(ctx, by, n)
	}
	return err
}

func (s *api) ruleOperations() {
	const path, one = "/alerts/rules", "/alerts/rules/{id}"
	add(s, operation{method: http.MethodGet, path: path, id: "list-rules", tag: tagAlerts, verb: access.Read,
		summary: "List alert rules", about: "Those of the token's team and those of the installation.",
	}, (*api).listRules)
	add(s, operation{method: http.MethodPost, path: path, id: "create-rule", tag: tagAlerts, verb: access.EditRule, status: http.StatusCreated,
		body: alert.RuleSpec{}, example: exampleRule, summary: "Create an alert rule",
	}, (*api).createRule)
	add(s, operation{method: http.MethodGet, path: one, id: "get-rule", tag: tagAlerts, verb: access.Read, object: ruleObject,
		summary: "Get an alert rule",
	}, (*api).getRule)
	add(s, operation{method: http.MethodPut, path: one, id: "update-rule", tag: tagAlerts, verb: access.EditRule, object: ruleObject, conflicts: true,
		body: alert.RuleSpec{}, example: exampleRuleChange, summary: "Change an alert rule",
		about: "The version that was read goes along: 409 when somebody changed it meanwhile. Its metric and team stay.",
	}, (*api).updateRule)
	add(s, operation{method: http.MethodDelete, path: one, id: "delete-rule", tag: tagAlerts, verb: access.EditRule, object: ruleObject, status: http.StatusNoContent,
		summary: "Delete an alert rule", about: "Its open incidents end.",
	}, (*api).deleteRule)
}

type ruleListOut struct {
	Body listOf[ruleBody]
}

type ruleOut struct {
	Body ruleBody
}

type ruleMade struct {
	Location string `header:"Location" doc:"Path of the new rule"`
	Body     ruleBody
}

func (s *api) listRules(ctx context.Context, k *call, _ *struct{}) (*ruleListOut, error) {
	all, err := s.alerts.Rules.List(ctx, k.actor, access.Scope{})
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	var items []ruleBody
	for _, r := range all {
		items = append(items, ruleShape(r, teams[r.TeamID]))
	}
	return &ruleListOut{Body: listPage(items, "")}, err
}

// ruleOut shows a rule that the actor may see.
func (s *api) ruleOut(ctx context.Context, k *call, r alert.Rule, err error) (*ruleOut, error) {
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	return &ruleOut{Body: ruleShape(r, teams[r.TeamID])}, err
}

func (s *api) createRule(ctx context.Context, k *call, _ *struct{}) (*ruleMade, error) {
	var spec alert.RuleSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	r, err := s.alerts.Rules.Create(ctx, k.actor, spec)
	out, err := s.ruleOut(ctx, k, r, err)
	if err != nil {
		return nil, err
	}
	return &ruleMade{Location: apiPrefix + "/alerts/rules/" + strconv.FormatInt(r.ID, 10), Body: out.Body}, nil
}

func (s *api) getRule(ctx context.Context, k *call, in *ruleIn) (*ruleOut, error) {
	n, err := rowNumber(in.ID)
	if err != nil {
		return nil, err
	}
	r, err := s.alerts.Rules.Find(ctx, k.actor, n)
	return s.ruleOut(ctx, k, r, err)
}

func (s *api) updateRule(ctx context.Context, k *call, in *ruleIn) (*ruleOut, error) {
	n, err := rowNumber(in.ID)
	if err != nil {
		return nil, err
	}
	var spec alert.RuleSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	r, err := s.alerts.Rules.Update(ctx, k.actor, n, spec)
	return s.ruleOut(ctx, k, r, err)
}

func (s *api) deleteRule(ctx context.Context, k *call, in *ruleIn) (*struct{}, error) {
	n, err := rowNumber(in.ID)
	if err != nil {
		return nil, err
	}
	return nil, s.alerts.Rules.Delete(ctx, k.actor, n, "")
}
