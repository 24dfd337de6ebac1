package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"ax/app/sched"

	"github.com/hibiken/asynq"
)

const (
	// typeRun is the Asynq type of a message that asks to look at an instance.
	typeRun = "ax:run"
	// defaultQueue takes messages without a queue.
	defaultQueue = "default"
	// messageTimeout is Asynq's own limit of a handler. It must never fire
	// before ours: tasks may take 24 hours and a settle may wait for the
	// ledger.
	messageTimeout = 48 * time.Hour
	// cutSpare is added to due times: Asynq cuts them to the second, and half
	// a second absorbs clock offsets between ledger and nodes.
	cutSpare = 500 * time.Millisecond

	sendAtOnce         = 64
	sendAtOnceEmbedded = 8 // one lock inside: more would only wait there
)

// Queues are the queues of the installation with their weights: of two full
// queues with 6 and 3, the first gets two of three places.
type Queues map[string]int

// Names lists the queues in order.
func (q Queues) Names() []string { return slices.Sorted(maps.Keys(q)) }

// payload is all that a message carries: ids. The row says the rest.
type payload struct {
	Instance string `json:"i"`
	Dispatch int    `json:"d"`
}

// Queue sends messages.
type Queue struct {
	client *asynq.Client
	atOnce int
	now    func() time.Time
}

// NewQueue makes a sender; now is the ledger's clock.
func NewQueue(r *Redis, now func() time.Time) *Queue {
	q := &Queue{client: asynq.NewClientFromRedisClient(r.Client()), atOnce: sendAtOnce, now: now}
	if r.Embedded() {
		q.atOnce = sendAtOnceEmbedded
	}
	return q
}

// Send hands the messages to Redis and gives one error per message, in their
// order; nil: it is there, from this call or an earlier one. It stops at
// nothing but ctx.
func (q *Queue) Send(ctx context.Context, messages []sched.Message) []error {
	errs := make([]error, len(messages))
	next := make(chan int)
	var senders sync.WaitGroup
	for range min(q.atOnce, len(messages)) {
		senders.Go(func() {
			for i := range next {
				errs[i] = q.send(ctx, messages[i])
			}
		})
	}
	for i := range messages {
		next <- i
	}
	close(next)
	senders.Wait()
	return errs
}

func (q *Queue) send(ctx context.Context, m sched.Message) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("send instance %s: %w", m.InstanceID, err)
	}
	body, err := json.Marshal(payload{Instance: m.InstanceID, Dispatch: m.Dispatch})
	if err != nil {
		return fmt.Errorf("write the message of instance %s: %w", m.InstanceID, err)
	}
	opts := []asynq.Option{
		asynq.TaskID(m.InstanceID + "." + strconv.Itoa(m.Dispatch)),
		asynq.Queue(laneName(sched.Lane{Queue: m.Queue, Labels: m.Labels})),
		// The policy decides on retries. At its own limit Asynq would archive
		// the message and block its id.
		asynq.MaxRetry(math.MaxInt32),
		asynq.Timeout(messageTimeout),
	}
	if m.DueAt.After(q.now()) {
		opts = append(opts, asynq.ProcessAt(m.DueAt.Add(cutSpare)))
	}
	_, err = q.client.EnqueueContext(ctx, asynq.NewTask(typeRun, body), opts...)
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("send instance %s to queue %s: %w", m.InstanceID, m.Queue, err)
	}
	return nil
}
