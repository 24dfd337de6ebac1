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
	lanes  LaneBook
	now    func() time.Time

	mu   sync.Mutex
	last CarrierFigures
}

// LaneBook lists the lanes with labels that tasks use.
type LaneBook func(ctx context.Context) ([]sched.Lane, error)

// NewInspector makes an inspector of the configured queues. What a queue's lanes
// hold is told as the queue's, and what is done to a queue is done to its lanes.
func NewInspector(r *Redis, q Queues, lanes LaneBook, now func() time.Time) *Inspector {
	return &Inspector{redis: r, asynq: asynq.NewInspectorFromRedisClient(r.Client()), queues: q, lanes: lanes, now: now}
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
	shown, err := i.show(ctx)
	if err != nil {
		return out, err
	}
	for _, queue := range i.queues.Names() {
		f := QueueFigures{Name: queue, Weight: i.queues[queue]}
		for _, name := range lanesAmong(shown, queue) {
			info, err := i.asynq.GetQueueInfo(name)
			if err != nil {
				return out, fmt.Errorf("read queue %s: %w", name, err)
			}
			f.Pending, f.Active, f.Scheduled = f.Pending+info.Pending, f.Active+info.Active, f.Scheduled+info.Scheduled
			f.Retry, f.Archived, f.Memory = f.Retry+info.Retry, f.Archived+info.Archived, f.Memory+info.MemoryUsage
			f.Paused, f.Latency = f.Paused || name == queue && info.Paused, max(f.Latency, info.Latency)
		}
		out.Queues = append(out.Queues, f)
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

// show makes the queues and lanes known to Asynq, which calls a queue unknown
// that it has never seen, or not since Redis was wiped; such a queue is empty. It
// gives all that Asynq knows then: lanes too that no task uses any more.
func (i *Inspector) show(ctx context.Context) ([]string, error) {
	lanes, err := i.lanes(ctx)
	if err != nil {
		return nil, err
	}
	var names []any
	for _, name := range i.queues.withLanes(lanes).Names() {
		names = append(names, name)
	}
	client := i.redis.Client()
	if err := client.SAdd(ctx, queuesKey, names...).Err(); err != nil {
		return nil, fmt.Errorf("list queues in Redis: %w", err)
	}
	all, err := client.SMembers(ctx, queuesKey).Result()
	if err != nil {
		return nil, fmt.Errorf("read the queues in Redis: %w", err)
	}
	return all, nil
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
	shown, err := i.show(ctx)
	if err != nil {
		return away(err)
	}
	i.mu.Lock()
	i.last = CarrierFigures{}
	i.mu.Unlock()
	for _, name := range lanesAmong(shown, queue) {
		err := set(name)
		if err == nil {
			continue
		}
		// Asynq calls it an error when nothing changes, in words only.
		if info, readErr := i.asynq.GetQueueInfo(name); readErr != nil || info.Paused != want {
			return away(fmt.Errorf("pause or unpause queue %s: %w", name, err))
		}
	}
	return nil
}

// ForgetLanes removes lanes from Redis that no task uses any more. What lies in
// them are hints that were sent anew along other lanes; one in which something
// runs stays. Fault: Unavailable.
func (i *Inspector) ForgetLanes(ctx context.Context) error {
	used, err := i.lanes(ctx)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, l := range used {
		keep[laneName(l)] = true
	}
	all, err := i.redis.Client().SMembers(ctx, queuesKey).Result()
	if err != nil {
		return away(err)
	}
	for _, name := range all {
		if keep[name] || queueOf(name) == name {
			continue
		}
		// Something active is an error, and a reason to leave it.
		if err := i.asynq.DeleteQueue(name, true); err == nil {
			i.redis.Client().Del(ctx, pausedKey(name))
		}
	}
	return nil
}
