package db

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// ended is an instance, as it was read under its lock, with what its end, or
// the end of its attempt, makes of it.
type ended struct {
	in  sched.Instance
	e   sched.Ending
	r   sched.Result
	now time.Time
}

// end writes what an ending makes of a running or awaiting instance that was
// read under its lock: its row, its open attempt, and its letter.
func (d *DB) end(tx *gorm.DB, in sched.Instance, e sched.Ending, r sched.Result, now time.Time) error {
	return d.endAll(tx, []ended{{in, e, r, now}})
}

// endAll is end of several instances: rows that end alike share a statement.
func (d *DB) endAll(tx *gorm.DB, ends []ended) error {
	for i, x := range ends {
		ends[i].now = afterStart(x.in, x.now)
	}
	type kind struct {
		from            sched.State
		attempt         int
		to              sched.State
		due, redispatch bool
	}
	parts := alike(ends, func(x ended) kind {
		return kind{x.in.State, x.in.Attempt, x.e.To, !x.e.DueAt.IsZero(), x.e.Redispatch}
	})
	for _, same := range parts {
		if err := d.endRows(tx, same); err != nil {
			return err
		}
	}
	if len(ends) > 0 {
		if err := fail.At("end.row"); err != nil {
			return err
		}
	}
	closings := make([]closing, len(ends))
	for i, x := range ends {
		c := closing{x.in.ID, x.in.Attempt, x.e.Outcome, x.r, x.now}
		c.result.Error = x.e.Error
		if c.outcome == sched.OutcomeAccepted {
			c.outcome = ""
		}
		closings[i] = c
	}
	if err := d.closeAttempts(tx, closings); err != nil {
		return err
	}
	if err := d.tellTargets(tx, ends); err != nil {
		return err
	}
	return d.endLetters(tx, ends)
}

// afterStart is now, but not before the instance began. The node that ends an
// attempt may not be the one that began it, and their ideas of the ledger's
// clock differ by the time that a reading takes.
func afterStart(in sched.Instance, now time.Time) time.Time {
	if now.Before(in.StartedAt) {
		return in.StartedAt
	}
	return now
}

// endRows writes the rows of instances that go from one state to one other.
func (d *DB) endRows(tx *gorm.DB, same []ended) error {
	first := same[0]
	u := updateOf("id", same, func(x ended) string { return x.in.ID })
	u.all("state=?, resends=0", string(first.e.To))
	u.each("error", func(i int) any { return same[i].e.Error })
	u.each("retries", func(i int) any { return same[i].e.Retries })
	u.each("deaths", func(i int) any { return same[i].e.Deaths })
	u.each("look_at", func(i int) any { return at(same[i].e.LookAt) })
	u.each("receipt_deadline", func(i int) any { return at(same[i].e.ReceiptDeadline) })
	u.each("finished_at", func(i int) any {
		if same[i].e.To.Final() {
			return at(same[i].now)
		}
		return Millis{}
	})
	if !first.e.DueAt.IsZero() {
		u.each("due_at", func(i int) any { return at(same[i].e.DueAt) })
	}
	if first.e.Redispatch {
		u.all("dispatch=dispatch+1, node_id=NULL, claim_id=NULL")
	}
	n, err := u.exec(tx, d.dialect.forcePrimary("instances"), "state=? AND attempt=?", string(first.in.State), first.in.Attempt)
	if err == nil && int(n) != len(same) {
		err = errMoved
	}
	return err
}

// endLetters goes by the letters' key, so that two batches lock letters in one
// order.
func (d *DB) endLetters(tx *gorm.DB, ends []ended) error {
	ends = slices.DeleteFunc(slices.Clone(ends), func(x ended) bool { return !x.e.To.Bad() && (x.in.Replay == 0 || !x.e.To.Final()) })
	slices.SortFunc(ends, func(a, b ended) int {
		return cmp.Or(cmp.Compare(a.in.TaskID, b.in.TaskID), strings.Compare(a.in.BizID, b.in.BizID))
	})
	if len(ends) > 0 {
		if err := fail.At("end.attempt"); err != nil {
			return err
		}
	}
	for _, x := range ends {
		if err := d.endLetter(tx, x.in, x.e.To, x.e.Error, x.now); err != nil {
			return err
		}
		if err := fail.At("end.letter"); err != nil {
			return err
		}
	}
	return nil
}

// endLetter keeps the letter in step with an end of an instance: a bad end
// opens or reopens it, the success of a replay solves it, and every end of a
// replay lets it be replayed again.
func (d *DB) endLetter(tx *gorm.DB, in sched.Instance, to sched.State, why string, now time.Time) error {
	switch {
	case to.Bad():
		return d.openLetter(tx, in, to, why, now)
	case !to.Final() || in.Replay == 0:
		return nil
	case to == sched.Succeeded:
		return tx.Exec("UPDATE dead_letters SET status='solved', replaying=NULL, closed_at=?, closed_by=?, version=version+1 WHERE task_id=? AND biz_id=? AND replaying=?",
			at(now), "replay "+in.ID, in.TaskID, in.BizID, in.ID).Error
	default:
		return tx.Exec("UPDATE dead_letters SET replaying=NULL, version=version+1 WHERE task_id=? AND biz_id=? AND replaying=?", in.TaskID, in.BizID, in.ID).Error
	}
}

func (d *DB) openLetter(tx *gorm.DB, in sched.Instance, to sched.State, why string, now time.Time) error {
	up := d.dialect.upsert("task_id, biz_id",
		"instance_id", "outcome", "error", "opens=dead_letters.opens+1", "replaying=NULL", "opened_at", "closed_at=NULL", "closed_by=''",
		"version=dead_letters.version+1", "status=CASE WHEN dead_letters.status='taken' THEN 'taken' ELSE 'open' END")
	return tx.Exec("INSERT INTO dead_letters (task_id, team_id, biz_id, instance_id, replay, status, outcome, error, opens, opened_at, version) VALUES (?,?,?,?,?,'open',?,?,1,?,1) "+up,
		in.TaskID, in.TeamID, in.BizID, in.ID, in.Replay, string(to), clip(why, 2000), at(now)).Error
}
