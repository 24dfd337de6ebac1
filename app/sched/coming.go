package sched

import "time"

// comingDays is how far ahead a task's page names days off.
const comingDays = 60

// Coming is what a task does next.
type Coming struct {
	Runs []time.Time // when its next slots begin, with its share of the jitter
	Off  []DayOff    // the days off of the next two months
}

// Coming gives the next n runs of an enabled task after now.
func (t Task) Coming(now time.Time, n int) Coming {
	var out Coming
	if !t.Enabled || !t.ArchivedAt.IsZero() {
		return out
	}
	times, err := t.Times()
	if err != nil {
		return out
	}
	if t.Spec.Schedule.FixedDelay {
		if at := t.NextRun(); !at.IsZero() {
			out.Runs = []time.Time{at} // the others follow the ends of runs
		}
		return out
	}
	for _, slot := range times.runs(now.Add(-t.Offset()), n) {
		out.Runs = append(out.Runs, slot.Add(t.Offset()))
	}
	for _, d := range times.DaysOff(now) {
		if d.Slot.Before(now.AddDate(0, 0, comingDays)) {
			out.Off = append(out.Off, d)
		}
	}
	return out
}

// NextStart is when the next slot begins that is not on a day off; zero when
// there is none.
func (t Task) NextStart() time.Time {
	if t.NextFireAt.IsZero() || t.Calendar == nil {
		return t.NextRun()
	}
	times, err := t.Times()
	if err != nil || !times.Off(t.NextFireAt) {
		return t.NextRun()
	}
	if next := times.runs(t.NextFireAt, 1); len(next) > 0 {
		return next[0].Add(t.Offset())
	}
	return time.Time{}
}
