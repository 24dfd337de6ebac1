package db_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func TestADrainIsOnTheNodesRowWithItsAuditRow(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		node := dbtest.MakeNode(t, d)
		before := count(t, d, "audit_log")
		set := func(id string, on bool) error {
			return d.SetDraining(t.Context(), id, on, func(n sched.NodeInfo) access.Entry {
				return access.Entry{At: t0, Action: "node.drain", Object: access.Object{Kind: "node", ID: n.ID, Name: n.Host}}
			})
		}
		for _, c := range []struct {
			on   bool
			rows int
		}{{true, 1}, {true, 1}, {false, 2}, {false, 2}} {
			require.NoError(t, set(node.ID, c.on))
			on, err := d.Draining(t.Context(), node.ID)
			require.NoError(t, err)
			require.Equal(t, c.on, on)
			require.Equal(t, before+c.rows, count(t, d, "audit_log"), "what changes nothing isn't audited")
		}
		require.NoError(t, d.CloseNode(t.Context(), node.ID, t0))
		for _, id := range []string{node.ID, dbtest.ID()} {
			require.Equal(t, fault.KindNotFound, fault.KindOf(set(id, true)))
		}
		again := node
		again.ID, again.Draining = dbtest.ID(), true
		require.NoError(t, d.Register(t.Context(), again))
		on, err := d.Draining(t.Context(), again.ID)
		require.NoError(t, err)
		require.True(t, on, "a process that was taken for dead")
	})
}

func TestAPauseIsNotedOnlyWhenItWasMade(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		before := count(t, d, "audit_log")
		made := 0
		set := func(queue string, on bool, err error) error {
			e := access.Entry{At: t0, Action: "queue.pause", Object: access.Object{Kind: "queue", ID: queue}}
			return d.SetQueuePaused(t.Context(), queue, on, e, func() error { made++; return err })
		}
		paused := func() []string {
			got, err := d.PausedQueues(t.Context())
			require.NoError(t, err)
			return got
		}
		away := errors.New("Redis does not answer")
		require.ErrorIs(t, set("slow", true, away), away)
		require.Empty(t, paused())
		require.Equal(t, before, count(t, d, "audit_log"))
		for _, queue := range []string{"slow", "import", "slow"} {
			require.NoError(t, set(queue, true, nil))
		}
		require.Equal(t, []string{"import", "slow"}, paused())
		require.Equal(t, before+2, count(t, d, "audit_log"))
		require.ErrorIs(t, set("slow", false, away), away)
		require.Equal(t, []string{"import", "slow"}, paused())
		require.NoError(t, set("slow", false, nil))
		require.Equal(t, []string{"import"}, paused())
		require.Equal(t, []int{6, before + 3}, []int{made, count(t, d, "audit_log")})
		held := 0
		for _, queue := range []string{"slow", "import"} {
			require.NoError(t, d.WhilePaused(t.Context(), queue, func() error { held++; return nil }))
		}
		require.Equal(t, 1, held)
	})
}
