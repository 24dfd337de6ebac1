package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/hibiken/asynq"
	"github.com/robfig/cron/v3"
)

const (
	// maintenanceQueue is for ax's own periodic work, apart from users' work.
	maintenanceQueue = "ax-maintenance"
	typeMaintenance  = "ax:maintenance:"
	// maintenanceTimeout of one job.
	maintenanceTimeout = time.Hour
)

// MaintenanceJob is work of ax's own. Every node announces it and one node
// does it, so Run must stand being done twice. Spec has five cron fields, in
// UTC; "@every" counts from each node's start and is for one node only.
type MaintenanceJob struct {
	Name string
	Spec string
	Run  func(ctx context.Context) error
}

// MaintenanceOptions: Redis and Log are required.
type MaintenanceOptions struct {
	Redis *Redis
	Log   *slog.Logger
	Jobs  []MaintenanceJob
	Grace time.Duration // for running jobs at Stop; 0: 30 s
}

// Maintenance runs ax's periodic jobs by Asynq's scheduler with a fixed
// TaskID per job: of all nodes that announce a job at the same moment, one
// message remains.
type Maintenance struct {
	o         MaintenanceOptions
	jobs      map[string]MaintenanceJob
	scheduler *asynq.Scheduler
	server    *asynq.Server
	ctx       context.Context // of running jobs; ends with the grace
	cancel    context.CancelFunc
}

// NewMaintenance reads the jobs; an error names a spec that can't be read.
func NewMaintenance(o MaintenanceOptions) (*Maintenance, error) {
	o.Grace = cmp.Or(o.Grace, 30*time.Second)
	m := &Maintenance{o: o, jobs: map[string]MaintenanceJob{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.scheduler = asynq.NewSchedulerFromRedisClient(o.Redis.Client(), &asynq.SchedulerOpts{
		Logger: asynqLog{o.Log}, PostEnqueueFunc: m.announced,
	})
	smallest := time.Hour
	for _, j := range o.Jobs {
		gap, err := specGap(j.Spec)
		if err != nil {
			return nil, fmt.Errorf("maintenance job %s: %w", j.Name, err)
		}
		smallest = min(smallest, gap)
		m.jobs[typeMaintenance+j.Name] = j
		if _, err := m.scheduler.Register(j.Spec, asynq.NewTask(typeMaintenance+j.Name, nil), m.message(j, gap)...); err != nil {
			return nil, fmt.Errorf("maintenance job %s: %w", j.Name, err)
		}
	}
	m.server = asynq.NewServerFromRedisClient(o.Redis.Client(), asynq.Config{
		Concurrency:     2,
		Queues:          map[string]int{maintenanceQueue: 1},
		ShutdownTimeout: o.Grace + shutdownSpare,
		RetryDelayFunc:  func(int, error, *asynq.Task) time.Duration { return takenBack },
		IsFailure:       func(error) bool { return false },
		// The janitor frees the id of a job that is done, before its next turn.
		JanitorInterval: min(8*time.Second, max(smallest/4, 500*time.Millisecond)),
		Logger:          asynqLog{o.Log},
		LogLevel:        asynq.InfoLevel,
	})
	return m, nil
}

// message options: the id stays taken for a while after the work is done, so
// that a node whose clock is some seconds behind does not start it again.
func (m *Maintenance) message(j MaintenanceJob, gap time.Duration) []asynq.Option {
	return []asynq.Option{
		asynq.TaskID("ax-" + j.Name),
		asynq.Queue(maintenanceQueue),
		asynq.MaxRetry(math.MaxInt32),
		asynq.Timeout(maintenanceTimeout + time.Minute),
		asynq.Retention(min(30*time.Second, max(gap/2, time.Second))),
	}
}

// specGap is the time between the next two turns.
func specGap(spec string) (time.Duration, error) {
	s, err := cron.ParseStandard(spec)
	if err != nil {
		return 0, fmt.Errorf("read spec %q: %w", spec, err)
	}
	first := s.Next(time.Now())
	if first.IsZero() {
		return 0, fmt.Errorf("spec %q never comes", spec)
	}
	return s.Next(first).Sub(first), nil
}

// announced: another node was first is the normal case with several nodes.
func (m *Maintenance) announced(_ *asynq.TaskInfo, err error) {
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		m.o.Log.Warn("could not announce a maintenance job", "error", err)
	}
}

// Start begins to announce and to run jobs.
func (m *Maintenance) Start() error {
	if err := m.server.Start(asynq.HandlerFunc(m.handle)); err != nil {
		return fmt.Errorf("start maintenance worker: %w", err)
	}
	if err := m.scheduler.Start(); err != nil {
		m.server.Shutdown()
		return fmt.Errorf("start maintenance scheduler: %w", err)
	}
	return nil
}

// Stop ends announcing, cancels jobs that still run after the grace, and
// leaves.
func (m *Maintenance) Stop() {
	m.scheduler.Shutdown()
	m.server.Stop()
	end := time.AfterFunc(m.o.Grace, m.cancel)
	m.server.Shutdown()
	end.Stop()
	m.cancel()
}

// handle runs a job. A failed one waits for its next turn: a retry of Asynq's
// would hold the id. One that was cut off by Stop goes to another node.
func (m *Maintenance) handle(_ context.Context, task *asynq.Task) error {
	j, ok := m.jobs[task.Type()]
	if !ok {
		return nil // of a newer or older version
	}
	ctx, cancel := context.WithTimeout(m.ctx, maintenanceTimeout)
	defer cancel()
	l := Loop{Tick: func(ctx context.Context) (bool, error) { return false, j.Run(ctx) }}
	_, err := l.turn(ctx)
	if err != nil && m.ctx.Err() != nil {
		return again{}
	}
	if err != nil {
		m.o.Log.Error("maintenance job failed", "job", j.Name, "error", err)
	}
	return nil
}
