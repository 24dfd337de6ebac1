package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"time"

	"ax/app/alert"
)

const (
	// seriesFor is how long the past of one rule may take to be read.
	seriesFor = 3 * time.Second
	// seriesRows is how many runs or letters of it are read at most, the latest.
	seriesRows = 100_000
	// seriesTasks is of how many tasks one statement reads.
	seriesTasks = 500
	// sampleGap is how far apart samples are when nothing is known in between.
	sampleGap = time.Minute
)

// past is the reading of one rule's past.
type past struct {
	*DB
	rule     alert.Rule
	tasks    map[int64]alert.TaskMark
	ids      []int64
	from, to time.Time
	out      alert.Series
}

// Series tells what a rule's metric said between two moments, of those of the
// tasks that the rule is about (those of all teams may be given). A metric
// without History gives an empty one. What the ledger can't read within three
// seconds is an error.
func (d *DB) Series(ctx context.Context, r alert.Rule, tasks []alert.TaskMark, from, to time.Time) (alert.Series, error) {
	ctx, cancel := context.WithTimeout(ctx, seriesFor)
	defer cancel()
	p := &past{DB: d, rule: r, tasks: map[int64]alert.TaskMark{}, from: from, to: to, out: alert.Series{From: from, To: to}}
	perTask := r.Meter().Per == alert.PerTask
	for _, t := range tasks {
		ours := (r.TeamID == 0 || r.TeamID == t.TeamID) && r.Scope.Covers(t)
		if ours && (!perTask || r.Watches(t)) {
			p.tasks[t.ID] = t
			p.ids = append(p.ids, t.ID)
		}
	}
	slices.Sort(p.ids)
	read := map[alert.Metric]func(context.Context) error{
		alert.SuccessRate: p.rates, alert.Failures: p.failures, alert.TriggerLag: p.lags, alert.QueueDepth: p.depths,
		alert.InARow: p.streaks, alert.OpenLetters: p.letters, alert.LetterAge: p.letters,
		alert.RunTooLong: p.durations, alert.RunTooShort: p.durations,
	}[r.Metric]
	if read == nil {
		return p.out, nil
	}
	if err := read(ctx); err != nil {
		return p.out, fmt.Errorf("read the past of %s: %w", r.Metric, away(err))
	}
	return p.out, nil
}

// scope is the line of all that the rule covers together.
func (p *past) scope(points []alert.Point) {
	s := alert.Subject{Kind: alert.ScopeSubject, Key: string(p.rule.Scope.Kind) + ":" + p.rule.Scope.Value}
	p.out.Lines = append(p.out.Lines, alert.Track{Subject: s, TeamID: p.rule.TeamID, Points: points})
}

// task adds a line of a task.
func (p *past) task(id int64, points []alert.Point) {
	t := p.tasks[id]
	p.out.Lines = append(p.out.Lines, alert.Track{Subject: alert.Subject{Kind: alert.TaskSubject, Key: t.Code, Name: t.Name}, TeamID: t.TeamID, Points: points})
}

// bucket is what ended in a minute or an hour; task 0: of all.
type bucket struct {
	task      int64
	at        time.Time
	good, bad int
	size      time.Duration
}

// buckets reads what ended by minutes or hours: minutes where the window is
// shorter than an hour and they are still kept, and since the last whole hour.
func (p *past) buckets(ctx context.Context, byTask bool) ([]bucket, error) {
	done, err := momentOf(p.view(ctx), "", hoursName)
	if err != nil {
		return nil, err
	}
	minutes := done // from which on minutes are read; the zero time: always
	if p.rule.Window < time.Hour {
		minutes = done.Add(-minuteLife).Truncate(time.Hour).Add(time.Hour)
		p.out.Exact = latestOf(minutes, p.from)
	}
	if err := p.known(ctx, "stats_hour", "hour_at", "stats_minute", "minute_at"); err != nil {
		return nil, err
	}
	hours, err := p.counts(ctx, "stats_hour", "hour_at", time.Hour, p.from, minutes, byTask)
	if err != nil {
		return nil, err
	}
	recent, err := p.counts(ctx, "stats_minute", "minute_at", time.Minute, latestOf(minutes, p.from), p.to, byTask)
	return append(hours, recent...), err
}

func latestOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// known notes from when on there is anything.
func (p *past) known(ctx context.Context, columns ...string) error {
	for i := 0; i < len(columns); i += 2 {
		var oldest Millis
		if err := p.view(ctx).Raw("SELECT MIN(" + columns[i+1] + ") FROM " + columns[i]).Row().Scan(&oldest); err != nil {
			return err
		}
		if !oldest.IsZero() {
			p.out.Known = latestOf(oldest.Time, p.from)
			return nil
		}
	}
	return nil
}

// counts reads buckets of one size.
func (p *past) counts(ctx context.Context, table, column string, size time.Duration, from, to time.Time, byTask bool) ([]bucket, error) {
	if !from.Before(to) {
		return nil, nil
	}
	task, group, only := "0", column, ""
	if byTask { // failures alone, of which there are few
		task, group, only = "task_id", "task_id, "+column, " AND state IN ('failed','timed_out','lost')"
	}
	var out []bucket
	for ids := range slices.Chunk(p.ids, seriesTasks) {
		rows, err := p.view(ctx).Raw("SELECT "+task+", "+column+", SUM(CASE WHEN state IN ('succeeded','retried') THEN n ELSE 0 END), SUM(CASE WHEN state IN ('failed','timed_out','lost') THEN n ELSE 0 END)"+
			" FROM "+table+" WHERE task_id IN ? AND "+column+">=? AND "+column+"<?"+only+" GROUP BY "+group, ids, at(from), at(to)).Rows()
		if err != nil {
			return nil, err
		}
		some, err := readBuckets(rows, size)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

func readBuckets(rows *sql.Rows, size time.Duration) (out []bucket, err error) {
	defer rows.Close()
	for rows.Next() {
		b := bucket{size: size}
		var begin Millis
		if err := rows.Scan(&b.task, &begin, &b.good, &b.bad); err != nil {
			return nil, err
		}
		b.at = begin.Time
		out = append(out, b)
	}
	return out, rows.Err()
}

// change is what the sum of a window gains at a moment.
type change struct {
	at        time.Time
	good, bad int
}

// changes are what buckets bring when they are over, and take away again when
// the window has left them behind.
func (p *past) changes(all []bucket) map[int64][]change {
	out := map[int64][]change{}
	for _, b := range all {
		end := b.at.Add(b.size)
		out[b.task] = append(out[b.task], change{end, b.good, b.bad}, change{end.Add(max(p.rule.Window, b.size)), -b.good, -b.bad})
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b change) int { return a.at.Compare(b.at) })
	}
	return out
}

// points follows the sums.
func (p *past) points(list []change, value func(good, bad int) alert.Point) []alert.Point {
	var out []alert.Point
	good, bad := 0, 0
	for i, c := range list {
		good, bad = good+c.good, bad+c.bad
		if i+1 < len(list) && list[i+1].at.Equal(c.at) || !c.at.Before(p.to) {
			continue
		}
		next := value(good, bad)
		next.At = c.at
		out = append(out, next)
	}
	return out
}

func (p *past) rates(ctx context.Context) error {
	all, err := p.buckets(ctx, false)
	if err != nil {
		return err
	}
	p.scope(p.points(p.changes(all)[0], func(good, bad int) alert.Point {
		n := good + bad
		if n == 0 {
			return alert.Point{Blank: true}
		}
		return alert.Point{Value: 100 * float64(good) / float64(n), N: n}
	}))
	return nil
}

func (p *past) failures(ctx context.Context) error {
	read := p.buckets
	if p.rule.EachTry {
		read = p.badTries
	}
	all, err := read(ctx, true)
	if err != nil {
		return err
	}
	changes := p.changes(all)
	for _, id := range slices.Sorted(maps.Keys(changes)) {
		p.task(id, p.points(changes[id], func(_, bad int) alert.Point { return alert.Point{Value: float64(bad), N: bad} }))
	}
	return nil
}

// badTries counts failed attempts by minute.
func (p *past) badTries(ctx context.Context, _ bool) ([]bucket, error) {
	rows, err := p.ends(ctx, p.ids, p.from, false, " AND a.outcome IN ('failed','timed_out','lost')")
	counts := map[bucket]int{}
	for _, r := range rows {
		counts[bucket{task: r.TaskID, at: r.EndedAt.Truncate(time.Minute), size: time.Minute}]++
	}
	out := make([]bucket, 0, len(counts))
	for b, n := range counts {
		b.bad = n
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b bucket) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.task, b.task)) })
	p.out.Exact = p.out.Known
	return out, err
}
