package sched

import (
	"context"
	"slices"
	"strconv"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

// MostTest bounds a test call, whatever the task's time limit: a person waits
// for it, and it must end before the request does (30 s).
const MostTest = 25 * time.Second

// Tried is what an executor found out by a test call.
type Tried struct {
	Result
	Body  string // that was sent, its begin
	Parts CallParts
}

// CallParts are how long the parts of a call took, over all its redirects; 0:
// there was no such part, or the call didn't come to its end.
type CallParts struct {
	Kept      bool // the connection stood from an earlier call
	Connect   time.Duration
	TLS       time.Duration
	FirstByte time.Duration // of the answer, since the connection stood
	Whole     time.Duration
}

// TestCall is one call of a task as it is written, and what would have become
// of a run.
type TestCall struct {
	Tried
	InstanceID string // that the target was told; there is no such instance
	BizID      string
	At         time.Time
	Limit      time.Duration // that the call had
	Policy     Policy
	Ending     Ending
}

// Tester makes a test call through the same code as a run's.
type Tester interface {
	Try(ctx context.Context, call Call) Tried
}

// testReceipts make what a test call carries in place of a receipt's address
// and token. Such a receipt is refused, and told why.
type testReceipts interface {
	TestReceipt(instanceID string) (url, token string)
}

// testBook keeps the audit of what changed nothing.
type testBook interface {
	RecordAudit(ctx context.Context, e access.Entry) error
}

// TestCalls call a target once for who writes its task. Nothing is stored but
// an audit row.
type TestCalls struct{ o TestCallsOptions }

// TestCallsOptions of NewTestCalls; all are required.
type TestCallsOptions struct {
	Tasks    *Tasks
	Call     Tester
	Receipts testReceipts
	Book     testBook
}

// NewTestCalls makes the use case.
func NewTestCalls(o TestCallsOptions) *TestCalls { return &TestCalls{o: o} }

// Call calls the target of a task as it is written now: of the stored task of
// the code, or of a new one ("") of the team that w names. The call ends with
// ctx. Faults: NotFound, Denied, Invalid with the broken fields of what is
// called; a failed call is none.
func (s *TestCalls) Call(ctx context.Context, by access.Actor, code string, w TaskSpec) (TestCall, error) {
	team, object, err := s.of(ctx, by, code, w)
	if err != nil && fault.KindOf(err) != fault.KindInvalid {
		return TestCall{}, err
	}
	call, policy, bad := w.call(s.o.Tasks.defaults)
	toErr := s.o.Tasks.targetFor(ctx, team, w.Target)
	if toErr != nil && fault.KindOf(toErr) != fault.KindInvalid {
		return TestCall{}, toErr
	}
	if fields := slices.Concat(fault.Fields(err), bad, fault.Fields(toErr)); len(fields) > 0 {
		return TestCall{}, fault.Invalid(fields...)
	}
	if code != "" {
		call.TaskCode = code
	}
	now := s.o.Tasks.clock.Now()
	call.InstanceID, call.TeamID, call.ScheduledAt = s.o.Tasks.newID(), team, now
	call.BizID = "test-" + call.InstanceID
	call.Key = call.TaskCode + "/" + call.BizID
	call.ReceiptURL, call.ReceiptToken = s.o.Receipts.TestReceipt(call.InstanceID)
	err = s.o.Book.RecordAudit(ctx, access.Entry{
		At: now, Actor: by, Action: "task.test", TeamID: team, Object: object,
		Changes: []access.Change{{Field: "target", New: call.Target.HTTP.MethodOf() + " " + call.Target.URL}, {Field: "biz_id", New: call.BizID}},
	})
	if err != nil {
		return TestCall{}, err
	}
	out := TestCall{InstanceID: call.InstanceID, BizID: call.BizID, At: now, Policy: policy, Limit: min(time.Duration(policy.TimeoutSeconds)*time.Second, MostTest)}
	within, stop := context.WithTimeout(ctx, out.Limit)
	defer stop()
	out.Tried = s.o.Call.Try(within, call)
	out.Ending = Instance{ID: call.InstanceID, State: Running, Attempt: 1}.Finish(out.Result, policy, s.o.Tasks.clock.Now())
	return out, ctx.Err()
}

// of is the team that the call is of, and what the audit names.
func (s *TestCalls) of(ctx context.Context, by access.Actor, code string, w TaskSpec) (int64, access.Object, error) {
	if code == "" {
		team, err := s.o.Tasks.teamFor(ctx, by, w.Team)
		return team.ID, access.Object{Kind: "team", ID: strconv.FormatInt(team.ID, 10), Name: team.Code}, err
	}
	t, err := s.o.Tasks.may(ctx, by, access.EditTask, code)
	if err == nil {
		err = t.fresh(0)
	}
	return t.TeamID, access.Object{Kind: "task", ID: strconv.FormatInt(t.ID, 10), Name: t.Code}, err
}

// call is what a written task sends. Only what the call goes by is looked at:
// the rest of the task may be unfinished.
func (w TaskSpec) call(d Defaults) (Call, Policy, []fault.FieldError) {
	var bad problems
	c := Call{TaskCode: w.Code, Attempt: 1, Test: true}
	if w.Code == "" {
		c.TaskCode = "test-call"
	} else {
		bad.code(w.Code)
	}
	switch {
	case w.Target.Kind != TargetHTTP:
		bad.add("target.kind", "Only a target of kind http can be called as a test")
		return c, Policy{}, bad
	case w.Target.Executor != "" || w.Target.Type != "":
		bad.add("target.executor", "Only an address can be called as a test, not an executor")
		return c, Policy{}, bad
	}
	c.Target = bad.target(w.Target)
	c.Payload = bad.payload("payload", w.Payload)
	policy := bad.policy(w.Policy, w.Schedule.Kind, d)
	bad.httpLimits(c.Target.HTTP, policy)
	c.Idempotent = policy.Idempotent
	return c, policy, bad
}
