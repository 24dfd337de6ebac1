package db

import (
	"context"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
)

// planLogLife is how long the planner's own record is kept.
const planLogLife = 7 * 24 * time.Hour

// PrunePlanLog removes what the planner noted more than a week ago.
func (d *DB) PrunePlanLog(ctx context.Context, now time.Time) error {
	for {
		var n int64
		err := d.tx(ctx, "prune the plan log", func(tx *gorm.DB) error {
			var last int64
			err := tx.Raw("SELECT COALESCE(MAX(id), 0) FROM (SELECT id FROM plan_log WHERE at<? ORDER BY at, id LIMIT ?) AS old",
				at(now.Add(-planLogLife)), pruneBatch).Scan(&last).Error
			if err != nil {
				return err
			}
			res := tx.Exec("DELETE FROM plan_log WHERE id<=? AND at<?", last, at(now.Add(-planLogLife)))
			n = res.RowsAffected
			return res.Error
		})
		if err != nil || n == 0 {
			return err
		}
		if err := fail.At("prune.plan_log"); err != nil {
			return err
		}
	}
}
