package db_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// Everything at once on 20 tasks: no deadlock and no lock wait may reach a
// caller, hardly any may happen at all (engine-sql.md, rules 3 and 4), and the
// ledger verifies at every moment.

// stressFor is how long the stress lasts; AX_TEST_STRESS_SECONDS lengthens it.
func stressFor(usual time.Duration) time.Duration {
	if n, err := strconv.Atoi(os.Getenv("AX_TEST_STRESS_SECONDS")); err == nil {
		return time.Duration(n) * time.Second
	}
	if testing.Short() {
		return 2 * time.Second
	}
	return usual
}

// reruns is a log that counts transactions that ran again, by what they were.
type reruns struct {
	slog.Handler
	mu   sync.Mutex
	seen map[string]int
}

func (r *reruns) Enabled(context.Context, slog.Level) bool { return true }

func (r *reruns) Handle(_ context.Context, rec slog.Record) error {
	if rec.Message != "transaction runs again" {
		return nil
	}
	key := ""
	rec.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "what":
			var verb string
			_, _ = fmt.Sscan(a.Value.String(), &verb)
			key = verb + ": "
		case "error":
			key += a.Value.String()
		}
		return true
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[key]++
	return nil
}

func (r *reruns) total() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.seen {
		n += c
	}
	return n
}

// storm is one run of the stress.
type storm struct {
	t      *testing.T
	ledger []*db.DB // one pool per node
	tasks  []sched.Task
	began  time.Time
	mail   chan string // the carrier: ids of instances
	nodes  sync.Map    // index of the worker: its node's id
	acts   atomic.Int64
	claims [sched.ClaimTake + 1]atomic.Int64 // by verdict
	reruns *reruns
}

// pace is how much faster than the clock the storm's time runs.
const pace = 10

func (s *storm) now() time.Time {
	return t0.Add(pace * time.Since(s.began)).Truncate(time.Millisecond)
}

func (s *storm) db(i int) *db.DB { return s.ledger[i%len(s.ledger)] }

func newStorm(t *testing.T, dialect, dsn string) *storm {
	t.Helper()
	s := &storm{t: t, mail: make(chan string, 10_000), reruns: &reruns{Handler: slog.DiscardHandler, seen: map[string]int{}}}
	for range 2 {
		d, err := db.Open(t.Context(), db.Options{Dialect: dialect, DSN: dsn, MaxConns: 24, Log: slog.New(s.reruns)})
		require.NoError(t, err)
		t.Cleanup(func() { _ = d.Close() })
		s.ledger = append(s.ledger, d)
	}
	require.NoError(t, s.ledger[0].Migrate(t.Context()))
	team := dbtest.MakeTeam(t, s.ledger[0])
	for i := range 20 {
		opts := []dbtest.TaskOption{dbtest.Of(team), dbtest.Every(time.Duration(1+i%4) * time.Second), dbtest.Limit(i % 3), dbtest.Retries(2)}
		if i%5 == 0 {
			opts = append(opts, dbtest.Unsafe(2))
		}
		s.tasks = append(s.tasks, dbtest.MakeTask(t, s.ledger[0], opts...))
	}
	s.began = time.Now()
	return s
}

// mayFail lets through what a rule refuses; everything else ends the storm.
func mayFail(err error) error {
	switch fault.KindOf(err) {
	case fault.KindConflict, fault.KindNotFound:
		return nil
	}
	return err
}

// run lets each actor act over and over until the time is up.
func (s *storm) run(length time.Duration, actors map[string]func(*actor) error, times func(name string) int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), length+time.Minute)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	n := 0
	for name, act := range actors {
		for range times(name) {
			n++
			a := &actor{storm: s, ctx: ctx, d: s.db(n), i: n, r: rand.New(rand.NewPCG(uint64(n), 7))}
			g.Go(func() error {
				for time.Since(s.began) < length && ctx.Err() == nil {
					if err := mayFail(act(a)); err != nil {
						return fmt.Errorf("%s: %w", name, err)
					}
					s.acts.Add(1)
				}
				return nil
			})
		}
	}
	require.NoError(s.t, g.Wait())
}

