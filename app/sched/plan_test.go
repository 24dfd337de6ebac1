package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// planOf plans a task whose next slot is due, at now, up to the horizon.
func planOf(t *testing.T, task Task, now time.Time, budget int) TaskPlan {
	return PlanTask(task, timesOf(t, task.Spec.Schedule), now, now.Add(PlanHorizon), budget)
}

// duePlan is a task with the given schedule and next slot.
func duePlan(s Schedule, next string) Task {
	t := taskOf(s)
	t.NextFireAt = moment(next)
	return t
}

func TestPlanTask(t *testing.T) {
	minutely := cronOf("* * * * *", "UTC")
	for name, c := range map[string]struct {
		task   Task
		now    string
		run    []time.Time
		missed []MissedRange // bounds, count, reason and make-up
		next   string
	}{
		"a slot in its time": {
			task: duePlan(minutely, "2026-03-02T12:00:00Z"), now: "2026-03-02T11:59:58.4Z",
			run: moments("2026-03-02T12:00:00Z"), next: "2026-03-02T12:01:00Z",
		},
		"a slot at the horizon": {
			task: duePlan(minutely, "2026-03-02T12:00:00Z"), now: "2026-03-02T11:59:58Z",
			run: moments("2026-03-02T12:00:00Z"), next: "2026-03-02T12:01:00Z",
		},
		"a slot beyond the horizon": {
			task: duePlan(minutely, "2026-03-02T12:00:00Z"), now: "2026-03-02T11:59:57.9Z", next: "2026-03-02T12:00:00Z",
		},
		"late by exactly the grace is on time": {
			task: duePlan(minutely, "2026-03-02T12:00:00Z"), now: "2026-03-02T12:01:00Z",
			run: moments("2026-03-02T12:00:00Z", "2026-03-02T12:01:00Z"), next: "2026-03-02T12:02:00Z",
		},
		"a millisecond later it has misfired, and is the latest that did": {
			task: duePlan(minutely, "2026-03-02T12:00:00Z"), now: "2026-03-02T12:01:00.001Z",
			run: moments("2026-03-02T12:00:00Z", "2026-03-02T12:01:00Z"), next: "2026-03-02T12:02:00Z",
		},
		"each second of the last minute runs": {
			task: duePlan(everyOf(20, noon()), "2026-03-02T12:00:00Z"), now: "2026-03-02T12:01:00Z",
			run:  moments("2026-03-02T12:00:00Z", "2026-03-02T12:00:20Z", "2026-03-02T12:00:40Z", "2026-03-02T12:01:00Z"),
			next: "2026-03-02T12:01:20Z",
		},
		"130 minutes without a scheduler (MISF-01)": {
			task: duePlan(minutely, "2026-03-02T12:00:00Z"), now: "2026-03-02T14:09:30Z",
			run: moments("2026-03-02T14:08:00Z", "2026-03-02T14:09:00Z"),
			missed: []MissedRange{{
				From: moment("2026-03-02T12:00:00Z"), To: moment("2026-03-02T14:07:00Z"), Slots: 128,
				Reason: MissedMisfire, MakeUp: moment("2026-03-02T14:08:00Z"),
			}},
			next: "2026-03-02T14:10:00Z",
		},
		"ten missed: one runs, nine are recorded (MISF-03)": {
			task: duePlan(cronOf("0 * * * *", "UTC"), "2026-03-02T02:00:00Z"), now: "2026-03-02T11:30:00Z",
			run: moments("2026-03-02T11:00:00Z"),
			missed: []MissedRange{{
				From: moment("2026-03-02T02:00:00Z"), To: moment("2026-03-02T10:00:00Z"), Slots: 9,
				Reason: MissedMisfire, MakeUp: moment("2026-03-02T11:00:00Z"),
			}},
			next: "2026-03-02T12:00:00Z",
		},
		"eight hours of sleep, one backup (MISF-07)": {
			task: duePlan(cronOf("0 * * * *", "UTC"), "2026-03-02T00:00:00Z"), now: "2026-03-02T07:59:00Z",
			run: moments("2026-03-02T07:00:00Z"),
			missed: []MissedRange{{
				From: moment("2026-03-02T00:00:00Z"), To: moment("2026-03-02T06:00:00Z"), Slots: 7,
				Reason: MissedMisfire, MakeUp: moment("2026-03-02T07:00:00Z"),
			}},
			next: "2026-03-02T08:00:00Z",
		},
		"a next slot of yesterday (MISF-13)": {
			task: duePlan(cronOf("0 9 * * *", "UTC"), "2026-03-01T09:00:00Z"), now: "2026-03-02T08:00:00Z",
			run: moments("2026-03-01T09:00:00Z"), next: "2026-03-02T09:00:00Z",
		},
		"a next slot between two slots": {
			task: duePlan(cronOf("0 9 * * *", "UTC"), "2026-03-01T11:11:11Z"), now: "2026-03-02T09:00:00Z",
			run: moments("2026-03-02T09:00:00Z"), next: "2026-03-03T09:00:00Z",
		},
		"a moment that has come": {
			task: duePlan(Schedule{Kind: KindOnce, RunAt: noon()}, "2026-03-02T12:00:00Z"), now: "2026-03-02T11:59:59Z",
			run: moments("2026-03-02T12:00:00Z"),
		},
		"a moment missed by a day runs": {
			task: duePlan(Schedule{Kind: KindOnce, RunAt: noon()}, "2026-03-02T12:00:00Z"), now: "2026-03-03T12:00:00Z",
			run: moments("2026-03-02T12:00:00Z"),
		},
		"two slots that fall together (DST-16)": {
			task: duePlan(cronOf("0,30 2,3 * * *", "America/New_York"), "2025-03-09T07:00:00Z"), now: "2025-03-09T07:30:30Z",
			run: moments("2025-03-09T07:00:00Z", "2025-03-09T07:30:00Z"), next: "2025-03-10T06:00:00Z",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := planOf(t, c.task, moment(c.now), PlanBudget)
			require.Equal(t, c.run, p.Run)
			require.Equal(t, c.missed, bare(p.Missed))
			next := time.Time{}
			if c.next != "" {
				next = moment(c.next)
			}
			require.Equal(t, next, p.Next)
		})
	}
}

