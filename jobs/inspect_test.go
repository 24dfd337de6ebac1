package jobs_test

import (
	"testing"
	"time"

	"ax/app/fault"
	"ax/app/sched"
	"ax/jobs"
	"ax/jobs/redistest"

	"github.com/stretchr/testify/require"
)

func TestFiguresAreReadAtMostEveryTwoSeconds(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		now := time.Now()
		i := jobs.NewInspector(r, queues, noLanes, func() time.Time { return now })
		empty, err := i.Figures(t.Context())
		require.NoError(t, err)
		require.Equal(t, []jobs.QueueFigures{{Name: "default", Weight: 3}, {Name: "slow", Weight: 1}}, empty.Queues)
		require.Equal(t, r.Embedded(), empty.Memory == 0)

		send(t, r, sched.Message{InstanceID: "a", Dispatch: 1},
			sched.Message{InstanceID: "b", Dispatch: 1, DueAt: time.Now().Add(time.Hour)})
		same, err := i.Figures(t.Context())
		require.NoError(t, err)
		require.Equal(t, empty, same)
		now = now.Add(2 * time.Second)
		fresh, err := i.Figures(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, fresh.Queues[0].Pending)
		require.Equal(t, 1, fresh.Queues[0].Scheduled)
		require.Positive(t, fresh.Queues[0].Memory)
	})
}

func TestAPausedQueueGathersMessages(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		i := jobs.NewInspector(r, queues, noLanes, time.Now)
		require.NoError(t, i.Pause(t.Context(), "slow"))
		require.NoError(t, i.Pause(t.Context(), "slow"), "pausing twice is no error")
		require.True(t, figures(t, r)["slow"].Paused)
		f := newRunner(nil)
		startWorker(t, options(t, r, f))
		send(t, r, sched.Message{InstanceID: "a", Dispatch: 1, Queue: "slow"})
		send(t, r, sched.Message{InstanceID: "b", Dispatch: 1, Queue: "default"})
		require.Equal(t, "b", f.next(t).InstanceID)
		require.Equal(t, 1, figures(t, r)["slow"].Pending)
		require.NoError(t, i.Unpause(t.Context(), "slow"))
		require.NoError(t, i.Unpause(t.Context(), "slow"))
		require.Equal(t, "a", f.next(t).InstanceID)
		require.Equal(t, fault.KindNotFound, fault.KindOf(i.Pause(t.Context(), "nosuch")))
	})
}

func TestWithoutRedisFiguresAreUnavailable(t *testing.T) {
	t.Parallel()
	r, err := jobs.OpenRedis(t.Context(), jobs.RedisOptions{Addr: "127.0.0.1:1"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	i := jobs.NewInspector(r, queues, noLanes, time.Now)
	_, err = i.Figures(t.Context())
	require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
	require.Equal(t, fault.KindUnavailable, fault.KindOf(i.Pause(t.Context(), "slow")))
}