// actor is one of those who act.
type actor struct {
	*storm
	ctx context.Context
	d   *db.DB
	i   int
	r   *rand.Rand
}

func (a *actor) task() sched.Task { return a.tasks[a.r.IntN(len(a.tasks))] }

func (a *actor) send(id string) {
	select {
	case a.mail <- id:
	default: // the sweep sends it again
	}
}

func (a *actor) rest(most time.Duration) { time.Sleep(time.Duration(a.r.Int64N(int64(most)))) }

func stormActors() map[string]func(*actor) error {
	return map[string]func(*actor) error{
		"plan": (*actor).plan, "dispatch": (*actor).dispatch, "work": (*actor).work, "edit": (*actor).edit, "sweep": (*actor).sweep,
		"request": (*actor).request, "people": (*actor).people, "report": (*actor).report,
	}
}

func (a *actor) plan() error {
	defer a.rest(8 * time.Millisecond)
	now := a.now()
	r, err := a.d.Plan(a.ctx, sched.PlanRequest{Now: now, Until: now.Add(sched.PlanHorizon), Limit: 7, Budget: 50, NodeID: "planner"})
	for _, m := range r.Messages {
		a.send(m.InstanceID)
	}
	return err
}

func (a *actor) dispatch() error {
	defer a.rest(6 * time.Millisecond)
	due, err := a.d.Due(a.ctx, a.now().Add(sched.PlanHorizon), 50)
	if err != nil {
		return err
	}
	for _, m := range due {
		a.send(m.InstanceID)
	}
	return a.d.MarkQueued(a.ctx, due, a.now())
}

func (a *actor) edit() error {
	defer a.rest(6 * time.Millisecond)
	now, kind := a.now(), a.r.IntN(6)
	c := sched.TaskChange{Code: a.task().Code, Now: now, By: person, Version: kind < 4, Owed: kind < 4}
	c.Apply = func(t sched.Task) (sched.Task, access.Entry, error) {
		switch kind {
		case 0:
			t.Enabled = !t.Enabled
		case 1:
			t.Enabled = true
		case 2:
			t.Spec.Schedule.EverySeconds = 1 + a.r.IntN(5)
		case 3:
			t.Spec.Policy.MaxConcurrent = a.r.IntN(3)
		case 4:
			t.PausedFrom, t.PausedUntil = now, now.Add(time.Duration(1+a.r.IntN(10))*time.Second)
		case 5:
			t.PausedUntil = now
		}
		if c.Version {
			reschedule(a.t, &t, now)
		}
		return t, ask("task.update"), nil
	}
	_, due, err := a.d.ChangeTask(a.ctx, c)
	for _, m := range due {
		a.send(m.InstanceID)
	}
	return err
}

func (a *actor) request() error {
	defer a.rest(40 * time.Millisecond)
	task, now := a.task(), a.now()
	in := request(task, fmt.Sprintf("order-%d", a.r.IntN(3000)))
	in.ID, in.WantedAt, in.DueAt, in.CreatedAt = dbtest.IDAt(now), now, now, now
	in, created, err := a.d.Trigger(a.ctx, in, ask("task.trigger"))
	if created {
		a.send(in.ID)
	}
	return err
}

func (a *actor) sweep() error {
	defer a.rest(10 * time.Millisecond)
	now := a.now()
	all, err := a.d.Stale(a.ctx, now, 100)
	for _, s := range all {
		m, ok, err := a.d.Raise(a.ctx, s, now)
		if err != nil {
			return err
		}
		if ok {
			a.send(m.InstanceID)
		}
	}
	if err != nil {
		return err
	}
	if err := a.judge(now); err != nil {
		return err
	}
	awaiting, err := a.d.Overdue(a.ctx, now.Add(sched.ReceiptTimeout-5*time.Second), 20)
	for _, h := range awaiting {
		if err := a.d.EndAwaiting(a.ctx, h, now); err != nil {
			return err
		}
	}
	if err == nil && a.r.IntN(50) == 0 {
		_, err = a.d.LookNow(a.ctx, now)
	}
	return err
}

