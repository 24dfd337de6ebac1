package sched

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// minutely is a view of a slot that may be claimed at noon: enabled, due,
// wanted, and a place is free.
func minutely() ClaimView {
	t := taskOf(cronOf("* * * * *", "UTC"))
	return ClaimView{Task: t, Instance: slotOf(t, noon())}
}

func TestDecideClaim(t *testing.T) {
	now := noon()
	for name, c := range map[string]struct {
		change func(*ClaimView)
		want   ClaimVerdict
	}{
		"a due slot with a free place is taken": {
			func(*ClaimView) {}, ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
		"before it was handed over, too": {
			func(v *ClaimView) { v.Instance.State = Pending }, ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
		"a retry is taken": {
			func(v *ClaimView) { v.Instance.State, v.Instance.Attempt = Retrying, 1 },
			ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
		"a node that is gone takes nothing": {
			func(v *ClaimView) { v.NodeGone = true }, ClaimVerdict{Kind: ClaimBack, Due: now.Add(time.Second)},
		},
		"early by a second waits in its handler": {
			func(v *ClaimView) { v.Instance.DueAt = now.Add(time.Second) }, ClaimVerdict{Kind: ClaimWait, Due: now.Add(time.Second)},
		},
		"early by a millisecond, too": {
			func(v *ClaimView) { v.Instance.DueAt = now.Add(time.Millisecond) }, ClaimVerdict{Kind: ClaimWait, Due: now.Add(time.Millisecond)},
		},
		"early by more goes back": {
			func(v *ClaimView) { v.Instance.DueAt = now.Add(1001 * time.Millisecond) },
			ClaimVerdict{Kind: ClaimBack, Due: now.Add(1001 * time.Millisecond)},
		},
		"a pause that ends soon is waited for to its end": {
			func(v *ClaimView) {
				v.Task.PausedFrom, v.Task.PausedUntil = now.Add(-time.Hour), now.Add(700*time.Millisecond)
			},
			ClaimVerdict{Kind: ClaimDefer, Due: now.Add(time.Second)},
		},
		"a disabled task's slot is skipped": {
			func(v *ClaimView) { v.Task.Enabled = false }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonDisabled},
		},
		"an archived task's slot is skipped": {
			func(v *ClaimView) { v.Task.Enabled, v.Task.ArchivedAt = false, now }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonArchived},
		},
		"a slot that the schedule no longer wants is skipped": {
			func(v *ClaimView) { v.Task.Spec.Schedule.Cron = "30 * * * *" }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonEdited},
		},
		"a slot of a schedule that became a manual one": {
			func(v *ClaimView) { v.Task.Spec.Schedule = Schedule{Kind: KindManual} }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonEdited},
		},
		"a slot of a schedule that can't be read": {
			func(v *ClaimView) { v.Task.Spec.Schedule.Timezone = "Mars/Base" }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonEdited},
		},
		"an edit that still wants the slot keeps it": {
			func(v *ClaimView) { v.Task.Spec.Schedule.Cron, v.Task.Version = "0 12 * * *", 9 },
			ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
		"one is running: skipped (OVER-07)": {
			func(v *ClaimView) { v.Started, v.Busy, v.BusyWith = 1, 1, "other" },
			ClaimVerdict{Kind: ClaimSkip, Reason: "overlap: other has not ended"},
		},
		"one waits for its retry: skipped": {
			func(v *ClaimView) { v.Started, v.BusyWith = 1, "other" },
			ClaimVerdict{Kind: ClaimSkip, Reason: "overlap: other has not ended"},
		},
		"a free place beside one that runs": {
			func(v *ClaimView) { v.Started, v.Busy, v.Task.Spec.Policy.MaxConcurrent = 1, 1, 2 },
			ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
		"no limit, any number": {
			func(v *ClaimView) { v.Started, v.Busy, v.Task.Spec.Policy.MaxConcurrent = 99, 99, 0 },
			ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
		"a retry is not skipped for one that only waits": {
			func(v *ClaimView) { v.Instance.State, v.Instance.Attempt, v.Started = Retrying, 1, 1 },
			ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
		"a retry of a disabled task still runs": {
			func(v *ClaimView) { v.Instance.State, v.Instance.Attempt, v.Task.Enabled = Retrying, 1, false },
			ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
		"the timeout of the present version counts": {
			func(v *ClaimView) { v.Task.Spec.Policy.TimeoutSeconds = 86_400 },
			ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(24 * time.Hour)},
		},
		"as many calls to its host as it allows: it waits": {
			func(v *ClaimView) { v.HostBusy, v.Task.Spec.Policy.HostLimit = 2, 2 },
			ClaimVerdict{Kind: ClaimDefer, Due: minutely().Instance.deferred(now)},
		},
		"a call less than it allows": {
			func(v *ClaimView) { v.HostBusy, v.Task.Spec.Policy.HostLimit = 1, 2 },
			ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := minutely()
			c.change(&v)
			require.Equal(t, c.want, DecideClaim(v, now))
		})
	}
}

func TestWhatRunsOrHasEndedIsNotClaimed(t *testing.T) {
	for _, s := range States() {
		v := minutely()
		v.Instance.State = s
		want := ClaimDrop
		if s == Pending || s == Queued || s == Retrying {
			want = ClaimTake
		}
		require.Equal(t, want, DecideClaim(v, noon()).Kind, "%s", s)
	}
}

// What was asked for is never skipped: it waits (OVER-05) (flaw 33).
func TestRequestsWaitWhereSlotsAreSkipped(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*ClaimView)
		want   ClaimKind
	}{
		"one is running":              {func(v *ClaimView) { v.Started, v.Busy = 1, 1 }, ClaimDefer},
		"one waits for its retry":     {func(v *ClaimView) { v.Started = 1 }, ClaimDefer},
		"the task is disabled":        {func(v *ClaimView) { v.Task.Enabled = false }, ClaimTake},
		"the task is archived":        {func(v *ClaimView) { v.Task.ArchivedAt = noon() }, ClaimTake},
		"the schedule can't be read":  {func(v *ClaimView) { v.Task.Spec.Schedule.Cron = "?" }, ClaimTake},
		"the task is paused":          {func(v *ClaimView) { v.Task.PausedFrom, v.Task.PausedUntil = noon(), noon().Add(time.Hour) }, ClaimDefer},
		"its retry finds no place":    {func(v *ClaimView) { v.Instance.State, v.Instance.Attempt, v.Busy = Retrying, 1, 1 }, ClaimDefer},
		"its retry beside another's":  {func(v *ClaimView) { v.Instance.State, v.Instance.Attempt, v.Started = Retrying, 1, 1 }, ClaimTake},
		"a place is free":             {func(*ClaimView) {}, ClaimTake},
		"a place is free, one is not": {func(v *ClaimView) { v.Started, v.Busy, v.Task.Spec.Policy.MaxConcurrent = 1, 1, 2 }, ClaimTake},
	} {
		t.Run(name, func(t *testing.T) {
			for _, origin := range []Origin{FromAPI, FromPerson, FromReplay} {
				v := minutely()
				v.Instance = requestOf(v.Task, noon())
				v.Instance.Origin = origin
				c.change(&v)
				require.Equal(t, c.want, DecideClaim(v, noon()).Kind, "%s", origin)
			}
		})
	}
}

