package views

import (
	"time"

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

// shownTestCall is a form whose target was called as a test.
func shownTestCall(change func(*sched.TestCall)) TaskFormPage {
	p := shownNewTask()
	p.Values.URL, p.Values.Headers = "https://orders.internal/close", "Authorization: Bearer {{secret:PAY_TOKEN}}"
	at := time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC)
	c := sched.TestCall{At: at, Limit: 25 * time.Second, Policy: sched.Policy{TimeoutSeconds: 30, Idempotent: true}, Ending: sched.Ending{To: sched.Succeeded}}
	c.Request = "POST https://orders.internal/close\nAuthorization: Bearer ***\nAx-Attempt: 1\nAx-Signature: ***\nAx-Test: 1\nContent-Type: application/json\nIdempotency-Key: order.close/test-0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"
	c.Body = `{"instance_id":"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1","task":"order.close","biz_id":"test-0193868e-2f40-7c11-9a02-6b1fd2f0c7e1","attempt":1,"scheduled_at":"2026-12-02T06:32:07.000Z","payload":null}`
	c.Outcome, c.Definite, c.StatusCode = sched.OutcomeSucceeded, true, 200
	c.Response, c.ResponseBytes = "HTTP/2.0 200 OK\nContent-Type: application/json\n\n{\"closed\": 17}", 14
	c.Parts = sched.CallParts{Connect: 3 * time.Millisecond, TLS: 12 * time.Millisecond, FirstByte: 184 * time.Millisecond, Whole: 201 * time.Millisecond}
	change(&c)
	p.Test = &TestCallView{Call: c}
	return p
}

// testCallExamples are what a test call can come to.
func testCallExamples() []Example {
	refused := shownNewTask()
	refused.Values.URL = "http://169.254.169.254/latest"
	refused.Errors = []fault.FieldError{fault.Field("target.url", "%s is a metadata service of clouds, which nothing may call", "169.254.169.254")}
	refused.Test = &TestCallView{Errors: refused.Errors}
	return []Example{
		{Name: "task-test-call", Component: TaskForm(shownTestCall(func(*sched.TestCall) {}))},
		{Name: "task-test-call-failed", Component: TaskForm(shownTestCall(func(c *sched.TestCall) {
			c.Outcome, c.StatusCode, c.Error = sched.OutcomeFailed, 503, "answered 503 Service Unavailable: busy until ten"
			c.Response = "HTTP/1.1 503 Service Unavailable\nRetry-After: 120\n\nbusy until ten"
			c.Parts.Kept, c.Parts.Connect, c.Parts.TLS = true, 0, 0
			c.Ending = sched.Ending{To: sched.Retrying, DueAt: c.At.Add(2 * time.Minute)}
		}))},
		{Name: "task-test-call-refused", Component: TaskForm(refused)},
		{Name: "task-test-call-blocked", Component: TaskForm(shownTestCall(func(c *sched.TestCall) {
			c.Outcome, c.StatusCode, c.Response, c.ResponseBytes = sched.OutcomeFailed, 0, "", 0
			c.Error = "10.0.0.7: the address rules of this installation forbid it"
			c.Parts = sched.CallParts{Whole: 2 * time.Millisecond}
			c.Ending = sched.Ending{To: sched.Failed}
		}))},
		{Name: "task-test-call-accepted", Component: TaskForm(shownTestCall(func(c *sched.TestCall) {
			c.Outcome, c.StatusCode, c.Response, c.ResponseBytes = sched.OutcomeAccepted, 202, "HTTP/1.1 202 Accepted\nContent-Length: 0", 0
			c.Ending = sched.Ending{To: sched.Awaiting, ReceiptDeadline: c.At.Add(24 * time.Hour)}
		}))},
		{Name: "task-test-call-slow", Component: TaskForm(shownTestCall(func(c *sched.TestCall) {
			c.Policy.TimeoutSeconds = 120
			c.Outcome, c.Definite, c.StatusCode, c.Response, c.Error = sched.OutcomeTimedOut, false, 0, "", "no answer in time"
			c.Parts.FirstByte, c.Parts.Whole = 0, 25*time.Second
			c.Ending = sched.Ending{To: sched.TimedOut}
		}))},
	}
}
