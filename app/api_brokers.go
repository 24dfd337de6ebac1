package app

import (
	"context"
	"net/http"

	"ax/app/access"
)

func (s *api) brokerOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/brokers", id: "list-brokers", tag: tagOperation, verb: access.Read,
		summary: "List the message brokers of the token's team",
		about:   "Tasks of kind mq name one, and may publish to what is on its list. Owners keep brokers on the team's page; nobody can read their accounts.",
	}, (*api).listBrokers)
}

type brokerBody struct {
	Name      string            `json:"name" example:"shop-rabbit"`
	Kind      access.BrokerKind `json:"kind" enum:"amqp,redis"`
	Address   string            `json:"address" example:"amqp://rabbit.example.com:5672/shop"`
	TLS       bool              `json:"tls"`
	Places    []string          `json:"places" doc:"What tasks may publish to: exchange and routing key (* is one word, # any number), or a stream and how many entries it keeps"`
	Tasks     int               `json:"tasks" doc:"How many tasks name it"`
	ChangedBy string            `json:"changed_by"`
	ChangedAt instant           `json:"changed_at"`
}

type brokerListOut struct {
	Body listOf[brokerBody]
}

func (s *api) listBrokers(ctx context.Context, k *call, _ *struct{}) (*brokerListOut, error) {
	var items []brokerBody
	for team := range k.actor.Roles { // of a token: one
		list, err := s.brokers.List(ctx, k.actor, team)
		if err != nil {
			return nil, err
		}
		for _, b := range list {
			items = append(items, brokerBody{
				Name: b.Name, Kind: b.Kind, Address: b.Address, TLS: b.TLS, Places: b.Places, Tasks: b.Tasks, ChangedBy: b.ChangedBy, ChangedAt: instant(b.ChangedAt),
			})
		}
	}
	return &brokerListOut{Body: listPage(items, "")}, nil
}
