package app

import (
	"context"
	"net/http"
	"strings"

	"ax/app/access"
)

func (s *api) brokerOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/brokers", id: "list-brokers", tag: tagOperation, verb: access.Read,
		summary: "List the message brokers of the token's team",
		about:   "Tasks of kind mq name one, and may publish to what is on its list. Owners keep brokers on the team's page; nobody can read their accounts.",
	}, (*api).listBrokers)
	add(s, operation{
		method: http.MethodPost, path: "/brokers", id: "create-broker", tag: tagOperation, verb: access.ManageSecrets, status: http.StatusCreated,
		conflicts: true, body: brokerSpec{},
		example: `{"name": "shop-rabbit", "kind": "amqp", "address": "amqps://rabbit.example.com/shop", "user": "ax", "password": "a-good-password", "places": ["orders order.*", "orders refund.#"]}`,
		summary: "Add a message broker to the token's team", about: "The account is kept sealed: no answer has it.",
	}, (*api).createBroker)
	s.oneBrokerOperations()
}

// brokerSpec is a broker as a caller writes it.
type brokerSpec struct {
	Name     string            `json:"name" doc:"Small letters, digits, dots and dashes; never changes"`
	Kind     access.BrokerKind `json:"kind" doc:"amqp or redis"`
	Address  string            `json:"address" doc:"amqp://host:port/vhost or redis://host:port/db, without the account"`
	TLS      bool              `json:"tls,omitempty" doc:"Also said by amqps:// and rediss://"`
	User     string            `json:"user,omitempty"`
	Password string            `json:"password,omitempty"`
	Places   []string          `json:"places" doc:"What tasks may publish to: exchange and routing key, or a stream"`
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
	list, err := s.brokers.List(ctx, k.actor, ownTeam(k.actor).ID)
	if err != nil {
		return nil, err
	}
	items := make([]brokerBody, len(list))
	for i, b := range list {
		items[i] = brokerShape(b)
	}
	return &brokerListOut{Body: listPage(items, "")}, nil
}

func brokerShape(b access.Broker) brokerBody {
	return brokerBody{
		Name: b.Name, Kind: b.Kind, Address: b.Address, TLS: b.TLS, Places: b.Places, Tasks: b.Tasks, ChangedBy: b.ChangedBy, ChangedAt: instant(b.ChangedAt),
	}
}

type brokerOut struct {
	Body brokerBody
}

func (s *api) createBroker(ctx context.Context, k *call, _ *struct{}) (*brokerOut, error) {
	var w brokerSpec
	if err := decode(k.body, &w); err != nil {
		return nil, err
	}
	in := access.NewBroker{Name: w.Name, Kind: w.Kind, Address: w.Address, User: w.User, Password: w.Password, Places: strings.Join(w.Places, "\n")}
	if w.TLS {
		in.TLS = "true"
	}
	made, err := s.brokers.Add(ctx, k.actor, ownTeam(k.actor), in)
	if err != nil {
		return nil, err
	}
	return &brokerOut{Body: brokerShape(made)}, nil
}
