package sched

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheTraceOfAnInstanceIsItsOwnID(t *testing.T) {
	t.Parallel()
	id := TraceID("0193b1f0-7d3a-7c4e-8a51-0123456789ab")
	require.Equal(t, "0193b1f07d3a7c4e8a510123456789ab", hex.EncodeToString(id[:]))
	require.NotZero(t, TraceID("not an id"), "a trace of zeros is none")
	require.NotEqual(t, TraceID("one"), TraceID("two"))
}

func TestEachAttemptHasASpanOfItsOwn(t *testing.T) {
	t.Parallel()
	first, second := Call{InstanceID: "a", Attempt: 1}, Call{InstanceID: "a", Attempt: 2}
	require.Equal(t, first.SpanID(), Call{InstanceID: "a", Attempt: 1}.SpanID(), "the same wherever it is asked for")
	require.NotEqual(t, first.SpanID(), second.SpanID())
	require.NotEqual(t, first.SpanID(), SpanID("a", "begin"))
}
