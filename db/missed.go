package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// missedRow is a row of missed_ranges.
type missedRow struct {
	ID         int64
	TaskID     int64
	TeamID     int64
	FromSlot   Millis
	ToSlot     Millis
	Slots      int
	Reason     string
	Policy     string
	InstanceID maybe
	PlannedBy  string
	CreatedAt  Millis
}

// Missed lists the latest missed ranges of a task, newest first.
func (d *DB) Missed(ctx context.Context, taskID int64, limit int) ([]sched.MissedRange, error) {
	var rows []missedRow
	err := d.view(ctx).Raw("SELECT * FROM missed_ranges WHERE task_id=? ORDER BY to_slot DESC LIMIT ?", taskID, limit).Scan(&rows).Error
	out := make([]sched.MissedRange, len(rows))
	for i, r := range rows {
		out[i] = sched.MissedRange{
			ID: r.ID, TaskID: r.TaskID, TeamID: r.TeamID, From: r.FromSlot.Time, To: r.ToSlot.Time, Slots: r.Slots,
			Reason: sched.MissReason(r.Reason), Policy: r.Policy, InstanceID: string(r.InstanceID),
			PlannedBy: r.PlannedBy, CreatedAt: r.CreatedAt.Time,
		}
	}
	return out, err
}

// MissedTotals counts all that is recorded of a task, by reason.
func (d *DB) MissedTotals(ctx context.Context, taskID int64) (map[sched.MissReason]sched.MissedTotal, error) {
	var rows []struct {
		Reason string
		Ranges int
		Slots  int
	}
	err := d.view(ctx).Raw("SELECT reason, COUNT(*) AS ranges, SUM(slots) AS slots FROM missed_ranges WHERE task_id=? GROUP BY reason", taskID).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count missed slots of task %d: %w", taskID, err)
	}
	out := make(map[sched.MissReason]sched.MissedTotal, len(rows))
	for _, r := range rows {
		out[sched.MissReason(r.Reason)] = sched.MissedTotal{Ranges: r.Ranges, Slots: r.Slots}
	}
	return out, nil
}

