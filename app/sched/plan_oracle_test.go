package sched

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// fate is what becomes of a slot.
type fate string

const (
	runs     fate = "runs"
	misfires fate = "misfires"
	paused   fate = "paused"
	dropped  fate = "dropped"
)

// plainFates is the rule of design.md section 5 by brute force: every second
// is asked whether it is a slot, and each slot is judged on its own.
func plainFates(t Task, times Times, now, until time.Time) map[time.Time]fate {
	out := map[time.Time]fate{}
	var late []time.Time
	grace := 60 * time.Second
	if n := t.Spec.Schedule.MisfireGraceSeconds; n > 0 {
		grace = time.Duration(n) * time.Second
	}
	for at := t.NextFireAt.Truncate(time.Second); !at.After(until); at = at.Add(time.Second) {
		if at.Before(t.NextFireAt) || !times.Wants(at) && !times.Off(at) || times.Off(at) && !times.raw.Wants(at) {
			continue
		}
		if !t.Spec.Schedule.StartAt.IsZero() && (at.Before(t.Spec.Schedule.StartAt) || at.After(t.Spec.Schedule.EndAt)) {
			continue
		}
		switch {
		case !t.PausedUntil.IsZero() && !at.Before(t.PausedFrom) && at.Before(t.PausedUntil):
			out[at] = paused
		case times.Off(at):
			out[at] = dropped
		case now.Sub(at)-t.Offset() > grace:
			out[at] = misfires
			late = append(late, at)
		default:
			out[at] = runs
		}
	}
	keep := map[Misfire]int{FireOnce: 1, SkipAll: 0, FireAll: t.Spec.Schedule.MisfireCap}[t.Spec.Schedule.Misfire]
	for i := max(len(late)-keep, 0); i < len(late); i++ {
		out[late[i]] = runs
	}
	return out
}

// fatesOf adds what a plan decided to fates; a slot decided twice is an error.
func fatesOf(r *rapid.T, times Times, p TaskPlan, fates map[time.Time]fate) {
	put := func(at time.Time, f fate) {
		if old, ok := fates[at]; ok {
			r.Fatalf("slot %s is decided twice: %s and %s", at, old, f)
		}
		require.Equal(r, f == dropped, times.Off(at) && f != paused, "%s", at)
		require.True(r, times.Wants(at) || times.Off(at), "%s is no slot", at)
		fates[at] = f
	}
	require.True(r, slices.IsSortedFunc(p.Run, time.Time.Compare))
	for _, at := range p.Run {
		put(at, runs)
	}
	for _, m := range p.Missed {
		f := map[MissReason]fate{MissedMisfire: misfires, MissedPaused: paused, MissedCalendar: dropped}[m.Reason]
		n := 0
		for at := m.From; !at.After(m.To); n++ {
			put(at, f)
			next, ok := times.Next(at)
			if !ok {
				n++
				break
			}
			at = next
		}
		require.Equal(r, n, m.Slots, "the count of %s – %s", m.From, m.To)
	}
	require.LessOrEqual(r, len(p.Run)+countMissed(p), p.Spent)
}

func countMissed(p TaskPlan) (n int) {
	for _, m := range p.Missed {
		n += m.Slots
	}
	return n
}

// dice throws evenly; rapid's own numbers keep to the low end of a range.
type dice struct{ *rand.Rand }

func (d dice) between(low, high int) int { return low + d.IntN(high-low+1) }

func (d dice) span(low, high int, unit time.Duration) time.Duration {
	return time.Duration(d.between(low, high)) * unit
}

// anyDue draws a task with slots near noon, and when it is planned.
func anyDue(r *rapid.T) (Task, Times, time.Time) {
	d := dice{rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))}
	t := taskOf(d.schedule())
	d.policies(&t)
	now := noon().Add(d.span(-5000, 5000, time.Millisecond))
	behind := d.between(0, 7_200_000)
	t.NextFireAt = now.Add(-time.Duration(behind-3000) * time.Millisecond)
	if d.IntN(3) > 0 {
		t.PausedFrom = now.Add(-d.span(0, behind/1000, time.Second))
		t.PausedUntil = now.Add(d.span(-behind/1000, behind/1000, time.Second))
	}
	r.Log(t.Spec.Schedule, "now", now, "next", t.NextFireAt, "pause", t.PausedFrom, t.PausedUntil)
	times, err := t.Times()
	require.NoError(r, err)
	return t, times, now
}

// policies draws what becomes of late slots, and on which days and when there
// are any.
func (d dice) policies(t *Task) {
	s := &t.Spec.Schedule
	s.Misfire = []Misfire{FireOnce, SkipAll, FireAll}[d.IntN(3)]
	if s.Misfire == FireAll {
		s.MisfireCap = d.between(1, 30)
	}
	if d.IntN(2) == 0 {
		s.MisfireGraceSeconds = d.between(1, 900)
	}
	if d.IntN(2) == 0 {
		s.JitterSeconds = d.between(1, 300)
	}
	if d.IntN(4) == 0 {
		s.StartAt = noon().Add(d.span(-7200, 0, time.Second))
		s.EndAt = s.StartAt.Add(d.span(1, 7200, time.Second))
	}
	if s.Kind != KindOnce && d.IntN(2) == 0 {
		s.Calendar, s.CalendarMode, s.CalendarMove = "cn", OnWorkdays, MoveDrop
		s.Timezone = []string{"UTC", "Pacific/Kiritimati", "Asia/Kolkata"}[d.IntN(3)]
		t.Calendar = daysOff([]string{"2026-03-01", "2026-03-02", "2026-03-03", "+2026-03-01"}[d.IntN(4)])
	}
}

