package jobs

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"ax/app/fault"
	"ax/app/sched"

	"github.com/hibiken/asynq"
)

// inspectFor is how long figures are shown before they are read anew: pages
// of many viewers must not cost Redis more than one.
const inspectFor = 2 * time.Second

// QueueFigures is what Asynq says of one queue.
type QueueFigures = sched.CarrierQueue

// CarrierFigures are all queues at one moment.
type CarrierFigures = sched.CarrierFigures

// Inspector reads and pauses queues. It is safe for concurrent use.
type Inspector struct {
	redis  *Redis
	asynq  *asynq.Inspector
	queues Queues
	now    func() time.Time

	mu   sync.Mutex
	last CarrierFigures
}

// NewInspector makes an inspector of the configured queues.
func NewInspector(r *Redis, q Queues, now func() time.Time) *Inspector {
	return &Inspector{redis: r, asynq: asynq.NewInspectorFromRedisClient(r.Client()), queues: q, now: now}
}

// Figures gives what is at most 2 s old. Fault: Unavailable.
func (i *Inspector) Figures(ctx context.Context) (CarrierFigures, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := i.now()
	if age := now.Sub(i.last.At); age >= 0 && age < inspectFor {
		return i.last, nil
	}
	figures, err := i.read(ctx, now)
	if err != nil {
		return CarrierFigures{}, away(err)
	}
	i.last = figures
	return figures, nil
}

func (i *Inspector) read(ctx context.Context, now time.Time) (CarrierFigures, error) {
	out := CarrierFigures{At: now}
	if err := i.show(ctx); err != nil {
		return out, err
	}
	for _, name := range i.queues.Names() {
		info, err := i.asynq.GetQueueInfo(name)
		if err != nil {
			return out, fmt.Errorf("read queue %s: %w", name, err)
		}
		out.Queues = append(out.Queues, QueueFigures{
			Name: name, Weight: i.queues[name],
			Pending: info.Pending, Active: info.Active, Scheduled: info.Scheduled,
			Retry: info.Retry, Archived: info.Archived, Paused: info.Paused,
			Latency: info.Latency, Memory: info.MemoryUsage,
		})
	}
	return out, i.own(ctx, &out)
}

// own are Redis's figures of itself. A field that is missing or strange is
// shown as not known.
func (i *Inspector) own(ctx context.Context, out *CarrierFigures) error {
	began := time.Now()
	if err := i.redis.Ping(ctx); err != nil {
		return err
	}
	out.RoundTrip = time.Since(began)
	info, err := i.redis.info(ctx, "memory")
	if err != nil {
		return err
	}
	out.Memory, _ = strconv.ParseInt(info["used_memory"], 10, 64)
	out.MaxMemory, _ = strconv.ParseInt(info["maxmemory"], 10, 64)
	out.Policy = info["maxmemory_policy"]
	if info, err = i.redis.info(ctx, "clients"); err != nil {
		return err
	}
	out.Clients, _ = strconv.Atoi(info["connected_clients"])
	return nil
}

// show makes the queues known to Asynq, which calls a queue unknown that it
// has never seen, or not since Redis was wiped. Such a queue is empty.
func (i *Inspector) show(ctx context.Context) error {
	names := make([]any, 0, len(i.queues))
	for _, name := range i.queues.Names() {
		names = append(names, name)
	}
	if err := i.redis.Client().SAdd(ctx, queuesKey, names...).Err(); err != nil {
		return fmt.Errorf("list queues in Redis: %w", err)
	}
	return nil
}

// away: whatever fails here is Redis.
func away(err error) error { return fault.Unavailable(err, "Redis does not answer") }

// Pause stops workers from taking messages of the queue; they gather. Pausing
// what is paused is no error. Faults: NotFound, Unavailable.
func (i *Inspector) Pause(ctx context.Context, queue string) error {
	return i.setPaused(ctx, queue, true, i.asynq.PauseQueue)
}

// Unpause lets workers take messages again. Faults: NotFound, Unavailable.
func (i *Inspector) Unpause(ctx context.Context, queue string) error {
	return i.setPaused(ctx, queue, false, i.asynq.UnpauseQueue)
}

func (i *Inspector) setPaused(ctx context.Context, queue string, want bool, set func(string) error) error {
	if _, ok := i.queues[queue]; !ok {
		return fault.NotFound("There is no queue %s", queue)
	}
	if err := i.show(ctx); err != nil {
		return away(err)
	}
	i.mu.Lock()
	i.last = CarrierFigures{}
	i.mu.Unlock()
	err := set(queue)
	if err == nil {
		return nil
	}
	// Asynq calls it an error when nothing changes, in words only.
	if info, readErr := i.asynq.GetQueueInfo(queue); readErr == nil && info.Paused == want {
		return nil
	}
	return away(fmt.Errorf("pause or unpause queue %s: %w", queue, err))
}
