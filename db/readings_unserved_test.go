package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func TestWhatNoNodeServesIsRead(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		now := later(100)
		unserved := func() map[string]float64 {
			t.Helper()
			out := map[string]float64{}
			for _, r := range readings(t, d, alert.Question{Metric: alert.NotServed}, now) {
				require.Equal(t, alert.QueueSubject, r.Subject.Kind)
				out[r.Subject.Key+"|"+r.Subject.Name] = r.Value
			}
			return out
		}
		labeledTask, plain := dbtest.MakeTask(t, d, needs("cn-north", "gpu")), dbtest.MakeTask(t, d)
		dbtest.MakeInstance(t, d, labeledTask, dbtest.Due(later(40)))
		dbtest.MakeInstance(t, d, labeledTask, dbtest.Due(later(70)))
		dbtest.MakeInstance(t, d, plain, dbtest.Due(later(90)))
		dbtest.MakeInstance(t, d, plain, dbtest.Due(later(101)))
		gpuOnly := map[string]float64{"default cn-north,gpu|default (cn-north, gpu)": 60}
		require.Equal(t, map[string]float64{"default|default": 10, "default cn-north,gpu|default (cn-north, gpu)": 60}, unserved())
		dbtest.MakeNode(t, d)
		require.Equal(t, gpuOnly, unserved(), "a node without labels serves what needs none")
		has := dbtest.MakeNode(t, d, func(n *sched.NodeInfo) { n.Labels = []string{"cn-north", "gpu", "x"} })
		require.Empty(t, unserved())
		require.NoError(t, d.SetDraining(t.Context(), has.ID, true, func(sched.NodeInfo) access.Entry { return ask("node.drain") }))
		require.Equal(t, gpuOnly, unserved(), "a node that drains takes nothing")
		require.NoError(t, d.SetDraining(t.Context(), has.ID, false, func(sched.NodeInfo) access.Entry { return ask("node.resume") }))
		require.Empty(t, unserved())
		require.NoError(t, d.CloseNode(t.Context(), has.ID, now))
		require.Equal(t, gpuOnly, unserved())
		pause(t, d, labeledTask, later(99), later(500))
		require.Empty(t, unserved(), "what is paused waits for no node")
	})
}
