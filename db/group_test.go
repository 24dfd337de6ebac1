package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// ledgerOf is a group over a transaction of the test's: it notes its batches
// and takes a second for each.
type ledgerOf struct {
	group[string, string]
	mu      sync.Mutex
	batches [][]string
	fails   func(batch []string) error
}

func newLedgerOf(fails func(batch []string) error) *ledgerOf {
	l := &ledgerOf{fails: fails}
	l.writers, l.key = 1, func(q string) string { return q }
	l.run = func(_ context.Context, batch []string) ([]answer[string], error) {
		l.mu.Lock()
		l.batches = append(l.batches, batch)
		l.mu.Unlock()
		time.Sleep(time.Second)
		if err := l.fails(batch); err != nil {
			return nil, err
		}
		out := make([]answer[string], len(batch))
		for i, q := range batch {
			out[i].value = "done " + q
		}
		return out, nil
	}
	return l
}

// ask sends the requests one after the other and gives the answers.
func (l *ledgerOf) ask(ctx context.Context, requests ...string) map[int]string {
	out := map[int]string{}
	var all sync.WaitGroup
	for i, q := range requests {
		all.Go(func() {
			a, err := l.do(ctx, q)
			if err != nil {
				a = err.Error()
			}
			l.mu.Lock()
			out[i] = a
			l.mu.Unlock()
		})
		synctest.Wait()
	}
	all.Wait()
	return out
}

func never([]string) error { return nil }

// protocol.md (flaw 16): two messages of one instance never meet in a batch.
func TestRequestsGatherWhileAWriterIsBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedgerOf(never)
		got := l.ask(t.Context(), "a", "b", "c", "b", "d")
		require.Equal(t, map[int]string{0: "done a", 1: "done b", 2: "done c", 3: "done b", 4: "done d"}, got)
		require.Equal(t, [][]string{{"a"}, {"b", "c", "d"}, {"b"}}, l.batches, "no batch holds a key twice")
		require.Equal(t, "done e", l.ask(t.Context(), "e")[0], "and again after a rest")
	})
}

func TestABatchIsNoLargerThanItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedgerOf(never)
		var requests []string
		for i := range 2*maxGroup + 10 {
			requests = append(requests, fmt.Sprint(i))
		}
		require.Len(t, l.ask(t.Context(), requests...), len(requests))
		var sizes []int
		for _, b := range l.batches {
			sizes = append(sizes, len(b))
		}
		require.Equal(t, []int{1, maxGroup, maxGroup, 9}, sizes)
	})
}

func TestARequestThatWaitsForLongIsHelped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedgerOf(never)
		l.writers = 2
		began := time.Now()
		l.ask(t.Context(), "a", "b", "c")
		require.Equal(t, [][]string{{"a"}, {"b", "c"}}, l.batches)
		require.Equal(t, patience+time.Second, time.Since(began), "it did not wait for the first")
	})
}

func TestAFullBatchIsHelpedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedgerOf(never)
		l.writers = 2
		requests := []string{"first"}
		for i := range maxGroup {
			requests = append(requests, fmt.Sprint(i))
		}
		began := time.Now()
		l.ask(t.Context(), requests...)
		require.Equal(t, time.Second, time.Since(began))
	})
}

func TestOneBadRequestFailsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedgerOf(func(batch []string) error {
			if slices.Contains(batch, "bad") {
				return errors.New("bad row")
			}
			return nil
		})
		got := l.ask(t.Context(), "a", "b", "bad", "c")
		require.Equal(t, map[int]string{0: "done a", 1: "done b", 2: "bad row", 3: "done c"}, got)
		require.Equal(t, [][]string{{"a"}, {"b", "bad", "c"}, {"b"}, {"bad"}, {"c"}}, l.batches)
	})
}

// What is known of the transaction as a whole is told to all, and nothing runs
// again: the callers know what to do (read back, or try again later).
func TestAnEndOfTheWholeTransactionReachesAll(t *testing.T) {
	for name, end := range map[string]error{"the ledger is away": ErrAway, "the commit is unknown": ErrCommitUnknown} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLedgerOf(func(batch []string) error {
					if len(batch) > 1 {
						return fmt.Errorf("claim: %w", end)
					}
					return nil
				})
				got := l.ask(t.Context(), "a", "b", "c")
				want := "claim: " + end.Error()
				require.Equal(t, map[int]string{0: "done a", 1: want, 2: want}, got)
				require.Len(t, l.batches, 2)
			})
		})
	}
}

// A panic goes on in the caller whose request makes it, as if it had no
// company, and everyone else is answered.
func TestAPanicReachesItsCallerOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedgerOf(func(batch []string) error {
			if slices.Contains(batch, "bad") {
				panic("no such column")
			}
			return nil
		})
		var all sync.WaitGroup
		var caught any
		all.Go(func() { _, _ = l.do(t.Context(), "a") })
		synctest.Wait()
		all.Go(func() {
			defer func() { caught = recover() }()
			_, _ = l.do(t.Context(), "bad")
		})
		synctest.Wait()
		require.Equal(t, "done b", l.ask(t.Context(), "b")[0])
		all.Wait()
		p, ok := caught.(*panicked)
		require.True(t, ok, "%v", caught)
		require.Equal(t, "no such column", p.value)
		require.Contains(t, p.Error(), "group_test.go", "the log says where")
	})
}

func TestACallerThatLeavesKnowsWhetherItMayHaveHappened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedgerOf(never)
		ctx, leave := context.WithCancel(t.Context())
		errs := map[string]error{}
		var all sync.WaitGroup
		for _, q := range []string{"running", "waiting"} {
			all.Go(func() {
				_, err := l.do(ctx, q)
				l.mu.Lock()
				errs[q] = err
				l.mu.Unlock()
			})
			synctest.Wait()
		}
		leave()
		all.Wait()
		require.ErrorIs(t, errs["running"], ErrCommitUnknown)
		require.ErrorIs(t, errs["running"], context.Canceled)
		require.ErrorIs(t, errs["waiting"], context.Canceled)
		require.NotErrorIs(t, errs["waiting"], ErrCommitUnknown)
		_, err := l.do(ctx, "late")
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, "done next", l.ask(t.Context(), "next")[0])
		require.Equal(t, [][]string{{"running"}, {"next"}}, l.batches)
	})
}

func TestClosingWaitsForWhatRunsAndRefusesTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLedgerOf(never)
		var running, waiting error
		var all sync.WaitGroup
		all.Go(func() { _, running = l.do(t.Context(), "running") })
		synctest.Wait()
		all.Go(func() { _, waiting = l.do(t.Context(), "waiting") })
		synctest.Wait()
		began := time.Now()
		l.close()
		require.Equal(t, time.Second, time.Since(began))
		all.Wait()
		require.NoError(t, running)
		require.ErrorIs(t, waiting, ErrAway, "nothing was changed")
		require.Equal(t, [][]string{{"running"}}, l.batches)
		_, err := l.do(t.Context(), "late")
		require.ErrorIs(t, err, ErrAway)
	})
}
