package app

import (
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/sched"
	"ax/views"
)

// typedMessage are the fields of a message as they were typed.
func (f *form) typedMessage() views.MQValues {
	return views.MQValues{
		Broker: f.text("target.broker"), Exchange: f.text("target.exchange"), RoutingKey: f.text("target.routing_key"),
		Stream: f.text("target.stream"), Done: f.text("target.done"),
		Headers: f.raw("target.message_headers"), CancelKey: f.text("target.cancel_routing_key"),
	}
}

// messageSpec is the target that the fields describe.
func (f *form) messageSpec(v views.MQValues) sched.TargetSpec {
	return sched.TargetSpec{
		Kind: sched.TargetMQ, Broker: v.Broker, Exchange: v.Exchange, RoutingKey: v.RoutingKey, Stream: v.Stream,
		Done: sched.MQDone(v.Done), CancelRoutingKey: v.CancelKey, Headers: f.headers("target.headers", v.Headers),
	}
}

// brokerChoices are the brokers of the task's team; of all teams that the
// person may make tasks in while the team may still be chosen. Without them
// the form still works.
func (a *App) brokerChoices(c *gin.Context, stored sched.Task) []views.BrokerChoice {
	teams := a.editableTeams(c)
	if stored.ID != 0 {
		teams = []access.Team{{ID: stored.TeamID}}
	}
	var out []views.BrokerChoice
	for _, t := range teams {
		list, err := a.brokers.List(c.Request.Context(), actor(c), t.ID)
		if err != nil {
			return nil
		}
		for _, b := range list {
			choice := views.BrokerChoice{Broker: b}
			if len(teams) > 1 {
				choice.Team = t.Name
			}
			out = append(out, choice)
		}
	}
	return out
}
