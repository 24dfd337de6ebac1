package sched

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// posting is a valid task that publishes to a RabbitMQ.
func posting() TaskSpec {
	w := written(KindCron)
	w.Target = TargetSpec{Kind: TargetMQ, Broker: "rabbit", Exchange: "orders", RoutingKey: "order.close"}
	return w
}

func (b *book) Brokers(_ context.Context, team int64) ([]access.Broker, error) {
	if team != shop {
		return nil, b.fail["Brokers"]
	}
	return []access.Broker{
		{Name: "rabbit", Kind: access.BrokerAMQP, Places: []string{"(default) shop.jobs", "orders order.*"}},
		{Name: "redis", Kind: access.BrokerRedis, Places: []string{"orders", "short 1000"}},
	}, b.fail["Brokers"]
}

func TestAMessageIsReadWithItsDefaults(t *testing.T) {
	w := posting()
	w.Target.Headers = map[string]string{"shop": " 门店 17 "}
	got, err := w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, Target{
		Kind: TargetMQ, Broker: "rabbit", Exchange: "orders", RoutingKey: "order.close", Done: DoneReceipt,
		Headers: map[string]string{"shop": "门店 17"},
	}, got.Spec.Target)
	again, err := got.Written("shop").Resolve(got, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, got.Spec, again.Spec)
	raw, err := json.Marshal(got.Spec.Target)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind":"mq","broker":"rabbit","exchange":"orders","routing_key":"order.close","done":"receipt","headers":{"shop":"门店 17"}}`, string(raw))
}

func TestBadMessagesAreRefused(t *testing.T) {
	with := func(field string, change func(*TargetSpec)) refused {
		return refused{func(w *TaskSpec) { *w = posting(); change(&w.Target) }, []string{field}}
	}
	header := func(name, value string) refused {
		return with("target.headers", func(w *TargetSpec) { w.Headers = map[string]string{name: value} })
	}
	requireRefused(t, KindCron, map[string]refused{
		"no broker":                 with("target.broker", func(w *TargetSpec) { w.Broker = " " }),
		"nowhere to go":             with("target.exchange", func(w *TargetSpec) { w.Exchange = "" }),
		"both ways":                 with("target.stream", func(w *TargetSpec) { w.Stream = "orders" }),
		"an exchange with a blank":  with("target.exchange", func(w *TargetSpec) { w.Exchange = "or ders" }),
		"a key with a pattern":      with("target.routing_key", func(w *TargetSpec) { w.RoutingKey = "order.#" }),
		"a key that is too long":    with("target.routing_key", func(w *TargetSpec) { w.RoutingKey = strings.Repeat("k", 256) }),
		"a key with a line end":     with("target.routing_key", func(w *TargetSpec) { w.RoutingKey = "a\nb" }),
		"the default without queue": with("target.routing_key", func(w *TargetSpec) { w.Exchange, w.RoutingKey = access.DefaultExchange, "" }),
		"another end":               with("target.done", func(w *TargetSpec) { w.Done = "never" }),
		"a stream with a blank":     with("target.stream", func(w *TargetSpec) { w.Exchange, w.RoutingKey, w.Stream = "", "", "a b" }),
		"a stream with a key":       with("target.routing_key", func(w *TargetSpec) { w.Exchange, w.Stream = "", "orders" }),
		"an address":                with("target.url", func(w *TargetSpec) { w.URL = "https://x.example" }),
		"a command":                 with("target.command", func(w *TargetSpec) { w.Command = "/bin/true" }),
		"another routing key":       header("CC", "elsewhere"),
		"a hidden routing key":      header("bcc", "elsewhere"),
		"a header of the broker":    header("x-delay", "1000"),
		"a header of ax":            header("Ax-Receipt-Token", "x"),
		"a header with a blank":     header("a b", "x"),
		"a header with a line end":  header("a", "x\r\ny"),
		"a secret":                  header("shop", "{{secret:PAY_TOKEN}}"),
		"a credential":              header("api-key", "abcdefgh"),
		"an address with a broker":  {func(w *TaskSpec) { w.Target.Broker = "rabbit" }, []string{"target.broker"}},
		"a command with an exchange": {func(w *TaskSpec) {
			*w = command()
			w.Target.Exchange = "orders"
		}, []string{"target.exchange"}},
	})
}

