package sched

import (
	"encoding/json"
	"slices"
	"time"
)

// State of an instance (design.md section 3).
type State string

// The states.
const (
	Pending   State = "pending"
	Queued    State = "queued"
	Running   State = "running"
	Awaiting  State = "awaiting"
	Retrying  State = "retrying"
	Succeeded State = "succeeded"
	Failed    State = "failed"
	TimedOut  State = "timed_out"
	Lost      State = "lost"
	Skipped   State = "skipped"
	Canceled  State = "canceled"
)

// States lists all states in the order of an instance's life.
func States() []State {
	return []State{Pending, Queued, Running, Awaiting, Retrying, Succeeded, Failed, TimedOut, Lost, Skipped, Canceled}
}

// Final tells whether nothing moves the state any more.
func (s State) Final() bool {
	switch s {
	case Succeeded, Failed, TimedOut, Lost, Skipped, Canceled:
		return true
	}
	return false
}

// Bad tells whether the state is an end that opens a dead letter.
func (s State) Bad() bool { return s == Failed || s == TimedOut || s == Lost }

// Valid tells whether s is one of the states.
func (s State) Valid() bool { return slices.Contains(States(), s) }

// Group is what people see where states are summed up.
type Group string

// The five groups.
const (
	GroupWaiting   Group = "waiting"
	GroupRunning   Group = "running"
	GroupSucceeded Group = "succeeded"
	GroupFailed    Group = "failed"
	GroupNotRun    Group = "not_run"
)

// Groups lists the groups in the order in which they are shown.
func Groups() []Group {
	return []Group{GroupWaiting, GroupRunning, GroupSucceeded, GroupFailed, GroupNotRun}
}

// States of the group.
func (g Group) States() []State {
	switch g {
	case GroupWaiting:
		return []State{Pending, Queued, Retrying}
	case GroupRunning:
		return []State{Running, Awaiting}
	case GroupSucceeded:
		return []State{Succeeded}
	case GroupFailed:
		return []State{Failed, TimedOut, Lost}
	case GroupNotRun:
		return []State{Skipped, Canceled}
	}
	return nil
}

// Event is what moves an instance.
type Event string

// The events of the state table.
const (
	EventHandOver Event = "handed over"
	EventClaim    Event = "claimed"
	EventSkip     Event = "skipped at the claim"
	EventDefer    Event = "no free place"
	EventUnready  Event = "hook not ready"
	EventGiveUp   Event = "hook not ready, no more"
	EventSucceed  Event = "succeeded"
	EventAccept   Event = "accepted, will report"
	EventRetry    Event = "failed, again"
	EventFail     Event = "failed, no more"
	EventLose     Event = "node died"
	EventHandBack Event = "handed back"
	EventCancel   Event = "canceled"
	EventReceive  Event = "receipt"
)

// Move is one row of the state table.
type Move struct {
	Event Event
	From  []State
	To    []State
}

// Moves is the state table: the only moves there are. The store repeats From
// as the guard of its update.
func Moves() []Move {
	return []Move{
		{EventHandOver, []State{Pending}, []State{Queued}},
		{EventClaim, Claimable(), []State{Running}},
		{EventSkip, []State{Pending, Queued}, []State{Skipped}},
		{EventDefer, Claimable(), Claimable()},
		{EventUnready, Unbegun(), Unbegun()},
		{EventGiveUp, Unbegun(), []State{Failed, Skipped}},
		{EventSucceed, []State{Running}, []State{Succeeded}},
		{EventAccept, []State{Running}, []State{Awaiting}},
		{EventRetry, []State{Running, Awaiting}, []State{Retrying}},
		{EventFail, []State{Running, Awaiting}, []State{Failed, TimedOut}},
		{EventLose, []State{Running}, []State{Queued, Lost, Canceled}},
		{EventHandBack, []State{Running}, []State{Pending}},
		{EventCancel, []State{Pending, Queued, Retrying, Awaiting, Running}, []State{Canceled}},
		{EventReceive, []State{Pending, Queued, Running, Retrying, Awaiting}, []State{Succeeded, Failed}},
	}
}

// Claimable lists the states from which a worker may take an instance.
func Claimable() []State { return []State{Pending, Queued, Retrying} }

// Unbegun lists the states of an instance before its first attempt.
func Unbegun() []State { return []State{Pending, Queued} }

// Origin says who asked for an instance.
type Origin string

// The origins. All but schedule are requests: they are never skipped, they
// wait.
const (
	FromSchedule Origin = "schedule"
	FromAPI      Origin = "api"
	FromPerson   Origin = "person"
	FromReplay   Origin = "replay"
)

