package jobs_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ax/jobs"

	"github.com/stretchr/testify/require"
)

// runFor runs the loops for a while of the bubble's time and gives the log.
func runFor(d time.Duration, loops ...jobs.Loop) string {
	var log bytes.Buffer
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	jobs.RunLoops(ctx, slog.New(slog.NewTextHandler(&log, nil)), loops...)
	return log.String()
}

func TestALoopNeverOverlapsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running, turns, others := 0, 0, 0
		runFor(10*time.Second+time.Millisecond,
			jobs.Loop{Name: "slow", Every: time.Second, Tick: func(context.Context) (bool, error) {
				running++
				require.Equal(t, 1, running)
				turns++
				time.Sleep(3 * time.Second)
				running--
				return false, nil
			}},
			jobs.Loop{Name: "other", Every: time.Second, Tick: func(context.Context) (bool, error) {
				others++
				return false, nil
			}})
		require.Equal(t, 3, turns)
		require.Equal(t, 11, others, "a slow loop holds up nobody else")
	})
}

func TestMoreWorkRepeatsTheTurnAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := 0
		runFor(time.Second, jobs.Loop{Name: "full", Every: time.Hour, Tick: func(context.Context) (bool, error) {
			turns++
			return turns < 500, nil
		}})
		require.Equal(t, 500, turns)
	})
}

func TestEndlessWorkEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runFor(time.Second, jobs.Loop{Name: "endless", Every: time.Hour, Tick: func(context.Context) (bool, error) {
			time.Sleep(time.Millisecond)
			return true, nil
		}})
	})
}

func TestErrorsAndPanicsEndTheTurnOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := 0
		log := runFor(30*time.Second+time.Millisecond, jobs.Loop{Name: "bad", Every: time.Second, Tick: func(context.Context) (bool, error) {
			turns++
			switch {
			case turns == 1:
				panic("oops")
			case turns < 25:
				return true, errors.New("no ledger")
			}
			return false, nil
		}})
		require.Equal(t, 31, turns)
		require.Contains(t, log, "panic: oops")
		require.Equal(t, 3, strings.Count(log, "level=ERROR"), "at 0, 10 and 20 s, not 24 times")
		require.Contains(t, log, "loop works again")
	})
}
