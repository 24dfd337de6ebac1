package app

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
)

// incidentIn names an incident.
type incidentIn struct {
	ID string `path:"id" doc:"The incident's id" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
}

// incidentBody is an incident.
type incidentBody struct {
	ID        string              `json:"id" format:"uuid" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
	RuleID    int64               `json:"rule_id" example:"7"`
	Rule      string              `json:"rule" doc:"The rule's name as it was when it opened" example:"Failures in a row"`
	Metric    alert.Metric        `json:"metric" example:"failures_in_row"`
	Team      string              `json:"team" doc:"Code of the team; empty: the installation" example:"payments"`
	State     alert.IncidentState `json:"state" enum:"pending,firing,over" doc:"pending: it has not lasted long enough yet, and nobody is told"`
	Level     alert.Level         `json:"level" enum:"p1,p2"`
	Value     float64             `json:"value" doc:"Now, or the last one, in the metric's unit"`
	Worst     float64             `json:"worst"`
	Threshold float64             `json:"threshold"`
	Unit      alert.Unit          `json:"unit" example:"count"`
	Host      string              `json:"host" doc:"What its members have in common, if it is a host"`
	Since     instant             `json:"since" nullable:"false" doc:"When the rule was broken first"`
	OpenedAt  instant             `json:"opened_at"`
	EndedAt   instant             `json:"ended_at"`
	AckedAt   instant             `json:"acknowledged_at"`
	AckedBy   string              `json:"acknowledged_by"`
	Assignee  string              `json:"assignee" doc:"Login of who has it in hand; empty: nobody"`
	Note      string              `json:"note"`
	Silenced  bool                `json:"silenced" doc:"A silence holds its messages back"`
	Messages  int                 `json:"messages" doc:"How often it was told"`
	Members   []memberBody        `json:"members" nullable:"false" doc:"What breaks the rule now, or broke it at the end; the worst first"`
}

// memberBody is one subject of an incident.
type memberBody struct {
	Kind     alert.SubjectKind `json:"kind" enum:"task,scope,queue,node,calendar,house"`
	Key      string            `json:"key" doc:"Code of the task or calendar, name of the queue, id of the node" example:"order.close-unpaid"`
	Name     string            `json:"name"`
	Value    float64           `json:"value"`
	Level    alert.Level       `json:"level" enum:"p1,p2"`
	Since    instant           `json:"since"`
	Detail   string            `json:"detail" doc:"The latest error, in one line; what targets wrote is not to be trusted"`
	Instance string            `json:"instance_id" doc:"The latest instance that shows it; empty: none"`
	Owner    string            `json:"owner" doc:"Login of the task's owner"`
}

func incidentShape(i alert.Incident, team string) incidentBody {
	meter, _ := alert.MeterOf(i.Metric)
	out := incidentBody{
		ID: i.ID, RuleID: i.RuleID, Rule: i.RuleName, Metric: i.Metric, Team: team, State: i.State, Level: i.Level,
		Value: i.Value, Worst: i.Worst, Threshold: i.Threshold, Unit: meter.Unit, Host: i.Host,
		Since: instant(i.Since), OpenedAt: instant(i.OpenedAt), EndedAt: instant(i.EndedAt), AckedAt: instant(i.AckedAt), AckedBy: i.AckedBy,
		Assignee: i.Assignee, Note: i.Note, Silenced: i.Silenced, Messages: i.Told, Members: make([]memberBody, len(i.Members)),
	}
	for n, m := range i.Members {
		out.Members[n] = memberBody{
			Kind: m.Subject.Kind, Key: m.Subject.Key, Name: m.Subject.Name, Value: m.Value, Level: m.Level, Since: instant(m.Since),
			Detail: m.Detail, Instance: m.Instance, Owner: m.Owner,
		}
	}
	return out
}

// noteBody is what is written to an incident.
type noteBody struct {
	Assignee string `json:"assignee,omitempty" doc:"Login of who has it in hand; left out: nobody" example:"li.na"`
	Note     string `json:"note,omitempty" doc:"What is known, at most 2,000 characters; left out: none" example:"The bank is offline until 18:00"`
}

// incidentObject finds the incident of the path.
func incidentObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	_, err := s.findIncident(ctx, by, c.Param("id"))
	return err
}

func (s *api) findIncident(ctx context.Context, by access.Actor, id string) (alert.Incident, error) {
	if !isID(id) {
		return alert.Incident{}, access.NoObject()
	}
	return s.alerts.Incidents.Find(ctx, by, id)
}