func (d dice) schedule() Schedule {
	switch d.IntN(3) {
	case 0:
		return everyOf(d.between(1, 900), noon().Add(d.span(-5000, 5000, time.Second)))
	case 1:
		all := []string{"* * * * *", "*/7 * * * *", "0,30 2,3 * * *", "13 * * * *", "*/20 * * * * *", "0 12 * * *", "@every 45s"}
		return cronOf(all[d.IntN(len(all))], "America/New_York")
	default:
		return Schedule{Kind: KindOnce, RunAt: noon().Add(d.span(-4000, 100, time.Second)), Misfire: FireOnce}
	}
}

func TestEverySlotHasTheFateOfTheRule(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		task, times, now := anyDue(r)
		until := now.Add(PlanHorizon)
		p := PlanTask(task, times, now, until, PlanBudget)
		got := map[time.Time]fate{}
		fatesOf(r, times, p, got)
		require.Equal(r, plainFates(task, times, now, until), got)
		require.Equal(r, len(got), p.Spent)
		requireNext(r, task, times, p, until)
		requireWhole(r, times, p)
	})
}

// requireNext: the next slot is the first one beyond what was decided.
func requireNext(r *rapid.T, task Task, times Times, p TaskPlan, until time.Time) {
	from := task.NextFireAt.Add(-time.Millisecond)
	if from.Before(until) {
		from = until
	}
	want, ok := times.Next(from)
	require.Equal(r, !ok, p.Next.IsZero())
	if ok {
		require.Equal(r, want, p.Next)
	}
}

// requireWhole: no two ranges could be one, and each tells what follows.
func requireWhole(r *rapid.T, times Times, p TaskPlan) {
	if !p.MakeUp.IsZero() {
		require.Equal(r, p.Run[0], p.MakeUp)
	}
	for i, m := range p.Missed {
		prev, ok := times.Prev(m.From)
		require.Equal(r, !ok, m.Follows.IsZero())
		require.True(r, !ok || prev.Equal(m.Follows))
		for _, other := range p.Missed[:i] {
			joined := other.Reason == m.Reason && (other.Follows.Equal(m.To) || m.Follows.Equal(other.To))
			require.False(r, joined, "%s – %s and %s – %s are one range", other.From, other.To, m.From, m.To)
		}
		want := time.Time{}
		if m.Reason == MissedMisfire {
			want = p.MakeUp
		}
		require.Equal(r, want, m.MakeUp)
	}
}

func TestPiecesMakeTheSamePlanAsOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		task, times, now := anyDue(r)
		whole, until := task, now.Add(PlanHorizon)
		got := map[time.Time]fate{}
		for i := 0; ; i++ {
			budget := rapid.IntRange(1, 50).Draw(r, fmt.Sprintf("budget %d", i))
			p := PlanTask(task, times, now, until, budget)
			require.LessOrEqual(r, p.Spent, budget)
			require.True(r, p.Next.IsZero() || !p.Next.Before(task.NextFireAt), "the next slot goes back")
			fatesOf(r, times, p, got)
			if p.Spent < budget || p.Next.IsZero() {
				break
			}
			require.True(r, p.Next.After(task.NextFireAt), "a full piece goes on")
			task.NextFireAt = p.Next
		}
		require.Equal(r, plainFates(whole, times, now, until), got)
	})
}

// Whatever the ticks' times and budgets, no slot is lost and none is twice.
func TestTicksAccountForEverySlotOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		task, times, now := anyDue(r)
		start, got := task.NextFireAt, map[time.Time]fate{}
		for i := range rapid.IntRange(1, 40).Draw(r, "ticks") {
			p := PlanTask(task, times, now, now.Add(PlanHorizon), rapid.IntRange(1, 200).Draw(r, fmt.Sprintf("budget %d", i)))
			fatesOf(r, times, p, got)
			task.NextFireAt = p.Next
			if p.Next.IsZero() {
				break
			}
			now = now.Add(time.Duration(rapid.IntRange(0, 120_000).Draw(r, fmt.Sprintf("step %d", i))) * time.Millisecond)
		}
		for at := firstFrom(times, start); !at.IsZero() && (task.NextFireAt.IsZero() || at.Before(task.NextFireAt)); at = firstFrom(times, at.Add(time.Millisecond)) {
			require.Contains(r, got, at, "the slot is lost")
			delete(got, at)
		}
		require.Empty(r, got, "decided, but not before the next slot")
	})
}
