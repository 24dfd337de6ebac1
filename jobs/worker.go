package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"ax/app/sched"

	"github.com/hibiken/asynq"
)

// runner looks at an instance and says what becomes of its message.
type runner interface {
	Run(ctx context.Context, m sched.Message) sched.Answer
}

// WorkerOptions of a worker. Redis, Runner, Queues, Now and Log are required.
type WorkerOptions struct {
	Redis  *Redis
	Runner runner
	Queues Queues
	Now    func() time.Time // the ledger's clock
	Log    *slog.Logger

	// Slots is how many instances run at once; 0: 256, embedded 64.
	Slots int
	// Servers is how many Asynq servers share the slots: each takes messages
	// one by one, so one alone is bounded by the way to Redis and back.
	// 0: 2, embedded 1.
	Servers int
	// Check is the pause after an empty look at the queues, Forward the same
	// for messages that become due (first server only). 0: 50 ms and 100 ms,
	// embedded 200 ms: there both sides burn the same processor.
	Check, Forward time.Duration
	// Grace is how long running work may take to end at Stop; 0: 30 s.
	Grace time.Duration

	// spare is what Asynq waits longer than the grace, so that our own end
	// comes first; 0: 10 s.
	spare time.Duration
}

const (
	// slowForward is for all servers but the first: one fast forwarder does
	// the work of all.
	slowForward   = 5 * time.Second
	shutdownSpare = 10 * time.Second
	// takenBack is the delay of a message that comes back for no reason of
	// ours: lease expired, panic.
	takenBack = time.Second
)

// Worker takes messages and lets the runner answer them.
type Worker struct {
	o WorkerOptions

	mu       sync.Mutex
	queues   Queues // and lanes
	crew     *crew
	started  bool
	halted   bool
	stopped  bool
	ending   chan struct{}  // closed when the worker stops
	retiring sync.WaitGroup // crews of before, which end what they run
}

// NewWorker makes a worker that stands still until Start.
func NewWorker(o WorkerOptions) *Worker {
	w := &Worker{o: o.withDefaults(), queues: o.Queues, ending: make(chan struct{})}
	w.crew = w.newCrew()
	return w
}

func (w *Worker) newCrew() *crew {
	o, c := w.o, &crew{}
	for i := range o.Servers {
		slots := o.Slots / o.Servers
		if i < o.Slots%o.Servers {
			slots++
		}
		forward := slowForward
		if i == 0 {
			forward = o.Forward
		}
		c.servers = append(c.servers, asynq.NewServerFromRedisClient(o.Redis.Client(), w.config(slots, forward)))
	}
	return c
}

func (o WorkerOptions) withDefaults() WorkerOptions {
	slots, servers, check, forward := 256, 2, 50*time.Millisecond, 100*time.Millisecond
	if o.Redis.Embedded() {
		slots, servers, check, forward = 64, 1, 200*time.Millisecond, 200*time.Millisecond
	}
	o.Slots = cmp.Or(o.Slots, slots)
	o.Servers = min(cmp.Or(o.Servers, servers), o.Slots)
	o.Check = cmp.Or(o.Check, check)
	o.Forward = cmp.Or(o.Forward, forward)
	o.Grace = cmp.Or(o.Grace, 30*time.Second)
	o.spare = cmp.Or(o.spare, shutdownSpare)
	return o
}

// config has no ErrorHandler: Asynq calls it with stale counts after a pause
// of the process, so nothing may hang on it.
func (w *Worker) config(slots int, forward time.Duration) asynq.Config {
	return asynq.Config{
		Concurrency:              slots,
		Queues:                   w.queues,
		TaskCheckInterval:        w.o.Check,
		DelayedTaskCheckInterval: forward,
		RetryDelayFunc:           w.delay,
		IsFailure:                counts,
		ShutdownTimeout:          w.o.Grace + w.o.spare,
		Logger:                   asynqLog{w.o.Log},
		LogLevel:                 asynq.InfoLevel,
	}
}

// Slots is how many instances run at once.
func (w *Worker) Slots() int { return w.o.Slots }

// Start begins to take messages. It does not need Redis to be there yet.
func (w *Worker) Start() error {
	w.mu.Lock()
	w.started = true
	err := w.crew.start(w.handle)
	w.mu.Unlock()
	if err != nil {
		w.Stop()
		return fmt.Errorf("start worker: %w", err)
	}
	return nil
}

// Halt ends the taking of messages; what runs goes on. It may be called more
// than once.
func (w *Worker) Halt() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.halt()
}

func (w *Worker) halt() {
	w.halted = true
	w.crew.halt()
}

// Drain halts, and takes messages again when on is false. A server of Asynq that
// was halted can't go on: new ones take its place, while it ends what it runs.
// Until then the worker may run more at once than it has slots.
func (w *Worker) Drain(on bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if on || w.stopped || !w.halted {
		if on {
			w.halt()
		}
		return nil
	}
	if err := w.relieve(); err != nil {
		return fmt.Errorf("take messages again: %w", err)
	}
	return nil
}

// Stop halts, waits for what runs (grace and 10 s at most), gives what is
// left back to Redis and leaves.
func (w *Worker) Stop() {
	w.mu.Lock()
	w.halt()
	if !w.stopped {
		close(w.ending)
	}
	w.stopped = true
	last := w.crew
	w.mu.Unlock()
	last.shutdown()
	w.retiring.Wait()
}

func eachServer(servers []*asynq.Server, do func(*asynq.Server)) {
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { do(s) })
	}
	all.Wait()
}

// again is the handler's wish to see the message once more.
type again struct {
	due    time.Time
	failed bool
}

func (again) Error() string { return "again later" }

// handle answers one message. The context is cut from Asynq's: that one ends
// by Asynq's timeout and cancel, and then Asynq decides, not the answer.
func (w *Worker) handle(ctx context.Context, task *asynq.Task) (err error) {
	queue, _ := asynq.GetQueueName(ctx)
	var p payload
	if bad := json.Unmarshal(task.Payload(), &p); bad != nil || p.Instance == "" || task.Type() != typeRun {
		w.o.Log.Error("dropped a message that is not ax's", "type", task.Type(), "queue", queue, "error", bad)
		return nil
	}
	defer func() {
		// The runner ends its own panics; this one is a fault of the runner.
		if x := recover(); x != nil {
			w.o.Log.Error("panic in the runner", "instance_id", p.Instance, "panic", x, "stack", string(debug.Stack()))
			err = again{due: w.o.Now().Add(takenBack)}
		}
	}()
	a := w.o.Runner.Run(context.WithoutCancel(ctx), sched.Message{InstanceID: p.Instance, Dispatch: p.Dispatch, Queue: queueOf(queue)})
	if a.Again {
		return again{due: a.DueAt, failed: a.Failed}
	}
	return nil
}

// delay until a message comes back. A negative one brings it back at the next
// look.
func (w *Worker) delay(_ int, err error, _ *asynq.Task) time.Duration {
	if a, ok := errors.AsType[again](err); ok {
		return a.due.Sub(w.o.Now()) + cutSpare
	}
	return takenBack
}

// counts tells whether Asynq's own figures count the end as a failure.
func counts(err error) bool {
	a, ok := errors.AsType[again](err)
	return ok && a.failed
}
