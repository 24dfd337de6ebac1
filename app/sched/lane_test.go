package sched

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestLabelsOfATask(t *testing.T) {
	for name, c := range map[string]struct {
		said, want []string
		wrong      string
	}{
		"none":              {nil, nil, ""},
		"sorted, each once": {[]string{"gpu", "cn-north", "gpu"}, []string{"cn-north", "gpu"}, ""},
		"capitals, blanks":  {[]string{" GPU ", ""}, []string{"gpu"}, ""},
		"all signs":         {[]string{"a.b_c-d9"}, []string{"a.b_c-d9"}, ""},
		"the sign of lanes": {[]string{"a+b"}, nil, "begins with a letter or digit"},
		"a comma":           {[]string{"a,b"}, nil, "begins with a letter or digit"},
		"a hyphen first":    {[]string{"-a"}, nil, "begins with a letter or digit"},
		"too long":          {[]string{"a12345678901234567890123456789012"}, nil, "at most 32"},
		"six":               {[]string{"a", "b", "c", "d", "e", "f"}, nil, "At most 5 labels"},
	} {
		t.Run(name, func(t *testing.T) {
			var bad problems
			got := bad.labels(c.said)
			if c.wrong != "" {
				require.Len(t, bad, 1)
				require.Equal(t, "labels", bad[0].Name)
				require.Contains(t, bad[0].Text.String(), c.wrong)
				return
			}
			require.Empty(t, bad)
			require.Equal(t, c.want, got)
		})
	}
}

// One set has one text, whatever the order: two texts would be two lanes.
func TestASetOfLabelsHasOneText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z0-9][a-z0-9_.-]{0,9}`), rapid.ID).Draw(t, "set")
		mixed := rapid.Permutation(append(slices.Clone(set), set...)).Draw(t, "mixed")
		require.Equal(t, LabelsOf(set), LabelsOf(mixed))
		require.ElementsMatch(t, set, LabelsOf(mixed).List())
		node := rapid.SliceOf(rapid.SampledFrom(append(set, "other"))).Draw(t, "node")
		all := true
		for _, s := range set {
			all = all && slices.Contains(node, s)
		}
		require.Equal(t, all, LabelsOf(set).In(node))
	})
}

func TestWorkWithLabelsGoesByItsTaskAsItStands(t *testing.T) {
	task, in := Task{Queue: "new"}, Instance{ID: "i", Dispatch: 3, Queue: "old", DueAt: noon()}
	require.Equal(t, Message{InstanceID: "i", Dispatch: 3, Queue: "old", DueAt: noon()}, task.Message(in))
	task.Spec.Labels = []string{"cn-north", "gpu"}
	require.Equal(t, Message{InstanceID: "i", Dispatch: 3, Queue: "new", Labels: "cn-north,gpu", DueAt: noon()}, task.Message(in))
}

func TestANodeServesALane(t *testing.T) {
	now, dead := noon(), 15*time.Second
	for name, c := range map[string]struct {
		change func(*NodeInfo)
		lane   Lane
		want   bool
	}{
		"its queue":            {nil, Lane{Queue: "default"}, true},
		"with its labels":      {nil, Lane{Queue: "default", Labels: "cn-north,gpu"}, true},
		"with one of them":     {nil, Lane{Queue: "default", Labels: "gpu"}, true},
		"with another":         {nil, Lane{Queue: "default", Labels: "gpu,oracle"}, false},
		"another queue":        {nil, Lane{Queue: "slow"}, false},
		"while it drains":      {func(n *NodeInfo) { n.Draining = true }, Lane{Queue: "default"}, false},
		"closed":               {func(n *NodeInfo) { n.ClosedAt = now }, Lane{Queue: "default"}, false},
		"dead":                 {func(n *NodeInfo) { n.DeadAt = now }, Lane{Queue: "default"}, false},
		"silent for too long":  {func(n *NodeInfo) { n.BeatAt = now.Add(-dead - 1) }, Lane{Queue: "default"}, false},
		"silent for less":      {func(n *NodeInfo) { n.BeatAt = now.Add(-dead) }, Lane{Queue: "default"}, true},
		"without worker slots": {func(n *NodeInfo) { n.Slots = 0 }, Lane{Queue: "default"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := NodeInfo{Queues: []string{"default", "mail"}, Labels: []string{"cn-north", "gpu", "x"}, Slots: 4, BeatAt: now}
			if c.change != nil {
				c.change(&n)
			}
			require.Equal(t, c.want, Served([]NodeInfo{n}, c.lane, now, dead))
		})
	}
	require.False(t, Served(nil, Lane{Queue: "default"}, now, dead))
}

func TestANodeServesTheLanesThatAreItsOwn(t *testing.T) {
	b := newBench(t)
	b.node.info.Queues, b.node.info.Labels = []string{"default"}, []string{"gpu", "x"}
	var said [][]Lane
	var broken error
	b.node.OnLanes(func(_ context.Context, lanes []Lane) error { said = append(said, lanes); return broken })
	beat := func(lanes ...Lane) { b.ledger.lanes = lanes; require.NoError(t, b.node.Beat(t.Context())) }
	beat()
	require.Empty(t, said)
	mine, foreign := Lane{"default", "gpu"}, Lane{"default", "gpu,oracle"}
	beat(mine, foreign, Lane{"slow", "gpu"})
	beat(mine)
	require.Equal(t, [][]Lane{{mine}}, said, "once, and only its own")
	broken = errors.New("no Redis")
	beat()
	beat()
	require.Len(t, said, 3, "what failed is tried again")
	broken = nil
	beat()
	beat()
	require.Len(t, said, 4)
}
