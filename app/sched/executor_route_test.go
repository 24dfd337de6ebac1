package sched

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// staff is some executors with weights, sorted by address.
func staff(weights ...int) []ExecutorInfo {
	out := make([]ExecutorInfo, len(weights))
	for i, w := range weights {
		out[i] = ExecutorInfo{ID: fmt.Sprintf("e%02d", i), Name: "billing", Address: fmt.Sprintf("http://10.0.0.%02d:8080", i), Weight: w}
	}
	return out
}

func TestARoundGivesEachItsWeightAtEvenDistances(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var weights []int
		for range 1 + dice.IntN(6) {
			weights = append(weights, 1+dice.IntN(100))
		}
		all, total := staff(weights...), 0
		for _, w := range weights {
			total += w
		}
		got := map[string]int{}
		begin := uint64(dice.IntN(1000)) * uint64(total)
		for turn := range total {
			picked := RoundRobin.Choose(all, Draw{Turn: begin + uint64(turn)})
			require.Len(t, picked, 1)
			got[picked[0].ID]++
			for i, e := range all {
				fair := float64((turn+1)*weights[i]) / float64(total)
				require.InDelta(t, fair, got[e.ID], 2, "%v after %d turns", weights, turn+1)
			}
		}
		for i, e := range all {
			require.Equal(t, weights[i], got[e.ID], "%v", weights)
		}
	}
}

func TestEqualsTakeTurns(t *testing.T) {
	all := staff(50, 50, 50)
	var got []string
	for turn := range uint64(6) {
		got = append(got, RoundRobin.Choose(all, Draw{Turn: turn})[0].ID)
	}
	require.Equal(t, []string{"e00", "e01", "e02", "e00", "e01", "e02"}, got)
}

func TestADiceGoesByWeight(t *testing.T) {
	all, got := staff(10, 30, 60), map[string]int{}
	for i := range 1000 {
		got[Random.Choose(all, Draw{Dice: float64(i) / 1000})[0].ID]++
	}
	require.Equal(t, map[string]int{"e00": 100, "e01": 300, "e02": 600}, got)
	require.Equal(t, "e02", Random.Choose(all, Draw{Dice: math.Nextafter(1, 0)})[0].ID)
}

func TestWhenOneLeavesOnlyItsOwnKeysMove(t *testing.T) {
	const keys = 20_000
	all := staff(100, 100, 100, 100, 50)
	less := slices.Delete(slices.Clone(all), 1, 2)
	share, moved := map[string]int{}, 0
	for i := range keys {
		key := fmt.Sprintf("order-%d", i)
		before := Hash.Choose(all, Draw{Key: key})[0].ID
		after := Hash.Choose(less, Draw{Key: key})[0].ID
		share[before]++
		if before != after {
			require.Equal(t, "e01", before, "only what it had")
			moved++
		}
	}
	require.Equal(t, share["e01"], moved)
	require.InDelta(t, keys*100/450, moved, keys*0.02, "about one part in n")
	require.InDelta(t, keys*50/450, share["e04"], keys*0.02, "half the weight, half the keys")
}

func TestAKeyStaysThroughARestart(t *testing.T) {
	all := staff(100, 100, 100)
	before := Hash.Choose(all, Draw{Key: "order-17"})[0].Address
	for i := range all {
		all[i].ID = "restarted"
	}
	require.Equal(t, before, Hash.Choose(all, Draw{Key: "order-17"})[0].Address)
}

func TestTheLeastBusyIsJudgedByItsWeight(t *testing.T) {
	all := staff(100, 50, 100)
	for name, c := range map[string]struct {
		busy map[string]int
		want []string // by turn
	}{
		"nobody runs anything":          {nil, []string{"e00", "e01", "e02"}},
		"half the weight, half the own": {map[string]int{"e00": 4, "e01": 2, "e02": 4}, []string{"e00", "e01", "e02"}},
		"one is idle":                   {map[string]int{"e00": 4, "e01": 0, "e02": 4}, []string{"e01", "e01", "e01"}},
		"the light one is full":         {map[string]int{"e00": 4, "e01": 3, "e02": 5}, []string{"e00", "e00", "e00"}},
	} {
		var got []string
		for turn := range uint64(3) {
			got = append(got, LeastBusy.Choose(all, Draw{Turn: turn, Busy: c.busy})[0].ID)
		}
		require.Equal(t, c.want, got, name)
	}
}

func TestFailoverBeginsWithTheHeaviest(t *testing.T) {
	all := staff(10, 100, 100)
	got := Failover.Choose(all, Draw{Turn: 7})
	require.Equal(t, []string{"e01", "e02", "e00"}, []string{got[0].ID, got[1].ID, got[2].ID})
	require.Equal(t, "e00", all[0].ID, "what was given stays as it is")
}

func TestABroadcastGoesToAllAndNobodyIsChosenOfNone(t *testing.T) {
	require.Len(t, Broadcast.Choose(staff(1, 2, 3), Draw{}), 3)
	for _, r := range Routes() {
		require.Empty(t, r.Choose(nil, Draw{}), r)
		require.NotEmpty(t, r.Choose(staff(100), Draw{Turn: math.MaxUint64}), r)
	}
}

func TestOnlyWhatSurelyReachedNobodyIsTriedElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		r    Result
		want bool
	}{
		"connection refused":         {Result{Outcome: OutcomeFailed, Definite: true}, true},
		"silence after sending":      {Result{Outcome: OutcomeTimedOut}, false},
		"broken after sending":       {Result{Outcome: OutcomeFailed}, false},
		"answered 500":               {Result{Outcome: OutcomeFailed, Definite: true, StatusCode: 500}, false},
		"no connection in time":      {Result{Outcome: OutcomeTimedOut, Definite: true}, false},
		"canceled before connecting": {Result{Outcome: OutcomeCanceled, Definite: true}, false},
		"succeeded":                  {Result{Outcome: OutcomeSucceeded, Definite: true, StatusCode: 200}, false},
		"accepted":                   {Result{Outcome: OutcomeAccepted, Definite: true, StatusCode: 202}, false},
	} {
		require.Equal(t, c.want, c.r.Unreached(), name)
	}
}

func TestWhoIsSilentForFifteenSecondsOrLeftIsOut(t *testing.T) {
	now := moment("2000-01-01T00:01:00Z")
	types := []TaskType{{Type: "close-day"}}
	all := []ExecutorInfo{
		{ID: "c", Address: "c", Types: types, BeatAt: now.Add(-14 * time.Second)},
		{ID: "silent", Address: "b", Types: types, BeatAt: now.Add(-15 * time.Second)},
		{ID: "left", Address: "d", Types: types, BeatAt: now, ClosedAt: now},
		{ID: "other", Address: "e", Types: []TaskType{{Type: "accrue"}}, BeatAt: now},
		{ID: "a", Address: "a", Types: append([]TaskType{{Type: "accrue"}}, types...), BeatAt: now},
	}
	var got []string
	for _, e := range OnlineFor(all, "close-day", now) {
		got = append(got, e.ID)
	}
	require.Equal(t, []string{"a", "c"}, got)
}
