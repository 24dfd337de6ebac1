package app

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/alert"
)

// silenceIn names a silence.
type silenceIn struct {
	ID string `path:"id" doc:"The silence's number" example:"5"`
}

// silenceBody is a time in which messages are held back.
type silenceBody struct {
	ID        int64       `json:"id" example:"5"`
	Team      string      `json:"team" doc:"Code of the team; empty: every team" example:"payments"`
	Scope     alert.Scope `json:"scope"`
	RuleID    int64       `json:"rule_id" doc:"0: every rule"`
	Reason    string      `json:"reason"`
	StartsAt  instant     `json:"starts_at" nullable:"false"`
	EndsAt    instant     `json:"ends_at" doc:"null: it comes again without end"`
	Cron      string      `json:"cron" doc:"When it comes again; empty: once"`
	Zone      string      `json:"zone"`
	Lasts     int         `json:"lasts_seconds" doc:"Of each that comes again"`
	Hold      bool        `json:"hold" doc:"The tasks are paused too"`
	Active    bool        `json:"active" doc:"It holds back messages now"`
	CreatedAt instant     `json:"created_at" nullable:"false"`
	CreatedBy string      `json:"created_by"`
	EndedAt   instant     `json:"ended_at" doc:"By a person, before its time"`
}

func (s *api) silenceShape(x alert.Silence, team string) silenceBody {
	_, active := x.Active(s.now())
	return silenceBody{
		ID: x.ID, Team: team, Scope: x.Scope, RuleID: x.RuleID, Reason: x.Reason, StartsAt: instant(x.StartsAt), EndsAt: instant(x.EndsAt),
		Cron: x.Cron, Zone: x.Zone, Lasts: int(x.Lasts.Seconds()), Hold: x.Hold, Active: active,
		CreatedAt: instant(x.CreatedAt), CreatedBy: x.CreatedBy, EndedAt: instant(x.EndedAt),
	}
}

// silenceObject finds the silence of the path.
func silenceObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	n, err := rowNumber(c.Param("id"))
	if err == nil {
		_, err = s.alerts.Silences.Find(ctx, by, n)
	}
	return err
}

func (s *api) silenceOperations() {
	const path = "/alerts/silences"
	add(s, operation{method: http.MethodGet, path: path, id: "list-silences", tag: tagAlerts, verb: access.Read,
		summary: "List silences", about: "Those that are active or to come, of the token's team and of every team.",
	}, (*api).listSilences)
	add(s, operation{method: http.MethodPost, path: path, id: "create-silence", tag: tagAlerts, verb: access.Silence, status: http.StatusCreated,
		body: alert.SilenceSpec{}, example: exampleSilence, summary: "Silence alerts for a time",
		about: "From starts_at (left out: now) until ends_at or for lasts_seconds; or again and again by cron in a zone. Incidents open and close meanwhile.",
	}, (*api).createSilence)
	add(s, operation{method: http.MethodPost, path: path + "/{id}/end", id: "end-silence", tag: tagAlerts, verb: access.Silence, object: silenceObject, conflicts: true,
		body: reasonBody{}, optional: true, example: exampleReason, summary: "End a silence now",
	}, (*api).endSilence)
}

type silenceListOut struct {
	Body listOf[silenceBody]
}

type silenceOut struct {
	Body silenceBody
}

func (s *api) listSilences(ctx context.Context, k *call, _ *struct{}) (*silenceListOut, error) {
	all, err := s.alerts.Silences.Open(ctx, k.actor, access.Scope{})
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	var items []silenceBody
	for _, x := range all {
		items = append(items, s.silenceShape(x, teams[x.TeamID]))
	}
	return &silenceListOut{Body: listPage(items, "")}, err
}

func (s *api) silenceOut(ctx context.Context, k *call, x alert.Silence, err error) (*silenceOut, error) {
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	return &silenceOut{Body: s.silenceShape(x, teams[x.TeamID])}, err
}

func (s *api) createSilence(ctx context.Context, k *call, _ *struct{}) (*silenceOut, error) {
	var spec alert.SilenceSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	x, err := s.alerts.Silences.Create(ctx, k.actor, spec)
	return s.silenceOut(ctx, k, x, err)
}

func (s *api) endSilence(ctx context.Context, k *call, in *silenceIn) (*silenceOut, error) {
	n, err := rowNumber(in.ID)
	if err != nil {
		return nil, err
	}
	reason, err := k.reason()
	if err != nil {
		return nil, err
	}
	x, err := s.alerts.Silences.EndNow(ctx, k.actor, n, reason)
	return s.silenceOut(ctx, k, x, err)
}
