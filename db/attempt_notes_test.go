package db_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// A target that reports ten thousand times costs two hundred rows: the first
// and the last words are kept, and the log says how many are not.
func TestOfManyWordsTheFirstAndTheLastAreKept(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		id := stages()[sched.Awaiting](t, d, dbtest.MakeTask(t, d))
		const words = sched.NotesHead + sched.NotesTail + 57
		for i := range words {
			s := sched.Sign{InstanceID: id, Attempt: 1, Percent: new(i % 100), Message: fmt.Sprintf("第 %d 步", i+1)}
			got, err := d.Sign(t.Context(), s, later(float64(50+2*i)))
			require.NoError(t, err)
			require.True(t, got.Stored)
			_, err = d.Sign(t.Context(), sched.Sign{InstanceID: id, Attempt: 1}, later(float64(51+2*i))) // a heartbeat is no word
			require.NoError(t, err)
		}
		parts, err := d.LogParts(t.Context(), id, 1, 0, 10)
		require.NoError(t, err)
		var said []sched.Note
		for _, n := range parts.Notes {
			if n.Source == sched.LogProgress {
				said = append(said, n)
			}
		}
		require.Len(t, said, sched.NotesHead+sched.NotesTail)
		require.Equal(t, sched.Note{Source: sched.LogProgress, Seq: 1, At: later(50), Text: "0 % · 第 1 步"}, said[0])
		require.Equal(t, words, said[len(said)-1].Seq)
		require.Equal(t, sched.NotesHead, said[sched.NotesHead-1].Seq)
		require.Equal(t, words-sched.NotesTail+1, said[sched.NotesHead].Seq)

		require.NoError(t, d.PruneNotes(t.Context(), later(50).Add(29*24*time.Hour)))
		require.Equal(t, sched.NotesHead+sched.NotesTail+1, count(t, d, "attempt_notes"))
		require.NoError(t, d.PruneNotes(t.Context(), later(5000).Add(31*24*time.Hour)))
		require.Zero(t, count(t, d, "attempt_notes"))
	})
}

// Accepting work is noted with its moment; nothing is noted of a plain call.
func TestOnlyAcceptedWorkIsNotedAtItsSettlement(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		for _, r := range []sched.Result{success(), failure(), silence()} {
			settle(t, d, running(t, d, task, node), r, later(3))
		}
		require.Zero(t, count(t, d, "attempt_notes"))
		c := running(t, d, task, node)
		settle(t, d, c, accepted(), later(7))
		parts, err := d.LogParts(t.Context(), c.Instance.ID, 1, 0, 10)
		require.NoError(t, err)
		require.Equal(t, []sched.Note{{Source: sched.LogAx, Seq: 1, At: later(7)}}, parts.Notes)
	})
}

func TestReceiptsOfALogAreReadFromARowOnAndFromTheEnd(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		id := stages()[sched.Awaiting](t, d, dbtest.MakeTask(t, d))
		for i := range 5 {
			_, err := d.Receive(t.Context(), sched.Report{InstanceID: id, Attempt: 1, Outcome: sched.OutcomeSucceeded, Message: fmt.Sprint(i), Address: "10.0.0.9"}, later(float64(50+i)))
			require.NoError(t, err)
		}
		read := func(after int64, n int) (said string, last int64) {
			parts, err := d.LogParts(t.Context(), id, 1, after, n)
			require.NoError(t, err)
			for _, r := range parts.Receipts {
				said, last = said+r.Message, r.ID
			}
			return said, last
		}
		said, last := read(0, 2)
		require.Equal(t, "01", said)
		said, _ = read(last, 10)
		require.Equal(t, "234", said)
		said, _ = read(0, -2)
		require.Equal(t, "34", said)
		parts, err := d.LogParts(t.Context(), id, 2, 0, 10)
		require.NoError(t, err)
		require.Empty(t, parts.Receipts)
	})
}

