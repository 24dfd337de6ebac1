package sched

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABroadcastHasAPartForEachExecutor(t *testing.T) {
	require.Equal(t, []ShardRun{
		{Shard: Shard{0, 2}, Executor: "billing", Address: "http://10.0.0.00:8080"},
		{Shard: Shard{1, 2}, Executor: "billing", Address: "http://10.0.0.01:8080"},
	}, ShardsFor(nil, staff(100, 50)))
}

func TestARetryCallsThePartsThatDidNotSucceed(t *testing.T) {
	at := func(attempt, i int, address string, o Outcome) ShardRun {
		return ShardRun{Attempt: attempt, Shard: Shard{i, 3}, Executor: "billing", Address: address, Outcome: o}
	}
	before := []ShardRun{
		at(1, 0, "http://10.0.0.00:8080", OutcomeSucceeded),
		at(1, 1, "http://10.0.0.01:8080", OutcomeFailed),
		at(1, 2, "http://10.0.0.09:8080", ""), // whose executor is gone, and nobody knows what it did
		at(2, 1, "http://10.0.0.01:8080", OutcomeSucceeded),
		at(2, 2, "http://10.0.0.00:8080", OutcomeTimedOut),
	}
	online := staff(100, 100)
	require.Equal(t, []ShardRun{
		{Shard: Shard{1, 3}, Executor: "billing", Address: "http://10.0.0.01:8080"},
		{Shard: Shard{2, 3}, Executor: "billing", Address: "http://10.0.0.00:8080"},
	}, ShardsFor(before[:3], online), "the last part goes to somebody who is there")
	require.Equal(t, []ShardRun{{Shard: Shard{2, 3}, Executor: "billing", Address: "http://10.0.0.00:8080"}}, ShardsFor(before, online))
	require.Empty(t, ShardsFor(append(before, at(3, 2, "http://10.0.0.00:8080", OutcomeSucceeded)), online))
	before[3].Outcome = OutcomeFailed
	before[1].Outcome = OutcomeSucceeded
	require.Len(t, ShardsFor(before, online), 1, "a success stays one")
}
