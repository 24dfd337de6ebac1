package sched

import "slices"

// ShardsFor gives the parts of a broadcast that an attempt calls: at first one
// for each executor that is online. A later attempt keeps the parts of the
// first, so that each means the same work, and calls those that have not
// succeeded: where they were, or elsewhere when that executor is out. before
// are the runs of earlier attempts, by attempt and shard; of online there is
// at least one.
func ShardsFor(before []ShardRun, online []ExecutorInfo) (todo []ShardRun) {
	if len(before) == 0 {
		for i, e := range online {
			todo = append(todo, ShardRun{Shard: Shard{i, len(online)}, Executor: e.Name, Address: e.Address})
		}
		return todo
	}
	for i := range before[0].Total {
		last, ok := lastOf(before, i)
		switch {
		case !ok: // the first attempt notes all of them at once
			last = ShardRun{Shard: Shard{i, before[0].Total}, Executor: online[0].Name}
		case last.Outcome == OutcomeSucceeded:
			continue
		}
		again := ShardRun{Shard: last.Shard, Executor: last.Executor, Address: last.Address}
		if !slices.ContainsFunc(online, func(e ExecutorInfo) bool { return e.Address == last.Address }) {
			again.Address = online[i%len(online)].Address
		}
		todo = append(todo, again)
	}
	return todo
}

// lastOf is the latest run of a shard, or the one that succeeded.
func lastOf(runs []ShardRun, index int) (last ShardRun, ok bool) {
	for _, r := range runs {
		if r.Index != index || ok && last.Outcome == OutcomeSucceeded {
			continue
		}
		last, ok = r, true
	}
	return last, ok
}
