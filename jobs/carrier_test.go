package jobs_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"ax/app/sched"
	"ax/jobs"
	"ax/jobs/mq/mqtest"
	"ax/jobs/redistest"

	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	jobs.RouteRedisLog(slog.New(slog.DiscardHandler))
	os.Exit(mqtest.Main(m))
}

// fakeRunner answers by a function and remembers when it was asked.
type fakeRunner struct {
	answer func(m sched.Message, time int) sched.Answer

	mu    sync.Mutex
	asked map[string][]time.Time
	all   chan sched.Message
}

func newRunner(answer func(m sched.Message, time int) sched.Answer) *fakeRunner {
	return &fakeRunner{answer: answer, asked: map[string][]time.Time{}, all: make(chan sched.Message, 1000)}
}

func (f *fakeRunner) Run(_ context.Context, m sched.Message) sched.Answer {
	f.mu.Lock()
	f.asked[m.InstanceID] = append(f.asked[m.InstanceID], time.Now())
	n := len(f.asked[m.InstanceID])
	f.mu.Unlock()
	f.all <- m
	if f.answer == nil {
		return sched.Answer{}
	}
	return f.answer(m, n)
}

func (f *fakeRunner) next(t *testing.T) sched.Message {
	t.Helper()
	select {
	case m := <-f.all:
		return m
	case <-time.After(10 * time.Second):
		require.FailNow(t, "no message came within 10 s")
		return sched.Message{}
	}
}

func (f *fakeRunner) times(id string) []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked[id]
}

var queues = jobs.Queues{"default": 3, "slow": 1}

// quiet fails the test on errors and shows the rest.
func quiet(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "level=ERROR") {
		w.t.Errorf("logged: %s", p)
	} else {
		w.t.Logf("logged: %s", p)
	}
	return len(p), nil
}

func options(t *testing.T, r *jobs.Redis, f *fakeRunner) jobs.WorkerOptions {
	return jobs.WorkerOptions{
		Redis: r, Runner: f, Queues: queues, Now: time.Now, Log: quiet(t),
		Slots: 8, Check: 20 * time.Millisecond, Forward: 50 * time.Millisecond, Grace: 100 * time.Millisecond,
	}
}

func startWorker(t *testing.T, o jobs.WorkerOptions) *jobs.Worker {
	t.Helper()
	w := jobs.NewWorker(o)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	return w
}

func send(t *testing.T, r *jobs.Redis, messages ...sched.Message) {
	t.Helper()
	for _, err := range jobs.NewQueue(r, time.Now).Send(t.Context(), messages) {
		require.NoError(t, err)
	}
}

func figures(t *testing.T, r *jobs.Redis) map[string]jobs.QueueFigures {
	t.Helper()
	got, err := jobs.NewInspector(r, queues, noLanes, time.Now).Figures(t.Context())
	require.NoError(t, err)
	out := map[string]jobs.QueueFigures{}
	for _, q := range got.Queues {
		out[q.Name] = q
	}
	return out
}

func TestAMessageComesToTheRunnerAndIsGone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		f := newRunner(nil)
		startWorker(t, options(t, r, f))
		send(t, r, sched.Message{InstanceID: "a", Dispatch: 3, Queue: "slow"}, sched.Message{InstanceID: "b", Dispatch: 1})
		got := map[string]sched.Message{}
		for range 2 {
			m := f.next(t)
			got[m.InstanceID] = m
		}
		require.Equal(t, sched.Message{InstanceID: "a", Dispatch: 3, Queue: "slow"}, got["a"])
		require.Equal(t, sched.Message{InstanceID: "b", Dispatch: 1, Queue: "default"}, got["b"])
		require.Eventually(t, func() bool {
			q := figures(t, r)
			return q["default"].Active+q["slow"].Active+q["default"].Pending+q["slow"].Pending == 0
		}, 5*time.Second, 20*time.Millisecond)
		require.Zero(t, figures(t, r)["default"].Archived)
	})
}

