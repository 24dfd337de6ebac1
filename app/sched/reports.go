package sched

import (
	"context"
	"slices"
	"time"

	"ax/app/access"
)

// Run is one instance as a bar of a strip: when, how long, how it ended.
type Run struct {
	InstanceID string
	TaskID     int64
	State      State
	Attempt    int
	WantedAt   time.Time
	StartedAt  time.Time
	FinishedAt time.Time
}

// Took is how long the run took from its first attempt; 0 while it is open.
func (r Run) Took() time.Duration {
	if r.StartedAt.IsZero() || r.FinishedAt.IsZero() {
		return 0
	}
	return r.FinishedAt.Sub(r.StartedAt)
}

// Rate counts what ended in a window. Skipped and canceled don't count.
type Rate struct {
	Succeeded int
	Bad       int
}

// Ended is the number of instances that count.
func (r Rate) Ended() int { return r.Succeeded + r.Bad }

// Success is the share that succeeded, 0 … 1; ok is false when nothing ended.
func (r Rate) Success() (share float64, ok bool) {
	if r.Ended() == 0 {
		return 0, false
	}
	return float64(r.Succeeded) / float64(r.Ended()), true
}

// Bucket is what ended in one stretch of time.
type Bucket struct {
	At      time.Time
	Counts  map[State]int // by final state
	Retried int           // of the succeeded: after more than one attempt
}

// Upcoming is a slot or request that is due next.
type Upcoming struct {
	At     time.Time
	TaskID int64
	Code   string
	Name   string
}

// Dashboard is what the first page shows, for one scope and moment.
type Dashboard struct {
	DueSoon     int // tasks whose next slot is within the hour
	FirstDue    time.Time
	Open        map[State]int // instances by open state
	Late        int           // due for more than LateAfter and not begun
	WorstLate   time.Duration
	OpenLetters int
	Hour        Rate
	LagP50      time.Duration // of first attempts that ended within the hour
	LagP99      time.Duration
	LagOf       int // starts that the lag was measured on
	Nodes       []NodeInfo
	Buckets     []Bucket // 24, per hour, oldest first
	Teams       map[int64]Rate
	Letters     []Letter   // the latest open ones
	Troubled    []Task     // can't be planned
	Overlong    []Instance // running past their deadline
	Next        []Upcoming
	Tasks       map[int64]Task // every task that the lists name
}

// LateAfter is the trigger lag that people are told of (design.md section 5).
const LateAfter = 5 * time.Second

// TaskFacts is what a list shows of one task beside its definition.
type TaskFacts struct {
	Runs []Run  // the latest, oldest first
	Week Rate   // what ended since Week began
	Took Spread // of attempts that succeeded since then
}

// Last is the latest run; ok is false when the task never ran.
func (f TaskFacts) Last() (Run, bool) {
	if len(f.Runs) == 0 {
		return Run{}, false
	}
	return f.Runs[len(f.Runs)-1], true
}

// TaskReport is what a task's page shows of its past and future.
type TaskReport struct {
	Runs         []Run         // at most 60, oldest first
	Latest       Spread        // exact: of those of them that succeeded, from first attempt to end
	Week         Rate          // what ended within seven days
	Took         Spread        // of attempts that succeeded within them
	Lag          Spread        // of first attempts within them
	Missed       []MissedRange // the latest
	MissedTotals map[MissReason]MissedTotal
	Versions     []TaskVersion
	Waiting      int // pending, queued and retrying
}

// MissedTotal counts what of a task was recorded instead of run.
type MissedTotal struct {
	Ranges int
	Slots  int
}

// reportStore is what the reports need of the ledger.
type reportStore interface {
	Dashboard(ctx context.Context, scope access.Scope, now time.Time) (Dashboard, error)
	Runs(ctx context.Context, taskIDs []int64, limit int) (map[int64][]Run, error)
	TaskRate(ctx context.Context, taskID int64, since time.Time) (Rate, error)
	Rates(ctx context.Context, taskIDs []int64, since time.Time) (map[int64]Rate, error)
	Spreads(ctx context.Context, taskIDs []int64, since time.Time, of ...Measure) (map[int64]Spread, error)
	Outcomes(ctx context.Context, scope access.Scope, from time.Time, step time.Duration, n int) ([]Bucket, error)
	Spread(ctx context.Context, scope access.Scope, taskID int64, since time.Time, of ...Measure) (Spread, error)
	StateCounts(ctx context.Context, scope access.Scope, taskID int64, since time.Time) (map[State]int, error)
	// QueueDepths are the deepest samples of each step that has any.
	QueueDepths(ctx context.Context, from time.Time, step time.Duration) (map[string][]QueueSample, error)
	// QueueRates count what ended from a moment until another; zero: until now.
	QueueRates(ctx context.Context, from, to time.Time) (map[string]QueueRate, error)
	Missed(ctx context.Context, taskID int64, limit int) ([]MissedRange, error)
	MissedTotals(ctx context.Context, taskID int64) (map[MissReason]MissedTotal, error)
	TaskVersions(ctx context.Context, taskID int64, limit int) ([]TaskVersion, error)
	TasksByID(ctx context.Context, ids []int64) (map[int64]Task, error)
}