// judge declares silent nodes and takes their work over.
func (a *actor) judge(now time.Time) error {
	me, _ := a.nodes.Load(0)
	if me == nil {
		return nil
	}
	if _, err := a.d.Beat(a.ctx, sched.Beat{NodeID: me.(string), Now: now, Gap: time.Hour}); err != nil {
		return err
	}
	if _, err := a.d.DeclareDead(a.ctx, me.(string), pulse, now); err != nil {
		return err
	}
	orphans, err := a.d.Orphans(a.ctx, 100)
	for _, h := range orphans {
		m, again, err := a.d.Lose(a.ctx, h, now)
		if err != nil {
			return err
		}
		if again {
			a.send(m.InstanceID)
		}
	}
	return err
}

func (a *actor) people() error {
	defer a.rest(6 * time.Millisecond)
	now := a.now()
	if a.r.IntN(2) == 0 {
		page, err := a.d.Letters(a.ctx, sched.LetterFilter{Scope: all, Statuses: []sched.LetterStatus{sched.LetterOpen, sched.LetterTaken}}, sched.PageRequest{Limit: 20})
		if err != nil || len(page.Items) == 0 {
			return err
		}
		l := page.Items[a.r.IntN(len(page.Items))]
		if a.r.IntN(4) == 0 {
			_, err = a.d.EditLetter(a.ctx, l.ID, func(l sched.Letter) (sched.Letter, access.Entry, error) {
				l.Status, l.Solution = sched.LetterTaken, "restart"
				l.ClosedAt, l.ClosedBy = time.Time{}, ""
				return l, ask("letter.edit"), nil
			})
			return err
		}
		in, err := a.d.Replay(a.ctx, l.ID, dbtest.IDAt(now), now, person, "")
		a.send(in.ID)
		return err
	}
	in, err := a.any(sched.Pending, sched.Queued, sched.Running, sched.Retrying, sched.Awaiting)
	if err != nil || in.ID == "" {
		return err
	}
	if a.r.IntN(3) > 0 {
		if in.Attempt == 0 {
			return nil
		}
		o := []sched.Outcome{sched.OutcomeSucceeded, sched.OutcomeFailed}[a.r.IntN(2)]
		_, err = a.d.Receive(a.ctx, sched.Report{InstanceID: in.ID, Attempt: 1 + a.r.IntN(in.Attempt), Outcome: o}, now)
		return err
	}
	_, err = a.d.Cancel(a.ctx, in.ID, now, ask("instance.cancel"))
	return err
}

// any is one of the latest instances in the states.
func (a *actor) any(states ...sched.State) (sched.Instance, error) {
	page, err := a.d.Instances(a.ctx, sched.InstanceFilter{Scope: all, States: states}, sched.PageRequest{Limit: 50})
	if err != nil || len(page.Items) == 0 {
		return sched.Instance{}, err
	}
	return page.Items[a.r.IntN(len(page.Items))], nil
}

func (a *actor) report() error {
	defer a.rest(300 * time.Millisecond)
	if _, err := a.d.RollUp(a.ctx, a.now()); err != nil {
		return err
	}
	if _, err := a.d.Dashboard(a.ctx, all, a.now()); err != nil {
		return err
	}
	if _, err := a.d.SealAudit(a.ctx, a.now(), 500); err != nil {
		return err
	}
	problems, err := a.d.VerifyAt(a.ctx, a.now())
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("in the middle of the storm: %v", problems)
	}
	return err
}
