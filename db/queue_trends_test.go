package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func TestDepthsAreTheDeepestOfEachStep(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, r := range []struct {
			queue   string
			after   float64
			due     int
			pending any
		}{{"default", 5, 1, 9}, {"default", 70, 3, 2}, {"default", 80, 7, nil}, {"default", 250, 2, nil}, {"slow", 70, 4, 0}, {"slow", 5, 8, 1}} {
			exec(t, d, "INSERT INTO queue_samples (queue, at, due, pending) VALUES (?,?,?,?)", r.queue, db.At(later(r.after)), r.due, r.pending)
		}
		got, err := d.QueueDepths(t.Context(), later(10), time.Minute)
		require.NoError(t, err)
		require.Equal(t, map[string][]sched.QueueSample{
			"default": {{At: later(70), Due: 7, Pending: 2, Known: true}, {At: later(250), Due: 2}},
			"slow":    {{At: later(70), Due: 4, Known: true}},
		}, got)
	})
}

func TestRatesOfAQueueAreThoseOfItsTasks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		tasks := teamTasks(t, d)
		slow := dbtest.MakeTask(t, d, func(task *sched.Task) { task.Queue = "slow" })
		for i, state := range []string{"succeeded", "failed", "canceled", "succeeded"} {
			at := later(float64(60 * i))
			ended{tasks[i%2], state, 1 + i, at, at, at}.put(t, d)
		}
		ended{slow, "lost", 1, later(30), later(30), later(30)}.put(t, d)
		rollUp(t, d, later(300))
		got, err := d.QueueRates(t.Context(), t0, time.Time{})
		require.NoError(t, err)
		require.Equal(t, map[string]sched.QueueRate{
			"default": {Rate: sched.Rate{Succeeded: 2, Bad: 1}, All: 4}, "slow": {Rate: sched.Rate{Bad: 1}, All: 1},
		}, got)
		got, err = d.QueueRates(t.Context(), later(60), later(180))
		require.NoError(t, err)
		require.Equal(t, map[string]sched.QueueRate{"default": {Rate: sched.Rate{Bad: 1}, All: 2}}, got)
	})
}
