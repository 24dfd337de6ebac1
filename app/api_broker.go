package app

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/access"
)

// oneBrokerOperations are those of a broker that is there.
func (s *api) oneBrokerOperations() {
	const one = "/brokers/{name}"
	add(s, operation{
		method: http.MethodPut, path: one, id: "update-broker", tag: tagOperation, verb: access.ManageSecrets, object: brokerObject,
		body: brokerChange{}, example: `{"places": ["orders order.*", "orders refund.#", "orders invoice.#"]}`,
		summary: "Change a message broker", about: "What is left out stays. Another address, or giving up TLS, needs the account again.",
	}, (*api).updateBroker)
	add(s, operation{
		method: http.MethodPost, path: one + "/test", id: "test-broker", tag: tagOperation, verb: access.ManageSecrets, object: brokerObject, status: http.StatusNoContent,
		summary: "Test a message broker", about: "Connects and asks for each exchange, queue or stream on the list, changing nothing; 422 says what was wrong.",
	}, (*api).testBroker)
	add(s, operation{
		method: http.MethodDelete, path: one, id: "delete-broker", tag: tagOperation, verb: access.ManageSecrets, object: brokerObject, status: http.StatusNoContent, conflicts: true,
		summary: "Delete a message broker", about: "409 while tasks name it.",
	}, (*api).deleteBroker)
}

// brokerChange is what a caller may change of a broker.
type brokerChange struct {
	Address  string   `json:"address,omitempty" doc:"amqp://host:port/vhost or redis://host:port/db, without the account"`
	TLS      *bool    `json:"tls,omitempty" doc:"Also said by amqps:// and rediss://"`
	User     string   `json:"user,omitempty"`
	Password string   `json:"password,omitempty"`
	Places   []string `json:"places,omitempty" doc:"All that tasks may publish to, in place of the list that stands"`
}

type brokerIn struct {
	Name string `path:"name" doc:"The broker's name" example:"shop-rabbit"`
}

// brokerObject is the broker that the path names, as far as the actor sees it.
func brokerObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	_, err := s.brokers.Find(ctx, by, ownTeam(by).ID, c.Param("name"))
	return err
}

// ownTeam is the one of a token.
func ownTeam(by access.Actor) access.Team {
	for team := range by.Roles {
		return access.Team{ID: team}
	}
	return access.Team{}
}

func (s *api) updateBroker(ctx context.Context, k *call, in *brokerIn) (*brokerOut, error) {
	var w brokerChange
	if err := decode(k.body, &w); err != nil {
		return nil, err
	}
	change := access.NewBroker{Address: w.Address, User: w.User, Password: w.Password, Places: strings.Join(w.Places, "\n")}
	if w.TLS != nil {
		change.TLS = strconv.FormatBool(*w.TLS)
	}
	is, err := s.brokers.Change(ctx, k.actor, ownTeam(k.actor), in.Name, change)
	if err != nil {
		return nil, err
	}
	return &brokerOut{Body: brokerShape(is)}, nil
}

func (s *api) testBroker(ctx context.Context, k *call, in *brokerIn) (*struct{}, error) {
	return nil, s.brokers.Test(ctx, k.actor, ownTeam(k.actor), in.Name)
}

func (s *api) deleteBroker(ctx context.Context, k *call, in *brokerIn) (*struct{}, error) {
	return nil, s.brokers.Remove(ctx, k.actor, ownTeam(k.actor), in.Name)
}