// guards are the reasons not to run, in the order in which they are judged.
func guards() []struct {
	name   string
	change func(*ClaimView)
	want   ClaimVerdict
} {
	now := noon()
	return []struct {
		name   string
		change func(*ClaimView)
		want   ClaimVerdict
	}{
		{"node gone", func(v *ClaimView) { v.NodeGone = true }, ClaimVerdict{Kind: ClaimBack, Due: now.Add(time.Second)}},
		{"ended", func(v *ClaimView) { v.Instance.State = Succeeded }, ClaimVerdict{Kind: ClaimDrop}},
		{"unlabeled", func(v *ClaimView) { v.Unlabeled = true }, ClaimVerdict{Kind: ClaimMove}},
		{"early", func(v *ClaimView) { v.Instance.DueAt = now.Add(time.Minute) }, ClaimVerdict{Kind: ClaimBack, Due: now.Add(time.Minute)}},
		{"paused", func(v *ClaimView) { v.Task.PausedFrom, v.Task.PausedUntil = now, now.Add(time.Second) }, ClaimVerdict{Kind: ClaimDefer, Due: now.Add(time.Second)}},
		{"archived", func(v *ClaimView) { v.Task.ArchivedAt = now }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonArchived}},
		{"disabled", func(v *ClaimView) { v.Task.Enabled = false }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonDisabled}},
		{"edited", func(v *ClaimView) { v.Task.Spec.Schedule.Cron = "1 1 1 1 *" }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonEdited}},
		{"elsewhere", func(v *ClaimView) { v.Elsewhere = true }, ClaimVerdict{Kind: ClaimDefer, Due: now.Add(time.Second)}},
		{"overlap", func(v *ClaimView) { v.Started, v.Busy, v.BusyWith = 1, 1, "x" }, ClaimVerdict{Kind: ClaimSkip, Reason: "overlap: x has not ended"}},
	}
}

