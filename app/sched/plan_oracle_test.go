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
)

// plainFates is the rule of design.md section 5 by brute force: every second
// is asked whether it is a slot, and each slot is judged on its own.
func plainFates(t Task, times Times, now, until time.Time) map[time.Time]fate {
	out := map[time.Time]fate{}
	latest := time.Time{}
	for at := t.NextFireAt.Truncate(time.Second); !at.After(until); at = at.Add(time.Second) {
		if at.Before(t.NextFireAt) || !times.Wants(at) {
			continue
		}
		switch {
		case !t.PausedUntil.IsZero() && !at.Before(t.PausedFrom) && at.Before(t.PausedUntil):
			out[at] = paused
		case now.Sub(at) > MisfireGrace:
			out[at] = misfires
			latest = at
		default:
			out[at] = runs
		}
	}
	if !latest.IsZero() {
		out[latest] = runs
	}
	return out
}

// fatesOf adds what a plan decided to fates; a slot decided twice is an error.
func fatesOf(r *rapid.T, times Times, p TaskPlan, fates map[time.Time]fate) {
	put := func(at time.Time, f fate) {
		if old, ok := fates[at]; ok {
			r.Fatalf("slot %s is decided twice: %s and %s", at, old, f)
		}
		require.True(r, times.Wants(at), "%s is no slot", at)
		fates[at] = f
	}
	require.True(r, slices.IsSortedFunc(p.Run, time.Time.Compare))
	for _, at := range p.Run {
		put(at, runs)
	}
	for _, m := range p.Missed {
		f := map[MissReason]fate{MissedMisfire: misfires, MissedPaused: paused}[m.Reason]
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
	now := noon().Add(d.span(-5000, 5000, time.Millisecond))
	behind := d.between(0, 7_200_000)
	t.NextFireAt = now.Add(-time.Duration(behind-3000) * time.Millisecond)
	if d.IntN(3) > 0 {
		t.PausedFrom = now.Add(-d.span(0, behind/1000, time.Second))
		t.PausedUntil = now.Add(d.span(-behind/1000, behind/1000, time.Second))
	}
	r.Log(t.Spec.Schedule, "now", now, "next", t.NextFireAt, "pause", t.PausedFrom, t.PausedUntil)
	return t, timesOf(r, t.Spec.Schedule), now
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
	latest := time.Time{}
	if len(p.Run) > 0 {
		latest = p.Run[0]
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
			want = latest
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
