package sched

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestTheHostOfATarget(t *testing.T) {
	for url, want := range map[string]string{
		"http://Orders.internal/close":   "orders.internal:80",
		"https://orders.internal/":       "orders.internal:443",
		"https://orders.internal.:8443/": "orders.internal:8443",
		"http://orders.internal:8443/x":  "orders.internal:8443",
		"http://[::1]:9000/":             "[::1]:9000",
		"":                               "",
		"http://":                        "",
	} {
		require.Equal(t, want, Target{Kind: TargetHTTP, URL: url}.Host(), url)
	}
	require.Empty(t, Target{Kind: TargetShell, URL: "http://a/"}.Host())
	require.Empty(t, Task{Spec: Spec{Target: Target{Kind: TargetHTTP, URL: "http://a/"}}}.LimitedHost(), "without a limit it waits for none")
}

func TestALimitOfCallsToAHost(t *testing.T) {
	http := Target{Kind: TargetHTTP, URL: "http://a/"}
	for name, c := range map[string]struct {
		n    *int
		of   Target
		want string
	}{
		"left out":       {nil, http, ""},
		"none":           {new(0), Target{Kind: TargetShell}, ""},
		"one":            {new(1), http, ""},
		"the most":       {new(1000), http, ""},
		"too many":       {new(1001), http, "Between 0 (none) and 1000"},
		"negative":       {new(-1), http, "Between 0 (none)"},
		"of an executor": {new(1), Target{Kind: TargetHTTP, Executor: "billing"}, "address of its own"},
		"of a command":   {new(1), Target{Kind: TargetShell}, "address of its own"},
		"of a message":   {new(1), Target{Kind: TargetMQ}, "address of its own"},
	} {
		t.Run(name, func(t *testing.T) {
			var bad problems
			bad.hostLimit(c.n, c.of)
			if c.want == "" {
				require.Empty(t, bad)
				return
			}
			require.Equal(t, "policy.host_limit", bad[0].Name)
			require.Contains(t, bad[0].Text.String(), c.want)
		})
	}
}

// Its end is a free place for whoever waits for the host.
func TestTheEndOfALimitedCallWakesWhoWaitsForItsHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.run(t.Context())
		require.Empty(t, w.ledger.hostWoken)
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.ledger.claim[0] = func(r ClaimRequest) (Claimed, error) {
			c := w.taken(r)
			c.Task.Spec.Target, c.Task.Spec.Policy.HostLimit = Target{Kind: TargetHTTP, URL: "http://a/"}, 2
			return c, nil
		}
		w.run(t.Context())
		require.Equal(t, []int64{w.in.TaskID}, w.ledger.hostWoken)
	})
}
