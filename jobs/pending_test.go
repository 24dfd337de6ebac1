package jobs_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
	"ax/jobs/redistest"
)

func TestWhatWaitsInEachQueueIsCounted(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		send(t, r, sched.Message{InstanceID: "a", Queue: "slow"}, sched.Message{InstanceID: "b", Queue: "slow"})
		i := jobs.NewInspector(r, queues, noLanes, time.Now)
		got, err := i.Pending(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, got["slow"])
		require.Zero(t, got["default"])
		require.Len(t, got, len(queues))
	})
}
