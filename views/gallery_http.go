package views

import (
	"ax/app/fault"
	"ax/app/sched"
)

func shownHTTPRules() *sched.HTTPRules {
	return &sched.HTTPRules{
		Method: "PUT", Body: "{\n  \"order\": \"{{biz_id}}\",\n  \"reason\": \"{{payload.reason}}\"\n}",
		Statuses: "200-299, 409", Field: "data.code", Equals: "0", Await: true, Redirects: 2, ConnectSeconds: 2, FirstByteSeconds: 20, ClientCert: "PAY_CERT", CancelURL: "https://orders.internal/jobs/stop",
	}
}

func shownHTTPForm() TaskFormPage {
	p := shownNewTask()
	v := Viewer{}
	p.Values.URL, p.Values.HTTP = "https://orders.internal/close", v.httpValues(shownHTTPRules())
	p.Values.HTTP.Body = "{\n  \"order\": \"{{order_id}}\"\n}"
	p.Errors = []fault.FieldError{
		fault.Field("target.http.body", "{{%s}} names nothing. There are: %s, and what is in the payload, such as {{payload.order.id}}. Credentials go into headers.", "order_id", "instance_id, task, biz_id, key, attempt, replay, scheduled_at, payload"),
		fault.Field("target.http.first_byte_seconds", "The whole time limit is %d s; a part of it can't be %d", 10, 20),
	}
	return p
}

func shownHTTPTask() TaskPage {
	p := shownTaskPage()
	p.Task.Spec.Target.HTTP = shownHTTPRules()
	return p
}
