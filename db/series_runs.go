package db

import (
	"cmp"
	"context"
	"slices"
	"time"

	"ax/app/alert"
	"ax/app/sched"
)

// ends reads attempts of tasks that ended since a moment, the latest of them
// where there are too many; whole: only those that were their instance's last.
func (p *past) ends(ctx context.Context, tasks []int64, since time.Time, whole bool, which string) ([]endedTry, error) {
	p.out.Known = latestOf(since, p.out.Known)
	columns, join := "'' AS state, a.ended_at AS finished_at, '' AS why", ""
	if whole {
		columns, join = "i.state, i.finished_at, i.error AS why", " JOIN instances i ON i.id=a.instance_id"
		which += " AND i.attempt=a.no AND i.state IN ('succeeded','failed','timed_out','lost')"
	}
	var all []endedTry
	for ids := range slices.Chunk(tasks, seriesTasks) {
		var rows []endedTry
		err := p.view(ctx).Raw("SELECT a.task_id, a.instance_id, a.no, a.started_at, a.ended_at, a.outcome, a.status_code, a.error, "+columns+
			" FROM attempts a"+join+" WHERE a.task_id IN ? AND a.ended_at>=? AND a.ended_at<=?"+which+" ORDER BY a.ended_at DESC LIMIT ?",
			ids, at(since), at(p.to), seriesRows).Scan(&rows).Error
		if err != nil {
			return nil, err
		}
		if len(rows) == seriesRows { // what is older of these is not known, so of none
			p.out.Cut, p.out.Known = true, latestOf(p.out.Known, rows[len(rows)-1].EndedAt.Time)
		}
		all = append(all, rows...)
	}
	slices.SortStableFunc(all, func(a, b endedTry) int {
		return cmp.Or(a.FinishedAt.Compare(b.FinishedAt.Time), cmp.Compare(a.InstanceID, b.InstanceID), cmp.Compare(a.No, b.No))
	})
	if len(all) > seriesRows {
		all = all[len(all)-seriesRows:]
		p.out.Cut, p.out.Known = true, latestOf(p.out.Known, all[0].FinishedAt.Time)
	}
	return slices.DeleteFunc(all, func(e endedTry) bool { return e.EndedAt.Before(p.out.Known) }), nil
}

// streaks follows the failures in a row of the tasks that had any.
func (p *past) streaks(ctx context.Context) error {
	failed, err := p.failed(ctx)
	if err != nil || len(failed) == 0 {
		p.out.Known = p.from
		return err
	}
	which := ""
	if p.rule.EachTry {
		which = " AND a.outcome IN ('succeeded','failed','timed_out','lost')"
	}
	all, err := p.ends(ctx, failed, p.from, !p.rule.EachTry, which)
	if err != nil {
		return err
	}
	hosts, err := newReader(p.DB).latestFaults(ctx, p.rule.EachTry)
	if err != nil {
		return err
	}
	points, row := map[int64][]alert.Point{}, map[int64]int{}
	for _, e := range all {
		id := e.TaskID
		switch {
		case !e.good():
			row[id]++
			points[id] = append(points[id], alert.Point{At: e.FinishedAt.Time, Value: float64(row[id]), N: row[id], Cause: e.cause(hosts[id].host)})
		case row[id] > 0:
			row[id] = 0
			points[id] = append(points[id], alert.Point{At: e.FinishedAt.Time})
		}
	}
	for _, id := range p.ids {
		if len(points[id]) > 0 {
			p.task(id, points[id])
		}
	}
	return nil
}