// Instance is one run of a task. Times are UTC with milliseconds, by the
// ledger's clock; the zero time stands for none.
type Instance struct {
	ID          string // UUIDv7
	TaskID      int64
	TeamID      int64
	Queue       string
	BizID       string // the caller's name for the business action, or "@<slot>"
	Replay      int    // 0: the first; unique with task and biz_id
	ReplayOf    string // instance that this one repeats
	Origin      Origin
	RequestedBy string
	Payload     json.RawMessage
	SlotAt      time.Time // the schedule's instant; zero for requests
	WantedAt    time.Time // first due time; never changes
	DueAt       time.Time // moves with retries and deferrals
	LookAt      time.Time // when the sweep looks at it again
	Resends     int
	Defers      int
	State       State
	Dispatch    int // number of the latest message
	Attempt     int // number of the latest attempt; only rises
	Retries     int // attempts that failed and were repeated
	Deaths      int // attempts that ended with their node
	NodeID      string
	ClaimID     string
	SentAt      time.Time // non-idempotent work: the moment before it was sent

	CancelWanted    time.Time
	ReceiptDeadline time.Time
	DeadlineAt      time.Time

	PlannedBy  string
	Error      string // one line, at most 500 characters
	Reason     string // why skipped or canceled
	CreatedAt  time.Time
	QueuedAt   time.Time
	StartedAt  time.Time // of the first attempt
	FinishedAt time.Time
}

// Request tells whether a person or a caller asked for the instance. Requests
// are never skipped by overlap, calendar or misfire rules.
func (in Instance) Request() bool { return in.Origin != FromSchedule }

// Key is the Idempotency-Key that the target gets: the same for every attempt
// and replay of the business action.
func (in Instance) Key(code string) string { return code + "/" + in.BizID }

// Outcome is how an attempt ended.
type Outcome string

// The outcomes. Accepted is no end: the target will report.
const (
	OutcomeSucceeded Outcome = "succeeded"
	OutcomeFailed    Outcome = "failed"
	OutcomeTimedOut  Outcome = "timed_out"
	OutcomeLost      Outcome = "lost"
	OutcomeCanceled  Outcome = "canceled"
	OutcomeAccepted  Outcome = "accepted"
)

// Attempt is one try to carry out an instance. Outcome is empty while it is
// open.
type Attempt struct {
	InstanceID    string
	No            int
	TaskID        int64
	TeamID        int64
	TaskVersion   int
	NodeID        string
	ClaimID       string
	Executor      string // kind of target
	StartedAt     time.Time
	SentAt        time.Time
	EndedAt       time.Time
	Outcome       Outcome
	StatusCode    int
	Error         string
	Fingerprint   string
	Request       string // what was sent, secrets masked
	Response      string // what came back, capped
	ResponseBytes int64
}

// InstanceEvent tells what columns cannot: re-sent, lost, refused receipt,
// canceled by whom, refused double claim.
type InstanceEvent struct {
	InstanceID string
	At         time.Time
	Kind       EventKind
	NodeID     string
	Actor      string
	Detail     string
}

// EventKind names an InstanceEvent.
type EventKind string

// The kinds of event.
const (
	EvResent        EventKind = "resent"
	EvLost          EventKind = "lost"
	EvRefusedClaim  EventKind = "refused_claim"
	EvRefusedResult EventKind = "refused_result"
	EvReceipt       EventKind = "receipt"
	EvRefusedWord   EventKind = "refused_receipt"
	EvCanceled      EventKind = "canceled"
	EvCancelWanted  EventKind = "cancel_wanted"
	EvHandedBack    EventKind = "handed_back"
	EvOverdue       EventKind = "overdue"
	EvDeferred      EventKind = "deferred"
)

// Message is what travels through the carrier: a hint to look at a row.
type Message struct {
	InstanceID string
	Dispatch   int
	Queue      string
	Labels     Labels    // what the node must carry that takes it
	DueAt      time.Time // not to be delivered before
}

// Again is the replay of an instance that ended badly: the same business
// action under a new number.
func (in Instance) Again(id string, number int, by string, now time.Time) Instance {
	return Instance{
		ID: id, TaskID: in.TaskID, TeamID: in.TeamID, Queue: in.Queue, BizID: in.BizID, Replay: number, ReplayOf: in.ID,
		Origin: FromReplay, RequestedBy: by, Payload: in.Payload, SlotAt: in.SlotAt, WantedAt: now, DueAt: now,
		State: Pending, CreatedAt: now,
	}
}
