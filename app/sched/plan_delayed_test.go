package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// delayOf is a fixed delay of a minute.
func delayOf() Task {
	s := everyOf(60, noon())
	s.FixedDelay = true
	t := taskOf(s)
	t.NextFireAt = noon()
	return t
}

func TestAFixedDelayFollowsTheEndOfTheRun(t *testing.T) {
	at := func(seconds int) time.Time { return noon().Add(time.Duration(seconds) * time.Second) }
	ended := func(seconds int) LastSlot { return LastSlot{State: Succeeded, EndedAt: at(seconds)} }
	for name, c := range map[string]struct {
		change func(*Task)
		last   LastSlot
		now    int
		run    []time.Time
		missed int
		next   time.Time
	}{
		"the first":                             {last: LastSlot{}, now: -1, run: []time.Time{at(0)}, next: at(60)},
		"not yet":                               {last: LastSlot{}, now: -3, next: at(0)},
		"while one runs the planner looks soon": {last: LastSlot{State: Running}, now: 60, next: at(65)},
		"while one retries":                     {last: LastSlot{State: Retrying}, now: 60, next: at(65)},
		"after the end": {
			change: func(t *Task) { t.NextFireAt = at(95) }, last: ended(93), now: 95, next: at(153),
		},
		"its time": {
			change: func(t *Task) { t.NextFireAt = at(153) }, last: ended(93), now: 152, run: []time.Time{at(153)}, next: at(213),
		},
		"a failure is an end": {
			change: func(t *Task) { t.NextFireAt = at(65) }, last: LastSlot{State: Failed, EndedAt: at(5)}, now: 65,
			run: []time.Time{at(65)}, next: at(125),
		},
		"an end within a second": {
			change: func(t *Task) { t.NextFireAt = at(60) }, last: LastSlot{State: Succeeded, EndedAt: at(1).Add(time.Millisecond)}, now: 60,
			run: []time.Time{at(62)}, next: at(122),
		},
		"a fast one is looked at as often": {
			change: func(t *Task) { t.Spec.Schedule.EverySeconds = 2 }, last: LastSlot{State: Awaiting}, now: 60, next: at(62),
		},
		"after an outage the owed one runs at once": {
			last: ended(0), now: 7200, run: []time.Time{at(60)}, next: at(120),
		},
		"after an outage with skip it is recorded, and the next is now": {
			change: func(t *Task) { t.Spec.Schedule.Misfire = SkipAll }, last: ended(0), now: 7200, missed: 1, next: at(7200),
		},
		"not in a pause": {
			change: func(t *Task) { t.PausedFrom, t.PausedUntil = at(-60), at(600) }, last: LastSlot{}, now: 0, next: at(600),
		},
		"not before the start": {
			change: func(t *Task) { t.Spec.Schedule.StartAt = at(30) }, last: LastSlot{}, now: 0, next: at(30),
		},
		"not after the end of the window": {
			change: func(t *Task) { t.Spec.Schedule.EndAt = at(59) }, last: ended(0), now: 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			task := delayOf()
			if c.change != nil {
				c.change(&task)
			}
			p := PlanDelayed(task, c.last, at(c.now), at(c.now).Add(PlanHorizon))
			require.Equal(t, c.run, p.Run)
			require.Len(t, p.Missed, c.missed)
			require.Equal(t, c.next, p.Next)
		})
	}
}

// However long the runs take and whenever the planner looks, a run begins as
// long after the end of the one before as the schedule says, to the second.
func TestAFixedDelayIsNeverLateAndNeverOverlaps(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		task, every := delayOf(), rapid.IntRange(1, 90).Draw(r, "every")
		task.Spec.Schedule.EverySeconds = every
		last, now := LastSlot{}, noon()
		for range 20 {
			var began time.Time
			for began.IsZero() { // a tick each second
				p := PlanDelayed(task, last, now, now.Add(PlanHorizon))
				if task.NextFireAt = p.Next; len(p.Run) > 0 {
					began = p.Run[0]
				}
				if now = now.Add(time.Second); task.NextFireAt.After(now.Add(PlanHorizon)) && began.IsZero() {
					now = task.NextFireAt.Add(-PlanHorizon)
				}
			}
			if last.State != "" {
				gap := began.Sub(last.EndedAt) - time.Duration(every)*time.Second
				require.GreaterOrEqual(r, gap, time.Duration(0))
				require.Less(r, gap, time.Second)
			}
			took := time.Duration(rapid.IntRange(0, 40_000).Draw(r, "took")) * time.Millisecond
			last = LastSlot{State: Running}
			for end := began.Add(took); now.Before(end); now = now.Add(time.Second) {
				if !task.NextFireAt.After(now.Add(PlanHorizon)) {
					p := PlanDelayed(task, last, now, now.Add(PlanHorizon))
					require.Empty(r, p.Run, "it overlaps")
					task.NextFireAt = p.Next
				}
			}
			last = LastSlot{State: Succeeded, EndedAt: began.Add(took)}
		}
	})
}
