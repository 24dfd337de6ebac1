package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

// Each field is told with the last version that changed it, whatever it is a
// part of.
func TestTheHistoryTellsWhoChangedEachField(t *testing.T) {
	version := func(n int, change func(*sched.Task)) sched.TaskVersion {
		task := sched.Task{Name: "Close", Owner: "lin", Tags: []string{"a"}, Queue: "default", Enabled: true}
		change(&task)
		heading := task.Heading()
		return sched.TaskVersion{Version: n, Spec: task.Spec, Heading: &heading}
	}
	versions := []sched.TaskVersion{
		version(5, func(t *sched.Task) {
			t.Name, t.Owner, t.Tags, t.Group, t.Queue, t.Spec.Policy.TimeoutSeconds = "Shut", "wang", []string{"a", "b"}, "orders", "slow", 9
		}),
		version(4, func(t *sched.Task) {
			t.Name, t.Owner, t.Tags, t.Spec.Policy.TimeoutSeconds = "Shut", "wang", []string{"a", "b"}, 8
		}),
		version(3, func(t *sched.Task) { t.Name, t.Enabled = "Shut", false }),
		version(2, func(*sched.Task) {}),
		version(1, func(t *sched.Task) { t.Name = "long ago" }),
	}
	h := historySince(2, versions)
	last := map[string]int{}
	for field, v := range h.last {
		last[field] = v.Version
	}
	require.Equal(t, map[string]int{
		"name": 3, "enabled": 4, "owner": 4, "tags": 4, "group": 5, "queue": 5, "policy.timeout_seconds": 5,
	}, last)
	require.True(t, h.spec && h.heading)

	short := historySince(2, versions[:2])
	require.False(t, short.spec || short.heading, "what was before the first version listed isn't known")
	require.Equal(t, 5, short.last["queue"].Version)

	versions[2].Heading = nil // kept by an older release
	h = historySince(2, versions)
	require.True(t, h.spec)
	require.False(t, h.heading)
	require.NotContains(t, h.last, "name")
	require.Equal(t, 5, h.last["group"].Version)
}
