package alert

import (
	"slices"
	"time"

	"ax/app/sched"
)

// Level says how loud an incident is.
type Level string

// The levels. ByTask is of rules alone: the task's own alert level, where none
// leaves the task out.
const (
	P1     Level = "p1" // wakes people
	P2     Level = "p2" // can wait for the morning
	ByTask Level = "task"
)

// worse tells whether l is louder than o.
func (l Level) worse(o Level) bool { return l == P1 && o != P1 }

// ScopeKind says how a scope names tasks.
type ScopeKind string

// The kinds of scope. All is everything of the rule's team, or of the
// installation; OfQueue is for queue depth.
const (
	All     ScopeKind = "all"
	OfTag   ScopeKind = "tag"
	OfGroup ScopeKind = "group"
	OfTask  ScopeKind = "task" // by code
	OfQueue ScopeKind = "queue"
)

// Scope is what a rule or a silence covers, within its team.
type Scope struct {
	Kind  ScopeKind `json:"kind"`
	Value string    `json:"value,omitempty"`
}

// TaskMark is what rules need to know of a task.
type TaskMark struct {
	ID     int64
	TeamID int64
	Code   string
	Name   string
	Group  string
	Tags   []string
	Owner  string // login
	Queue  string
	Level  sched.AlertLevel
}

// Covers tells whether the scope covers a task of its team.
func (s Scope) Covers(t TaskMark) bool {
	switch s.Kind {
	case All:
		return true
	case OfTag:
		return slices.Contains(t.Tags, s.Value)
	case OfGroup:
		return t.Group == s.Value
	case OfTask:
		return t.Code == s.Value
	case OfQueue:
		return t.Queue == s.Value
	}
	return false
}

// Rule is a threshold on a metric, of a team or (TeamID 0) of the installation.
type Rule struct {
	ID        int64
	TeamID    int64
	Name      string
	Metric    Metric
	Scope     Scope
	Threshold float64
	Window    time.Duration // of windowed metrics
	Least     int           // ended runs below which the metric says nothing
	For       time.Duration // how long it must last before it is an incident; 0: at once
	Level     Level
	EachTry   bool          // counts every failed attempt, not only what ended after its last retry
	Repeat    time.Duration // between messages until somebody acknowledges; 0: never again
	Recovery  bool          // says when it is over
	Mention   bool          // mentions the owners of the tasks
	Enabled   bool
	Version   int
	CreatedBy string
	CreatedAt time.Time
	ChangedBy string
	ChangedAt time.Time
	// Broken says why it could not be judged at its last turn; empty: it could.
	Broken   string
	BrokenAt time.Time
}

// Meter of the rule's metric; the zero Meter of one that is not known.
func (r Rule) Meter() Meter {
	m, _ := MeterOf(r.Metric)
	return m
}

// Watches tells whether the rule looks at a task.
func (r Rule) Watches(t TaskMark) bool {
	if r.TeamID != 0 && r.TeamID != t.TeamID || !r.Scope.Covers(t) {
		return false
	}
	return r.Level != ByTask || t.Level != sched.AlertNone
}

// LevelOf is how loud a breach by a task is.
func (r Rule) LevelOf(t TaskMark) Level {
	if r.Level != ByTask {
		return r.Level
	}
	if t.Level == sched.AlertP1 {
		return P1
	}
	return P2
}

// TeamDefaults are the rules that a new team begins with.
func TeamDefaults() []Rule {
	return []Rule{
		{Name: "Failures in a row", Metric: InARow, Threshold: 3, Level: ByTask},
		{Name: "Success rate", Metric: SuccessRate, Threshold: 95, Window: time.Hour, Least: 20, For: time.Minute, Level: P1},
		{Name: "Expected run missing", Metric: MissedRun, Threshold: 15, Level: ByTask},
		{Name: "Run too long", Metric: RunTooLong, Threshold: 3, Least: 20, Level: P2},
		{Name: "Open dead letters", Metric: OpenLetters, Threshold: 10, Level: P2},
		{Name: "Trigger lag", Metric: TriggerLag, Threshold: 5, Window: 5 * time.Minute, Least: 20, For: time.Minute, Level: P2},
		{Name: "Calendar without data", Metric: CalendarEnds, Threshold: 30, Level: P2},
		{Name: "Executor offline", Metric: NoExecutor, Threshold: 15, Level: P2},
	}
}

// HouseDefaults are the rules that an installation begins with.
func HouseDefaults() []Rule {
	return []Rule{
		{Name: "Queue depth", Metric: QueueDepth, Threshold: 10_000, For: time.Minute, Level: P1},
		{Name: "No node serves it", Metric: NotServed, Threshold: 60, Level: P1},
		{Name: "Node offline", Metric: NodeOffline, Threshold: 15, Level: P2},
		{Name: "Nothing planned", Metric: PlanningLate, Threshold: 30, Level: P1},
		{Name: "Clock offset", Metric: ClockOffset, Threshold: 5, Level: P2},
		{Name: "Clock offset that stops planning", Metric: ClockOffset, Threshold: 30, Level: P1},
		{Name: "Redis memory", Metric: RedisMemory, Threshold: 80, For: time.Minute, Level: P2},
		{Name: "Redis may evict", Metric: RedisEvicts, Threshold: 1, Level: P2},
	}
}

// Default fills in what every rule begins with.
func (r Rule) Default() Rule {
	r.Scope, r.Repeat, r.Recovery, r.Mention, r.Enabled = Scope{Kind: All}, 30*time.Minute, true, r.Meter().Per == PerTask, true
	return r
}