// Reports answer what pages ask beyond single objects.
type Reports struct {
	store reportStore
	clock *Clock
}

// NewReports makes the reports.
func NewReports(store reportStore, clock *Clock) *Reports {
	return &Reports{store: store, clock: clock}
}

// Dashboard of what the scope covers, which must be within the actor's own.
func (r *Reports) Dashboard(ctx context.Context, scope access.Scope) (Dashboard, error) {
	return r.store.Dashboard(ctx, scope, r.clock.Now())
}

// Facts of the tasks of a list, by id, with at most limit runs each.
func (r *Reports) Facts(ctx context.Context, tasks []Task, limit int) (map[int64]TaskFacts, error) {
	ids := make([]int64, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	runs, err := r.store.Runs(ctx, ids, limit)
	if err != nil {
		return nil, err
	}
	since := weekBefore(r.clock.Now())
	rates, err := r.store.Rates(ctx, ids, since)
	if err != nil {
		return nil, err
	}
	took, err := r.store.Spreads(ctx, ids, since, TookWell)
	if err != nil {
		return nil, err
	}
	out := make(map[int64]TaskFacts, len(tasks))
	for _, id := range ids {
		out[id] = TaskFacts{Runs: runs[id], Week: rates[id], Took: took[id]}
	}
	return out, nil
}

// weekBefore is when the seven days begin that tasks are measured over: with a
// whole hour, so that one row tells of it.
func weekBefore(now time.Time) time.Time { return now.AddDate(0, 0, -7).Truncate(time.Hour) }

// reportRuns is how many runs a task's page shows and measures.
const reportRuns = 60

// Task reports on a task that the caller was allowed to read.
func (r *Reports) Task(ctx context.Context, t Task) (TaskReport, error) {
	now := r.clock.Now()
	var out TaskReport
	runs, err := r.store.Runs(ctx, []int64{t.ID}, reportRuns)
	if err != nil {
		return out, err
	}
	out.Runs = runs[t.ID]
	out.Latest = spreadOf(out.Runs)
	if err := r.week(ctx, t.ID, weekBefore(now), &out); err != nil {
		return out, err
	}
	if out.Missed, err = r.store.Missed(ctx, t.ID, 20); err != nil {
		return out, err
	}
	if out.MissedTotals, err = r.store.MissedTotals(ctx, t.ID); err != nil {
		return out, err
	}
	if out.Versions, err = r.store.TaskVersions(ctx, t.ID, 20); err != nil {
		return out, err
	}
	counts, err := r.store.StateCounts(ctx, access.Scope{All: true}, t.ID, now)
	out.Waiting = counts[Pending] + counts[Queued] + counts[Retrying]
	return out, err
}

// StateCounts counts open instances as they are, and final ones that ended
// since the given moment.
func (r *Reports) StateCounts(ctx context.Context, scope access.Scope, taskID int64, since time.Time) (map[State]int, error) {
	return r.store.StateCounts(ctx, scope, taskID, since)
}

// TasksByID gives the tasks that a list of instances or letters names.
func (r *Reports) TasksByID(ctx context.Context, ids []int64) (map[int64]Task, error) {
	return r.store.TasksByID(ctx, slices.Compact(slices.Sorted(slices.Values(ids))))
}

// Rates gives what became of each task's instances that ended since a moment.
func (r *Reports) Rates(ctx context.Context, taskIDs []int64, since time.Time) (map[int64]Rate, error) {
	return r.store.Rates(ctx, taskIDs, since)
}

// week reads the figures of the seven days.
func (r *Reports) week(ctx context.Context, id int64, since time.Time, out *TaskReport) error {
	var err error
	if out.Week, err = r.store.TaskRate(ctx, id, since); err != nil {
		return err
	}
	if out.Took, err = r.store.Spread(ctx, access.Scope{All: true}, id, since, TookWell); err != nil {
		return err
	}
	out.Lag, err = r.store.Spread(ctx, access.Scope{All: true}, id, since, Lag)
	return err
}

// spreadOf are the exact percentiles of the runs that succeeded.
func spreadOf(runs []Run) Spread {
	var took []time.Duration
	for _, run := range runs {
		if run.State == Succeeded && run.Took() > 0 {
			took = append(took, run.Took())
		}
	}
	return Spread{P50: Percentile(took, 50), P95: Percentile(took, 95), P99: Percentile(took, 99), Of: len(took)}
}

// Percentile is the value below or at which p percent of the durations lie
// (nearest rank); 0 of none.
func Percentile(all []time.Duration, p int) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	rank := (len(sorted)*p + 99) / 100
	return sorted[max(rank, 1)-1]
}

// NextSlot is the first slot strictly after t, on a day off too; ok is false
// when there is none, or the schedule can't be read.
func (t Task) NextSlot(after time.Time) (slot time.Time, ok bool) {
	times, err := t.Times()
	if err != nil {
		return time.Time{}, false
	}
	return times.Next(after)
}

func nextSlots(times Times, from time.Time, n int) []time.Time {
	var out []time.Time
	for len(out) < n {
		slot, ok := times.Next(from)
		if !ok {
			break
		}
		out = append(out, slot)
		from = slot
	}
	return out
}
