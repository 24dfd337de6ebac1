package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
)

const (
	// alertQueue carries hints to channels that have something to be sent, apart
	// from users' work.
	alertQueue  = "ax-alerts"
	typeDeliver = "ax:deliver"
	// channelsAtOnce is how many channels one process sends to at once: a slow
	// receiver takes one of the places.
	channelsAtOnce = 16
	deliverTimeout = 3 * time.Minute
)

// Poster gives hints to look at a channel. It is safe for concurrent use.
type Poster struct{ client *asynq.Client }

// NewPoster makes one.
func NewPoster(r *Redis) *Poster { return &Poster{asynq.NewClientFromRedisClient(r.Client())} }

// Post asks for a look at a channel; one that is asked for already is not asked
// for again. An error says that Redis did not take it.
func (p *Poster) Post(ctx context.Context, channel string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := p.client.EnqueueContext(ctx, asynq.NewTask(typeDeliver, []byte(channel)),
		asynq.TaskID("ax-deliver-"+channel), asynq.Queue(alertQueue), asynq.MaxRetry(0), asynq.Timeout(deliverTimeout))
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return fmt.Errorf("post a hint to channel %s: %w", channel, err)
	}
	return nil
}

// courier sends what is due of a channel.
type courier interface {
	Deliver(ctx context.Context, channel string) error
	Wait() // until nothing that it began by itself is being sent
}

// Deliverer takes the hints and lets the courier look.
type Deliverer struct {
	server  *asynq.Server
	courier courier
	log     *slog.Logger
	ctx     context.Context // of what is being sent; ends with the grace
	cancel  context.CancelFunc
}

// NewDeliverer makes one that stands still until Start.
func NewDeliverer(r *Redis, c courier, log *slog.Logger) *Deliverer {
	d := &Deliverer{courier: c, log: log}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.server = asynq.NewServerFromRedisClient(r.Client(), asynq.Config{
		Concurrency: channelsAtOnce, Queues: map[string]int{alertQueue: 1}, ShutdownTimeout: 15 * time.Second,
		// What a crash left in Redis is a hint like any other.
		RetryDelayFunc: func(int, error, *asynq.Task) time.Duration { return takenBack },
		Logger:         asynqLog{log}, LogLevel: asynq.InfoLevel,
	})
	return d
}

// Start begins to take hints. It does not need Redis to be there yet.
func (d *Deliverer) Start() error {
	if err := d.server.Start(asynq.HandlerFunc(d.handle)); err != nil {
		return fmt.Errorf("start the deliverer: %w", err)
	}
	return nil
}

// Stop takes nothing more and lets what is being sent end, 10 s at most.
func (d *Deliverer) Stop() {
	d.server.Stop()
	end := time.AfterFunc(10*time.Second, d.cancel)
	d.server.Shutdown()
	end.Stop()
	d.courier.Wait()
	d.cancel()
}

// handle always takes the hint away: the rows say what is left, and the
// courier's next turn gives another one.
func (d *Deliverer) handle(_ context.Context, task *asynq.Task) error {
	if err := d.courier.Deliver(d.ctx, string(task.Payload())); err != nil && d.ctx.Err() == nil {
		d.log.Error("messages could not be sent", "channel", string(task.Payload()), "error", err)
	}
	return nil
}
