package jobs_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"ax/app/sched"
	"ax/jobs"
	"ax/jobs/redistest"

	"github.com/stretchr/testify/require"
)

// noLanes: no task needs labels.
func noLanes(context.Context) ([]sched.Lane, error) { return nil, nil }

func gpuLanes() []sched.Lane {
	return []sched.Lane{{Queue: "default", Labels: "cn-north,gpu"}, {Queue: "slow", Labels: "gpu"}}
}

func gpuBook(context.Context) ([]sched.Lane, error) { return gpuLanes(), nil }

func gpuMessage(id string) sched.Message {
	return sched.Message{InstanceID: id, Dispatch: 1, Queue: "default", Labels: "cn-north,gpu"}
}

func TestAWorkerTakesWhatComesAlongItsLanesOnly(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		f := newRunner(nil)
		w := startWorker(t, options(t, r, f))
		send(t, r, gpuMessage("labeled"), sched.Message{InstanceID: "plain", Dispatch: 1, Queue: "default"})
		require.Equal(t, "plain", f.next(t).InstanceID)
		time.Sleep(300 * time.Millisecond)
		require.Empty(t, f.all, "it has no such lane")
		require.NoError(t, w.Serve(t.Context(), gpuLanes()))
		require.Equal(t, "labeled", f.next(t).InstanceID)
		send(t, r, sched.Message{InstanceID: "plain", Dispatch: 2, Queue: "slow"})
		require.Equal(t, "plain", f.next(t).InstanceID, "plain queues are served on")
		require.NoError(t, w.Serve(t.Context(), nil))
		time.Sleep(300 * time.Millisecond) // what was relieved halts
		send(t, r, gpuMessage("again"))
		time.Sleep(300 * time.Millisecond)
		require.Empty(t, f.all)
	})
}

// Asynq gives back what runs longer than its patience after a shutdown: a crew
// that was relieved waits for it.
func TestWhatRunsWhileLanesChangeRunsOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		end := make(chan struct{})
		f := newRunner(func(m sched.Message, _ int) sched.Answer {
			if m.InstanceID == "long" {
				<-end
			}
			return sched.Answer{}
		})
		o := jobs.Impatient(options(t, r, f))
		w := startWorker(t, o)
		send(t, r, sched.Message{InstanceID: "long", Dispatch: 1})
		f.next(t)
		for i := range 20 {
			lanes := gpuLanes()[:i%3]
			require.NoError(t, w.Serve(t.Context(), lanes))
			send(t, r, sched.Message{InstanceID: "short", Dispatch: i})
			require.Equal(t, "short", f.next(t).InstanceID)
		}
		time.Sleep(time.Second)
		require.Empty(t, f.all, "nothing came twice")
		close(end)
		require.Eventually(t, func() bool { return figures(t, r)["default"].Active == 0 }, 5*time.Second, 20*time.Millisecond)
		require.Len(t, f.times("long"), 1)
	})
}

func TestLanesChangedWhileDrainingAreServedAfterIt(t *testing.T) {
	t.Parallel()
	r := redistest.Embedded(t)
	f := newRunner(nil)
	w := startWorker(t, options(t, r, f))
	require.NoError(t, w.Drain(true))
	require.NoError(t, w.Serve(t.Context(), gpuLanes()))
	send(t, r, gpuMessage("labeled"))
	time.Sleep(300 * time.Millisecond)
	require.Empty(t, f.all)
	require.NoError(t, w.Drain(false))
	require.Equal(t, "labeled", f.next(t).InstanceID)
	w.Stop()
	require.NoError(t, w.Serve(t.Context(), nil), "a worker that was stopped stays so")
}

func TestLanesAreToldAndPausedAsTheirQueue(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		i := jobs.NewInspector(r, queues, gpuBook, time.Now)
		require.NoError(t, i.Pause(t.Context(), "default"))
		f := newRunner(nil)
		w := startWorker(t, options(t, r, f))
		require.NoError(t, w.Serve(t.Context(), gpuLanes()))
		send(t, r, gpuMessage("labeled"), sched.Message{InstanceID: "plain", Dispatch: 1, Queue: "default"})
		send(t, r, sched.Message{InstanceID: "open", Dispatch: 1, Queue: "slow", Labels: "gpu"})
		require.Equal(t, "open", f.next(t).InstanceID)
		time.Sleep(300 * time.Millisecond)
		require.Empty(t, f.all, "a lane is paused with its queue")
		got := figures(t, r)
		require.Len(t, got, 2, "people see queues")
		require.Equal(t, 2, got["default"].Pending)
		require.True(t, got["default"].Paused)
		require.NoError(t, i.Unpause(t.Context(), "default"))
		seen := []string{f.next(t).InstanceID, f.next(t).InstanceID}
		slices.Sort(seen)
		require.Equal(t, []string{"labeled", "plain"}, seen)
	})
}

// A lane that comes into use while its queue is paused must not run until the
// next turn of the loop that holds pauses.
func TestANewLaneOfAPausedQueueBeginsPaused(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		before := jobs.NewInspector(r, queues, noLanes, time.Now)
		require.NoError(t, before.Pause(t.Context(), "default"))
		f := newRunner(nil)
		w := startWorker(t, options(t, r, f))
		require.NoError(t, w.Serve(t.Context(), gpuLanes()))
		send(t, r, gpuMessage("labeled"))
		time.Sleep(300 * time.Millisecond)
		require.Empty(t, f.all)
		require.NoError(t, before.Unpause(t.Context(), "default"))
		require.Equal(t, "labeled", f.next(t).InstanceID)
	})
}

func TestLanesThatNoTaskUsesAreForgotten(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		send(t, r, gpuMessage("kept"), sched.Message{InstanceID: "old", Dispatch: 1, Queue: "default", Labels: "gone"},
			sched.Message{InstanceID: "plain", Dispatch: 1, Queue: "elsewhere"})
		require.NoError(t, jobs.NewInspector(r, queues, gpuBook, time.Now).ForgetLanes(t.Context()))
		names, err := r.Client().SMembers(t.Context(), "asynq:queues").Result()
		require.NoError(t, err)
		require.Contains(t, names, "default+cn-north+gpu")
		require.Contains(t, names, "elsewhere", "only lanes are forgotten")
		require.False(t, slices.ContainsFunc(names, func(s string) bool { return strings.Contains(s, "gone") }))
	})
}
