package db_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// gaugeDay is a day and more of runs, whose ends are committed late now and
// then, with breaks, moves between teams and a clock that is set back.
type gaugeDay struct {
	d     *db.DB
	r     *rand.Rand
	tasks []sched.Task
	now   time.Time
}

// step lets time pass: mostly some seconds or minutes, now and then hours.
func (g *gaugeDay) step(t *testing.T, n int) {
	t.Helper()
	was := g.now
	pass := []time.Duration{5 * time.Second, 10 * time.Second, 50 * time.Second, 7 * time.Minute, 25 * time.Minute, 3 * time.Hour}[g.r.IntN(6)]
	if n == 35 {
		pass = -6 * time.Minute
	}
	g.now = was.Add(pass).Add(time.Duration(g.r.IntN(1000)) * time.Millisecond)
	if g.now.After(was) {
		begin := was.Add(-time.Duration(g.r.IntN(50)) * time.Second) // what is committed late
		putPast(t, g.d, g.tasks, anyPast(g.r, len(g.tasks), 6, begin, g.now))
	}
	if n%7 == 3 { // much later: it is seen when its hour is counted a last time
		putPast(t, g.d, g.tasks, anyPast(g.r, len(g.tasks), 2, g.now.Add(-62*time.Minute), g.now.Add(-60*time.Minute)))
	}
	if n%11 == 5 {
		exec(t, g.d, "UPDATE tasks SET team_id=? WHERE id=?", g.tasks[2].TeamID, g.tasks[g.r.IntN(2)].ID)
	}
	if g.r.IntN(5) > 0 {
		rollUp(t, g.d, g.now)
		countEnds(t, g.d, g.now)
	}
}

// asks are questions of windows that are kept by minutes, and of longer ones.
func (g *gaugeDay) asks() (out []alert.Question) {
	for _, w := range []time.Duration{5 * time.Minute, time.Hour, 2 * time.Hour, 3 * time.Hour, 24 * time.Hour} {
		out = append(out, alert.Question{Metric: alert.SuccessRate, Window: w}, alert.Question{Metric: alert.Failures, Window: w})
	}
	for _, w := range []time.Duration{5 * time.Minute, time.Hour} {
		out = append(out, alert.Question{Metric: alert.TriggerLag, Window: w, Steps: []float64{0.5, 2, 5}})
	}
	return append(out, alert.Question{Metric: alert.Failures, Window: time.Hour, EachTry: true}, alert.Question{Metric: alert.OpenLetters})
}

type readingsOf interface {
	Readings(ctx context.Context, q alert.Question, now time.Time) ([]alert.Reading, error)
}

func inTaskOrder(t *testing.T, s readingsOf, q alert.Question, now time.Time) []alert.Reading {
	t.Helper()
	out, err := s.Readings(t.Context(), q, now)
	require.NoError(t, err)
	slices.SortFunc(out, func(a, b alert.Reading) int { return cmp.Compare(a.TaskID, b.TaskID) })
	return out
}

// What is kept in memory answers as the ledger does, whatever happens.
func TestGaugesSayWhatTheLedgerSays(t *testing.T) {
	t.Parallel()
	sizes := map[string][2]int{"all fits": {1000, 1000}, "the counts don't": {20, 1000}, "the starts don't": {1000, 10}}
	for name, size := range sizes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				g := gaugeDay{d: d, r: rand.New(rand.NewPCG(7, uint64(size[0]+size[1]))), tasks: teamTasks(t, d), now: t0}
				rollUp(t, d, t0.Add(-time.Hour))
				gauges, told := db.NewSmallGauges(d, size[0], size[1]), 0
				for n := range 60 {
					g.step(t, n)
					asks := g.asks()
					g.r.Shuffle(len(asks), func(i, k int) { asks[i], asks[k] = asks[k], asks[i] })
					for _, q := range asks[:1+g.r.IntN(len(asks))] {
						want := inTaskOrder(t, d, q, g.now)
						require.Equal(t, want, inTaskOrder(t, gauges, q, g.now), fmt.Sprintf("step %d, %s over %s", n, q.Metric, q.Window))
						told += len(want)
					}
				}
				require.Greater(t, told, 500)
			})
		})
	}
}
