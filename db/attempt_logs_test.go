package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func TestAnOutputIsReadAsItWasWritten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		id := dbtest.ID()
		long := strings.Repeat("行", sched.OutputStretch/3)
		write := func(from int, add ...sched.Stretch) {
			require.NoError(t, d.WriteOutput(t.Context(), id, 1, from, add))
		}
		first, second := sched.Stretch{Seq: 1, At: t0, Text: "one\n"}, sched.Stretch{Seq: 2, At: t0, Text: long}
		write(0, first)
		write(0, second)
		write(0, second) // its answer was lost, and it is written again
		live := sched.Stretch{Seq: sched.OutputTail, At: t0, Skipped: 7, Text: "live"}
		write(sched.OutputTail, live)
		moved := sched.Stretch{Seq: sched.OutputTail, At: t0, Skipped: 1 << 40, Text: "end 🙂\n"}
		write(sched.OutputTail, moved, sched.Stretch{Seq: sched.OutputTail + 1, At: t0, Text: "last"})

		all, err := d.Output(t.Context(), id, 1, 0)
		require.NoError(t, err)
		require.Equal(t, sched.Output{Attempt: 1, Stretches: []sched.Stretch{first, second, moved, {Seq: sched.OutputTail + 1, At: t0, Text: "last"}}}, all)
		last, err := d.Output(t.Context(), id, 1, 2)
		require.NoError(t, err)
		require.True(t, last.Earlier)
		require.Equal(t, all.Stretches[2:], last.Stretches)
		none, err := d.Output(t.Context(), id, 2, 0)
		require.NoError(t, err)
		require.Empty(t, none.Stretches)
		require.False(t, none.Earlier)

		require.NoError(t, d.PruneOutputs(t.Context(), t0.Add(30*24*time.Hour)))
		require.Equal(t, 4, count(t, d, "attempt_logs"))
		require.NoError(t, d.PruneOutputs(t.Context(), t0.Add(30*24*time.Hour+time.Second)))
		require.Zero(t, count(t, d, "attempt_logs"))
	})
}

// A node that doesn't run commands takes none of them; the row waits for one
// that does, and its attempts are not counted.
func TestACommandWaitsForANodeThatRunsThem(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, func(task *sched.Task) {
			task.Spec.Target = sched.Target{Kind: sched.TargetShell, Command: "/opt/close.sh", Input: sched.InputStdin, SuccessCodes: []int{0}}
		})
		in, node := dbtest.MakeInstance(t, d, task), dbtest.MakeNode(t, d)
		r := sched.ClaimRequest{InstanceID: in.ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: in.DueAt, Cannot: sched.TargetShell}
		got, err := d.Claim(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, sched.ClaimDefer, got.Verdict.Kind)
		row, err := d.Instance(t.Context(), in.ID)
		require.NoError(t, err)
		require.Zero(t, row.Attempt)
		require.Equal(t, 1, row.Defers)
		require.False(t, row.State.Final())

		r.Cannot, r.Now = "", got.Verdict.Due
		got, err = d.Claim(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, sched.ClaimTake, got.Verdict.Kind)
		require.Equal(t, "/opt/close.sh", got.Task.Spec.Target.Command)
	})
}