// failed lists the tasks of which something ended badly, by the figures; with
// each try all of them, for a failed attempt need not be the last.
func (p *past) failed(ctx context.Context) ([]int64, error) {
	if p.rule.EachTry {
		return p.ids, nil
	}
	done, err := momentOf(p.view(ctx), "", hoursName)
	if err != nil {
		return nil, err
	}
	found := map[int64]bool{}
	for _, part := range []struct {
		table, column string
		from          time.Time
	}{{"stats_hour", "hour_at", p.from.Truncate(time.Hour)}, {"stats_minute", "minute_at", latestOf(done, p.from.Truncate(time.Minute))}} {
		for ids := range slices.Chunk(p.ids, seriesTasks) {
			var some []int64
			err := p.view(ctx).Raw("SELECT DISTINCT task_id FROM "+part.table+" WHERE task_id IN ? AND "+part.column+">=? AND state IN ('failed','timed_out','lost')", ids, at(part.from)).Scan(&some).Error
			if err != nil {
				return nil, err
			}
			for _, id := range some {
				found[id] = true
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(p.ids), func(id int64) bool { return !found[id] }), nil
}

// durations compares each attempt with the successes of the seven days before
// it.
func (p *past) durations(ctx context.Context) error {
	which := " AND a.outcome='succeeded'"
	if p.rule.Metric == alert.RunTooLong {
		which = " AND a.outcome IN ('succeeded','failed','timed_out')"
	}
	all, err := p.ends(ctx, p.ids, p.from.Add(-normTime), false, which)
	if err != nil {
		return err
	}
	p.out.Known = latestOf(p.from, p.out.Known)
	by := map[int64][]endedTry{}
	for _, e := range all {
		by[e.TaskID] = append(by[e.TaskID], e)
	}
	for _, id := range p.ids {
		if p.rule.Metric == alert.RunTooLong {
			p.long(id, by[id])
		} else {
			p.short(id, by[id])
		}
	}
	return nil
}

// usualTimes are what successes took, of a window that only moves on.
type usualTimes struct {
	ends   []endedTry // succeeded, by their end
	lo, hi int        // those within
	sorted []int64    // ms
}

// until moves the window to the seven days before a moment.
func (u *usualTimes) until(t time.Time) {
	for ; u.hi < len(u.ends) && u.ends[u.hi].EndedAt.Before(t); u.hi++ {
		ms := u.ends[u.hi].took()
		i, _ := slices.BinarySearch(u.sorted, ms)
		u.sorted = slices.Insert(u.sorted, i, ms)
	}
	for ; u.lo < u.hi && u.ends[u.lo].EndedAt.Before(t.Add(-normTime)); u.lo++ {
		i, _ := slices.BinarySearch(u.sorted, u.ends[u.lo].took())
		u.sorted = slices.Delete(u.sorted, i, i+1)
	}
}

// percentile of the nearest rank; 0 of nothing.
func (u *usualTimes) percentile(p int) int64 {
	if len(u.sorted) == 0 {
		return 0
	}
	return u.sorted[max((len(u.sorted)*p+99)/100, 1)-1]
}

func (e endedTry) took() int64 { return e.EndedAt.Sub(e.StartedAt.Time).Milliseconds() }

func successes(list []endedTry) *usualTimes {
	return &usualTimes{ends: slices.DeleteFunc(slices.Clone(list), func(e endedTry) bool { return e.Outcome != sched.OutcomeSucceeded })}
}

// long makes a line of each attempt that took longer than the P95 before it:
// the factor rises by halves while it ran.
func (p *past) long(id int64, list []endedTry) {
	usual := successes(list)
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b endedTry) int { return a.StartedAt.Compare(b.StartedAt.Time) })
	for _, e := range list {
		usual.until(e.StartedAt.Time)
		norm, n := usual.percentile(95), len(usual.sorted)
		if norm = max(norm, 1); n == 0 || e.took() <= norm || e.took() < longRun.Milliseconds() || e.EndedAt.Before(p.from) {
			continue
		}
		var points []alert.Point
		const most = 200
		step := max(0.5, float64(e.took())/float64(norm)/most)
		for factor := 1.0; factor*float64(norm) < float64(e.took()); factor += step {
			ran := max(time.Duration(factor*float64(norm))*time.Millisecond, longRun)
			value := float64(ran.Milliseconds()) / float64(norm)
			if k := len(points) - 1; k < 0 || value > points[k].Value {
				points = append(points, alert.Point{At: e.StartedAt.Add(ran), Value: value, N: n})
			}
		}
		points = append(points, alert.Point{At: e.EndedAt.Time, N: n})
		p.task(id, points)
	}
}

// short makes a line of each task whose runs take long enough to be compared.
func (p *past) short(id int64, list []endedTry) {
	usual := successes(list)
	var points []alert.Point
	for _, e := range usual.ends {
		usual.until(e.EndedAt.Time)
		norm := usual.percentile(50)
		if e.EndedAt.Before(p.from) {
			continue
		}
		point := alert.Point{At: e.EndedAt.Time, Blank: norm < longMedian.Milliseconds(), N: len(usual.sorted)}
		if !point.Blank {
			point.Value = float64(e.took()) / float64(norm)
		}
		points = append(points, point)
	}
	if len(points) > 0 {
		p.task(id, points)
	}
}
