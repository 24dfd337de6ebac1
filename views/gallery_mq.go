package views

import (
	"time"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

func shownBrokers() []access.Broker {
	return []access.Broker{
		{Name: "events", Kind: access.BrokerRedis, Address: "redis://events.internal:6379/2", Places: []string{"orders.events 100000"}, ChangedBy: "ops-lead", ChangedAt: ago(3000 * time.Hour)},
		{Name: "shop-rabbit", Kind: access.BrokerAMQP, Address: "amqp://rabbit.shop.internal:5671/%E9%97%A8%E5%BA%97", TLS: true, Tasks: 4,
			Places: []string{"(default) settlement.jobs", "orders order.*", "orders refund.#"}, ChangedBy: "partner-settlement-readonly", ChangedAt: ago(26 * time.Hour)},
	}
}

func shownBrokerChoices() []BrokerChoice {
	var out []BrokerChoice
	for _, b := range shownBrokers() {
		out = append(out, BrokerChoice{Broker: b, Team: "Payments 支付团队"})
	}
	return out
}

func shownMessage() sched.Target {
	return sched.Target{
		Kind: sched.TargetMQ, Broker: "shop-rabbit", Exchange: "orders", RoutingKey: "order.close", CancelRoutingKey: "order.stop", Done: sched.DoneReceipt,
		Headers: map[string]string{"shop": "0117 徐家汇店", "priority": "night"},
	}
}

func shownMessageForm(errors []fault.FieldError) TaskFormPage {
	p := shownNewTask()
	p.Errors, p.Brokers = errors, shownBrokerChoices()
	p.Values.target(shownMessage())
	return p
}

// shownNoMessageForm is of a task whose broker is gone.
func shownNoMessageForm() TaskFormPage {
	p := shownMessageForm(nil)
	p.Brokers = p.Brokers[:1]
	p.Brokers[0].Team = ""
	return p
}

func shownMessageTask() TaskPage {
	p := shownTaskPage()
	p.Task.Spec.Target = shownMessage()
	return p
}

func shownStreamTask() TaskPage {
	p := shownTaskPage()
	p.Task.Spec.Target = sched.Target{Kind: sched.TargetMQ, Broker: "events", Stream: "orders.events", Done: sched.DoneConfirm}
	return p
}

// messagePage is an instance whose message nobody gets.
func messagePage() InstancePage {
	said := "the broker gave the message back: 312 NO_ROUTE, no queue is bound for this routing key"
	a := runAttempt(1, 52*time.Second, time.Second, sched.OutcomeFailed, 312, said, said)
	a.Executor = string(sched.TargetMQ)
	a.Request = "PUBLISH orders order.close\nbroker: shop-rabbit (amqp)\nmessage-id: billing.settle-daily/@1796193000000\ncorrelation-id: 0193868e-2f40-7c11-9a02-6b1fd2f0c7e1\ntype: ax.run\ncontent-type: application/json\nax-attempt: 1\nax-receipt-token: ***\nax-signature: ***\nshop: 0117 徐家汇店"
	v := viewOf(sched.Failed, a)
	v.Error = a.Error
	v.Task.Spec.Target = shownMessage()
	return InstancePage{View: v, Nodes: runNodes(), Runs: stripRuns(), Again: []sched.Instance{v.Instance}}
}

func mqTeamExamples(owned TeamPage) []Example {
	refused := owned
	refused.Form, refused.Values.Broker = FormBroker, BrokerValues{Name: "Shop", Kind: "amqp", Address: "amqp://shop:secret@rabbit", Places: "orders"}
	refused.Errors = []fault.FieldError{
		fault.Field("broker_name", "Small letters, digits, dots and dashes, beginning with a letter or digit, such as shop-rabbit"),
		fault.Field("broker_address", "User name and password have fields of their own"), fault.Field("broker_password", "A password is needed"),
		fault.Field("broker_places", "An exchange and a routing key on each line, such as orders order.*; this is %q", "orders"),
	}
	tested := owned
	tested.Form, tested.Errors = FormTestBroker, []fault.FieldError{fault.Field("", "%s: %s", "shop-rabbit", "404 NOT_FOUND - no exchange 'orders' in vhost '门店'")}
	return []Example{
		{Name: "team-broker-refused", Component: TeamDetail(refused)},
		{Name: "team-broker-tested", Component: TeamDetail(tested)},
	}
}
