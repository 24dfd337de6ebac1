package app

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// instanceIn names an instance.
type instanceIn struct {
	ID string `path:"id" doc:"The instance's id" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
}

// InstanceBody is an instance as the API's lists show it: every time under the
// name of its column.
type InstanceBody struct {
	ID          string       `json:"id" format:"uuid" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
	Task        string       `json:"task" doc:"The task's code" example:"order.close-unpaid"`
	BizID       string       `json:"biz_id" doc:"The caller's name for the business action; @ and the slot for a slot" example:"SO-20261202-778431"`
	Key         string       `json:"key" doc:"Idempotency-Key that the target gets, the same for every attempt and replay" example:"order.close-unpaid/SO-20261202-778431"`
	Replay      int          `json:"replay" doc:"0: the first"`
	ReplayOf    string       `json:"replay_of" doc:"Instance that this one repeats; empty: none"`
	Origin      sched.Origin `json:"origin" enum:"schedule,api,person,replay" doc:"Who asked for it"`
	RequestedBy string       `json:"requested_by"`
	Queue       string       `json:"queue"`
	State       sched.State  `json:"state" enum:"pending,queued,running,awaiting,retrying,succeeded,failed,timed_out,lost,skipped,canceled"`
	Reason      string       `json:"reason" doc:"Why skipped or canceled"`
	Error       string       `json:"error" doc:"What went wrong at last, in one line"`
	Attempt     int          `json:"attempt" doc:"Number of the latest attempt; 0: not begun"`
	Retries     int          `json:"retries" doc:"Attempts that failed and were repeated"`
	Deaths      int          `json:"deaths" doc:"Attempts that ended with their node"`
	Defers      int          `json:"defers" doc:"How often it found no free place"`
	Resends     int          `json:"resends" doc:"How often it was handed over again"`
	NodeID      string       `json:"node_id" doc:"Node that has it or had it last"`

	SlotAt          instant `json:"slot_at" doc:"The schedule's moment; null for requests"`
	WantedAt        instant `json:"wanted_at" nullable:"false" doc:"First due time; never changes"`
	DueAt           instant `json:"due_at" nullable:"false" doc:"Moves with retries and deferrals"`
	LookAt          instant `json:"look_at" doc:"When ax looks at it again by itself"`
	SentAt          instant `json:"sent_at" doc:"Non-idempotent work: the moment before it was sent"`
	CancelWanted    instant `json:"cancel_wanted" doc:"When somebody asked to cancel it while it ran"`
	ReceiptDeadline instant `json:"receipt_deadline" doc:"Accepted work: until when its receipt is waited for"`
	DeadlineAt      instant `json:"deadline_at" doc:"When the running attempt times out"`
	CreatedAt       instant `json:"created_at" nullable:"false"`
	QueuedAt        instant `json:"queued_at"`
	StartedAt       instant `json:"started_at" doc:"Of the first attempt"`
	FinishedAt      instant `json:"finished_at"`
}

// instanceShape shows an instance of the task with the code.
func instanceShape(in sched.Instance, code string) InstanceBody {
	return InstanceBody{
		ID: in.ID, Task: code, BizID: in.BizID, Key: in.Key(code), Replay: in.Replay, ReplayOf: in.ReplayOf,
		Origin: in.Origin, RequestedBy: in.RequestedBy, Queue: in.Queue, State: in.State, Reason: in.Reason, Error: in.Error,
		Attempt: in.Attempt, Retries: in.Retries, Deaths: in.Deaths, Defers: in.Defers, Resends: in.Resends, NodeID: in.NodeID,
		SlotAt: instant(in.SlotAt), WantedAt: instant(in.WantedAt), DueAt: instant(in.DueAt), LookAt: instant(in.LookAt),
		SentAt: instant(in.SentAt), CancelWanted: instant(in.CancelWanted), ReceiptDeadline: instant(in.ReceiptDeadline),
		DeadlineAt: instant(in.DeadlineAt), CreatedAt: instant(in.CreatedAt), QueuedAt: instant(in.QueuedAt),
		StartedAt: instant(in.StartedAt), FinishedAt: instant(in.FinishedAt),
	}
}

// instancePath is where an instance stands.
func instancePath(id string) string { return apiPrefix + "/instances/" + id }

// wholeInstance is an instance with all that the ledger knows of it.
type wholeInstance struct {
	InstanceBody
	Payload    json.RawMessage `json:"payload,omitempty" doc:"Of this request; left out: the task's"`
	WaitsFor   *waitsForBody   `json:"waits_for,omitempty" doc:"What it waits for and no node serves; left out: nothing"`
	DeadLetter *int64          `json:"dead_letter" doc:"Id of the business action's dead letter; null: none"`
	Hook       *hookBody       `json:"hook,omitempty" doc:"What its hook was asked before it began; left out: nothing"`
	Attempts   []attemptBody   `json:"attempts" nullable:"false"`
	Events     []eventBody     `json:"events" nullable:"false" doc:"What states and times can't tell"`
	CancelCall *cancelCallBody `json:"cancel_call,omitempty" doc:"What the target is told after the end: that the work is not wanted any more; left out: nothing"`
}

