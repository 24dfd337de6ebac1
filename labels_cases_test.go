//go:build slow

package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// labeled gives the ids of the nodes that ever had the label.
func (a *ax) labeled(label string) []string {
	a.t.Helper()
	var ids []string
	for _, n := range a.call("GET", "/nodes", nil, http.StatusOK)["items"].([]any) {
		if n := n.(map[string]any); slices.Contains(n["labels"].([]any), any(label)) {
			ids = append(ids, n["id"].(string))
		}
	}
	return ids
}

// Two nodes, one with labels. Work that needs them runs there alone; while that
// node is gone it waits, says what for, and runs once when it is back.
func TestWorkThatNeedsLabelsRunsOnlyWhereTheyAre(t *testing.T) {
	a, _ := onServers(t, plainAx.build(t))
	a.start()
	a.prepare()
	b := a.beside(t, "AX_WORKER_LABELS=gpu,cn-north,spare")
	b.start()
	s := newSink(t, nil)
	a.task("train", s.URL, func(w map[string]any) { w["labels"] = []string{"gpu", "cn-north"} })
	a.task("plain", s.URL)
	const n = 40
	for i := range n {
		require.NoError(t, a.trigger("train", fmt.Sprint("t-", i), nil))
		require.NoError(t, a.trigger("plain", fmt.Sprint("p-", i), nil))
	}
	a.settles("train", map[string]int{"succeeded": n}, 30*time.Second)
	a.settles("plain", map[string]int{"succeeded": n}, 30*time.Second)
	nodes := a.labeled("gpu")
	require.Len(t, nodes, 1)
	for _, in := range a.call("GET", "/instances?task=train&limit=200", nil, http.StatusOK)["items"].([]any) {
		require.Equal(t, nodes[0], in.(map[string]any)["node_id"])
	}
	queues := a.call("GET", "/queues", nil, http.StatusOK)["items"].([]any)
	require.Len(t, queues, 1, "people see queues, not lanes")

	b.kill()
	require.NoError(t, a.trigger("train", "late", nil))
	late := a.call("GET", "/instances?task=train&limit=1", nil, http.StatusOK)["items"].([]any)[0].(map[string]any)
	var waits map[string]any
	require.Eventually(t, func() bool {
		waits, _ = a.call("GET", "/instances/"+late["id"].(string), nil, http.StatusOK)["waits_for"].(map[string]any)
		return waits != nil
	}, 20*time.Second, 100*time.Millisecond, "its node is dead: nobody serves it")
	require.Equal(t, "no node serves queue default with labels cn-north, gpu", waits["text"])
	require.Never(t, func() bool { return a.states("train")["running"] > 0 }, 3*time.Second, 100*time.Millisecond)
	require.NoError(t, a.trigger("plain", "meanwhile", nil))
	a.settles("plain", map[string]int{"succeeded": n + 1}, 10*time.Second)

	b.start()
	a.settles("train", map[string]int{"succeeded": n + 1}, 30*time.Second)
	after := a.call("GET", "/instances/"+late["id"].(string), nil, http.StatusOK)
	require.Nil(t, after["waits_for"])
	require.Contains(t, a.labeled("gpu"), after["node_id"])
	for key, calls := range s.perKey() {
		require.Equal(t, 1, calls, key)
	}
	a.verify()
}

// An edit of the labels of a task takes what waits along.
func TestAnEditOfLabelsTakesWhatWaitsToAnotherNode(t *testing.T) {
	a, _ := onServers(t, plainAx.build(t), "AX_WORKER_LABELS=gpu")
	a.start()
	a.prepare()
	s := newSink(t, nil)
	a.task("train", s.URL, func(w map[string]any) { w["labels"] = []string{"gppu"} })
	for i := range 5 {
		require.NoError(t, a.trigger("train", fmt.Sprint("t-", i), nil))
	}
	require.Eventually(t, func() bool { return a.states("train")["queued"] == 5 }, 10*time.Second, 50*time.Millisecond)
	task := a.call("GET", "/tasks/train", nil, http.StatusOK)
	spec := map[string]any{"labels": []string{"gpu"}}
	for _, name := range strings.Fields("name team schedule target policy queue version") {
		spec[name] = task[name]
	}
	a.call("PUT", "/tasks/train", spec, http.StatusOK)
	began := time.Now()
	a.settles("train", map[string]int{"succeeded": 5}, 15*time.Second)
	t.Log("after the edit they ran within", time.Since(began))
	for key, calls := range s.perKey() {
		require.Equal(t, 1, calls, key)
	}
	a.verify()
}
