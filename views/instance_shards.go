package views

import (
	"context"

	"ax/app/sched"
	"ax/views/ui"
)

// shardLook is the state of a part; of one without an outcome whose attempt is over
// nobody lived to write it.
func (p InstancePage) shardLook(ctx context.Context, s sched.ShardRun) ui.State {
	if s.Outcome == "" && (!p.open() || s.Attempt < p.View.Attempt) {
		return ui.State{Icon: "circle-dotted", Class: "idle", Word: t(ctx, "Not known|a part")}
	}
	switch s.Outcome {
	case "":
		return state(ctx, string(sched.Running))
	case sched.OutcomeSucceeded:
		return state(ctx, string(sched.Succeeded))
	case sched.OutcomeTimedOut:
		return state(ctx, string(sched.TimedOut))
	case sched.OutcomeCanceled:
		return state(ctx, string(sched.Canceled))
	}
	return state(ctx, string(sched.Failed))
}

// shardSummary says how many parts have succeeded, over all attempts.
func (p InstancePage) shardSummary(ctx context.Context) string {
	done := map[int]bool{}
	for _, s := range p.Shards {
		if s.Outcome == sched.OutcomeSucceeded {
			done[s.Index] = true
		}
	}
	return t(ctx, "%s of %s succeeded", number(len(done)), number(p.Shards[0].Total))
}
