package sched

import (
	"cmp"
	"context"
	"fmt"
	"sync"
)

// asker asks the hooks of tasks. What it does at once is bounded, over all and
// for each task, so that hooks that hang leave the worker's places to others.
type asker struct {
	exec Executor
	most int
	mu   sync.Mutex
	all  int
	of   map[int64]int // by task
}

func newAsker(exec Executor, most int) *asker {
	if most <= 0 {
		most = 16
	}
	return &asker{exec: exec, most: most, of: map[int64]int{}}
}

// enter takes a place; false: none is free. A task gets half of them at most.
func (k *asker) enter(task int64) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.all >= k.most || k.of[task] >= max(1, k.most/2) {
		return false
	}
	k.all++
	k.of[task]++
	return true
}

func (k *asker) leave(task int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all--
	if k.of[task]--; k.of[task] == 0 {
		delete(k.of, task)
	}
}

// ask asks the hook of an instance and stores the answer. ready: the instance
// may be claimed. Otherwise the answer is what becomes of its message.
func (r *Runner) ask(ctx context.Context, job run) (ready bool, a Answer) {
	in, task := job.claimed.Instance, job.claimed.Task
	if !r.asker.enter(task.ID) {
		return false, r.soon()
	}
	defer r.asker.leave(task.ID)
	began := r.clock.Now()
	hook := *task.Spec.Hooks.Before
	res := r.asker.question(ctx, hook, Call{
		InstanceID: in.ID, TeamID: task.TeamID, TaskCode: task.Code, BizID: in.BizID, ScheduledAt: in.WantedAt,
		Idempotent: true, Probe: true, Target: hook.target(),
	})
	if ctx.Err() != nil {
		return false, r.soon() // this process ends; the next one asks
	}
	now := r.clock.Now()
	p := Probed{InstanceID: in.ID, Hook: hook, Now: now, Ready: hook.ready(res)}
	p.Answer = ProbeAnswer{At: began, Status: res.StatusCode, Took: now.Sub(began)}
	if !p.Ready {
		p.Answer.Said = clippedTo(cmp.Or(res.Error, fmt.Sprintf("answered %d", res.StatusCode)), maxSaid)
	}
	end, err := r.store.Probed(ctx, p)
	switch {
	case err != nil:
		r.log.Warn("what a hook said could not be stored, it is asked again", "instance_id", in.ID, "error", err)
		return false, r.soon()
	case end.To != "":
		r.log.Info("hook not ready, no more", "instance_id", in.ID, "task_id", task.ID, "state", end.To, "why", end.Why)
	case !end.Due.IsZero():
		return false, Answer{Again: true, DueAt: end.Due}
	}
	return end.Ready, Answer{}
}

// question asks once. A panic is an answer like any other that isn't ready: its
// limit holds for it too.
func (k *asker) question(ctx context.Context, h BeforeHook, c Call) (res Result) {
	defer func() {
		if p := recover(); p != nil {
			res = Result{Outcome: OutcomeFailed, Error: fmt.Sprintf("the question broke off: %v", p)}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, h.Timeout())
	defer cancel()
	return k.exec.Execute(ctx, c)
}
