package db

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/alert"
	"ax/app/sched"
)

const (
	// pulseFew ends are read of each task first: nearly always a success is among
	// them. pulseLook are read of those where none is, which bounds a streak.
	pulseFew  = 6
	pulseLook = 50
	// normEvery is how often what a task's runs took is counted anew, and
	// normFirst how long after its first success: sketches are made then.
	normEvery = time.Hour
	normFirst = 5 * time.Minute
)

// pulseRow is a row of task_pulse.
type pulseRow struct {
	TaskID      int64
	Version     int
	CountedAt   Millis
	InARow      int
	RowSince    Millis
	TriesInARow int
	TriesSince  Millis
	LastEndAt   Millis
	LastOkAt    Millis
	LastOkID    maybe
	LastOkMs    *int64
	BadID       maybe
	BadError    string
	BadCause    string
	TryID       maybe
	TryError    string
	TryCause    string
	Host        string
	ExpectAt    Millis
	NormN       int
	NormP50Ms   int64
	NormP95Ms   int64
	NormAt      Millis
	NormDue     Millis
}

// endedTry is an attempt that ended, with what its instance became.
type endedTry struct {
	TaskID     int64
	InstanceID string
	No         int
	StartedAt  Millis
	EndedAt    Millis
	Outcome    sched.Outcome
	StatusCode int
	Error      string
	State      sched.State
	LatestNo   int // of the instance's attempts
	FinishedAt Millis
	Why        string // the instance's error
}

// lookedAt are the ends that a look lists.
type lookedAt string

// Every attempt that ended, those that count alone, and those that were their
// instance's last. What was canceled, skipped or accepted is no end of the two.
const (
	lookAll  lookedAt = ""
	lookTry  lookedAt = " AND a.outcome IN ('succeeded','failed','timed_out','lost')"
	lookRuns lookedAt = " AND i.attempt=a.no AND i.state IN ('succeeded','failed','timed_out','lost')"
)

// tries lists the latest ends of each task, the latest first.
func (d *DB) tries(tx *gorm.DB, tasks []int64, which lookedAt, limit int) (map[int64][]endedTry, error) {
	out := make(map[int64][]endedTry, len(tasks))
	if len(tasks) == 0 {
		return out, nil
	}
	one := "SELECT * FROM (SELECT a.task_id, a.instance_id, a.no, a.started_at, a.ended_at, a.outcome, a.status_code, a.error, i.state, i.attempt AS latest_no, i.finished_at, i.error AS why FROM " +
		d.dialect.byAlias("attempts", "a", "attempts_task_ended") + " JOIN instances i ON i.id=a.instance_id" +
		" WHERE a.task_id=? AND a.ended_at IS NOT NULL" + string(which) + " ORDER BY a.ended_at DESC LIMIT ?) AS r"
	args := make([]any, 0, 2*len(tasks))
	for _, id := range tasks {
		args = append(args, id, limit)
	}
	var rows []endedTry
	if err := tx.Raw(one+strings.Repeat(" UNION ALL "+one, len(tasks)-1), args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read the latest ends of tasks: %w", err)
	}
	for _, r := range rows {
		out[r.TaskID] = append(out[r.TaskID], r)
	}
	return out, nil
}

// latest lists the latest ends of the runs and of the tries of each task, the
// latest first: a few, or as many as bound a streak where none of the few is a
// success.
func (d *DB) latest(tx *gorm.DB, tasks []int64) (runs, tries map[int64][]endedTry, err error) {
	few, err := d.tries(tx, tasks, lookAll, pulseFew)
	if err != nil {
		return nil, nil, err
	}
	runs, tries = map[int64][]endedTry{}, map[int64][]endedTry{}
	var deepRuns, deepTries []int64
	for _, id := range tasks {
		runs[id], tries[id] = asRuns(few[id]), asTries(few[id])
		all := len(few[id]) < pulseFew
		if !all && !slices.ContainsFunc(runs[id], endedTry.good) {
			deepRuns = append(deepRuns, id)
		}
		if !all && !slices.ContainsFunc(tries[id], endedTry.good) {
			deepTries = append(deepTries, id)
		}
	}
	more, err := d.tries(tx, deepRuns, lookRuns, pulseLook)
	if err != nil {
		return nil, nil, err
	}
	for id, ends := range more {
		runs[id] = asRuns(ends)
	}
	more, err = d.tries(tx, deepTries, lookTry, pulseLook)
	for id, ends := range more {
		tries[id] = asTries(ends)
	}
	return runs, tries, err
}

// asRuns are the ends that were their instance's last, in the order of the
// instances' ends.
func asRuns(all []endedTry) []endedTry {
	return inOrder(slices.DeleteFunc(slices.Clone(all), func(e endedTry) bool {
		return e.No != e.LatestNo || e.State != sched.Succeeded && !e.State.Bad()
	}))
}

// asTries are attempts by themselves.
func asTries(all []endedTry) (out []endedTry) {
	for _, e := range all {
		switch e.Outcome {
		case sched.OutcomeSucceeded, sched.OutcomeFailed, sched.OutcomeTimedOut, sched.OutcomeLost:
			e.State, e.FinishedAt, e.Why = "", e.EndedAt, ""
			out = append(out, e)
		}
	}
	return inOrder(out)
}

func inOrder(ends []endedTry) []endedTry {
	slices.SortStableFunc(ends, func(a, b endedTry) int {
		return cmp.Or(b.FinishedAt.Compare(a.FinishedAt.Time), strings.Compare(b.InstanceID, a.InstanceID), cmp.Compare(b.No, a.No))
	})
	return ends
}

func (e endedTry) good() bool {
	return e.State == sched.Succeeded || e.State == "" && e.Outcome == sched.OutcomeSucceeded
}

