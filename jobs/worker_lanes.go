package jobs

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"ax/app/sched"

	"github.com/hibiken/asynq"
)

// Serve takes messages of these lanes too, besides the plain queues. Servers of
// Asynq can't be given other queues: new ones take their place, while the old
// ones end what they run; until then the worker may run more at once than it has
// slots. A lane of a paused queue begins paused. On an error all is as before.
func (w *Worker) Serve(ctx context.Context, lanes []sched.Lane) error {
	if err := w.holdLanes(ctx, lanes); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.queues
	w.queues = w.o.Queues.withLanes(lanes)
	switch {
	case w.stopped:
		return nil
	case !w.started:
		w.crew = w.newCrew()
		return nil
	case w.halted: // the end of the drain makes them
		return nil
	}
	if err := w.relieve(); err != nil {
		w.queues = before
		return fmt.Errorf("take messages of other lanes: %w", err)
	}
	return nil
}

// holdLanes pauses lanes whose queue is paused.
func (w *Worker) holdLanes(ctx context.Context, lanes []sched.Lane) error {
	client := w.o.Redis.Client()
	for _, l := range lanes {
		paused, err := client.Exists(ctx, pausedKey(l.Queue)).Result()
		if err != nil {
			return fmt.Errorf("read whether queue %s is paused: %w", l.Queue, err)
		}
		if paused == 0 {
			continue
		}
		if err := client.SAdd(ctx, queuesKey, laneName(l)).Err(); err != nil {
			return fmt.Errorf("list a lane of queue %s: %w", l.Queue, err)
		}
		if err := client.SetNX(ctx, pausedKey(laneName(l)), time.Now().Unix(), 0).Err(); err != nil {
			return fmt.Errorf("pause a lane of queue %s: %w", l.Queue, err)
		}
	}
	return nil
}

// pausedKey is what Asynq holds while a queue is paused.
func pausedKey(name string) string { return "asynq:{" + name + "}:paused" }

// relieve puts a new crew to work and lets the old one end what it runs. The old
// one halts only when the new one works.
func (w *Worker) relieve() error {
	fresh := w.newCrew()
	if err := fresh.start(w.handle); err != nil {
		fresh.shutdown()
		return err
	}
	old := w.crew
	w.crew, w.halted = fresh, false
	w.retiring.Go(func() { old.retire(w.ending) })
	return nil
}

// crew are servers of Asynq that began together.
type crew struct {
	servers []*asynq.Server
	running atomic.Int64
}

// start begins to take messages.
func (c *crew) start(handle asynq.HandlerFunc) error {
	counted := asynq.HandlerFunc(func(ctx context.Context, t *asynq.Task) error {
		c.running.Add(1)
		defer c.running.Add(-1)
		return handle(ctx, t)
	})
	for _, s := range c.servers {
		if err := s.Start(counted); err != nil {
			return err
		}
	}
	return nil
}

func (c *crew) halt()     { eachServer(c.servers, (*asynq.Server).Stop) }
func (c *crew) shutdown() { eachServer(c.servers, (*asynq.Server).Shutdown) }

// retireLook is how often a retiring crew looks whether its work is done.
const retireLook = 100 * time.Millisecond

// retire takes no messages any more and leaves when what it runs has ended, or
// the worker stops: Asynq's own patience is that of a stop, and what runs longer
// would be given back to Redis while it runs.
func (c *crew) retire(ending <-chan struct{}) {
	c.halt()
	look := time.NewTicker(retireLook)
	defer look.Stop()
	for c.running.Load() > 0 {
		select {
		case <-look.C:
		case <-ending:
			c.shutdown()
			return
		}
	}
	c.shutdown()
}