func TestTheFirstGuardDecides(t *testing.T) {
	all := guards()
	for i, first := range all {
		for _, second := range all[i:] {
			v := minutely()
			second.change(&v)
			first.change(&v)
			require.Equal(t, first.want, DecideClaim(v, noon()), "%s before %s", first.name, second.name)
		}
	}
}

func TestADeferralIsBoundedAheadAndOnAWholeSecond(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := minutely()
		v.Instance.ID, v.Instance.Origin = rapid.StringMatching(`[0-9a-f]{8}`).Draw(r, "id"), FromAPI
		v.Instance.Defers = rapid.IntRange(0, 30_000).Draw(r, "defers")
		v.Started, v.Busy = 1, 1
		now := noon().Add(time.Duration(rapid.IntRange(0, 5000).Draw(r, "ms")) * time.Millisecond)
		got := DecideClaim(v, now)
		require.Equal(r, ClaimDefer, got.Kind)
		wait := got.Due.Sub(now)
		low := 30 * time.Second
		if v.Instance.Defers < 5 {
			low = min(time.Duration(1<<v.Instance.Defers)*time.Second, low)
		}
		require.GreaterOrEqual(r, wait, low)
		require.Less(r, wait, low+low/2+time.Second, "spread by half of it at most, and rounded up")
		require.Zero(r, got.Due.Nanosecond())
		require.Equal(r, got, DecideClaim(v, now), "the same when it is computed again")
	})
}

// A pause that ends by its time runs no resume: what waits comes back at its
// end, or after a deferral's delay if that is sooner.
func TestAPauseDefersNoLongerThanADeferral(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		v := minutely()
		v.Instance.Defers = rapid.IntRange(0, 10).Draw(r, "defers")
		v.Instance.Attempt = rapid.IntRange(0, 1).Draw(r, "attempt")
		now := noon().Add(time.Duration(rapid.IntRange(0, 999).Draw(r, "ms")) * time.Millisecond)
		left := time.Duration(rapid.IntRange(1, 100_000).Draw(r, "left")) * time.Millisecond
		v.Task.PausedFrom, v.Task.PausedUntil = now.Add(-time.Minute), now.Add(left)
		got := DecideClaim(v, now)
		require.Equal(r, ClaimDefer, got.Kind)
		require.True(r, got.Due.After(now))
		require.Less(r, got.Due.Sub(now), min(left+time.Second, 46*time.Second))
		require.Zero(r, got.Due.Nanosecond())
	})
}

func TestACrowdDoesNotComeBackInOneSecond(t *testing.T) {
	seen := map[time.Time]int{}
	for i := range 300 {
		in := Instance{ID: fmt.Sprintf("0195f0c0-0000-7000-8000-%012d", i), Defers: 9}
		seen[in.deferred(noon())]++
	}
	require.GreaterOrEqual(t, len(seen), 14)
	for due, n := range seen {
		require.LessOrEqual(t, n, 60, "%s", due)
	}
}

// protocol.md (flaw 2): a backlog is not stormed.
func TestTheSweepLooksLessAndLessOften(t *testing.T) {
	for n, seconds := range []int{10, 20, 40, 80, 160, 300, 300} {
		require.Equal(t, time.Duration(seconds)*time.Second, LookAgainAfter(n), "after %d", n)
	}
	for n := 6; n < 200; n++ {
		require.Equal(t, 5*time.Minute, LookAgainAfter(n), "after %d", n)
	}
}
