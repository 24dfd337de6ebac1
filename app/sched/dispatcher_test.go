package sched

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// messagesOf makes n messages: "i0", "i1", …
func messagesOf(n int) []Message {
	out := make([]Message, n)
	for i := range out {
		out[i] = Message{InstanceID: fmt.Sprintf("i%d", i), DueAt: noon()}
	}
	return out
}

func TestWhatIsDueWithinTheHorizonIsHandedOver(t *testing.T) {
	b := loopBench()
	b.ledger.due = messagesOf(3)
	again, err := b.dispatcher().Tick(t.Context())
	require.NoError(t, err)
	require.False(t, again)
	require.Equal(t, noon().Add(2*time.Second), b.ledger.dueUntil)
	require.Equal(t, messagesOf(3), b.carrier.sent)
	require.Equal(t, messagesOf(3), b.ledger.queued)
}

func TestNothingDueIsNothingSent(t *testing.T) {
	b := loopBench()
	again, err := b.dispatcher().Tick(t.Context())
	require.NoError(t, err)
	require.False(t, again)
	require.Zero(t, b.ledger.count("MarkQueued"))
}

func TestAFullBatchIsFollowedAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		due   int
		fail  string
		again bool
	}{
		"full":                     {handoverBatch + 20, "", true},
		"exactly full":             {handoverBatch, "", true},
		"one less":                 {handoverBatch - 1, "", false},
		"full, but one isn't sent": {handoverBatch, "i7", false},
	} {
		t.Run(name, func(t *testing.T) {
			b := loopBench()
			b.ledger.due = messagesOf(c.due)
			b.carrier.fail[c.fail] = errAway
			again, err := b.dispatcher().Tick(t.Context())
			require.Equal(t, c.fail != "", err != nil)
			require.Equal(t, c.again, again)
			require.LessOrEqual(t, len(b.carrier.sent), handoverBatch)
		})
	}
}

// What was not sent stays pending; the others are not held up by it.
func TestOnlyWhatWasSentIsQueued(t *testing.T) {
	b := loopBench()
	b.carrier.fail["i1"] = errAway
	sent, err := b.dispatcher().HandOver(t.Context(), messagesOf(4))
	require.ErrorIs(t, err, errAway)
	require.Equal(t, 3, sent)
	require.Equal(t, []Message{messagesOf(4)[0], messagesOf(4)[2], messagesOf(4)[3]}, b.ledger.queued)
}

func TestNothingSentIsNothingQueued(t *testing.T) {
	b := loopBench()
	b.carrier.fail["i0"] = errAway
	sent, err := b.dispatcher().HandOver(t.Context(), messagesOf(1))
	require.ErrorIs(t, err, errAway)
	require.Zero(t, sent)
	require.Zero(t, b.ledger.count("MarkQueued"))
}

// Sent but not marked: the row stays pending, and the next pass finds the id
// taken, which counts as sent.
func TestAMarkThatFailsCountsAsNotSent(t *testing.T) {
	b := loopBench()
	b.ledger.due = messagesOf(handoverBatch)
	b.ledger.fails("MarkQueued", errAway)
	again, err := b.dispatcher().Tick(t.Context())
	require.ErrorIs(t, err, errAway)
	require.False(t, again)
}

func TestTheLedgerAwayIsTheTicksError(t *testing.T) {
	b := loopBench()
	b.ledger.due = messagesOf(2)
	b.ledger.fails("Due", errAway)
	_, err := b.dispatcher().Tick(t.Context())
	require.ErrorIs(t, err, errAway)
	require.Empty(t, b.carrier.sent)
}