func (s *api) incidentOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/alerts/incidents", id: "list-incidents", tag: tagAlerts, verb: access.Read,
		summary: "List incidents", about: "Newest first: those that are open, or those that are over. Those of the installation are everybody's to see.",
	}, (*api).listIncidents)
	add(s, operation{
		method: http.MethodGet, path: "/alerts/incidents/{id}", id: "get-incident", tag: tagAlerts, verb: access.Read, object: incidentObject,
		summary: "Get an incident",
	}, (*api).getIncident)
	add(s, operation{
		method: http.MethodPost, path: "/alerts/incidents/{id}/acknowledge", id: "acknowledge-incident", tag: tagAlerts, verb: access.Acknowledge, object: incidentObject,
		conflicts: true,
		summary:   "Acknowledge an incident", about: "Says that you are on it: it is not repeated, and does not escalate. 409 when it is over, or somebody was first.",
	}, (*api).acknowledgeIncident)
	add(s, operation{
		method: http.MethodPost, path: "/alerts/incidents/{id}/reopen", id: "reopen-incident", tag: tagAlerts, verb: access.Acknowledge, object: incidentObject,
		conflicts: true,
		summary:   "Take an acknowledgement back", about: "It is repeated and escalates again. 409 when it is over, or nobody has acknowledged it.",
	}, (*api).reopenIncident)
	add(s, operation{
		method: http.MethodPut, path: "/alerts/incidents/{id}/note", id: "note-incident", tag: tagAlerts, verb: access.Acknowledge, object: incidentObject,
		conflicts: true, body: noteBody{}, example: exampleNote,
		summary: "Write who has an incident in hand, and what is known",
	}, (*api).noteIncident)
}

type incidentListIn struct {
	ListIn
	State string    `query:"state" enum:"open,over" default:"open" doc:"open: pending and firing"`
	Task  string    `query:"task" maxLength:"64" doc:"A task's code: incidents that it was a member of"`
	Since time.Time `query:"since" doc:"Of those that are over: ended at or after"`
}

type incidentListOut struct {
	Body listOf[incidentBody]
}

func (s *api) listIncidents(ctx context.Context, k *call, in *incidentListIn) (*incidentListOut, error) {
	if err := together(checkCursor(in.Cursor, isID), between(in.Since, time.Time{})); err != nil {
		return nil, err
	}
	all, err := s.alerts.Incidents.List(ctx, k.actor, alert.IncidentFilter{
		Task: in.Task, Open: in.State != "over", Since: in.Since, Before: in.Cursor, Limit: in.Limit + 1,
	})
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	if err != nil {
		return nil, err
	}
	next := ""
	if len(all) > in.Limit {
		all = all[:in.Limit]
		next = all[in.Limit-1].ID
	}
	var items []incidentBody
	for _, i := range all {
		items = append(items, incidentShape(i, teams[i.TeamID]))
	}
	return &incidentListOut{Body: listPage(items, next)}, nil
}

type incidentOut struct {
	Body incidentBody
}

// incidentOut shows an incident that the actor may see.
func (s *api) incidentOut(ctx context.Context, k *call, i alert.Incident, err error) (*incidentOut, error) {
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	return &incidentOut{Body: incidentShape(i, teams[i.TeamID])}, err
}

func (s *api) getIncident(ctx context.Context, k *call, in *incidentIn) (*incidentOut, error) {
	i, err := s.findIncident(ctx, k.actor, in.ID)
	return s.incidentOut(ctx, k, i, err)
}

func (s *api) acknowledgeIncident(ctx context.Context, k *call, in *incidentIn) (*incidentOut, error) {
	return s.actOnIncident(ctx, k, in, s.alerts.Incidents.Acknowledge)
}

func (s *api) reopenIncident(ctx context.Context, k *call, in *incidentIn) (*incidentOut, error) {
	return s.actOnIncident(ctx, k, in, s.alerts.Incidents.Reopen)
}

func (s *api) noteIncident(ctx context.Context, k *call, in *incidentIn) (*incidentOut, error) {
	var body noteBody
	if err := decode(k.body, &body); err != nil {
		return nil, err
	}
	return s.actOnIncident(ctx, k, in, func(ctx context.Context, a access.Actor, id string) (alert.Incident, error) {
		return s.alerts.Incidents.Note(ctx, a, id, body.Assignee, body.Note)
	})
}

func (s *api) actOnIncident(ctx context.Context, k *call, in *incidentIn, act func(context.Context, access.Actor, string) (alert.Incident, error)) (*incidentOut, error) {
	if _, err := s.findIncident(ctx, k.actor, in.ID); err != nil {
		return nil, err
	}
	i, err := act(ctx, k.actor, in.ID)
	return s.incidentOut(ctx, k, i, err)
}
