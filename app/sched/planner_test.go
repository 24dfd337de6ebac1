package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestATickPlansUpToTheHorizonAndHandsOver(t *testing.T) {
	b := loopBench()
	b.ledger.report = PlanReport{Tasks: 1, Instances: 1, Spent: 1, Messages: []Message{{InstanceID: "i1"}}}
	again, err := b.planner(500).Tick(t.Context())
	require.NoError(t, err)
	require.False(t, again)
	require.Equal(t, []PlanRequest{{Now: noon(), Until: noon().Add(2 * time.Second), Limit: 500, Budget: 10_000, NodeID: "node-0"}}, b.ledger.plans)
	require.Equal(t, []Message{{InstanceID: "i1"}}, b.carrier.sent)
	require.Equal(t, b.carrier.sent, b.ledger.queued)
}

func TestAnUntrustedClockPlansNothing(t *testing.T) {
	for name, break_ := range map[string]func(*Clock){
		"after a jump of the ledger's clock": func(c *Clock) { c.Set(noon().Add(31*time.Second), false); c.Set(noon().Add(29*time.Second), true) },
		"on a node far from it":              func(c *Clock) { c.Set(noon().Add(-31*time.Second), true) },
	} {
		t.Run(name, func(t *testing.T) {
			b := loopBench()
			break_(b.clock)
			again, err := b.planner(500).Tick(t.Context())
			require.NoError(t, err)
			require.False(t, again)
			require.Empty(t, b.ledger.plans)
		})
	}
}

func TestTheNextTickFollowsAtOnceWhileMoreIsDue(t *testing.T) {
	for name, c := range map[string]struct {
		report PlanReport
		again  bool
	}{
		"a full batch":                      {PlanReport{Tasks: 500, Spent: 500}, true},
		"one task less":                     {PlanReport{Tasks: 499, Spent: 499}, false},
		"the budget is spent":               {PlanReport{Tasks: 2, Spent: PlanBudget}, true},
		"more than the budget":              {PlanReport{Tasks: 2, Spent: PlanBudget + 1}, true},
		"nearly the budget":                 {PlanReport{Tasks: 2, Spent: PlanBudget - 1}, false},
		"nothing is due":                    {PlanReport{}, false},
		"a full batch that can't be read":   {PlanReport{Tasks: 500, Failed: 500}, true},
		"one that can't be read (DST-09)":   {PlanReport{Tasks: 3, Failed: 1, Instances: 2, Spent: 2}, false},
		"everything is due and has misfire": {PlanReport{Tasks: 500, Missed: 9_999, Spent: PlanBudget}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := loopBench()
			b.ledger.report = c.report
			again, err := b.planner(500).Tick(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.again, again)
			require.Empty(t, b.carrier.sent)
		})
	}
}

// F34: what is due now must not wait until ten thousand that are overdue have
// been planned.
func TestWhileBatchesAreFullEveryOtherTakesWhatIsNew(t *testing.T) {
	b := loopBench()
	p := b.planner(500)
	var newest, more []bool
	for _, tasks := range []int{500, 500, 500, 1, 500, 0, 3, 3} {
		b.ledger.report = PlanReport{Tasks: tasks, Spent: tasks}
		again, err := p.Tick(t.Context())
		require.NoError(t, err)
		more = append(more, again)
	}
	for _, r := range b.ledger.plans {
		newest = append(newest, !r.Since.IsZero())
	}
	require.Equal(t, []bool{false, true, false, true, false, true, false, false}, newest)
	require.Equal(t, []bool{true, true, true, true, true, true, false, false}, more, "little that is new says nothing about what is old")
}

// F34/overdue on a slow machine: a turn of two batches took longer than what
// counted as new, and every slot became old before it was looked at.
func TestWhatComesDueBetweenTwoBatchesOfTheNewestIsInTheSecond(t *testing.T) {
	b, two := loopBench(), &twoClocks{local: noon(), ledger: noon()}
	b.clock = NewClock(two.now)
	p := b.planner(500)
	tick := func(after time.Duration, tasks int) {
		two.local = two.local.Add(after)
		b.ledger.report = PlanReport{Tasks: tasks, Spent: tasks}
		_, err := p.Tick(t.Context())
		require.NoError(t, err)
	}
	start := b.clock.Now()
	tick(0, 3)
	tick(time.Second, 500)
	tick(30*time.Second, 20) // the newest: all since the tick before the crowd
	tick(30*time.Second, 500)
	tick(30*time.Second, 500) // as many new ones: some may be left
	tick(time.Second, 500)
	tick(time.Second, 20)
	tick(10*time.Minute, 500) // an outage
	tick(time.Second, 500)
	var since []time.Duration
	for _, r := range b.ledger.plans {
		if !r.Since.IsZero() {
			since = append(since, r.Since.Sub(start))
		}
	}
	require.Equal(t, []time.Duration{-10 * time.Second, 21 * time.Second, 21 * time.Second, 10*time.Minute + 94*time.Second - 100*time.Second}, since)
}

func TestAFailedPlanIsTheTicksError(t *testing.T) {
	b := loopBench()
	b.ledger.report = PlanReport{Tasks: 500, Messages: []Message{{InstanceID: "i1"}}}
	b.ledger.fails("Plan", errAway)
	again, err := b.planner(500).Tick(t.Context())
	require.ErrorIs(t, err, errAway)
	require.False(t, again, "the loop waits before it tries again")
	require.Empty(t, b.carrier.sent)
}

// The rows are committed: a carrier that is away costs lateness only.
func TestAFailedHandOverDoesNotFailThePlan(t *testing.T) {
	b := loopBench()
	b.ledger.report = PlanReport{Tasks: 500, Messages: []Message{{InstanceID: "i1"}}}
	b.carrier.fail["i1"] = errAway
	again, err := b.planner(500).Tick(t.Context())
	require.NoError(t, err)
	require.True(t, again)
}
