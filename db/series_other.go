package db

import (
	"context"
	"maps"
	"slices"
	"time"

	"ax/app/alert"
	"ax/app/sched"
)

// lags follows the P99 of the lag by whole hours: shorter windows are told by
// the hour that they lie in.
func (p *past) lags(ctx context.Context) error {
	done, err := momentOf(p.view(ctx), "", sketchHoursName)
	if err != nil {
		return err
	}
	if err := p.known(ctx, "sketch_hour", "hour_at", "sketch_minute", "minute_at"); err != nil {
		return err
	}
	hours := map[int64]sketch{} // by hours since 1970
	for _, part := range []part{{"sketch_hour", "hour_at", p.from.Truncate(time.Hour), done}, {"sketch_minute", "minute_at", latestOf(done, p.from), p.to}} {
		for ids := range slices.Chunk(p.ids, seriesTasks) {
			if err := p.mergeHours(ctx, hours, part, ids); err != nil {
				return err
			}
		}
	}
	wide := max(int64(p.rule.Window/time.Hour), 1)
	var points []alert.Point
	for _, hour := range slices.Sorted(maps.Keys(hours)) {
		for _, end := range []int64{hour, hour + wide} { // the hour comes into the window, and leaves it
			point, err := lagOf(hours, end-wide+1, end)
			if err != nil {
				return err
			}
			if point.At = time.Unix((end+1)*3600, 0).UTC(); point.At.Before(p.to) {
				points = append(points, point)
			}
		}
	}
	slices.SortFunc(points, func(a, b alert.Point) int { return a.At.Compare(b.At) })
	p.scope(slices.CompactFunc(points, func(a, b alert.Point) bool { return a.At.Equal(b.At) }))
	return nil
}

// lagOf is the P99 of some hours.
func lagOf(hours map[int64]sketch, first, last int64) (alert.Point, error) {
	sum, err := newSketch()
	if err != nil {
		return alert.Point{}, err
	}
	for h := first; h <= last; h++ {
		if one, ok := hours[h]; ok {
			if err := sum.dd.MergeWith(one.dd); err != nil {
				return alert.Point{}, err
			}
		}
	}
	if sum.count() == 0 {
		return alert.Point{Blank: true}, nil
	}
	lag, err := sum.percentile(99)
	return alert.Point{Value: lag.Seconds(), N: sum.count()}, err
}

func (p *past) mergeHours(ctx context.Context, hours map[int64]sketch, part part, ids []int64) error {
	if !part.from.Before(part.to) {
		return nil
	}
	rows, err := p.view(ctx).Raw("SELECT "+part.at+", sketch FROM "+part.table+" WHERE task_id IN ? AND kind=? AND "+part.at+">=? AND "+part.at+"<?",
		ids, string(sched.Lag), at(part.from), at(part.to)).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var begin Millis
		var one []byte
		if err := rows.Scan(&begin, &one); err != nil {
			return err
		}
		hour := begin.Unix() / 3600
		if _, ok := hours[hour]; !ok {
			if hours[hour], err = newSketch(); err != nil {
				return err
			}
		}
		if err := hours[hour].merge(one); err != nil {
			return err
		}
	}
	return rows.Err()
}

// depths follows the samples of queues, which are kept for seven days.
func (p *past) depths(ctx context.Context) error {
	if err := p.known(ctx, "queue_samples", "at"); err != nil {
		return err
	}
	p.out.Exact = p.out.Known
	w := &where{}
	w.and("at>=? AND at<=?", at(p.from), at(p.to))
	if p.rule.Scope.Kind == alert.OfQueue {
		w.and("queue=?", p.rule.Scope.Value)
	}
	rows, err := p.view(ctx).Raw("SELECT queue, at, due FROM queue_samples"+w.sql()+" ORDER BY queue, at", w.args...).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	var line *alert.Track
	var last time.Time
	for rows.Next() {
		var queue string
		var moment Millis
		var due int
		if err := rows.Scan(&queue, &moment, &due); err != nil {
			return err
		}
		if line == nil || line.Subject.Key != queue {
			p.out.Lines = append(p.out.Lines, alert.Track{Subject: alert.Subject{Kind: alert.QueueSubject, Key: queue, Name: queue}})
			line = &p.out.Lines[len(p.out.Lines)-1]
			last = moment.Time
		}
		if moment.Sub(last) > sampleGap {
			line.Points = append(line.Points, alert.Point{At: last.Add(sampleGap), Blank: true})
		}
		if last = moment.Time; len(line.Points) == 0 || line.Points[len(line.Points)-1].Blank || line.Points[len(line.Points)-1].N != due {
			line.Points = append(line.Points, alert.Point{At: moment.Time, Value: float64(due), N: due})
		}
	}
	return rows.Err()
}

// open is the time in which a letter was open.
type open struct{ from, to time.Time }

// letters follows how many letters were open, or how old the oldest was. One
// that was opened again counts from its latest opening.
func (p *past) letters(ctx context.Context) error {
	p.out.Known, p.out.Exact = p.from, p.from
	var all []open
	for ids := range slices.Chunk(p.ids, seriesTasks) {
		var rows []struct{ OpenedAt, ClosedAt Millis }
		err := p.view(ctx).Raw("SELECT opened_at, closed_at FROM dead_letters WHERE task_id IN ? AND opened_at<=? AND (closed_at IS NULL OR closed_at>=?) ORDER BY opened_at DESC LIMIT ?",
			ids, at(p.to), at(p.from), seriesRows).Scan(&rows).Error
		if err != nil {
			return err
		}
		p.out.Cut = p.out.Cut || len(rows) == seriesRows
		for _, r := range rows {
			all = append(all, open{r.OpenedAt.Time, r.ClosedAt.Time})
		}
	}
	slices.SortFunc(all, func(a, b open) int { return a.from.Compare(b.from) })
	if p.rule.Metric == alert.LetterAge {
		p.scope(p.ages(all))
		return nil
	}
	var changes []change
	for _, l := range all {
		changes = append(changes, change{at: latestOf(l.from, p.from), bad: 1})
		if !l.to.IsZero() {
			changes = append(changes, change{at: l.to, bad: -1})
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	p.scope(p.points(changes, func(_, n int) alert.Point { return alert.Point{Value: float64(n), N: n} }))
	return nil
}

// ages tells each ten minutes how old the oldest open letter was.
func (p *past) ages(all []open) []alert.Point {
	var out []alert.Point
	first := 0
	for moment := p.from; moment.Before(p.to); moment = moment.Add(10 * time.Minute) {
		for first < len(all) && !all[first].to.IsZero() && !all[first].to.After(moment) {
			first++
		}
		point := alert.Point{At: moment}
		if first < len(all) && !all[first].from.After(moment) {
			point.Value, point.N = moment.Sub(all[first].from).Hours(), 1
		}
		out = append(out, point)
	}
	return out
}