// bare leaves of ranges what tells the slots.
func bare(ranges []MissedRange) []MissedRange {
	var out []MissedRange
	for _, m := range ranges {
		out = append(out, MissedRange{From: m.From, To: m.To, Slots: m.Slots, Reason: m.Reason, MakeUp: m.MakeUp})
	}
	return out
}

func TestAPlanInAPause(t *testing.T) {
	at := func(minute int) time.Time { return noon().Add(time.Duration(minute) * time.Minute) }
	for name, c := range map[string]struct {
		from, until int // of the pause, in minutes after noon
		now         int
		run         []time.Time
		missed      []MissedRange
	}{
		"a pause that holds": {
			from: -10, until: 60, now: 0, missed: []MissedRange{{From: at(0), To: at(0), Slots: 1, Reason: MissedPaused}},
		},
		"its end is not in it": {from: -10, until: 0, now: 0, run: []time.Time{at(0)}},
		"its beginning is": {
			from: 0, until: 1, now: 1,
			run: []time.Time{at(1)}, missed: []MissedRange{{From: at(0), To: at(0), Slots: 1, Reason: MissedPaused}},
		},
		"missed before and after it": {
			from: 3, until: 6, now: 10,
			run: []time.Time{at(9), at(10)},
			missed: []MissedRange{
				{From: at(0), To: at(2), Slots: 3, Reason: MissedMisfire, MakeUp: at(9)},
				{From: at(3), To: at(5), Slots: 3, Reason: MissedPaused},
				{From: at(6), To: at(8), Slots: 3, Reason: MissedMisfire, MakeUp: at(9)},
			},
		},
		"what was missed before it runs when it holds": {
			from: 3, until: 60, now: 10,
			run: []time.Time{at(2)},
			missed: []MissedRange{
				{From: at(0), To: at(1), Slots: 2, Reason: MissedMisfire, MakeUp: at(2)},
				{From: at(3), To: at(10), Slots: 8, Reason: MissedPaused},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			task := duePlan(cronOf("* * * * *", "UTC"), "2026-03-02T12:00:00Z")
			task.PausedFrom, task.PausedUntil = at(c.from), at(c.until)
			p := planOf(t, task, at(c.now).Add(time.Second), PlanBudget)
			require.Equal(t, c.run, p.Run)
			require.ElementsMatch(t, c.missed, bare(p.Missed))
		})
	}
}

