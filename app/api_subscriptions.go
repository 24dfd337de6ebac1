package app

import (
	"context"
	"net/http"

	"ax/app/access"
	"ax/app/alert"
)

// subscriptionIn names a subscription.
type subscriptionIn struct {
	ID string `path:"id" doc:"The subscription's number" example:"3"`
}

// subscriptionBody tells which channel is told of what.
type subscriptionBody struct {
	ID        int64             `json:"id" example:"3"`
	Team      string            `json:"team" doc:"Code of the team; empty: the installation" example:"payments"`
	ChannelID string            `json:"channel_id" example:"8c3f0d7e5b1a4f6c9e2d7a0b4c6e8f10"`
	RuleID    int64             `json:"rule_id" doc:"0: every rule, or events"`
	Events    []alert.EventType `json:"events" nullable:"false" doc:"Instead of rules"`
	Level     alert.Level       `json:"level" doc:"p1: of such alone; empty: of both"`
	After     int               `json:"after_seconds" doc:"Told only when nobody has acknowledged for so long"`
	Zone      string            `json:"zone" doc:"That the day of a digest is counted in"`
	CreatedAt instant           `json:"created_at" nullable:"false"`
	CreatedBy string            `json:"created_by"`
}

func subscriptionShape(x alert.Subscription, team string) subscriptionBody {
	return subscriptionBody{
		ID: x.ID, Team: team, ChannelID: x.ChannelID, RuleID: x.RuleID, Events: list(x.Events), Level: x.Level,
		After: int(x.After.Seconds()), Zone: x.Zone, CreatedAt: instant(x.CreatedAt), CreatedBy: x.CreatedBy,
	}
}

func (s *api) subscriptionOperations() {
	const path = "/alerts/subscriptions"
	add(s, operation{method: http.MethodGet, path: path, id: "list-subscriptions", tag: tagAlerts, verb: access.Read,
		summary: "List subscriptions", about: "Which channels of the token's team are told of what.",
	}, (*api).listSubscriptions)
	add(s, operation{method: http.MethodPost, path: path, id: "create-subscription", tag: tagAlerts, verb: access.EditRule, status: http.StatusCreated,
		body: alert.SubscriptionSpec{}, example: exampleSubscription, summary: "Have a channel told of rules or events", conflicts: true,
		about: "A webhook is told of instance.finished, letter.opened, letter.solved, incident.opened and incident.closed from now on: " +
			"each at least once with an id, those of one object in order.",
	}, (*api).createSubscription)
	add(s, operation{method: http.MethodDelete, path: path + "/{id}", id: "delete-subscription", tag: tagAlerts, verb: access.EditRule, status: http.StatusNoContent,
		summary: "End a subscription",
	}, (*api).deleteSubscription)
}

type subscriptionListOut struct {
	Body listOf[subscriptionBody]
}

type subscriptionOut struct {
	Body subscriptionBody
}

func (s *api) listSubscriptions(ctx context.Context, k *call, _ *struct{}) (*subscriptionListOut, error) {
	all, err := s.alerts.Subscriptions.List(ctx, k.actor, access.Scope{})
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	var items []subscriptionBody
	for _, x := range all {
		items = append(items, subscriptionShape(x.Subscription, teams[x.TeamID]))
	}
	return &subscriptionListOut{Body: listPage(items, "")}, err
}

func (s *api) createSubscription(ctx context.Context, k *call, _ *struct{}) (*subscriptionOut, error) {
	var spec alert.SubscriptionSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	x, err := s.alerts.Subscriptions.Create(ctx, k.actor, spec)
	if err != nil {
		return nil, err
	}
	teams, err := s.teamCodes(ctx, k.actor)
	return &subscriptionOut{Body: subscriptionShape(x, teams[x.TeamID])}, err
}

func (s *api) deleteSubscription(ctx context.Context, k *call, in *subscriptionIn) (*struct{}, error) {
	n, err := rowNumber(in.ID)
	if err != nil {
		return nil, err
	}
	return nil, s.alerts.Subscriptions.Delete(ctx, k.actor, n, "")
}
