package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"ax/jobs"
	"ax/jobs/redistest"

	"github.com/stretchr/testify/require"
)

func TestAMaintenanceJobRunsAgainAndAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for turns of the scheduler")
	}
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		var runs atomic.Int64
		m, err := jobs.NewMaintenance(jobs.MaintenanceOptions{
			Redis: r, Log: slog.New(slog.DiscardHandler),
			Jobs: []jobs.MaintenanceJob{{Name: "count", Spec: "@every 2s", Run: func(context.Context) error {
				if runs.Add(1) == 1 {
					panic("the first one fails")
				}
				return errors.New("so does this one")
			}}},
		})
		require.NoError(t, err)
		require.NoError(t, m.Start())
		require.Eventually(t, func() bool { return runs.Load() >= 2 }, 20*time.Second, 50*time.Millisecond)
		m.Stop()
	})
}

func TestNodesThatAnnounceAJobAtOnceRunItOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for turns of the scheduler")
	}
	t.Parallel()
	r := redistest.Embedded(t)
	var runs atomic.Int64
	for range 3 {
		m, err := jobs.NewMaintenance(jobs.MaintenanceOptions{
			Redis: r, Log: quiet(t),
			Jobs: []jobs.MaintenanceJob{{Name: "count", Spec: "@every 6s", Run: func(context.Context) error {
				runs.Add(1)
				return nil
			}}},
		})
		require.NoError(t, err)
		require.NoError(t, m.Start())
		t.Cleanup(m.Stop)
	}
	require.Eventually(t, func() bool { return runs.Load() == 1 }, 15*time.Second, 50*time.Millisecond)
	time.Sleep(1500 * time.Millisecond)
	require.EqualValues(t, 1, runs.Load())
}

func TestAStopCutsRunningJobsOffAfterTheGrace(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for turns of the scheduler")
	}
	t.Parallel()
	r := redistest.Embedded(t)
	began := make(chan struct{}, 10)
	m, err := jobs.NewMaintenance(jobs.MaintenanceOptions{
		Redis: r, Log: quiet(t), Grace: 50 * time.Millisecond,
		Jobs: []jobs.MaintenanceJob{{Name: "long", Spec: "@every 1s", Run: func(ctx context.Context) error {
			began <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		}}},
	})
	require.NoError(t, err)
	require.NoError(t, m.Start())
	<-began
	stopped := time.Now()
	m.Stop()
	require.Less(t, time.Since(stopped), 5*time.Second)
}

func TestASpecThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{"garbage": "every day", "never": "0 0 31 2 *"} {
		t.Run(name, func(t *testing.T) {
			_, err := jobs.NewMaintenance(jobs.MaintenanceOptions{
				Redis: redistest.Embedded(t), Log: quiet(t), Jobs: []jobs.MaintenanceJob{{Name: "prune", Spec: spec}},
			})
			require.ErrorContains(t, err, "prune")
		})
	}
}