func TestARefusedReceiptIsNotedWithItsReason(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		id := stages()[sched.Awaiting](t, d, dbtest.MakeTask(t, d))
		r := sched.Report{InstanceID: id, Attempt: 1, Outcome: sched.OutcomeFailed, Message: strings.Repeat("库", 500), Address: "10.0.0.9"}
		require.NoError(t, d.NoteRefused(t.Context(), r, "Attempt 1 is no longer the present one", later(60)))
		r.Attempt = 7
		require.NoError(t, d.NoteRefused(t.Context(), r, "Attempt 7 was never made", later(60)))
		parts, err := d.LogParts(t.Context(), id, 1, 0, 10)
		require.NoError(t, err)
		refused := parts.Notes[len(parts.Notes)-1]
		require.Equal(t, sched.LogReceipt, refused.Source)
		require.True(t, strings.HasSuffix(refused.Text, " (10.0.0.9): Attempt 1 is no longer the present one"), refused.Text)
		require.Len(t, parts.Notes, 2, "that of no attempt is left out; acceptance is the other")
	})
}

func TestStretchesAreReadFromTheOneThatHoldsALine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		id := dbtest.ID()
		var all []sched.Stretch
		for _, seq := range []int{1, 2, 3, sched.OutputTail + 10, sched.OutputTail + 30} {
			all = append(all, sched.Stretch{Seq: seq, At: t0, Text: "x"})
		}
		require.NoError(t, d.WriteOutput(t.Context(), id, 1, 0, all))
		for from, want := range map[int]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 2, sched.OutputTail + 9: 2, sched.OutputTail + 29: 3, sched.OutputTail + 30: 4, sched.OutputTail + 99: 4} {
			got, err := d.Stretches(t.Context(), id, 1, from, 9)
			require.NoError(t, err)
			require.Equal(t, all[want:], got, "%d", from)
		}
		got, err := d.Stretches(t.Context(), id, 1, 0, 2)
		require.NoError(t, err)
		require.Equal(t, all[:2], got)
	})
}

// Whatever comes to a log changes its mark, and nothing else does.
func TestTheMarkOfALogChangesWithAll(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		c := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
		id, was := c.Instance.ID, ""
		changed := func(what string, do func() error) {
			t.Helper()
			require.NoError(t, do(), what)
			mark, err := d.LogMark(t.Context(), id, 1)
			require.NoError(t, err)
			require.NotEqual(t, was, mark, what)
			again, err := d.LogMark(t.Context(), id, 1)
			require.NoError(t, err)
			require.Equal(t, mark, again)
			was = mark
		}
		changed("it began", func() error { return nil })
		changed("a line", func() error {
			return d.WriteOutput(t.Context(), id, 1, 0, []sched.Stretch{{Seq: 1, At: later(1), Text: "x\n"}})
		})
		changed("its last part", func() error {
			return d.WriteOutput(t.Context(), id, 1, sched.OutputTail, []sched.Stretch{{Seq: sched.OutputTail, At: later(2), Text: "y\n"}})
		})
		changed("it moved", func() error {
			return d.WriteOutput(t.Context(), id, 1, sched.OutputTail, []sched.Stretch{{Seq: sched.OutputTail, At: later(3), Text: "z\n"}})
		})
		changed("accepted", func() error { settle(t, d, c, accepted(), later(7)); return nil })
		changed("a word", func() error {
			_, err := d.Sign(t.Context(), sched.Sign{InstanceID: id, Attempt: 1, Message: "half"}, later(9))
			return err
		})
		changed("a refused receipt", func() error {
			return d.NoteRefused(t.Context(), sched.Report{InstanceID: id, Attempt: 1, Outcome: sched.OutcomeFailed}, "no", later(10))
		})
		changed("a receipt", func() error { _, err := receive(d, t, id, 1, sched.OutcomeSucceeded); return err })
	})
}
