package sched

import (
	"encoding/json"
	"time"

	"ax/app/calendar"
)

// Task is a definition: schedule + target + policy. Code is unique in the
// installation and never changes.
type Task struct {
	ID      int64
	TeamID  int64
	Code    string
	Name    string
	Group   string
	Owner   string
	Tags    []string
	Enabled bool
	Queue   string
	Spec    Spec
	// Calendar is the one that the schedule names; nil when it names none, or
	// one that is gone.
	Calendar *calendar.Calendar
	Version  int // raised by every edit; guards concurrent edits

	ArchivedAt  time.Time
	AnchorAt    time.Time // fixed rate: slots are anchor + k × period
	NextFireAt  time.Time // next slot to plan; zero: none, or disabled
	PausedFrom  time.Time
	PausedUntil time.Time
	PlanError   string // why it can't be planned

	CreatedAt time.Time
	CreatedBy string
	UpdatedAt time.Time
	UpdatedBy string
}

// Paused tells whether nothing of the task may start at now.
func (t Task) Paused(now time.Time) bool {
	return !t.PausedUntil.IsZero() && !now.Before(t.PausedFrom) && now.Before(t.PausedUntil)
}

// Spec is the part of a task that is versioned as one document.
type Spec struct {
	Schedule Schedule `json:"schedule"`
	Target   Target   `json:"target"`
	Policy   Policy   `json:"policy"`
	// Labels that a node must have to run it, sorted.
	Labels  []string        `json:"labels,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Hooks   *Hooks          `json:"hooks,omitempty"`
}

// TargetKind says how a target is called.
type TargetKind string

// The kinds of target.
const (
	TargetHTTP  TargetKind = "http"
	TargetMQ    TargetKind = "mq"
	TargetShell TargetKind = "shell"
)

// Target is what is called. HTTP: a call of URL, or of an executor (design.md
// section 11). Shell: Command with Args on a node that allows it. MQ: a message
// to Broker.
type Target struct {
	Kind TargetKind `json:"kind"`
	URL  string     `json:"url,omitempty"`
	// Headers go with each call, by canonical name. A value may name secrets of
	// the team as {{secret:NAME}}.
	Headers map[string]string `json:"headers,omitempty"`
	// HTTP are the rules of the call and its answer; nil: the usual ones.
	HTTP *HTTPRules `json:"http,omitempty"`

	// Executor is the name of the executor that is called instead of URL, Type
	// what it is to do, Route which of its addresses gets the call.
	Executor string `json:"executor,omitempty"`
	Type     string `json:"type,omitempty"`
	Route    Route  `json:"route,omitempty"`

	Command string   `json:"command,omitempty"` // absolute
	Args    []string `json:"args,omitempty"`    // as the command gets them
	// Input is how it gets the payload.
	Input ShellInput `json:"input,omitempty"`
	// Container that the command runs in; empty: the node itself.
	Container string `json:"container,omitempty"`
	// SuccessCodes are the exit codes that count as success, ascending.
	SuccessCodes []int `json:"success_codes,omitempty"`

	// Of a message: the team's broker by its name, and where it goes there: an
	// exchange with a routing key, or a stream.
	Broker     string `json:"broker,omitempty"`
	Exchange   string `json:"exchange,omitempty"` // access.DefaultExchange: the one without a name
	RoutingKey string `json:"routing_key,omitempty"`
	Stream     string `json:"stream,omitempty"`
	Done       MQDone `json:"done,omitempty"`
	// CancelRoutingKey is where the same exchange takes the message that a run
	// is to stop; empty: nowhere.
	CancelRoutingKey string `json:"cancel_routing_key,omitempty"`
}

// Heading is what a task has besides its Spec and an edit may change, with the
// names of TaskSpec.
type Heading struct {
	Name    string   `json:"name"`
	Group   string   `json:"group,omitempty"`
	Owner   string   `json:"owner,omitempty"`
	Tags    []string `json:"tags,omitempty"`
	Queue   string   `json:"queue,omitempty"`
	Enabled bool     `json:"enabled"`
}

// Heading of the task.
func (t Task) Heading() Heading {
	return Heading{Name: t.Name, Group: t.Group, Owner: t.Owner, Tags: t.Tags, Queue: t.Queue, Enabled: t.Enabled}
}

// TaskVersion is one past or present definition of a task.
type TaskVersion struct {
	TaskID    int64
	Version   int
	Spec      Spec
	Heading   *Heading // nil: not kept, of versions of older releases
	Author    string
	Note      string
	CreatedAt time.Time
}
