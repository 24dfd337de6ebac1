//go:build slow

package main

import (
	"fmt"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What Redis has lost is sent again, also when the process that sees to it dies
// at it (LOST-03).
func TestAKillWhileWhatIsLostIsSentAgainLosesNothing(t *testing.T) {
	bin := failingAx.build(t, "-tags", "failpoint")
	for _, place := range []string{"sweep.stale", "sweep.raised"} {
		t.Run(place, func(t *testing.T) {
			a, redis := onServers(t, bin)
			s := newSink(t, nil)
			a.prepare()
			a.start("AX_FAILPOINT="+place, "AX_ROLES=web,scheduler") // nobody takes a message
			a.task("flush", s.URL)
			for i := range 5 {
				require.NoError(t, a.trigger("flush", fmt.Sprintf("b%d", i), nil))
			}
			a.settles("flush", map[string]int{"queued": 5}, 20*time.Second)
			flush(t, redis.Addr)
			_, err := a.sql().Exec("UPDATE instances SET look_at=1") // not in half a minute
			require.NoError(t, err)
			a.dies()
			a.start()
			a.settles("flush", map[string]int{"succeeded": 5}, time.Minute)
			a.verify()
			for key, n := range s.perKey() {
				require.Equal(t, 1, n, key)
			}
		})
	}
}

// Work whose receipt never came ends once, by whichever sweep gets to it.
func TestAKillBeforeAMissedReceiptIsNotedLeavesItToTheNextSweep(t *testing.T) {
	a, _ := onServers(t, failingAx.build(t, "-tags", "failpoint"))
	s := newSink(t, func(_ sinkCall, w http.ResponseWriter) { w.WriteHeader(http.StatusAccepted) })
	a.prepare()
	a.start("AX_FAILPOINT=sweep.overdue")
	a.task("mute", s.URL, func(w map[string]any) {
		w["policy"].(map[string]any)["idempotent"] = false
		onceOnly(w, false)
	})
	require.NoError(t, a.trigger("mute", "b1", nil))
	a.settles("mute", map[string]int{"awaiting": 1}, 20*time.Second)
	_, err := a.sql().Exec("UPDATE instances SET receipt_deadline=1")
	require.NoError(t, err)
	a.dies()
	a.start()
	a.settles("mute", map[string]int{"timed_out": 1}, 30*time.Second)
	a.verify()
	require.Len(t, s.got(), 1)
}

// A process that dies while it stops leaves its work to whoever comes.
func TestAKillWhileItStopsLosesNothing(t *testing.T) {
	t.Parallel()
	bin := failingAx.build(t, "-tags", "failpoint")
	for _, place := range []string{"stop.halted", "stop.worked"} {
		t.Run(place, func(t *testing.T) {
			eachCarrier(t, bin, func(t *testing.T, a *ax) {
				s := newSink(t, func(c sinkCall, _ http.ResponseWriter) {
					if c.Header.Get("Ax-Attempt") == "1" {
						time.Sleep(time.Second)
					}
				})
				a.prepare()
				a.start("AX_FAILPOINT=" + place)
				a.task("stop", s.URL)
				require.NoError(t, a.trigger("stop", "b1", nil))
				require.Eventually(t, func() bool { return len(s.got()) == 1 }, 10*time.Second, 20*time.Millisecond)
				require.NoError(t, a.cmd.Process.Signal(syscall.SIGTERM))
				a.dies()
				a.start()
				a.settles("stop", map[string]int{"succeeded": 1}, 40*time.Second)
				a.verify()
				if place == "stop.worked" {
					require.Len(t, s.got(), 1, "it had ended before")
				}
			})
		})
	}
}
