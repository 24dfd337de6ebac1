package db

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ax/app/access"
	"ax/app/sched"
)

// listed is how many rows each list of the dashboard has.
const listed = 6

// lagSample is how many of the latest starts the lag percentiles are taken
// from while there is no sketch of any.
const lagSample = 1000

// Dashboard reads the first page's figures and lists for a scope.
func (d *DB) Dashboard(ctx context.Context, scope access.Scope, now time.Time) (sched.Dashboard, error) {
	out := sched.Dashboard{}
	for _, read := range []func(context.Context, access.Scope, time.Time, *sched.Dashboard) error{
		d.dashDue, d.dashOpen, d.dashEnded, d.dashLag, d.dashTrouble, d.dashNames,
	} {
		if err := read(ctx, scope, now, &out); err != nil {
			return out, fmt.Errorf("read dashboard: %w", err)
		}
	}
	return out, nil
}

func (d *DB) dashDue(ctx context.Context, scope access.Scope, now time.Time, out *sched.Dashboard) error {
	w := &where{}
	w.and("enabled=1 AND next_fire_at<=?", at(now.Add(time.Hour)))
	w.scope("team_id", scope)
	if err := d.view(ctx).Raw("SELECT COUNT(*) FROM tasks"+w.sql(), w.args...).Scan(&out.DueSoon).Error; err != nil {
		return err
	}
	w = &where{}
	w.and("enabled=1 AND next_fire_at IS NOT NULL")
	w.scope("team_id", scope)
	var rows []taskRow
	if err := d.view(ctx).Raw("SELECT * FROM tasks"+w.sql()+" ORDER BY next_fire_at, id LIMIT ?", append(w.args, listed)...).Scan(&rows).Error; err != nil {
		return err
	}
	cals := calendarsIn(d.view(ctx))
	for _, r := range rows {
		t := r.shown()
		if err := cals.give(&t); err != nil {
			return err
		}
		if due := t.NextStart(); !due.IsZero() { // zero: only days off are in sight
			out.Next = append(out.Next, sched.Upcoming{At: due, TaskID: r.ID, Code: r.Code, Name: r.Name})
		}
	}
	slices.SortStableFunc(out.Next, func(a, b sched.Upcoming) int { return a.At.Compare(b.At) })
	if len(out.Next) > 0 {
		out.FirstDue = out.Next[0].At
	}
	return nil
}

func (d *DB) dashOpen(ctx context.Context, scope access.Scope, now time.Time, out *sched.Dashboard) error {
	m, err := d.moving(ctx, scope)
	if err != nil {
		return err
	}
	counts, err := d.StateCounts(ctx, scope, 0, now.Add(time.Minute))
	if err != nil {
		return err
	}
	out.Open = counts
	w := &where{}
	w.and("state IN ? AND due_at<?", claimableStates, at(now.Add(-sched.LateAfter)))
	m.scope(w, "", scope)
	var late struct {
		N     int
		Worst Millis
	}
	if err := d.view(ctx).Raw("SELECT COUNT(*) AS n, MIN(due_at) AS worst FROM instances"+w.sql(), w.args...).Scan(&late).Error; err != nil {
		return err
	}
	if out.Late = late.N; late.N > 0 {
		out.WorstLate = now.Sub(late.Worst.Time)
	}
	w = &where{}
	w.and("status IN ?", []sched.LetterStatus{sched.LetterOpen, sched.LetterTaken})
	m.scope(w, "", scope)
	if err := d.view(ctx).Raw("SELECT COUNT(*) FROM dead_letters"+w.sql(), w.args...).Scan(&out.OpenLetters).Error; err != nil {
		return err
	}
	out.Nodes, err = d.Nodes(ctx, now.Add(-time.Hour))
	return err
}

