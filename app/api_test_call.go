package app

import (
	"context"
	"net/http"
	"time"

	"ax/app/access"
	"ax/app/sched"
)

// testCallBody is what a test call came to.
type testCallBody struct {
	InstanceID string        `json:"instance_id" doc:"That the target was told; there is no such instance"`
	BizID      string        `json:"biz_id" example:"test-0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
	Verdict    sched.State   `json:"verdict" enum:"succeeded,awaiting,retrying,failed,timed_out" doc:"What would have become of a run"`
	RetryAt    instant       `json:"retry_at" doc:"When it would be tried again; null: it would not"`
	Outcome    sched.Outcome `json:"outcome" enum:"succeeded,accepted,failed,timed_out,canceled" doc:"How the call ended"`
	Certain    bool          `json:"certain" doc:"A whole answer came, or surely nothing was sent"`
	Error      string        `json:"error" doc:"One line for people; empty on success"`

	StatusCode    int    `json:"status_code" doc:"0: none came" example:"200"`
	Request       string `json:"request" doc:"Method, address and headers that were sent; secrets are masked"`
	Body          string `json:"body" doc:"That was sent, at most 4 KiB"`
	Response      string `json:"response" doc:"Status, headers and body that came back, at most 6 KiB"`
	ResponseBytes int64  `json:"response_bytes" doc:"Bytes of body that were read"`

	Parts        testPartsBody `json:"parts"`
	LimitSeconds float64       `json:"limit_seconds" doc:"That the call had: the task's, at most 25"`
}

// testPartsBody are the times of a call.
type testPartsBody struct {
	Kept        bool    `json:"kept" doc:"By a connection that stood from an earlier call"`
	ConnectMS   float64 `json:"connect_ms" doc:"0: it was not needed, or not begun"`
	TLSMS       float64 `json:"tls_ms"`
	FirstByteMS float64 `json:"first_byte_ms" doc:"From the connection on"`
	WholeMS     float64 `json:"whole_ms"`
}

type testCallOut struct {
	Body testCallBody
}

func (s *api) testCallOperation() {
	add(s, operation{
		method: http.MethodPost, path: "/tasks/test-call", id: "test-call", tag: tagTasks, verb: access.EditTask,
		summary: "Call a target as a test", body: sched.TaskSpec{}, example: exampleTask, bucket: func(s *api) *limits { return s.tests },
		about: "Calls the target of a task as it is written here, once, by the rules of its team, and tells what would have become of a run. " +
			"Nothing is saved and no instance is made; the call carries Ax-Test: 1, and a receipt of it is refused with 409. " +
			"Only targets of kind http with an address. It waits as long as the task's time limit says, at most 25 s; ten calls a minute.",
	}, (*api).testTarget)
}

func (s *api) testTarget(ctx context.Context, k *call, _ *struct{}) (*testCallOut, error) {
	var spec sched.TaskSpec
	if err := decode(k.body, &spec); err != nil {
		return nil, err
	}
	got, err := s.testCalls.Call(ctx, k.actor, "", spec)
	if err != nil {
		return nil, err
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	out := &testCallOut{Body: testCallBody{
		InstanceID: got.InstanceID, BizID: got.BizID, Verdict: got.Ending.To, Outcome: got.Outcome, Certain: got.Definite, Error: got.Error,
		StatusCode: got.StatusCode, Request: got.Request, Body: got.Body, Response: got.Response, ResponseBytes: got.ResponseBytes,
		Parts:        testPartsBody{Kept: got.Parts.Kept, ConnectMS: ms(got.Parts.Connect), TLSMS: ms(got.Parts.TLS), FirstByteMS: ms(got.Parts.FirstByte), WholeMS: ms(got.Parts.Whole)},
		LimitSeconds: got.Limit.Seconds(),
	}}
	if got.Ending.To == sched.Retrying {
		out.Body.RetryAt = instant(got.Ending.DueAt)
	}
	return out, nil
}
