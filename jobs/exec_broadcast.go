package jobs

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"ax/app/sched"
)

// shardWait bounds the writing of what became of a part: the others go on.
const shardWait = 5 * time.Second

// part is one call of a broadcast.
type part struct {
	sched.ShardRun
	res   sched.Result
	noted bool // its end is in the ledger
}

// broadcast calls all parts that have not succeeded at once, and sums up.
func (r *Routed) broadcast(ctx context.Context, call sched.Call, online []sched.ExecutorInfo) sched.Result {
	var before []sched.ShardRun
	var err error
	if call.Attempt > 1 {
		if before, err = r.o.Book.Shards(ctx, call.InstanceID); err != nil {
			return broken(ctx, fmt.Errorf("the parts of the broadcast can't be read: %w", err), false)
		}
	}
	todo := sched.ShardsFor(before, online)
	now := r.o.Now()
	for i := range todo {
		todo[i].Attempt, todo[i].StartedAt = call.Attempt, now
	}
	if err := r.o.Book.BeginShards(ctx, call.InstanceID, todo); err != nil {
		return broken(ctx, fmt.Errorf("the parts of the broadcast can't be noted: %w", err), false)
	}
	parts := make([]part, len(todo))
	var wg sync.WaitGroup
	for i, s := range todo {
		wg.Go(func() { parts[i] = r.part(ctx, call, s) })
	}
	wg.Wait()
	return summed(call, parts, shardTotal(before, todo))
}

func shardTotal(before, todo []sched.ShardRun) int {
	if len(before) > 0 {
		return before[0].Total
	}
	return len(todo)
}

// part calls one executor for its shard. Receipts are of attempts, not of
// shards: a part must end with its answer.
func (r *Routed) part(ctx context.Context, call sched.Call, s sched.ShardRun) part {
	one := call
	one.Shard, one.Key = &s.Shard, call.Key+" shard "+s.String()
	one.ReceiptURL, one.ReceiptToken = "", ""
	one.Target.URL = sched.ExecutorInfo{Address: s.Address}.CallURL(call.Target.Type)
	res := r.o.Call.Execute(ctx, one)
	if res.Outcome == sched.OutcomeAccepted {
		res.Outcome, res.Definite = sched.OutcomeFailed, false
		res.Error = "answered 202 Accepted: a part of a broadcast must end with its answer"
	}
	s.Outcome, s.StatusCode, s.Error, s.EndedAt = res.Outcome, res.StatusCode, res.Error, r.o.Now()
	return part{ShardRun: s, res: res, noted: r.end(ctx, call.InstanceID, s)}
}

// end notes what became of a part, whatever becomes of the call.
func (r *Routed) end(ctx context.Context, instanceID string, s sched.ShardRun) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shardWait)
	defer cancel()
	err := r.o.Book.EndShard(ctx, instanceID, s)
	if err != nil {
		r.o.Log.Warn("the end of a part of a broadcast is not noted", "instance_id", instanceID, "shard", s.Index, "error", err)
	}
	return err == nil
}

// summed is the result of all parts: succeeded when each is. It is definite
// when it is sure of each part that failed what became of it, and when each
// that succeeded is noted, for a retry would call it again.
func summed(call sched.Call, parts []part, total int) sched.Result {
	out := sched.Result{Outcome: sched.OutcomeSucceeded, Definite: true}
	var bad, sent, came []string
	for _, p := range parts {
		out.ResponseBytes += p.res.ResponseBytes
		if !p.noted || p.Outcome != sched.OutcomeSucceeded && !p.res.Definite {
			out.Definite = false
		}
		if p.Outcome != sched.OutcomeSucceeded {
			out.Outcome = worse(out.Outcome, p.Outcome)
			bad = append(bad, fmt.Sprintf("%s at %s: %s", p.Shard, p.Address, p.Error))
		}
		sent = append(sent, fmt.Sprintf("%s POST %s", p.Shard, readable(sched.ExecutorInfo{Address: p.Address}.CallURL(call.Target.Type))))
		came = append(came, fmt.Sprintf("%s %s %d ms %s", p.Shard, p.Outcome, p.Took().Milliseconds(), firstBytes(p.res.Response, keptBody/len(parts))))
	}
	if len(parts) == 1 {
		out.StatusCode = parts[0].StatusCode
	}
	head := fmt.Sprintf("broadcast of %s to %s, %d of %d parts", call.Target.Type, call.Target.Executor, len(parts), total)
	out.Request = head + "\n" + strings.Join(sent, "\n")
	out.Response = strings.Join(came, "\n\n")
	if len(bad) > 0 {
		out.Error = oneLine(fmt.Sprintf("%d of %d parts did not succeed: %s", len(bad), total, strings.Join(bad, "; ")))
	}
	return out
}

// worse is the outcome of two parts together: canceled goes before timed out,
// and only what all that did not succeed have is more than failed.
func worse(sum, one sched.Outcome) sched.Outcome {
	switch {
	case sum == sched.OutcomeCanceled || one == sched.OutcomeCanceled:
		return sched.OutcomeCanceled
	case sum == sched.OutcomeSucceeded || sum == one:
		return one
	}
	return sched.OutcomeFailed
}
