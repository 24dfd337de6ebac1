package sched

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// protocol.md (flaw 12): the message of a deferred row comes back.
func TestAMessageOfWhatIsNotToRun(t *testing.T) {
	due := moment("2000-01-01T00:00:40Z")
	for name, c := range map[string]struct {
		verdict ClaimVerdict
		want    Answer
	}{
		"dropped: it ended, or runs elsewhere": {ClaimVerdict{Kind: ClaimDrop}, Answer{}},
		"skipped":                              {ClaimVerdict{Kind: ClaimSkip, Reason: ReasonDisabled}, Answer{}},
		"early, or this node is gone":          {ClaimVerdict{Kind: ClaimBack, Due: due}, Answer{Again: true, DueAt: due}},
		"deferred":                             {ClaimVerdict{Kind: ClaimDefer, Due: due}, Answer{Again: true, DueAt: due}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t)
				w.ledger.claim[0] = says(c.verdict)
				require.Equal(t, c.want, w.run(t.Context()))
				require.Empty(t, w.target.calls)
				require.Empty(t, w.ledger.settles)
				require.Zero(t, w.node.Busy(), "the claim is forgotten")
			})
		})
	}
}

func TestAMessageThatIsALittleEarlyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		start := time.Now()
		due := w.clock.Now().Add(400 * time.Millisecond)
		w.ledger.claim = []func(ClaimRequest) (Claimed, error){says(ClaimVerdict{Kind: ClaimWait, Due: due}), w.take}
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Equal(t, 400*time.Millisecond, time.Since(start))
		require.Equal(t, 2, w.ledger.count("Claim"), "it claims again: another may have taken it")
		require.Len(t, w.target.calls, 1)
	})
}

func TestAWaitingMessageGoesBackWhenTheNodeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.ledger.claim[0] = says(ClaimVerdict{Kind: ClaimWait, Due: w.clock.Now().Add(time.Second)})
		time.AfterFunc(time.Millisecond, w.node.Stop)
		require.Equal(t, Answer{Again: true, DueAt: w.clock.Now().Add(2 * time.Second)}, w.run(t.Context()))
		require.Equal(t, 1, w.ledger.count("Claim"))
	})
}

// The audit must find the claim in memory the moment its transaction commits.
func TestAClaimIsInMemoryBeforeItIsInTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.ledger.claim[0] = func(r ClaimRequest) (Claimed, error) {
			require.Equal(t, ClaimRequest{InstanceID: w.in.ID, NodeID: "node-1", ClaimID: "claim-1", Now: w.clock.Now(), Cannot: TargetShell}, r)
			known, answered := w.node.knows(r.ClaimID)
			require.True(t, known)
			require.False(t, answered)
			return w.taken(r), nil
		}
		w.run(t.Context())
		require.Len(t, w.target.calls, 1)
		require.Zero(t, w.node.Busy())
	})
}

func TestALedgerAwayBeforeTheClaimSendsTheMessageBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.ledger.fails("Claim", errAway)
		require.Equal(t, w.soon(), w.run(t.Context()))
		require.Zero(t, w.ledger.count("ReadClaim"))
		require.Zero(t, w.node.Busy())
	})
}

// A cut commit leaves open whether the claim stands: it is read back.
func TestAClaimWhoseCommitIsUnknown(t *testing.T) {
	unknown := errors.Join(errAway, ErrCommitUnknown)
	fails := func(err error) func(*worker) func(ClaimRequest) (Claimed, error) {
		return func(*worker) func(ClaimRequest) (Claimed, error) {
			return func(ClaimRequest) (Claimed, error) { return Claimed{}, err }
		}
	}
	takes := func(w *worker) func(ClaimRequest) (Claimed, error) { return w.take }
	drops := func(*worker) func(ClaimRequest) (Claimed, error) { return says(ClaimVerdict{Kind: ClaimDrop}) }
	for name, c := range map[string]struct {
		ours    bool
		readErr error
		second  func(*worker) func(ClaimRequest) (Claimed, error) // what a second claim is told
		claims  int
		runs    bool
		again   bool
	}{
		"it stands, a second would find it running": {ours: true, second: drops, claims: 1, runs: true},
		"it does not: claimed again":                {second: takes, claims: 2, runs: true},
		"the second finds another owner":            {second: drops, claims: 2},
		"it can't be read back":                     {readErr: errAway, second: takes, claims: 1, again: true},
		"the second claim fails":                    {second: fails(errAway), claims: 2, again: true},
		"the second is unknown, too":                {second: fails(unknown), claims: 2, again: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t)
				w.ledger.claim = []func(ClaimRequest) (Claimed, error){fails(unknown)(w), c.second(w)}
				w.ledger.read = func(r ClaimRequest) (Claimed, bool, error) { return w.taken(r), c.ours, c.readErr }
				got := w.run(t.Context())
				require.Equal(t, 1, w.ledger.count("ReadClaim"))
				require.Equal(t, c.claims, w.ledger.count("Claim"))
				require.Equal(t, c.runs, len(w.target.calls) == 1)
				require.Equal(t, c.again, got.Again)
				require.Zero(t, w.node.Busy())
			})
		})
	}
}

func TestAStoppingNodeClaimsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.node.Stop()
		require.Equal(t, w.soon(), w.run(t.Context()))
		require.Zero(t, w.ledger.count("Claim"))
	})
}

func TestWhatIsClaimedWhenTheNodeStopsIsHandedBack(t *testing.T) {
	for name, answer := range map[string]error{"in order": nil, "without the ledger": errAway} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(t)
				w.task.Spec.Policy.Idempotent = false
				w.ledger.does("Claim", func() error { w.node.Stop(); return nil })
				w.ledger.fails("HandBack", answer)
				require.Equal(t, Answer{}, w.run(t.Context()), "the row has a new message number")
				require.Len(t, w.ledger.backs, 1)
				require.Equal(t, "claim-1", w.ledger.backs[0].ClaimID)
				require.Empty(t, w.target.calls)
				require.Empty(t, w.ledger.marks, "nothing was begun")
			})
		})
	}
}

// Claimed, then declared dead before it was sent: nothing goes out.
func TestWhatIsClaimedByADeadNodeIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorker(t)
		w.ledger.does("Claim", func() error {
			w.ledger.gone["node-1"] = true
			return w.node.Beat(t.Context())
		})
		require.Equal(t, Answer{}, w.run(t.Context()))
		require.Empty(t, w.target.calls)
		require.Empty(t, w.ledger.settles)
	})
}
