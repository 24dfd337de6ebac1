package sched

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// named is a valid task that names an executor.
func named() TaskSpec {
	w := written(KindCron)
	w.Target = TargetSpec{Kind: TargetHTTP, Executor: "billing", Type: "close-day"}
	return w
}

func TestATaskNamesAnExecutorInsteadOfAnAddress(t *testing.T) {
	got, err := named().Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, Target{Kind: TargetHTTP, Executor: "billing", Type: "close-day", Route: RoundRobin}, got.Spec.Target)
	raw, err := json.Marshal(got.Spec.Target)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind":"http","executor":"billing","type":"close-day","route":"round_robin"}`, string(raw))

	w := named()
	w.Target.Route, w.Target.Headers = Broadcast, map[string]string{"x-shop": "17"}
	got, err = w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	again, err := got.Written("shop").Resolve(got, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, got.Spec, again.Spec)
	require.Equal(t, Broadcast, again.Spec.Target.Route)
}

func TestBadExecutorsOfTasksAreRefused(t *testing.T) {
	with := func(field string, change func(*TargetSpec)) refused {
		return refused{func(w *TaskSpec) { *w = named(); change(&w.Target) }, []string{field}}
	}
	requireRefused(t, KindCron, map[string]refused{
		"an address too":     with("target.url", func(w *TargetSpec) { w.URL = "https://a.example" }),
		"no type":            with("target.type", func(w *TargetSpec) { w.Type = "" }),
		"a type with a path": with("target.type", func(w *TargetSpec) { w.Type = "a/../b" }),
		"a type of dots":     with("target.type", func(w *TargetSpec) { w.Type = ".." }),
		"a long name":        with("target.executor", func(w *TargetSpec) { w.Executor = strings.Repeat("a", 65) }),
		"a name in Chinese":  with("target.executor", func(w *TargetSpec) { w.Executor = "会员" }),
		"an unknown route":   with("target.route", func(w *TargetSpec) { w.Route = "nearest" }),
		"a type alone":       with("target.executor", func(w *TargetSpec) { w.Executor = "" }),
		"a command too":      with("target.command", func(w *TargetSpec) { w.Command = "/bin/true" }),
		"of a command": {func(w *TaskSpec) { *w = command(); w.Target.Executor, w.Target.Route = "billing", Hash },
			[]string{"target.executor", "target.route"}},
	})
}