func TestAMissedRangeSaysWhoseItIs(t *testing.T) {
	p := planOf(t, duePlan(cronOf("0 * * * *", "UTC"), "2026-03-02T02:00:00Z"), moment("2026-03-02T11:30:00Z"), PlanBudget)
	require.Equal(t, []MissedRange{{
		TaskID: 3, TeamID: 7, From: moment("2026-03-02T02:00:00Z"), To: moment("2026-03-02T10:00:00Z"), Slots: 9,
		Reason: MissedMisfire, Policy: string(FireOnce), MakeUp: moment("2026-03-02T11:00:00Z"), Follows: moment("2026-03-02T01:00:00Z"),
	}}, p.Missed)
}

func TestTheFirstSlotOfAllFollowsNone(t *testing.T) {
	p := planOf(t, duePlan(everyOf(3600, noon()), "2026-03-02T12:00:00Z"), noon().Add(3*time.Hour), PlanBudget)
	require.Len(t, p.Missed, 1)
	require.Zero(t, p.Missed[0].Follows)
}

// Two years of minutes are planned in pieces that end, each of a bounded size.
func TestTwoYearsOfMinutesAreCutIntoPieces(t *testing.T) {
	start, now := moment("2024-03-02T12:00:00Z"), noon()
	task := duePlan(cronOf("* * * * *", "Europe/Berlin"), "2024-03-02T12:00:00Z")
	for piece := range 3 {
		p := planOf(t, task, now, PlanBudget)
		from := start.Add(time.Duration(piece*PlanBudget) * time.Minute)
		require.Equal(t, PlanBudget, p.Spent)
		require.Empty(t, p.Run, "the latest of all is not known yet")
		require.Equal(t, []MissedRange{{
			From: from, To: from.Add((PlanBudget - 1) * time.Minute), Slots: PlanBudget, Reason: MissedMisfire,
		}}, bare(p.Missed))
		require.Equal(t, from.Add(-time.Minute), p.Missed[0].Follows, "it lengthens the range before it")
		require.Equal(t, from.Add(PlanBudget*time.Minute), p.Next)
		task.NextFireAt = p.Next
	}
	task.NextFireAt = now.Add(-PlanBudget * time.Minute)
	p := planOf(t, task, now, PlanBudget)
	require.Equal(t, PlanBudget, p.Spent)
	require.Equal(t, []time.Time{now.Add(-2 * time.Minute), now.Add(-time.Minute)}, p.Run, "cut just before now")
	require.Equal(t, now, p.Next)
}

// A cut must not make a make-up run of its own: while late slots follow, the
// latest is still to come.
func TestACutBetweenLateSlotsRunsNone(t *testing.T) {
	task := duePlan(cronOf("* * * * *", "UTC"), "2026-03-02T12:00:00Z")
	p := planOf(t, task, noon().Add(time.Hour), 5)
	require.Empty(t, p.Run)
	require.Equal(t, 5, p.Missed[0].Slots)
	task.PausedFrom, task.PausedUntil = noon().Add(5*time.Minute), noon().Add(50*time.Minute)
	p = planOf(t, task, noon().Add(time.Hour), 7)
	require.Empty(t, p.Run, "late ones follow after the pause")
	task.PausedUntil = noon().Add(2 * time.Hour)
	p = planOf(t, task, noon().Add(time.Hour), 7)
	require.Equal(t, []time.Time{noon().Add(4 * time.Minute)}, p.Run, "only paused ones follow")
}

func TestAPlanOfNothing(t *testing.T) {
	for name, c := range map[string]struct {
		task   Task
		budget int
		next   time.Time
	}{
		"a schedule without slots": {duePlan(Schedule{Kind: KindManual}, "2026-03-02T12:00:00Z"), 9, time.Time{}},
		"nothing to spend":         {duePlan(cronOf("* * * * *", "UTC"), "2026-03-02T12:00:00Z"), 0, noon()},
		"once, long ago":           {duePlan(Schedule{Kind: KindOnce, RunAt: noon()}, "2026-03-02T12:00:00.001Z"), 9, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, TaskPlan{Next: c.next}, planOf(t, c.task, noon(), c.budget))
		})
	}
}