// dashEnded reads the outcomes per hour of the last 24 h and of the last hour.
func (d *DB) dashEnded(ctx context.Context, scope access.Scope, now time.Time, out *sched.Dashboard) error {
	m, err := d.moving(ctx, scope)
	if err != nil {
		return err
	}
	from := now.Truncate(time.Hour).Add(-23 * time.Hour)
	rows, err := d.outcomeRows(ctx, m, scope, from, time.Hour)
	if err != nil {
		return err
	}
	out.Buckets = bucketsOf(rows, from, time.Hour, 24)
	perTeam := map[int64][]statRow{}
	for _, r := range rows {
		perTeam[r.TeamID] = append(perTeam[r.TeamID], r)
	}
	out.Teams = map[int64]sched.Rate{}
	for team, rows := range perTeam {
		out.Teams[team] = rateOf(rows)
	}
	rows, err = d.ended(ctx, m, scope, 0, now.Add(-time.Hour))
	out.Hour = rateOf(rows)
	return err
}

// dashLag reads how late first attempts began that ended within the hour; as
// long as none of them is sketched, of the latest that began in it.
func (d *DB) dashLag(ctx context.Context, scope access.Scope, now time.Time, out *sched.Dashboard) error {
	lag, err := d.Spread(ctx, scope, 0, now.Add(-time.Hour), sched.Lag)
	if err != nil {
		return err
	}
	if out.LagOf, out.LagP50, out.LagP99 = lag.Of, lag.P50, lag.P99; lag.Of > 0 {
		return nil
	}
	m, err := d.moving(ctx, scope)
	if err != nil {
		return err
	}
	w := &where{}
	w.and("id>=? AND started_at IS NOT NULL", firstID(now.Add(-time.Hour)))
	m.scope(w, "", scope)
	var rows []instanceRow
	err = d.view(ctx).Raw("SELECT wanted_at, started_at FROM instances"+w.sql()+" ORDER BY id DESC LIMIT ?", append(w.args, lagSample)...).Scan(&rows).Error
	if err != nil {
		return err
	}
	lags := make([]time.Duration, len(rows))
	for i, r := range rows {
		lags[i] = r.StartedAt.Sub(r.WantedAt.Time)
	}
	out.LagOf, out.LagP50, out.LagP99 = len(lags), sched.Percentile(lags, 50), sched.Percentile(lags, 99)
	return nil
}

// dashTrouble reads what needs a person.
func (d *DB) dashTrouble(ctx context.Context, scope access.Scope, now time.Time, out *sched.Dashboard) error {
	m, err := d.moving(ctx, scope)
	if err != nil {
		return err
	}
	letters, err := d.Letters(ctx, sched.LetterFilter{Scope: scope, Statuses: []sched.LetterStatus{sched.LetterOpen}}, sched.PageRequest{Limit: listed})
	if err != nil {
		return err
	}
	out.Letters = letters.Items
	tasks, err := d.Tasks(ctx, sched.TaskFilter{Scope: scope, Troubled: true}, sched.PageRequest{Limit: listed})
	if err != nil {
		return err
	}
	out.Troubled = tasks.Items
	w := &where{}
	w.and("state='running' AND deadline_at<?", at(now.Add(-sched.LateAfter)))
	m.scope(w, "", scope)
	var rows []instanceRow
	err = d.view(ctx).Raw("SELECT * FROM instances"+w.sql()+" ORDER BY id LIMIT ?", append(w.args, listed)...).Scan(&rows).Error
	for _, r := range rows {
		out.Overlong = append(out.Overlong, r.instance())
	}
	return err
}

func (d *DB) dashNames(ctx context.Context, _ access.Scope, _ time.Time, out *sched.Dashboard) error {
	var ids []int64
	for _, l := range out.Letters {
		ids = append(ids, l.TaskID)
	}
	for _, in := range out.Overlong {
		ids = append(ids, in.TaskID)
	}
	tasks, err := d.TasksByID(ctx, ids)
	out.Tasks = tasks
	return err
}
