package jobs

import (
	"context"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"ax/app/sched"
)

// executorBook is what calls of executors need of the ledger.
type executorBook interface {
	// Executors of a team with the name, also those that are out.
	Executors(ctx context.Context, team int64, name string) ([]sched.ExecutorInfo, error)
	// Shards of the instance's attempts, by attempt and number.
	Shards(ctx context.Context, instanceID string) ([]sched.ShardRun, error)
	BeginShards(ctx context.Context, instanceID string, shards []sched.ShardRun) error
	EndShard(ctx context.Context, instanceID string, s sched.ShardRun) error
}

// turns counts the calls that were given out, over all nodes.
type turns interface {
	Next(ctx context.Context, name string) (uint64, error)
}

// RoutedOptions of NewRouted; all are required.
type RoutedOptions struct {
	Call  sched.Executor // carries out the call of an address
	Book  executorBook
	Turns turns
	Now   func() time.Time // the ledger's
	Dice  func() float64   // at least 0, below 1
	Log   *slog.Logger
}

// Routed carries out calls of registered executors: it looks who is online when
// the call is made, so that a retry may reach another one. Other calls go on as
// they are.
type Routed struct {
	o    RoutedOptions
	mu   sync.Mutex
	load map[string]load // by executor id
}

// load is what this node gave an executor since one of its beats: what it says
// of itself is up to five seconds old.
type load struct {
	beat  time.Time
	begun int
}

// maxLoads bounds what is remembered: ids change with every restart of a
// service.
const maxLoads = 4096

// NewRouted makes the executor.
func NewRouted(o RoutedOptions) *Routed { return &Routed{o: o, load: map[string]load{}} }

// Execute carries out the call. That nobody is online is a definite failure:
// nothing was sent.
func (r *Routed) Execute(ctx context.Context, call sched.Call) sched.Result {
	to := call.Target
	if to.Executor == "" {
		return r.o.Call.Execute(ctx, call)
	}
	all, err := r.o.Book.Executors(ctx, call.TeamID, to.Executor)
	if err != nil {
		return broken(ctx, fmt.Errorf("the executors of %s can't be read: %w", to.Executor, err), false)
	}
	now := r.o.Now()
	online := sched.OnlineFor(all, to.Type, now)
	if len(online) == 0 {
		return unsent(sched.NoneOnline(all, to.Executor, to.Type, now))
	}
	if to.Route == sched.Broadcast {
		return r.broadcast(ctx, call, online)
	}
	return r.oneOf(ctx, call, to.Route.Choose(online, r.draw(ctx, call, online)))
}

// oneOf tries the executors in their order until one was reached, or may have
// been.
func (r *Routed) oneOf(ctx context.Context, call sched.Call, order []sched.ExecutorInfo) sched.Result {
	var past strings.Builder
	for i, e := range order {
		r.note(e)
		one := call
		one.Target.URL = e.CallURL(call.Target.Type)
		res := r.o.Call.Execute(ctx, one)
		if i == len(order)-1 || !res.Unreached() || ctx.Err() != nil {
			res.Request += past.String()
			res.CancelURL = e.CancelURL(call.Target.Type)
			return res
		}
		fmt.Fprintf(&past, "\n\nbefore, not reached: %s: %s", readable(e.Address), res.Error)
	}
	return sched.Result{} // of none nobody comes here
}

// draw is what the choice goes by. Without Redis turns are told from each other
// by instance and attempt: still even, though no longer in turn.
func (r *Routed) draw(ctx context.Context, call sched.Call, online []sched.ExecutorInfo) sched.Draw {
	d := sched.Draw{Key: call.BizID, Dice: r.o.Dice()}
	if !call.Target.Route.Turns() {
		return d
	}
	if call.Target.Route == sched.LeastBusy {
		d.Busy = r.busy(online)
	}
	var err error
	if d.Turn, err = r.o.Turns.Next(ctx, strconv.FormatInt(call.TeamID, 10)+":"+call.Target.Executor+":"+call.Target.Type); err != nil {
		r.o.Log.Warn("executors are not taken in turn", "instance_id", call.InstanceID, "error", err)
		h := fnv.New64a()
		_, _ = h.Write([]byte(call.InstanceID + "." + strconv.Itoa(call.Attempt)))
		d.Turn = h.Sum64()
	}
	return d
}

// busy is what each runs: as it said, and what this node gave it since.
func (r *Routed) busy(online []sched.ExecutorInfo) map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[string]int, len(online))
	for _, e := range online {
		out[e.ID] = e.Running
		if l := r.load[e.ID]; l.beat.Equal(e.BeatAt) {
			out[e.ID] += l.begun
		}
	}
	return out
}

func (r *Routed) note(e sched.ExecutorInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.load[e.ID]
	if !l.beat.Equal(e.BeatAt) {
		l = load{beat: e.BeatAt}
	}
	l.begun++
	if len(r.load) >= maxLoads {
		clear(r.load)
	}
	r.load[e.ID] = l
}

// executorHeaders tell an executor what is asked of it.
func executorHeaders(h http.Header, call sched.Call) {
	if call.Target.Executor == "" {
		return
	}
	h.Set("Ax-Executor", call.Target.Executor)
	h.Set("Ax-Task-Type", call.Target.Type)
	if call.Shard != nil {
		h.Set("Ax-Shard-Index", strconv.Itoa(call.Shard.Index))
		h.Set("Ax-Shard-Total", strconv.Itoa(call.Shard.Total))
	}
}