// waitsForBody is a queue, and labels, that no node serves.
type waitsForBody struct {
	Queue  string   `json:"queue" example:"default"`
	Labels []string `json:"labels" nullable:"false" doc:"All of them; empty: the task needs none" example:"[\"cn-north\",\"gpu\"]"`
	Text   string   `json:"text" doc:"The same in words" example:"no node serves queue default with labels cn-north, gpu"`
}

func waitsForShape(l *sched.Lane) *waitsForBody {
	if l == nil {
		return nil
	}
	out := &waitsForBody{Queue: l.Queue, Labels: list(l.Labels.List()), Text: "no node serves queue " + l.Queue}
	if l.Labels != "" {
		out.Text += " with labels " + l.Labels.String()
	}
	return out
}

// attemptBody is one try.
type attemptBody struct {
	No            int           `json:"no" example:"1"`
	Outcome       sched.Outcome `json:"outcome" doc:"succeeded, failed, timed_out, lost, canceled or accepted; empty while it runs" example:"failed"`
	StatusCode    int           `json:"status_code" doc:"HTTP status; 0: none came" example:"503"`
	Error         string        `json:"error"`
	Fingerprint   string        `json:"fingerprint" doc:"The same for errors of the same kind"`
	StartedAt     instant       `json:"started_at" nullable:"false"`
	SentAt        instant       `json:"sent_at"`
	EndedAt       instant       `json:"ended_at"`
	NodeID        string        `json:"node_id"`
	Executor      string        `json:"executor" example:"http"`
	TaskVersion   int           `json:"task_version"`
	Request       string        `json:"request" doc:"What was sent, secrets masked"`
	Response      string        `json:"response" doc:"Head and start of what came back"`
	ResponseBytes int64         `json:"response_bytes"`
}

// eventBody is one event.
type eventBody struct {
	At     instant         `json:"at" nullable:"false"`
	Kind   sched.EventKind `json:"kind" example:"resent"`
	NodeID string          `json:"node_id"`
	Actor  string          `json:"actor"`
	Detail string          `json:"detail"`
}

func wholeShape(v sched.InstanceView) wholeInstance {
	out := wholeInstance{
		InstanceBody: instanceShape(v.Instance, v.Task.Code), Payload: v.Payload,
		Hook: hookShape(v.Probing), Attempts: make([]attemptBody, len(v.Attempts)), Events: make([]eventBody, len(v.Events)),
	}
	if v.Letter != 0 {
		out.DeadLetter = &v.Letter
	}
	if v.Told != nil {
		out.CancelCall = new(cancelCallShape(*v.Told))
	}
	for i, a := range v.Attempts {
		out.Attempts[i] = attemptBody{
			No: a.No, Outcome: a.Outcome, StatusCode: a.StatusCode, Error: a.Error, Fingerprint: a.Fingerprint,
			StartedAt: instant(a.StartedAt), SentAt: instant(a.SentAt), EndedAt: instant(a.EndedAt), NodeID: a.NodeID,
			Executor: a.Executor, TaskVersion: a.TaskVersion, Request: a.Request, Response: a.Response, ResponseBytes: a.ResponseBytes,
		}
	}
	for i, e := range v.Events {
		out.Events[i] = eventBody{At: instant(e.At), Kind: e.Kind, NodeID: e.NodeID, Actor: e.Actor, Detail: e.Detail}
	}
	return out
}

// instanceObject finds the instance of the path.
func instanceObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	_, err := s.findInstance(ctx, by, c.Param("id"))
	return err
}

func (s *api) findInstance(ctx context.Context, by access.Actor, id string) (sched.InstanceView, error) {
	if !isID(id) {
		return sched.InstanceView{}, access.NoObject()
	}
	return s.instances.Get(ctx, by, id)
}

func (s *api) instanceOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/instances", id: "list-instances", tag: tagInstances, verb: access.Read,
		summary: "List instances", about: "Newest first, without payloads and attempts.",
	}, (*api).listInstances)
	add(s, operation{
		method: http.MethodGet, path: "/instances/{id}", id: "get-instance", tag: tagInstances, verb: access.Read, object: instanceObject,
		summary: "Get an instance", about: "With its attempts, what was sent and came back, and its events.",
	}, (*api).getInstance)
	add(s, operation{
		method: http.MethodPost, path: "/instances/{id}/cancel", id: "cancel-instance", tag: tagInstances, verb: access.Cancel,
		object: instanceObject, conflicts: true, body: reasonBody{}, optional: true, example: exampleReason,
		also:    map[int]string{http.StatusAccepted: "It runs: the wish is noted, and it ends canceled unless it succeeds first"},
		summary: "Cancel an instance", about: "200: it is canceled. 202: it runs, and the wish is noted. 409: it has ended already.",
	}, (*api).cancelInstance)
	add(s, operation{
		method: http.MethodPost, path: "/instances/{id}/replay", id: "replay-instance", tag: tagInstances, verb: access.Replay,
		object: instanceObject, status: http.StatusAccepted, conflicts: true, body: reasonBody{}, optional: true, example: exampleReason,
		summary: "Replay an instance that ended badly",
		about:   "Makes a new instance with the same biz_id and key. 409 when it has no open dead letter, or a replay is under way.",
	}, (*api).replayInstance)
	s.receiptOperation()
	s.progressOperation()
	s.outputOperations()
}