func TestAMessageThatTheTeamMayNotPublishIsRefusedWhenItIsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		to    TargetSpec
		field string // "": it is taken
		says  string
	}{
		"on the list":         {TargetSpec{Broker: "rabbit", Exchange: "orders", RoutingKey: "order.close"}, "", ""},
		"a queue of the list": {TargetSpec{Broker: "rabbit", Exchange: "(default)", RoutingKey: "shop.jobs"}, "", ""},
		"a stream":            {TargetSpec{Broker: "redis", Stream: "short"}, "", ""},
		"another key":         {TargetSpec{Broker: "rabbit", Exchange: "orders", RoutingKey: "order.close.now"}, "target.exchange", "is not on the list of rabbit"},
		"another exchange":    {TargetSpec{Broker: "rabbit", Exchange: "amq.direct", RoutingKey: "order.close"}, "target.exchange", "is not on the list of rabbit"},
		"another queue":       {TargetSpec{Broker: "rabbit", Exchange: "(default)", RoutingKey: "depot.jobs"}, "target.exchange", "is not on the list of rabbit"},
		"another stream":      {TargetSpec{Broker: "redis", Stream: "other"}, "target.stream", "The stream other is not on the list of redis"},
		"a stream of rabbit":  {TargetSpec{Broker: "rabbit", Stream: "orders"}, "target.stream", "is no Redis"},
		"exchange of redis":   {TargetSpec{Broker: "redis", Exchange: "orders", RoutingKey: "order.close"}, "target.exchange", "is no RabbitMQ"},
		"no such broker":      {TargetSpec{Broker: "none", Stream: "orders"}, "target.broker", "The team has no broker none"},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			w := posting()
			c.to.Kind = TargetMQ
			w.Code, w.Target = "another", c.to
			_, err := o.tasks.Create(t.Context(), as(access.Editor), w)
			requireField(t, err, c.field, c.says)
			w.Code, w.Version = written(KindCron).Code, 1
			_, err = o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
			requireField(t, err, c.field, c.says)
		})
	}
}

func requireField(t *testing.T, err error, field, says string) {
	t.Helper()
	if field == "" {
		require.NoError(t, err)
		return
	}
	require.Len(t, fault.Fields(err), 1)
	require.Equal(t, field, fault.Fields(err)[0].Name)
	require.Contains(t, fault.Fields(err)[0].Text.String(), says)
}

// posts gives the office's one task another target.
func (o *office) posts(to Target) {
	task := o.book.tasks["close-orders"]
	task.Spec.Target = to
	o.book.tasks[task.Code] = task
}

func TestAListThatWasNarrowedDoesNotStandInTheWayOfOtherChanges(t *testing.T) {
	o := newOffice()
	o.posts(Target{Kind: TargetMQ, Broker: "rabbit", Exchange: "gone", RoutingKey: "x", Done: DoneReceipt})
	w := posting()
	w.Target.Exchange, w.Target.RoutingKey, w.Version, w.Name = "gone", "x", 1, "another name"
	_, err := o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
	require.NoError(t, err)
	w.Version, w.Target.RoutingKey = 2, "y"
	_, err = o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
	requireField(t, err, "target.exchange", "is not on the list")
}

func TestATaskDoesNotMoveToATeamWithoutItsBroker(t *testing.T) {
	o := newOffice()
	o.posts(Target{Kind: TargetMQ, Broker: "rabbit", Exchange: "orders", RoutingKey: "order.close", Done: DoneReceipt})
	_, err := o.tasks.Move(t.Context(), inBoth(access.Editor, access.Editor), "close-orders", TeamMove{Team: "depot"})
	requireField(t, err, "team", "The team has no broker rabbit")
}
