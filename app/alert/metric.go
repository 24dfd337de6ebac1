package alert

import "time"

// Metric is what a rule measures.
type Metric string

// The metrics (design.md section 8).
const (
	QueueDepth   Metric = "queue_depth"     // instances of a queue that are due and have not begun, by the ledger
	SuccessRate  Metric = "success_rate"    // percent of what ended in the window
	TriggerLag   Metric = "trigger_lag"     // P99 of the lag of first attempts in the window, seconds
	InARow       Metric = "failures_in_row" // of a task, its latest
	Failures     Metric = "failures"        // of a task, in the window
	OpenLetters  Metric = "open_letters"    // dead letters open or taken
	LetterAge    Metric = "letter_age"      // of the oldest open dead letter, hours
	MissedRun    Metric = "missed_run"      // minutes that a task's expected success is late
	RunTooLong   Metric = "run_too_long"    // a running instance against the P95 of its history, factor
	RunTooShort  Metric = "run_too_short"   // the latest success against the P50 of its history, factor
	NodeOffline  Metric = "node_offline"    // seconds since the last beat of a node that did not stop in order
	ClockOffset  Metric = "clock_offset"    // of a node's wall clock against the ledger's, seconds
	PlanningLate Metric = "planning_late"   // seconds that the earliest due slot waits to be planned
	RedisMemory  Metric = "redis_memory"    // percent of what Redis may use
	RedisEvicts  Metric = "redis_evicts"    // 1 when Redis may throw away what it holds
	CalendarEnds Metric = "calendar_ends"   // days of data that a calendar of a task has left
)

// NoExecutor is in seconds: since the last beat of an executor that did not
// leave, or since a task finds none of those that it names.
const NoExecutor Metric = "executor_offline"

// NotServed is for how many seconds the oldest due instance of a queue, and of
// labels, waits while no node would take it.
const NotServed Metric = "not_served"

// Per is what a metric has one value for.
type Per string

// The grains of metrics.
const (
	PerTask     Per = "task"     // each task in the rule's scope
	PerScope    Per = "scope"    // all that the rule's scope covers together
	PerQueue    Per = "queue"    // each queue
	PerNode     Per = "node"     // each node
	PerExecutor Per = "executor" // each address of an executor, and each that tasks miss
	PerCalendar Per = "calendar" // each calendar that a task uses
	PerHouse    Per = "house"    // the installation
)

// Unit of a metric's value.
type Unit string

// The units.
const (
	Count   Unit = "count"
	Percent Unit = "percent"
	Seconds Unit = "seconds"
	Minutes Unit = "minutes"
	Hours   Unit = "hours"
	Days    Unit = "days"
	Factor  Unit = "factor"
	Yes     Unit = "yes" // 1 or 0
)

// Meter is what is to be known of a metric.
type Meter struct {
	Metric Metric
	Unit   Unit
	Per    Per
	// Below: too little is the breach, not too much.
	Below bool
	// Windowed metrics look back over the rule's window.
	Windowed bool
	// Least: with fewer ended runs than the rule's least it says nothing.
	Least bool
	// House metrics are of the installation: administrators make their rules.
	House bool
	// History: a back-test can be made from what the ledger keeps.
	History bool
}

// Meters lists the metrics in the order of pages.
func Meters() []Meter {
	return []Meter{
		{Metric: SuccessRate, Unit: Percent, Per: PerScope, Below: true, Windowed: true, Least: true, History: true},
		{Metric: InARow, Unit: Count, Per: PerTask, History: true},
		{Metric: Failures, Unit: Count, Per: PerTask, Windowed: true, History: true},
		{Metric: MissedRun, Unit: Minutes, Per: PerTask},
		{Metric: RunTooLong, Unit: Factor, Per: PerTask, Least: true, History: true},
		{Metric: RunTooShort, Unit: Factor, Per: PerTask, Below: true, Least: true, History: true},
		{Metric: TriggerLag, Unit: Seconds, Per: PerScope, Windowed: true, Least: true, History: true},
		{Metric: OpenLetters, Unit: Count, Per: PerScope, History: true},
		{Metric: LetterAge, Unit: Hours, Per: PerScope, History: true},
		{Metric: CalendarEnds, Unit: Days, Per: PerCalendar, Below: true},
		{Metric: NoExecutor, Unit: Seconds, Per: PerExecutor},
		{Metric: QueueDepth, Unit: Count, Per: PerQueue, House: true, History: true},
		{Metric: NotServed, Unit: Seconds, Per: PerQueue, House: true},
		{Metric: NodeOffline, Unit: Seconds, Per: PerNode, House: true},
		{Metric: ClockOffset, Unit: Seconds, Per: PerNode, House: true},
		{Metric: PlanningLate, Unit: Seconds, Per: PerHouse, House: true},
		{Metric: RedisMemory, Unit: Percent, Per: PerHouse, House: true},
		{Metric: RedisEvicts, Unit: Yes, Per: PerHouse, House: true},
	}
}

// MeterOf finds a metric's; ok is false when there is none of that name.
func MeterOf(m Metric) (Meter, bool) {
	for _, x := range Meters() {
		if x.Metric == m {
			return x, true
		}
	}
	return Meter{}, false
}

// Breaks tells whether a value is on the wrong side of a threshold. What is
// reached counts as too much; what is under it as too little.
func (m Meter) Breaks(value, threshold float64) bool {
	if m.Below {
		return value < threshold
	}
	return value >= threshold
}

// Worse is the worse of two values.
func (m Meter) Worse(a, b float64) float64 {
	if m.Below {
		return min(a, b)
	}
	return max(a, b)
}

// Bounds of rules.
const (
	MaxWindow = 24 * time.Hour
	MaxFor    = time.Hour
)
