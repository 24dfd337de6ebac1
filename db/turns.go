package db

import (
	"context"
	"time"

	"gorm.io/gorm"
)

// TakeTurnOf is true for one caller within each span of time, of all nodes.
func (d *DB) TakeTurnOf(ctx context.Context, name string, every time.Duration, now time.Time) (bool, error) {
	return d.takeTurn(ctx, name+".turn", every, now)
}

func (d *DB) takeTurn(ctx context.Context, setting string, every time.Duration, now time.Time) (mine bool, err error) {
	last, err := momentOf(d.view(ctx), "", setting)
	if err != nil || !turnIsDue(last, now, every) {
		return false, err
	}
	err = d.tx(ctx, "take the turn of "+setting, func(tx *gorm.DB) error {
		last, err := d.takeMoment(tx, setting, now.Add(-every))
		if err != nil {
			return err
		}
		if mine = turnIsDue(last, now, every); !mine {
			return nil
		}
		return setMoment(tx, setting, now)
	})
	return mine, err
}

// turnIsDue: a turn of the future is of a clock that was set back. Moments of
// settings are of whole seconds, cut.
func turnIsDue(last, now time.Time, every time.Duration) bool {
	return now.Truncate(time.Second).Sub(last) >= every || last.After(now.Add(every))
}
