package sched

import (
	"context"
	"errors"
	"time"

	"ax/app/access"
	"ax/app/fail"
	"ax/app/fault"
)

// InstanceFilter narrows a list of instances. Empty fields don't.
type InstanceFilter struct {
	Scope  access.Scope
	TaskID int64
	States []State
	BizID  string // its beginning
	NodeID string
	Origin Origin
	Since  time.Time // created at or after
	Until  time.Time // created before
}

// InstanceView is an instance with what its page shows of the ledger.
type InstanceView struct {
	Instance
	Task     Task
	Attempts []Attempt
	Events   []InstanceEvent
	Letter   int64       // its dead letter; 0: none
	Told     *CancelCall // what its target is told after the end; nil: nothing
	Probing  *Probing    // of its hook; nil: none was asked
}

// CancelResult says what a cancel did.
type CancelResult struct {
	State  State // canceled, or running: a wish
	Wish   bool
	TaskID int64
}

// instanceStore is what the instance use cases need of the ledger.
type instanceStore interface {
	Instance(ctx context.Context, id string) (Instance, error)
	InstanceView(ctx context.Context, id string) (InstanceView, error)
	Instances(ctx context.Context, f InstanceFilter, p PageRequest) (PageOf[Instance], error)
	Cancel(ctx context.Context, id string, now time.Time, e access.Entry) (CancelResult, error)
	Receive(ctx context.Context, r Report, now time.Time) (Received, error)
	Progress(ctx context.Context, instanceID string) ([]Progress, error)
	Sign(ctx context.Context, g Sign, now time.Time) (Signed, error)
	Wake(ctx context.Context, taskID int64, now time.Time) (Message, bool, error)
	NoteRefused(ctx context.Context, r Report, why string, now time.Time) error
	logStore
}

// hinter tells the nodes that a call is to be canceled; the ledger holds the
// wish, so a lost hint costs at most one beat.
type hinter interface {
	Hint(ctx context.Context, instanceID string) error
}

// Instances are the use cases of instances.
type Instances struct {
	store instanceStore
	send  sender
	hint  hinter
	clock *Clock
}

// NewInstances makes the use cases.
func NewInstances(store instanceStore, send sender, hint hinter, clock *Clock) *Instances {
	return &Instances{store: store, send: send, hint: hint, clock: clock}
}

// Get gives an instance that the actor may see; NotFound otherwise.
func (s *Instances) Get(ctx context.Context, by access.Actor, id string) (InstanceView, error) {
	v, err := s.store.InstanceView(ctx, id)
	if err != nil {
		return InstanceView{}, err
	}
	return v, by.Check(access.Read, v.TeamID)
}

// List gives a page of the instances that the actor may see, newest first.
func (s *Instances) List(ctx context.Context, by access.Actor, f InstanceFilter, p PageRequest) (PageOf[Instance], error) {
	f.Scope = by.Scope().Narrow(f.Scope)
	return s.store.Instances(ctx, f, p.Bounded())
}

// Cancel ends an instance that has not begun or awaits its receipt; of a
// running one it notes the wish. Conflict when it has ended already.
func (s *Instances) Cancel(ctx context.Context, by access.Actor, id, reason string) (CancelResult, error) {
	in, err := s.store.Instance(ctx, id)
	if err != nil {
		return CancelResult{}, err
	}
	if err := by.Check(access.Cancel, in.TeamID); err != nil {
		return CancelResult{}, err
	}
	now := s.clock.Now()
	res, err := s.store.Cancel(ctx, id, now, access.Entry{
		At: now, Actor: by, Action: "instance.cancel", TeamID: in.TeamID, Reason: reason,
		Object: access.Object{Kind: "instance", ID: id, Name: in.BizID},
	})
	if err != nil {
		return CancelResult{}, err
	}
	if res.Wish {
		_ = s.hint.Hint(ctx, id) // the next beat reads the wish anyway
	} else {
		s.wake(ctx, res.TaskID)
	}
	return res, nil
}

// wake lets a deferred instance take a place that became free.
func (s *Instances) wake(ctx context.Context, taskID int64) {
	if m, ok, err := s.store.Wake(ctx, taskID, s.clock.Now()); err == nil && ok {
		s.send.Send(ctx, []Message{m}) // sweep a repairs what was not sent
	}
}

// Report is a target's later word about an attempt. Attempt is the one that
// the token was made for.
type Report struct {
	InstanceID string
	Attempt    int
	Outcome    Outcome // succeeded or failed
	Message    string
	Address    string
}

// Received says what a report did.
type Received struct {
	Already bool  // the instance had ended: recorded, nothing changed
	State   State // as it stands now
	TaskID  int64
}

// Receive takes a report whose token was checked by the caller. An older
// attempt's report is good for success, only the present one's for failure;
// any other failure is a Conflict.
func (s *Instances) Receive(ctx context.Context, r Report) (Received, error) {
	if r.Outcome != OutcomeSucceeded && r.Outcome != OutcomeFailed {
		return Received{}, fault.Invalid(fault.Field("outcome", "One of succeeded, failed; this is %q", string(r.Outcome)))
	}
	r.Message = OneLine(r.Message)
	got, err := s.store.Receive(ctx, r, s.clock.Now())
	if text, ok := fault.TextOf(err); ok && fault.KindOf(err) == fault.KindConflict {
		if failed := s.store.NoteRefused(ctx, r, text.String(), s.clock.Now()); failed != nil {
			err = errors.Join(err, failed)
		}
	}
	if err == nil {
		err = fail.At("receipt.stored")
	}
	if err == nil && !got.Already {
		s.wake(ctx, got.TaskID)
	}
	return got, err
}
