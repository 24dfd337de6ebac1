package sched

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// RETRY-01: base 30 s, attempts 1 … 200.
func TestAnExponentialDelayNeverLeavesItsBounds(t *testing.T) {
	for name, r := range map[string]Retry{
		"base 30 s, cap an hour":  {Kind: RetryExponential, DelaysSeconds: []int{30, 3600}},
		"base 30 s, no cap":       {Kind: RetryExponential, DelaysSeconds: []int{30}},
		"a cap below the base":    {Kind: RetryExponential, DelaysSeconds: []int{30, 1}},
		"the longest of both":     {Kind: RetryExponential, DelaysSeconds: []int{86_400, 86_400}},
		"a cap beyond all bounds": {Kind: RetryExponential, DelaysSeconds: []int{30, 9_000_000_000}},
	} {
		t.Run(name, func(t *testing.T) {
			base := time.Duration(r.DelaysSeconds[0]) * time.Second
			limit := base
			if len(r.DelaysSeconds) > 1 {
				limit = max(base, time.Duration(r.DelaysSeconds[1])*time.Second)
			}
			ceiling := base
			for n := 1; n <= 200; n++ {
				next := r.Ceiling(n)
				require.GreaterOrEqual(t, next, ceiling, "the ceiling falls at %d", n)
				require.LessOrEqual(t, next/2, ceiling, "the ceiling more than doubles at %d", n)
				ceiling = next
				for _, seed := range []string{"a", "b", "0195f0c0"} {
					require.GreaterOrEqual(t, r.Delay(n, seed), base, "retry %d", n)
					require.LessOrEqual(t, r.Delay(n, seed), ceiling, "retry %d", n)
				}
			}
			require.Equal(t, limit, ceiling, "the cap is reached")
		})
	}
}

func TestTheCeilingDoublesUpToTheCap(t *testing.T) {
	r := Retry{Kind: RetryExponential, DelaysSeconds: []int{30, 300}}
	for n, want := range map[int]time.Duration{-1: 30, 0: 30, 1: 30, 2: 60, 3: 120, 4: 240, 5: 300, 6: 300, 200: 300} {
		require.Equal(t, want*time.Second, r.Ceiling(n), "retry %d", n)
	}
}

func TestStepsAndFixedDelays(t *testing.T) {
	for name, c := range map[string]struct {
		retry Retry
		want  []int // seconds before retry 0, 1, 2, …
	}{
		"steps: the last one repeats": {Retry{Kind: RetrySteps, DelaysSeconds: []int{10, 30, 120}}, []int{10, 10, 30, 120, 120, 120}},
		"one step":                    {Retry{Kind: RetrySteps, DelaysSeconds: []int{5}}, []int{5, 5, 5}},
		"fixed":                       {Retry{Kind: RetryFixed, DelaysSeconds: []int{7}}, []int{7, 7, 7}},
		"no kind is fixed":            {Retry{DelaysSeconds: []int{7, 9}}, []int{7, 7, 7}},
		"no delay is none":            {Retry{Kind: RetryExponential}, []int{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			for n, want := range c.want {
				require.Equal(t, time.Duration(want)*time.Second, c.retry.Delay(n, "any"), "retry %d", n)
			}
		})
	}
}

func TestTheSpreadIsTheSameWhenItIsComputedAgain(t *testing.T) {
	r := Retry{Kind: RetryExponential, DelaysSeconds: []int{1, 3600}}
	seen := map[time.Duration]bool{}
	for i := range 100 {
		seed := fmt.Sprintf("instance-%d", i)
		require.Equal(t, r.Delay(8, seed), r.Delay(8, seed))
		seen[r.Delay(8, seed)] = true
	}
	require.Greater(t, len(seen), 90, "instances that fail together come back apart")
	require.NotEqual(t, r.Delay(8, "a"), r.Delay(9, "a"), "each retry draws anew")
}

func TestTheSpreadFillsItsRange(t *testing.T) {
	r := Retry{Kind: RetryExponential, DelaysSeconds: []int{100, 300}}
	var low, high int
	for i := range 400 {
		switch d := r.Delay(50, fmt.Sprint(i)); {
		case d < 150*time.Second:
			low++
		case d > 250*time.Second:
			high++
		}
	}
	require.InDelta(t, 100, low, 40)
	require.InDelta(t, 100, high, 40)
}

func TestUnitIsBelowOne(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		u := unit(rapid.String().Draw(r, "seed"), rapid.IntRange(0, 100_000).Draw(r, "n"))
		if u < 0 || u >= 1 {
			r.Fatalf("%v is outside of [0, 1)", u)
		}
	})
}

// protocol.md (flaw 24): without a complete answer nobody knows what was done.
func TestWhoMayRepeat(t *testing.T) {
	for name, c := range map[string]struct {
		idempotent, unsafe, definite, want bool
	}{
		"idempotent work always":                     {true, false, false, true},
		"idempotent work after a definite end":       {true, false, true, true},
		"other work never by default":                {false, false, true, false},
		"other work after a definite end if allowed": {false, true, true, true},
		"other work after silence never":             {false, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := Policy{Idempotent: c.idempotent, Retry: Retry{Unsafe: c.unsafe, Max: 3}}
			require.Equal(t, c.want, p.MayRepeat(c.definite))
		})
	}
}