type instanceListIn struct {
	ListIn
	Task  string        `query:"task" maxLength:"64" doc:"A task's code"`
	State []sched.State `query:"state" enum:"pending,queued,running,awaiting,retrying,succeeded,failed,timed_out,lost,skipped,canceled" doc:"One or more, with commas between"`
	BizID string        `query:"biz_id" maxLength:"64" doc:"A biz_id, or its beginning"`
	Since time.Time     `query:"since" doc:"Made at or after"`
	Until time.Time     `query:"until" doc:"Made before"`
}

type instanceListOut struct {
	Body listOf[InstanceBody]
}

func (s *api) listInstances(ctx context.Context, k *call, in *instanceListIn) (*instanceListOut, error) {
	f := sched.InstanceFilter{States: in.State, BizID: in.BizID, Since: in.Since, Until: in.Until}
	if err := together(checkCursor(in.Cursor, isID), between(in.Since, in.Until), checkBizID(in.BizID)); err != nil {
		return nil, err
	}
	task, known, err := s.filterTask(ctx, k.actor, in.Task)
	if err != nil || !known {
		return &instanceListOut{Body: listPage[InstanceBody](nil, "")}, err
	}
	f.TaskID = task
	page, err := s.instances.List(ctx, k.actor, f, in.page())
	if err != nil {
		return nil, err
	}
	ids := make([]int64, len(page.Items))
	for i, it := range page.Items {
		ids[i] = it.TaskID
	}
	tasks, err := s.reports.TasksByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var items []InstanceBody
	for _, it := range page.Items {
		items = append(items, instanceShape(it, tasks[it.TaskID].Code))
	}
	return &instanceListOut{Body: listPage(items, page.Next)}, nil
}

// filterTask finds the task that a list is narrowed to; code "" is none. A
// task that isn't there, or isn't the actor's, has no rows: known is false.
func (s *api) filterTask(ctx context.Context, by access.Actor, code string) (id int64, known bool, err error) {
	if code == "" {
		return 0, true, nil
	}
	t, err := s.findTask(ctx, by, code)
	if fault.KindOf(err) == fault.KindNotFound && err != nil {
		return 0, false, nil
	}
	return t.ID, true, err
}

type wholeInstanceOut struct {
	Status int
	Body   wholeInstance
}

func (s *api) getInstance(ctx context.Context, k *call, in *instanceIn) (*wholeInstanceOut, error) {
	v, err := s.findInstance(ctx, k.actor, in.ID)
	if err != nil {
		return nil, err
	}
	out := &wholeInstanceOut{Status: http.StatusOK, Body: wholeShape(v)}
	if v.State.Final() {
		return out, nil
	}
	nodes, err := s.nodesSince(ctx, s.now())
	if err != nil {
		return nil, err
	}
	out.Body.WaitsFor = waitsForShape(s.waitsFor(v, nodes))
	return out, nil
}

func (s *api) cancelInstance(ctx context.Context, k *call, in *instanceIn) (*wholeInstanceOut, error) {
	if !isID(in.ID) {
		return nil, access.NoObject()
	}
	reason, err := k.reason()
	if err != nil {
		return nil, err
	}
	got, err := s.instances.Cancel(ctx, k.actor, in.ID, reason)
	if err != nil {
		return nil, err
	}
	out, err := s.getInstance(ctx, k, in)
	if err == nil && got.Wish {
		out.Status = http.StatusAccepted
	}
	return out, err
}

// replayOut is the new instance of a replay.
type replayOut struct {
	Location string `header:"Location" doc:"Path of the new instance"`
	Body     InstanceBody
}

func (s *api) replayInstance(ctx context.Context, k *call, in *instanceIn) (*replayOut, error) {
	reason, err := k.reason()
	if err != nil {
		return nil, err
	}
	v, err := s.findInstance(ctx, k.actor, in.ID)
	if err != nil {
		return nil, err
	}
	if v.Letter == 0 {
		return nil, fault.Conflict("Only what ended failed, timed_out or lost can be replayed; this is %s", string(v.State))
	}
	return s.replay(ctx, k, v.Letter, reason, v.Task.Code)
}

func (s *api) replay(ctx context.Context, k *call, letter int64, reason, code string) (*replayOut, error) {
	in, err := s.letters.Replay(ctx, k.actor, letter, reason)
	if err != nil {
		return nil, err
	}
	made(k.c, in)
	return &replayOut{Location: instancePath(in.ID), Body: instanceShape(in, code)}, nil
}