// said is what the end says of why, and cause what it has in common with others.
func (e endedTry) said() string { return cmp.Or(e.Why, e.Error) }

func (e endedTry) cause(host string) string {
	return clip(alert.CauseOf(host, string(e.Outcome), e.StatusCode, e.said()), 200)
}

// streak counts the bad ends before the first good one.
func streak(ends []endedTry) (n int, since Millis) {
	for _, e := range ends {
		if e.good() {
			break
		}
		n, since = n+1, e.FinishedAt
	}
	return n, since
}

// pulsesOf makes the rows of tasks; of a task that is gone there is none.
func (d *DB) pulsesOf(tx *gorm.DB, ids []int64, now time.Time) ([]pulseRow, error) {
	var tasks []taskRow
	if err := tx.Raw("SELECT * FROM tasks WHERE id IN ? ORDER BY id", ids).Scan(&tasks).Error; err != nil {
		return nil, err
	}
	var before []pulseRow
	if err := tx.Raw("SELECT * FROM task_pulse WHERE task_id IN ?", ids).Scan(&before).Error; err != nil {
		return nil, err
	}
	old := make(map[int64]pulseRow, len(before))
	for _, r := range before {
		old[r.TaskID] = r
	}
	runs, tries, err := d.latest(tx, ids)
	if err != nil {
		return nil, err
	}
	cals := calendarsIn(tx)
	out := make([]pulseRow, 0, len(tasks))
	for _, t := range tasks {
		task := t.shown()
		if err := cals.give(&task); err != nil {
			return nil, err
		}
		out = append(out, pulseOf(task, old[t.ID], runs[t.ID], tries[t.ID], now))
	}
	return out, nil
}

// pulseOf makes a task's row from its latest ends. Where no success is among
// them, the one that was known stays.
func pulseOf(t sched.Task, old pulseRow, runs, tries []endedTry, now time.Time) pulseRow {
	r := pulseRow{
		TaskID: t.ID, Version: t.Version, CountedAt: at(now), LastEndAt: old.LastEndAt,
		LastOkAt: old.LastOkAt, LastOkID: old.LastOkID, LastOkMs: old.LastOkMs,
		NormN: old.NormN, NormP50Ms: old.NormP50Ms, NormP95Ms: old.NormP95Ms, NormAt: old.NormAt, NormDue: old.NormDue,
		Host: clip(alert.HostOf(t.Spec.Target.URL), 255),
	}
	r.InARow, r.RowSince = streak(runs)
	r.TriesInARow, r.TriesSince = streak(tries)
	if len(runs) > 0 {
		r.LastEndAt = runs[0].FinishedAt
	}
	if i := slices.IndexFunc(runs, func(e endedTry) bool { return !e.good() }); i >= 0 {
		r.BadID, r.BadError, r.BadCause = maybe(runs[i].InstanceID), clip(runs[i].said(), 500), runs[i].cause(r.Host)
	}
	if i := slices.IndexFunc(tries, func(e endedTry) bool { return !e.good() }); i >= 0 {
		r.TryID, r.TryError, r.TryCause = maybe(tries[i].InstanceID), clip(tries[i].said(), 500), tries[i].cause(r.Host)
	}
	if i := slices.IndexFunc(runs, endedTry.good); i >= 0 {
		took := runs[i].EndedAt.Sub(runs[i].StartedAt.Time).Milliseconds()
		r.LastOkAt, r.LastOkID, r.LastOkMs = runs[i].FinishedAt, maybe(runs[i].InstanceID), &took
	}
	if r.LastOkID != old.LastOkID && r.NormDue.IsZero() {
		r.NormDue = at(now.Add(normFirst))
		if next := old.NormAt.Add(normEvery); !old.NormAt.IsZero() && next.After(r.NormDue.Time) {
			r.NormDue = at(next)
		}
	}
	// The pause may be shortened without a new version: the row says when a
	// success may be missing at the earliest.
	t.PausedFrom, t.PausedUntil = time.Time{}, time.Time{}
	if due, ok := alert.ExpectAfter(t, r.LastOkAt.Time, now); ok {
		r.ExpectAt = at(due)
	}
	return r
}

// pulseColumns are all but the key, in the order of values.
const pulseColumns = "version, counted_at, in_a_row, row_since, tries_in_a_row, tries_since, last_end_at, last_ok_at, last_ok_id, last_ok_ms," +
	" bad_id, bad_error, bad_cause, try_id, try_error, try_cause, host, expect_at, norm_n, norm_p50_ms, norm_p95_ms, norm_at, norm_due"

func (r pulseRow) values() []any {
	return []any{
		r.TaskID, r.Version, r.CountedAt, r.InARow, r.RowSince, r.TriesInARow, r.TriesSince, r.LastEndAt, r.LastOkAt, r.LastOkID, r.LastOkMs,
		r.BadID, r.BadError, r.BadCause, r.TryID, r.TryError, r.TryCause, r.Host, r.ExpectAt, r.NormN, r.NormP50Ms, r.NormP95Ms, r.NormAt, r.NormDue,
	}
}

func (d *DB) storePulses(tx *gorm.DB, rows []pulseRow) error {
	columns := strings.Split(strings.ReplaceAll(pulseColumns, " ", ""), ",")
	marks := "(?" + strings.Repeat(",?", len(columns)) + ")"
	var args []any
	for _, r := range rows {
		args = append(args, r.values()...)
	}
	return tx.Exec("INSERT INTO task_pulse (task_id, "+pulseColumns+") VALUES "+marks+strings.Repeat(","+marks, len(rows)-1)+
		" "+d.dialect.upsert("task_id", columns...), args...).Error
}
