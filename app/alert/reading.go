package alert

import "time"

// SubjectKind says what a reading is of.
type SubjectKind string

// The kinds of subject.
const (
	TaskSubject     SubjectKind = "task"
	ScopeSubject    SubjectKind = "scope" // what a rule's scope covers
	QueueSubject    SubjectKind = "queue"
	NodeSubject     SubjectKind = "node"
	ExecutorSubject SubjectKind = "executor"
	CalendarSubject SubjectKind = "calendar"
	HouseSubject    SubjectKind = "house"
)

// Subject is what is wrong.
type Subject struct {
	Kind SubjectKind `json:"kind"`
	Key  string      `json:"key"` // task code, queue, node id, calendar code; of a scope: kind:value
	Name string      `json:"name,omitempty"`
}

// Question is what is asked of the ledger at one turn, for all rules that ask
// the same.
type Question struct {
	Metric  Metric
	Window  time.Duration // 0 unless the metric is windowed
	EachTry bool
	// Steps are the thresholds of the rules that ask: for TriggerLag, in seconds,
	// the counts of late starts are cut at them; for MissedRun, in minutes, what
	// is late by less than all of them is not told.
	Steps []float64
}

// Reading is what the ledger says at the finest grain of a metric: of a task,
// a queue, a node, a calendar or the installation. Of tasks only those that
// something can be said of are read.
type Reading struct {
	TaskID  int64   // of task metrics
	TeamID  int64   // whose rows; 0 of house metrics
	Subject Subject // but of tasks, which TaskID names
	Value   float64
	// Good and Bad ended runs of the window, of SuccessRate and Failures; N is
	// what the value rests on, for the rule's least.
	Good, Bad, N int
	// Late counts starts of the window by lag, of TriggerLag: Late[i] are those
	// that were at least Question.Steps[i] late, and N all of them.
	Late  []int
	Since time.Time // since when it is so, as far as is known
	// Cause groups what has one cause; empty: it stands for itself. Host is what
	// the cause is told by.
	Cause, Host string
	Detail      string // the latest error, in one line; targets wrote it
	Instance    string // the latest instance that shows it
}

// QueueLabels parts a queue and labels in the key of a queue's subject.
const QueueLabels = " "
