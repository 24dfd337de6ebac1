package db

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// Trigger stores a requested instance with its audit row, or reads the one
// that has the biz_id already. Conflict when the task was disabled or
// moved to another team meanwhile.
func (d *DB) Trigger(ctx context.Context, in sched.Instance, e access.Entry) (sched.Instance, bool, error) {
	var created bool
	var out sched.Instance
	err := d.tx(ctx, "trigger task "+itoa(in.TaskID), func(tx *gorm.DB) error {
		out = in
		var enabled bool
		var team int64
		if err := tx.Raw("SELECT enabled, team_id FROM tasks WHERE id=?", in.TaskID).Row().Scan(&enabled, &team); err != nil {
			return err
		}
		if team != in.TeamID { // the right was asked for in the other one
			return fault.Conflict("The task was moved to another team meanwhile")
		}
		if !enabled {
			return fault.Conflict("The task is disabled: it takes no requests")
		}
		n, err := d.insertInstances(tx, []instanceRow{instanceRowOf(in)})
		if err != nil {
			return err
		}
		if created = n == 1; created {
			return recordAudit(tx, e)
		}
		var r instanceRow
		err = tx.Raw("SELECT * FROM instances WHERE task_id=? AND biz_id=? AND replay=0", in.TaskID, in.BizID).Take(&r).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return fault.Conflict("The instance with this biz_id was removed just now")
		}
		out = r.instance()
		return err
	})
	return out, created, err
}