func TestADueMessageNeverComesEarly(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		due := time.Now().Add(1500 * time.Millisecond).Truncate(time.Second)
		if time.Until(due) < 200*time.Millisecond {
			due = due.Add(time.Second)
		}
		f := newRunner(func(_ sched.Message, n int) sched.Answer {
			if n == 1 {
				return sched.Answer{Again: true, DueAt: due.Add(2 * time.Second)}
			}
			return sched.Answer{}
		})
		startWorker(t, options(t, r, f))
		send(t, r, sched.Message{InstanceID: "a", Dispatch: 1, DueAt: due})
		f.next(t)
		f.next(t)
		at := f.times("a")
		require.WithinRange(t, at[0], due, due.Add(time.Second))
		require.WithinRange(t, at[1], due.Add(2*time.Second), due.Add(3*time.Second))
	})
}

func TestARetryStandsInTheRetrySet(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		f := newRunner(func(sched.Message, int) sched.Answer {
			return sched.Answer{Again: true, Failed: true, DueAt: time.Now().Add(time.Hour)}
		})
		startWorker(t, options(t, r, f))
		send(t, r, sched.Message{InstanceID: "a", Dispatch: 1})
		f.next(t)
		require.Eventually(t, func() bool { return figures(t, r)["default"].Retry == 1 }, 5*time.Second, 20*time.Millisecond)
		// The id is taken as long as the message waits: sending it again
		// counts as sent and makes no second one.
		send(t, r, sched.Message{InstanceID: "a", Dispatch: 1})
		q := figures(t, r)["default"]
		require.Equal(t, 1, q.Retry)
		require.Zero(t, q.Pending)
	})
}

func TestADueTimeInThePastBringsTheMessageBackAtOnce(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		f := newRunner(func(_ sched.Message, n int) sched.Answer {
			return sched.Answer{Again: n == 1, DueAt: time.Now().Add(-time.Hour)}
		})
		startWorker(t, options(t, r, f))
		send(t, r, sched.Message{InstanceID: "a", Dispatch: 1})
		f.next(t)
		f.next(t)
		at := f.times("a")
		require.Less(t, at[1].Sub(at[0]), 2*time.Second)
	})
}

func TestManyMessagesGiveOneResultEach(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		messages := make([]sched.Message, 300)
		for i := range messages {
			messages[i] = sched.Message{InstanceID: string(rune('a'+i%26)) + time.Duration(i).String(), Dispatch: 1}
		}
		send(t, r, messages...)
		send(t, r, messages...) // all conflicts
		require.Equal(t, 300, figures(t, r)["default"].Pending)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range jobs.NewQueue(r, time.Now).Send(ctx, messages[:3]) {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Empty(t, jobs.NewQueue(r, time.Now).Send(t.Context(), nil))
	})
}

func TestAfterAFlushSendingWorksAndQueuesAreSeen(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		q, m := jobs.NewQueue(r, time.Now), jobs.NewMarker(r, queues)
		one := []sched.Message{{InstanceID: "a", Dispatch: 1}}
		require.NoError(t, q.Send(t.Context(), one)[0])
		require.NoError(t, r.Client().FlushAll(t.Context()).Err())
		require.NoError(t, q.Send(t.Context(), one)[0])
		_, err := m.Check(t.Context())
		require.NoError(t, err)
		names, err := r.Client().SMembers(t.Context(), "asynq:queues").Result()
		require.NoError(t, err)
		require.ElementsMatch(t, []string{"default", "slow", "ax-maintenance"}, names)
		require.Equal(t, 1, figures(t, r)["default"].Pending)

		f := newRunner(nil)
		startWorker(t, options(t, r, f))
		require.Equal(t, "a", f.next(t).InstanceID)
	})
}

func TestAFlushUnderARunningHandlerIsNoError(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		flushed := make(chan struct{})
		f := newRunner(func(m sched.Message, _ int) sched.Answer {
			if m.InstanceID == "a" {
				<-flushed
			}
			return sched.Answer{}
		})
		startWorker(t, options(t, r, f))
		send(t, r, sched.Message{InstanceID: "a", Dispatch: 1})
		f.next(t)
		require.NoError(t, r.Client().FlushAll(t.Context()).Err())
		close(flushed)
		send(t, r, sched.Message{InstanceID: "b", Dispatch: 1})
		require.Equal(t, "b", f.next(t).InstanceID)
	})
}