// storeMissed records the missed ranges of the plans and counts their slots.
func (d *DB) storeMissed(tx *gorm.DB, plans []plannedTask, now time.Time, node string) (int, error) {
	there, err := decided(tx, plans)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, p := range plans {
		for _, m := range p.plan.Missed {
			pieces, err := undecided(p.task, m, there)
			if err != nil {
				return 0, err
			}
			for _, m := range pieces {
				n += m.Slots
				if err := d.addMissed(tx, m, now, node); err != nil {
					return 0, err
				}
				if err := fail.At("plan.missed"); err != nil {
					return 0, err
				}
			}
		}
		if !p.plan.MakeUp.IsZero() {
			if err := madeUp(tx, p.task.ID, p.plan.MakeUp); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

// span is a stretch of a task's slots.
type span struct {
	task     int64
	from, to time.Time
}

// decided reads what the ledger knows already of the slots that are to be
// recorded as missed. Mostly that is nothing: an edit may come back to a slot
// planned ahead, or a person set next_fire_at back.
func decided(tx *gorm.DB, plans []plannedTask) ([]missedRow, error) {
	var spans []span
	for _, p := range plans {
		for i, m := range p.plan.Missed {
			if i == 0 {
				spans = append(spans, span{p.task.ID, m.From, m.To})
			}
			last := &spans[len(spans)-1]
			if m.From.Before(last.from) {
				last.from = m.From
			}
			if m.To.After(last.to) {
				last.to = m.To
			}
		}
	}
	return known(tx, spans)
}

// known reads the missed ranges and the instances within the spans, instances
// as ranges of one slot.
func known(tx *gorm.DB, spans []span) ([]missedRow, error) {
	const one = "SELECT task_id, from_slot, to_slot FROM missed_ranges WHERE task_id=? AND to_slot>=? AND from_slot<=?" +
		" UNION ALL SELECT task_id, slot_at, slot_at FROM instances WHERE task_id=? AND biz_id>=? AND biz_id<=? AND replay=0"
	var out []missedRow
	for chunk := range slices.Chunk(spans, 100) { // SQLite takes 500 SELECTs in one
		args := make([]any, 0, 6*len(chunk))
		for _, s := range chunk {
			args = append(args, s.task, at(s.from), at(s.to), s.task, sched.SlotBizID(s.from), sched.SlotBizID(s.to))
		}
		var rows []missedRow
		if err := tx.Raw(one+strings.Repeat(" UNION ALL "+one, len(chunk)-1), args...).Scan(&rows).Error; err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// undecided cuts a range where the ledger knows something already: a piece
// neither holds nor reaches over it.
func undecided(t sched.Task, m sched.MissedRange, there []missedRow) ([]sched.MissedRange, error) {
	hits := slices.DeleteFunc(slices.Clone(there), func(k missedRow) bool { return k.TaskID != m.TaskID })
	if !within(hits, m.From, m.To) {
		return []sched.MissedRange{m}, nil
	}
	times, err := t.Times()
	if err != nil {
		return nil, err
	}
	var pieces []sched.MissedRange
	for slot, ok := m.From, true; ok && !slot.After(m.To); slot, ok = times.Next(slot) {
		if within(hits, slot, slot) {
			continue
		}
		if n := len(pieces) - 1; n >= 0 && !within(hits, pieces[n].To, slot) {
			pieces[n].To = slot
			pieces[n].Slots++
			continue
		}
		piece := m
		piece.From, piece.To, piece.Slots = slot, slot, 1
		piece.Follows, _ = times.Prev(slot)
		pieces = append(pieces, piece)
	}
	return pieces, nil
}

// within tells whether one of the rows has an instant between two others.
func within(rows []missedRow, from, to time.Time) bool {
	return slices.ContainsFunc(rows, func(r missedRow) bool { return !r.FromSlot.After(to) && !r.ToSlot.Before(from) })
}

// addMissed records a range, or lengthens the open one that ends just before.
func (d *DB) addMissed(tx *gorm.DB, m sched.MissedRange, now time.Time, node string) error {
	open, err := openRange(tx, m)
	if err != nil {
		return err
	}
	if open != 0 {
		return tx.Exec("UPDATE missed_ranges SET to_slot=?, slots=slots+? WHERE id=?", at(m.To), m.Slots, open).Error
	}
	return tx.Exec("INSERT INTO missed_ranges (task_id, team_id, from_slot, to_slot, slots, reason, policy, planned_by, created_at)"+
		" VALUES (?,?,?,?,?,?,?,?,?) "+d.dialect.doNothing("missed_ranges"),
		m.TaskID, m.TeamID, at(m.From), at(m.To), m.Slots, string(m.Reason), m.Policy, node, at(now)).Error
}

// openRange finds the range that m goes on from; 0: there is none. After an
// edit the schedule's slot before m may lie beyond slots of the old schedule.
func openRange(tx *gorm.DB, m sched.MissedRange) (int64, error) {
	var id int64
	if m.Follows.IsZero() {
		return 0, nil
	}
	err := tx.Raw("SELECT id FROM missed_ranges WHERE task_id=? AND to_slot=? AND reason=? AND instance_id IS NULL LIMIT 1",
		m.TaskID, at(m.Follows), string(m.Reason)).Scan(&id).Error
	if id == 0 || err != nil {
		return 0, err
	}
	after := m.Follows.Add(time.Millisecond)
	there, err := known(tx, []span{{m.TaskID, after, m.From}})
	if within(there, after, m.From) {
		id = 0
	}
	return id, err
}

// madeUp notes on the open ranges of misfired slots which instance runs in
// their place. After a long outage they were recorded by earlier ticks.
func madeUp(tx *gorm.DB, taskID int64, slot time.Time) error {
	var ids []int64
	err := tx.Raw("SELECT id FROM missed_ranges WHERE task_id=? AND to_slot<? AND reason=? AND instance_id IS NULL ORDER BY id",
		taskID, at(slot), string(sched.MissedMisfire)).Scan(&ids).Error
	if err != nil || len(ids) == 0 {
		return err
	}
	var made maybe
	err = tx.Raw("SELECT id FROM instances WHERE task_id=? AND biz_id=? AND replay=0", taskID, sched.SlotBizID(slot)).Scan(&made).Error
	if err != nil {
		return err
	}
	return tx.Exec("UPDATE missed_ranges SET instance_id=? WHERE id IN ?", made, ids).Error
}

// withdraw takes back what of a task was recorded as missed ahead of its time:
// the slots from now on are planned anew.
func withdraw(tx *gorm.DB, old sched.Task, now time.Time) error {
	var rows []missedRow
	err := tx.Raw("SELECT * FROM missed_ranges WHERE task_id=? AND to_slot>=? ORDER BY id", old.ID, at(now)).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return err
	}
	times, err := old.Times()
	if err != nil {
		return nil // as planOwed: the task carries plan_error
	}
	for _, r := range rows {
		last, ok := times.Prev(now)
		if !ok || last.Before(r.FromSlot.Time) {
			if err := tx.Exec("DELETE FROM missed_ranges WHERE id=?", r.ID).Error; err != nil {
				return err
			}
			continue
		}
		ahead := 0
		for slot, ok := times.Next(last); ok && !slot.After(r.ToSlot.Time); slot, ok = times.Next(slot) {
			ahead++
		}
		if err := tx.Exec("UPDATE missed_ranges SET to_slot=?, slots=slots-? WHERE id=?", at(last), ahead, r.ID).Error; err != nil {
			return err
		}
	}
	return nil
}
