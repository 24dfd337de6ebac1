package app_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// brokerProbe answers for all brokers.
type brokerProbe struct{ wrong error }

func (p *brokerProbe) Probe(context.Context, access.Broker, access.BrokerAccount) error {
	return p.wrong
}

// broker is one of the house's team, named rabbit.
func (h *house) broker() access.Broker {
	h.t.Helper()
	b, err := h.opt.Brokers.Add(h.t.Context(), root, h.team, access.NewBroker{
		Name: "rabbit", Kind: access.BrokerAMQP, Address: "amqp://rabbit.example.com", User: "shop", Password: "canary-of-rabbit", Places: "orders order.*",
	})
	require.NoError(h.t, err)
	return b
}

func TestAnOwnerKeepsABrokerWhoseAccountIsOnNoPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	owner := h.as("owner")
	fields := []string{
		"broker_name", "shop-rabbit", "broker_kind", "amqp", "broker_address", "amqps://Rabbit.example.com/shop", "broker_user", "shop-user",
		"broker_password", "canary-of-rabbit", "broker_places", "orders order.*\r\norders refund.#",
	}
	require.Equal(t, http.StatusSeeOther, owner.post("/teams/payments/brokers", fields...).status)
	page := owner.get("/teams/payments")
	row := page.text("[data-test=broker]")
	for _, said := range []string{"shop-rabbit", "RabbitMQ · amqp://rabbit.example.com:5671/shop", "With TLS", "orders order.*", "orders refund.#"} {
		require.Contains(t, row, said)
	}
	viewed := h.as("viewer").get("/teams/payments")
	require.Contains(t, viewed.text("[data-test=broker]"), "shop-rabbit", "names may be read: tasks name them")
	require.False(t, viewed.has("#add-broker"))
	require.False(t, viewed.has("[name=test_broker]"))

	again := owner.post("/teams/payments/brokers", fields...)
	require.Equal(t, http.StatusConflict, again.status)
	require.True(t, again.has("#f-broker-name-error"))
	bad := owner.post("/teams/payments/brokers", "broker_name", "Shop", "broker_kind", "amqp", "broker_address", "https://x/", "broker_password", "canary-of-rabbit", "broker_places", "orders")
	require.Equal(t, http.StatusUnprocessableEntity, bad.status)
	for _, field := range []string{"name", "address", "user", "places"} {
		require.True(t, bad.has("#f-broker-"+field+"-error"), field)
	}
	require.Equal(t, "https://x/", bad.value("broker_address"))

	moved := owner.post("/teams/payments/brokers/change", "other_name", "shop-rabbit", "other_address", "amqps://evil.example.com")
	require.Equal(t, http.StatusUnprocessableEntity, moved.status)
	require.True(t, moved.has("#f-other-password-error"))
	require.Equal(t, http.StatusSeeOther, owner.post("/teams/payments/brokers/change", "other_name", "shop-rabbit", "other_places", "orders order.*").status)
	require.Equal(t, http.StatusUnprocessableEntity, owner.post("/teams/payments/brokers/change", "other_name", "none").status)

	require.Equal(t, http.StatusSeeOther, owner.post("/teams/payments/brokers/test", "test_broker", "shop-rabbit").status)
	h.probe.wrong = errors.New("404 no exchange 'orders'")
	tested := owner.post("/teams/payments/brokers/test", "test_broker", "shop-rabbit")
	require.Equal(t, http.StatusUnprocessableEntity, tested.status)
	require.Contains(t, tested.text("[data-test=broker-tested]"), "shop-rabbit: 404 no exchange 'orders'")
	require.Equal(t, http.StatusUnprocessableEntity, owner.post("/teams/payments/brokers/test", "test_broker", "none").status)

	h.task("pay.out", func(s *sched.TaskSpec) {
		s.Target = sched.TargetSpec{Kind: sched.TargetMQ, Broker: "shop-rabbit", Exchange: "orders", RoutingKey: "order.close"}
	})
	used := owner.post("/teams/payments/brokers/remove", "remove_broker", "shop-rabbit")
	require.Equal(t, http.StatusUnprocessableEntity, used.status)
	require.Contains(t, used.text("#f-remove-broker-error"), "pay.out")
	require.Equal(t, http.StatusSeeOther, owner.post("/tasks/pay.out/archive", "reason", "over").status)
	require.Equal(t, http.StatusSeeOther, owner.post("/teams/payments/brokers/remove", "remove_broker", "shop-rabbit").status)
	require.Equal(t, http.StatusUnprocessableEntity, owner.post("/teams/payments/brokers/remove", "remove_broker", "shop-rabbit").status)

	audit := owner.get("/audit.csv").body
	for _, action := range []string{"broker.create", "broker.update", "broker.delete"} {
		require.Contains(t, audit, action)
	}
	for _, text := range []string{page.body, again.body, moved.body, tested.body, audit, h.log.String(), owner.get("/audit").body} {
		require.NotContains(t, text, "canary")
	}
	require.NotContains(t, bad.body, "canary")
}

func TestAMessageOfATaskInFormPageAndAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	require.False(t, h.as("editor").get("/tasks/new").has("[value=mq]"), "there is no broker yet")
	h.broker()
	editor := h.as("editor")
	form := editor.get("/tasks/new")
	require.True(t, form.has("[name='target.kind'][value=mq]"))
	require.Contains(t, form.text("[data-test=broker-places]"), "rabbit: orders order.*")

	fields := taskFields("target.kind", "mq", "target.broker", "rabbit", "target.exchange", "orders", "target.routing_key", "order.close",
		"target.message_headers", "shop: 门店 17\r\n", "target.done", "confirm")
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/new", fields...).status)
	want := sched.Target{
		Kind: sched.TargetMQ, Broker: "rabbit", Exchange: "orders", RoutingKey: "order.close", Done: sched.DoneConfirm,
		Headers: map[string]string{"shop": "门店 17"},
	}
	require.Equal(t, want, h.stored("orders.send").Spec.Target)
	page := editor.get("/tasks/orders.send")
	require.Equal(t, "rabbit", page.text("[data-test=broker]"))
	require.Equal(t, "orders", page.text("[data-test=place]"))
	stored := editor.get("/tasks/orders.send/edit")
	require.Equal(t, "order.close", stored.value("target.routing_key"))
	require.Equal(t, "shop: 门店 17", stored.doc().Find("[name='target.message_headers']").Text())
	require.Empty(t, stored.doc().Find("[name='target.headers']").Text())

	refused := editor.post("/tasks/new", taskFields("code", "another", "target.kind", "mq", "target.exchange", "amq.direct", "target.broker", "rabbit", "target.routing_key", "order.close", "target.message_headers", "CC: x", "target.done", "receipt")...)
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, fieldError(refused, "target.exchange"), "is not on the list of rabbit")
	require.Contains(t, fieldError(refused, "target.message_headers"), "CC is not a task’s to set")
	require.Equal(t, "CC: x", refused.doc().Find("[name='target.message_headers']").Text())

	var list struct {
		Items []struct {
			Name, Kind, Address string
			Places              []string
			Tasks               int
		}
	}
	h.api(access.Viewer).get(v1 + "/brokers").into(&list)
	require.Len(t, list.Items, 1)
	require.Equal(t, []any{"rabbit", "amqp", "amqp://rabbit.example.com:5672", 1}, []any{list.Items[0].Name, list.Items[0].Kind, list.Items[0].Address, list.Items[0].Tasks})
	require.NotContains(t, h.api(access.Viewer).get(v1+"/brokers").body, "canary")
	body := strings.ReplaceAll(order("by.api"), `"kind": "http", "url": "https://orders.example.com/close"`, `"kind": "mq", "broker": "rabbit", "exchange": "orders", "routing_key": "shop.close"`)
	require.Equal(t, []string{"target.exchange"}, h.api(access.Editor).wants(v1+"/tasks", body, 422).fields())
	h.api(access.Editor).wants(v1+"/tasks", strings.ReplaceAll(body, "shop.close", "order.close"), 201)
}

// Over the API as on the page: another address needs the account again, a
// broker that a task names stays, and no answer has the account.
func TestABrokerIsKeptOverTheAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.broker()
	owner := h.api(access.Owner)
	const one = v1 + "/brokers/rabbit"
	is := owner.json("PUT", one, `{"places": ["orders order.*", "orders refund.#"]}`)
	require.Equal(t, http.StatusOK, is.status)
	require.Contains(t, is.body, `"places":["orders order.*","orders refund.#"]`)
	require.Contains(t, is.body, `"address":"amqp://rabbit.example.com:5672"`, "what is left out stays")
	moved := owner.json("PUT", one, `{"address": "amqp://evil.example.com"}`)
	require.Equal(t, http.StatusUnprocessableEntity, moved.status)
	require.Equal(t, "password", moved.problem().Errors[0].Field)
	require.Equal(t, http.StatusOK, owner.json("PUT", one, `{"address": "amqps://two.example.com", "user": "shop", "password": "canary-of-two"}`).status)
	plain := owner.json("PUT", one, `{"tls": false}`)
	require.Equal(t, http.StatusUnprocessableEntity, plain.status, "the account would go in the clear")

	require.Equal(t, http.StatusNoContent, owner.json("POST", one+"/test", "").status)
	h.probe.wrong = errors.New("404 no exchange 'orders'")
	tested := owner.json("POST", one+"/test", "")
	require.Equal(t, http.StatusUnprocessableEntity, tested.status)
	require.Contains(t, tested.body, "404 no exchange 'orders'")

	h.task("pay.out", func(s *sched.TaskSpec) {
		s.Target = sched.TargetSpec{Kind: sched.TargetMQ, Broker: "rabbit", Exchange: "orders", RoutingKey: "order.close"}
	})
	used := owner.json("DELETE", one, "")
	require.Equal(t, http.StatusConflict, used.status)
	require.Contains(t, used.body, "pay.out")
	require.Equal(t, http.StatusSeeOther, h.as("owner").post("/tasks/pay.out/archive", "reason", "over").status)
	require.Equal(t, http.StatusNoContent, owner.json("DELETE", one, "").status)
	require.Equal(t, http.StatusNotFound, owner.json("DELETE", one, "").status)
	for _, text := range []string{is.body, moved.body, plain.body, tested.body, used.body, h.log.String()} {
		require.NotContains(t, text, "canary")
	}
}
