package alert

import (
	"time"

	"ax/app/sched"
)

// ExpectAfter is when a task's next success is due at the latest: its first
// slot that is to run after it last succeeded. What was expected before an edit
// or before the end of a pause is expected no more: somebody has looked at it.
// ok is false when no success is expected: of requests alone, after the last
// slot, and of a schedule that can't be read, which the task itself says.
func ExpectAfter(t sched.Task, lastOK, now time.Time) (due time.Time, ok bool) {
	if !t.Spec.Schedule.Kind.Slots() || !t.Enabled || !t.ArchivedAt.IsZero() {
		return time.Time{}, false
	}
	base := lastOK
	for _, from := range []time.Time{t.CreatedAt, t.UpdatedAt} {
		if from.After(base) {
			base = from
		}
	}
	if t.PausedUntil.After(base) && (t.Paused(now) || !now.Before(t.PausedUntil)) {
		base = t.PausedUntil.Add(-time.Millisecond)
	}
	times, err := t.Times()
	if err != nil {
		return time.Time{}, false
	}
	slot, ok := nextSlot(t, times, base)
	for ok && within(t, slot) {
		slot, ok = nextSlot(t, times, t.PausedUntil.Add(-time.Millisecond))
	}
	return slot.Add(t.Offset()), ok
}

// nextSlot is the first slot after a moment that is to run. With a fixed delay
// slots follow the runs: one is due a delay after the last success.
func nextSlot(t sched.Task, times sched.Times, base time.Time) (time.Time, bool) {
	s := t.Spec.Schedule
	if s.Kind != sched.KindInterval || !s.FixedDelay {
		return times.NextRun(base)
	}
	slot := base.Add(time.Duration(s.EverySeconds) * time.Second)
	if first, ok := times.Next(base); ok && first.After(slot) {
		slot = first
	}
	return slot, s.EndAt.IsZero() || !slot.After(s.EndAt)
}

// within tells whether the slot lies in the pause.
func within(t sched.Task, slot time.Time) bool {
	return !t.PausedUntil.IsZero() && !slot.Before(t.PausedFrom) && slot.Before(t.PausedUntil)
}

// Missing tells since when a task lacks an expected success, as a dead man's
// switch does: whatever keeps it from succeeding. lastEnd is its latest end of
// any kind; running tells that a run is under way within its own time, which is
// waited for unless another has ended since the success was due.
func Missing(t sched.Task, lastOK, lastEnd time.Time, running bool, now time.Time) (since time.Time, ok bool) {
	if t.Paused(now) {
		return time.Time{}, false
	}
	due, ok := ExpectAfter(t, lastOK, now)
	if !ok || due.After(now) || running && lastEnd.Before(due) {
		return time.Time{}, false
	}
	return due, true
}
