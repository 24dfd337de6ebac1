package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// While somebody holds the instance's row (of SQLite: the ledger), a sign that
// changes nothing is answered all the same; one that is stored waits.
func TestADroppedSignOfLifeTakesNoLock(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		id, over := stages()[sched.Awaiting](t, d, task), stages()[sched.Succeeded](t, d, task)
		sign := func(ctx context.Context, id string, attempt int, at time.Time) (sched.Signed, error) {
			return d.Sign(ctx, sched.Sign{InstanceID: id, Attempt: attempt, Percent: new(41)}, at)
		}
		_, err := sign(t.Context(), id, 1, later(50))
		require.NoError(t, err)
		require.NoError(t, d.Tx(t.Context(), "hold the rows", func(tx *gorm.DB) error {
			for _, held := range []string{id, over} {
				var was string
				require.NoError(t, tx.Raw("SELECT id FROM instances WHERE id=?"+d.ForUpdate(), held).Scan(&was).Error)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			for range 20 {
				got, err := sign(ctx, id, 1, later(50.5))
				require.NoError(t, err)
				require.Equal(t, sched.Signed{State: sched.Awaiting}, got)
			}
			got, err := sign(ctx, over, 1, later(50.5))
			require.NoError(t, err)
			require.True(t, got.Already)
			_, err = sign(ctx, id, 2, later(50.5))
			require.ErrorContains(t, err, "never made")

			short, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer stop()
			_, err = sign(short, id, 1, later(51.5))
			require.Error(t, err, "this one is to be stored: the lock is what the others did without")
			return nil
		}))
		require.Equal(t, 1, count(t, d, "attempt_progress"))
	})
}
