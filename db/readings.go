package db

import (
	"context"
	"fmt"
	"time"

	"ax/app/alert"
	"ax/app/sched"
)

// Bounds of what one reading looks at.
const (
	// MaxLagWindow is how far TriggerLag looks back at most.
	MaxLagWindow = time.Hour
	// maxTries is how many attempts Failures of each try counts at most, the
	// latest of the window.
	maxTries = 100_000
	// longRun and longMedian leave out what is too short for people to care.
	longRun    = 10 * time.Second
	longMedian = time.Second
	// pulseLate is how old the ends of runs may be that readings go by.
	pulseLate = 2 * time.Minute
	// offlineFor is how long a dead node is told of.
	offlineFor = 24 * time.Hour
)

// Readings tells what a metric says of everything at now, at its finest grain,
// in a handful of statements whatever the number of tasks. What Redis alone
// knows is not the ledger's: that is alert.ErrNotMine. Any other error means that
// nothing can be said, not that all is well.
func (d *DB) Readings(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	return newReader(d).readings(ctx, q, now)
}

// reader answers questions of one moment. What several of them need is read
// once.
type reader struct {
	*DB
	teams  map[int64]int64
	faults map[bool]map[int64]faultLine // by whether each try counts
	rates  func(ctx context.Context, since time.Time) (map[int64]rate, error)
	starts func(ctx context.Context, since time.Time) ([]start, error)
}

func newReader(d *DB) *reader {
	return &reader{DB: d, faults: map[bool]map[int64]faultLine{}, rates: d.ratesOf, starts: d.startsOf}
}

func (d *reader) readings(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	read := map[alert.Metric]func(context.Context, alert.Question, time.Time) ([]alert.Reading, error){
		alert.QueueDepth: d.readDepth, alert.SuccessRate: d.readRates, alert.Failures: d.readRates, alert.TriggerLag: d.readLags,
		alert.InARow: d.readStreaks, alert.OpenLetters: d.readLetters, alert.LetterAge: d.readLetters, alert.MissedRun: d.readMissed,
		alert.RunTooLong: d.readLong, alert.RunTooShort: d.readShort, alert.NodeOffline: d.readNodes, alert.ClockOffset: d.readOffsets,
		alert.PlanningLate: d.readPlanning, alert.CalendarEnds: d.readCalendars, alert.NoExecutor: d.readExecutors, alert.NotServed: d.readUnserved,
	}[q.Metric]
	if read == nil {
		return nil, alert.ErrNotMine
	}
	out, err := read(ctx, q, now)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", q.Metric, away(err))
	}
	return out, nil
}

// teamsOf gives the present team of each task: rows may still have an old one.
func (d *reader) teamsOf(ctx context.Context) (map[int64]int64, error) {
	if d.teams != nil {
		return d.teams, nil
	}
	rows, err := d.view(ctx).Raw("SELECT id, team_id FROM tasks").Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[int64]int64{}
	for rows.Next() {
		var id, team int64
		if err := rows.Scan(&id, &team); err != nil {
			return nil, err
		}
		out[id] = team
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	d.teams = out
	return out, nil
}

// beating refuses to tell anything by the ends of runs while they aren't
// counted: a success that nobody has counted yet is not missing. ok is false
// before the first count.
func (d *DB) beating(ctx context.Context, now time.Time) (ok bool, err error) {
	mark, ok, err := takePulse(d.view(ctx), "")
	if err != nil || !ok {
		return false, err
	}
	if late := now.Sub(mark.last()); late > pulseLate {
		return false, fmt.Errorf("the ends of runs were last counted %s ago", late.Round(time.Second))
	}
	return true, nil
}

// faultLine is what is told of a task's failures.
type faultLine struct {
	task, team          int64
	n                   int
	since               Millis
	cause, host, detail string
	instance            maybe
}

func (d *DB) readStreaks(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	if ok, err := d.beating(ctx, now); err != nil || !ok {
		return nil, err
	}
	n, since, id, what, cause := "in_a_row", "row_since", "bad_id", "bad_error", "bad_cause"
	if q.EachTry {
		n, since, id, what, cause = "tries_in_a_row", "tries_since", "try_id", "try_error", "try_cause"
	}
	rows, err := d.view(ctx).Raw("SELECT p.task_id, t.team_id, p." + n + ", p." + since + ", p." + id + ", p." + what + ", p." + cause + ", p.host" +
		" FROM task_pulse p JOIN tasks t ON t.id=p.task_id WHERE p." + n + ">0 AND t.enabled=1 AND t.archived_at IS NULL").Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []alert.Reading
	for rows.Next() {
		var m faultLine
		if err := rows.Scan(&m.task, &m.team, &m.n, &m.since, &m.instance, &m.detail, &m.cause, &m.host); err != nil {
			return nil, err
		}
		out = append(out, alert.Reading{
			TaskID: m.task, TeamID: m.team, Value: float64(m.n), N: m.n, Since: m.since.Time,
			Cause: m.cause, Host: m.host, Detail: m.detail, Instance: string(m.instance),
		})
	}
	return out, rows.Err()
}

func (d *reader) readLetters(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error) {
	teams, err := d.teamsOf(ctx)
	if err != nil {
		return nil, err
	}
	var rows []struct {
		TaskID int64
		N      int
		Oldest Millis
	}
	// By team, for that is the key: history may hold many more letters.
	err = d.view(ctx).Raw("SELECT l.task_id, COUNT(*) AS n, MIN(l.opened_at) AS oldest FROM teams g CROSS JOIN "+
		d.dialect.byAlias("dead_letters", "l", "dead_letters_team_status")+
		" WHERE l.team_id=g.id AND l.status IN ? GROUP BY l.task_id", []sched.LetterStatus{sched.LetterOpen, sched.LetterTaken}).Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	out := make([]alert.Reading, len(rows))
	for i, r := range rows {
		out[i] = alert.Reading{TaskID: r.TaskID, TeamID: teams[r.TaskID], Value: float64(r.N), N: r.N, Since: r.Oldest.Time}
		if q.Metric == alert.LetterAge {
			out[i].Value = now.Sub(r.Oldest.Time).Hours()
		}
	}
	return out, nil
}
