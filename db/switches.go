package db

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// pausedPrefix begins the settings that note which queues are paused.
const pausedPrefix = "queue.paused."

// SetDraining wishes that a node takes no new work, or takes some again, with
// the audit row of the change. Faults: NotFound.
func (d *DB) SetDraining(ctx context.Context, id string, on bool, entry func(sched.NodeInfo) access.Entry) error {
	return d.tx(ctx, "drain node "+id, func(tx *gorm.DB) error {
		var rows []nodeRow
		err := tx.Raw("SELECT * FROM "+d.dialect.forcePrimary("nodes")+" WHERE id=? AND closed_at IS NULL AND dead_at IS NULL"+d.dialect.forUpdate, id).Scan(&rows).Error
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.NotFound("There is no such node, or its life is over")
		}
		if rows[0].Draining == on {
			return nil
		}
		if err := tx.Exec("UPDATE "+d.dialect.forcePrimary("nodes")+" SET draining=? WHERE id=?", on, id).Error; err != nil {
			return err
		}
		return recordAudit(tx, entry(rows[0].node()))
	})
}

// Draining tells whether a node is to take no new work.
func (d *DB) Draining(ctx context.Context, id string) (on bool, err error) {
	if err := d.view(ctx).Raw("SELECT draining FROM nodes WHERE id=?", id).Scan(&on).Error; err != nil {
		return false, fmt.Errorf("read whether node %s drains: %w", id, away(err))
	}
	return on, nil
}

// SetQueuePaused notes that a queue is paused, or no more, with the audit row,
// and makes it so by do. When do fails, nothing is noted.
func (d *DB) SetQueuePaused(ctx context.Context, queue string, on bool, e access.Entry, do func() error) error {
	return d.tx(ctx, "note a pause of queue "+queue, func(tx *gorm.DB) error {
		_, was, err := takeSetting(tx, d.dialect.forUpdate, pausedPrefix+queue)
		if err != nil {
			return err
		}
		switch {
		case on && !was:
			err = tx.Exec("INSERT INTO settings (name, value) VALUES (?, '') "+d.dialect.upsert("name", "name=settings.name"), pausedPrefix+queue).Error
		case !on:
			err = tx.Exec("DELETE FROM settings WHERE name=?", pausedPrefix+queue).Error
		}
		if err != nil {
			return err
		}
		if was != on {
			if err := recordAudit(tx, e); err != nil {
				return err
			}
		}
		return do()
	})
}

// PausedQueues lists the queues that are noted as paused, by name.
func (d *DB) PausedQueues(ctx context.Context) ([]string, error) {
	w := &where{}
	w.begins("name", pausedPrefix)
	var names []string
	if err := d.view(ctx).Raw("SELECT name FROM settings"+w.sql(), w.args...).Scan(&names).Error; err != nil {
		return nil, fmt.Errorf("list the queues that are paused: %w", away(err))
	}
	for i := range names {
		names[i] = strings.TrimPrefix(names[i], pausedPrefix)
	}
	slices.Sort(names)
	return names, nil
}

// WhilePaused does something if the queue is noted as paused; until that is
// done nobody can resume it.
func (d *DB) WhilePaused(ctx context.Context, queue string, do func() error) error {
	return d.tx(ctx, "hold queue "+queue, func(tx *gorm.DB) error {
		_, paused, err := takeSetting(tx, d.dialect.forUpdate, pausedPrefix+queue)
		if err != nil || !paused {
			return err
		}
		return do()
	})
}
