package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func carries(pending map[string]int) func(context.Context) (map[string]int, error) {
	return func(context.Context) (map[string]int, error) { return pending, nil }
}

func TestASampleIsTheLedgersFigureBesideTheCarriers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		for range 3 {
			dbtest.MakeInstance(t, d, task)
		}
		dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d, func(task *sched.Task) { task.Queue = "gone" }))
		queues := []string{"default", "slow"}
		require.NoError(t, d.SampleQueues(t.Context(), later(13), queues, carries(map[string]int{"default": 2, "slow": 0})))
		require.NoError(t, d.SampleQueues(t.Context(), later(19.9), queues, carries(map[string]int{"default": 9})), "another node's")
		down := func(context.Context) (map[string]int, error) { return nil, errors.New("Redis does not answer") }
		require.NoError(t, d.SampleQueues(t.Context(), later(20), queues, down))
		for queue, want := range map[string][]sched.QueueSample{
			"default": {{At: later(10), Due: 3, Pending: 2, Known: true}, {At: later(20), Due: 3}},
			"slow":    {{At: later(10), Known: true}, {At: later(20)}},
			"gone":    {{At: later(10), Due: 1}, {At: later(20), Due: 1}},
			"other":   {},
		} {
			got, err := d.QueueSamples(t.Context(), queue, t0)
			require.NoError(t, err)
			require.Equal(t, want, got, queue)
		}
		got, err := d.QueueSamples(t.Context(), "default", later(20))
		require.NoError(t, err)
		require.Len(t, got, 1)
	})
}

func TestNodesThatSampleAtOnceLeaveOneSample(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		sample := func() error { return d.SampleQueues(t.Context(), t0, []string{"default", "slow"}, carries(nil)) }
		require.Equal(t, [2]error{}, both(sample, sample))
		require.Equal(t, 2, count(t, d, "queue_samples"))
	})
}

func TestSamplesGoAfterAWeek(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, now := range []time.Time{t0, later(3600)} {
			require.NoError(t, d.SampleQueues(t.Context(), now, []string{"default", "slow"}, carries(nil)))
		}
		require.NoError(t, d.PruneStats(t.Context(), later(60).AddDate(0, 0, 7)))
		require.Equal(t, 2, count(t, d, "queue_samples"))
	})
}