func TestStopGivesMessagesBack(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		f := newRunner(func(sched.Message, int) sched.Answer { <-release; return sched.Answer{} })
		o := options(t, r, f)
		o.Slots = 1
		w := startWorker(t, jobs.Impatient(o))
		send(t, r, sched.Message{InstanceID: "a", Dispatch: 1})
		f.next(t)
		w.Halt()
		send(t, r, sched.Message{InstanceID: "b", Dispatch: 1})
		time.Sleep(300 * time.Millisecond)
		require.Len(t, f.all, 0, "a halted worker takes nothing")
		w.Stop()
		q := figures(t, r)["default"]
		require.Equal(t, 2, q.Pending)
		require.Zero(t, q.Active)
	})
}

// What it runs when the drain begins goes on through its end.
func TestADrainedWorkerTakesNothingUntilTheDrainEnds(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		end := make(chan struct{})
		f := newRunner(func(m sched.Message, _ int) sched.Answer {
			if m.InstanceID == "long" {
				<-end
			}
			return sched.Answer{}
		})
		o := options(t, r, f)
		o.Grace = 20 * time.Second
		w := startWorker(t, o)
		require.NoError(t, w.Drain(false), "it doesn't drain")
		send(t, r, sched.Message{InstanceID: "long", Dispatch: 1})
		f.next(t)
		for round := range 2 {
			require.NoError(t, w.Drain(true))
			require.NoError(t, w.Drain(true))
			send(t, r, sched.Message{InstanceID: "later", Dispatch: 1 + round})
			time.Sleep(300 * time.Millisecond)
			require.Empty(t, f.all, "a draining worker takes nothing")
			require.NoError(t, w.Drain(false))
			require.Equal(t, "later", f.next(t).InstanceID)
		}
		require.Equal(t, 1, figures(t, r)["default"].Active, "what ran before runs still")
		close(end)
		require.Eventually(t, func() bool { return figures(t, r)["default"].Active == 0 }, 5*time.Second, 20*time.Millisecond)
		require.Len(t, f.times("long"), 1)
		w.Stop()
		require.NoError(t, w.Drain(false))
		send(t, r, sched.Message{InstanceID: "after", Dispatch: 1})
		time.Sleep(300 * time.Millisecond)
		require.Empty(t, f.all, "a worker that was stopped stays so")
	})
}

func TestAPanicOfTheRunnerBringsTheMessageBack(t *testing.T) {
	t.Parallel()
	r := redistest.Embedded(t)
	f := newRunner(func(_ sched.Message, n int) sched.Answer {
		if n == 1 {
			panic("oops")
		}
		return sched.Answer{}
	})
	o := options(t, r, f)
	o.Log = slog.New(slog.DiscardHandler)
	startWorker(t, o)
	send(t, r, sched.Message{InstanceID: "a", Dispatch: 1})
	f.next(t)
	f.next(t)
}

func TestTheWorkerGoesOnAfterRedisWasAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r, err := jobs.OpenRedis(t.Context(), jobs.RedisOptions{Addr: server.Addr})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	f := newRunner(nil)
	o := options(t, r, f)
	o.Log = slog.New(slog.DiscardHandler)
	startWorker(t, o)
	q, m := jobs.NewQueue(r, time.Now), jobs.NewMarker(r, queues)
	_, err = m.Check(t.Context())
	require.NoError(t, err)

	server.Kill()
	require.Error(t, r.Ping(t.Context()))
	require.Error(t, q.Send(t.Context(), []sched.Message{{InstanceID: "a", Dispatch: 1}})[0])
	_, err = m.Check(t.Context())
	require.Error(t, err)

	server.Restart()
	wiped, err := m.Check(t.Context())
	require.NoError(t, err)
	require.True(t, wiped)
	require.NoError(t, q.Send(t.Context(), []sched.Message{{InstanceID: "a", Dispatch: 1}})[0])
	require.Equal(t, "a", f.next(t).InstanceID)
}
