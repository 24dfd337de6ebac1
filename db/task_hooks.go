package db

import (
	"context"
	"fmt"
	"slices"

	"gorm.io/gorm"

	"ax/app/fault"
	"ax/app/sched"
)

// noteHooks keeps the list of who is told of a task's ends in step with its
// definition. What was there already keeps its moment; of ends before it was
// there, nobody is told.
func noteHooks(tx *gorm.DB, old, next sched.Task) error {
	was, is := old.Spec.AfterHooks(), next.Spec.AfterHooks()
	for _, h := range was {
		if slices.Contains(is, h) {
			continue
		}
		if err := tx.Exec("DELETE FROM task_hooks WHERE task_id=? AND channel_id=? AND told_on=?", next.ID, h.Channel, string(h.On)).Error; err != nil {
			return err
		}
	}
	for _, h := range is {
		if slices.Contains(was, h) {
			continue
		}
		err := tx.Exec("INSERT INTO task_hooks (task_id, channel_id, told_on, since) VALUES (?,?,?,?)", next.ID, h.Channel, string(h.On), at(next.UpdatedAt)).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// HookChannels are the channels that hooks of the team's tasks can name, by
// name: those of the team that are nobody's own.
func (d *DB) HookChannels(ctx context.Context, team int64) ([]sched.HookChannel, error) {
	var rows []struct {
		ID, Name, Kind string
		OffAt          Millis
	}
	err := d.view(ctx).Raw("SELECT id, name, kind, off_at FROM channels WHERE team_id=? AND user_id IS NULL ORDER BY name, id", team).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list the channels of team %d: %w", team, away(err))
	}
	out := make([]sched.HookChannel, len(rows))
	for i, r := range rows {
		out[i] = sched.HookChannel{ID: r.ID, Name: r.Name, Kind: r.Kind, Off: !r.OffAt.IsZero()}
	}
	return out, nil
}

// hookless refuses what would silence the hook of a task: its channel is named.
func hookless(tx *gorm.DB, channel string) error {
	var codes []string
	err := tx.Raw("SELECT DISTINCT t.code FROM task_hooks h JOIN tasks t ON t.id=h.task_id WHERE h.channel_id=? AND t.archived_at IS NULL ORDER BY t.code", channel).Scan(&codes).Error
	if err != nil || len(codes) == 0 {
		return err
	}
	return fault.Conflict("The channel is named by the hooks of %s; take it out there first", few(codes))
}
