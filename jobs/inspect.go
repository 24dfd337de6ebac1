package jobs

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"ax/app/fault"

	"github.com/hibiken/asynq"
)

// inspectFor is how long figures are shown before they are read anew: pages
// of many viewers must not cost Redis more than one.
const inspectFor = 2 * time.Second

// QueueFigures is what Asynq says of one queue. The ledger's own figures are
// the truth; these tell how the carrier does.
type QueueFigures struct {
	Name      string
	Weight    int
	Pending   int // ready to be taken
	Active    int // in a handler
	Scheduled int // due later
	Retry     int // come back later: retries and deferrals
	Archived  int // given up by Asynq; ax never does that
	Paused    bool
	Latency   time.Duration // age of the oldest pending message
	Memory    int64         // bytes, by samples
}

// CarrierFigures are all queues at one moment.
type CarrierFigures struct {
	At        time.Time
	Queues    []QueueFigures // by name
	Memory    int64          // bytes that Redis uses; 0: not known (embedded)
	MaxMemory int64          // bytes; 0: no limit
	Policy    string         // what Redis throws away when memory is short, such as noeviction; empty: not known (embedded)
}

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
	info, err := i.redis.info(ctx, "memory")
	if err != nil {
		return out, err
	}
	// A field that is missing or strange is shown as not known.
	out.Memory, _ = strconv.ParseInt(info["used_memory"], 10, 64)
	out.MaxMemory, _ = strconv.ParseInt(info["maxmemory"], 10, 64)
	out.Policy = info["maxmemory_policy"]
	return out, nil
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
