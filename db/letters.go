package db

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fail"
	"ax/app/fault"
	"ax/app/sched"
)

// letterRow is a row of dead_letters, with the assignee's login where it was
// joined.
type letterRow struct {
	ID          int64
	TaskID      int64
	TeamID      int64
	BizID       string
	InstanceID  string
	Replay      int
	Replaying   maybe
	Status      string
	Outcome     string
	Error       string
	Fingerprint string
	Cause       string
	Solution    maybe
	AssigneeID  *int64
	Assignee    maybe
	Opens       int
	OpenedAt    Millis
	ClosedAt    Millis
	ClosedBy    string
	Version     int
}

func (r letterRow) letter() sched.Letter {
	l := sched.Letter{
		ID: r.ID, TaskID: r.TaskID, TeamID: r.TeamID, BizID: r.BizID, InstanceID: r.InstanceID, Replay: r.Replay,
		Replaying: string(r.Replaying), Status: sched.LetterStatus(r.Status), Outcome: sched.Outcome(r.Outcome), Error: r.Error,
		Fingerprint: r.Fingerprint, Cause: r.Cause, Solution: string(r.Solution), Assignee: string(r.Assignee),
		Opens: r.Opens, OpenedAt: r.OpenedAt.Time, ClosedAt: r.ClosedAt.Time, ClosedBy: r.ClosedBy, Version: r.Version,
	}
	if r.AssigneeID != nil {
		l.AssigneeID = *r.AssigneeID
	}
	return l
}

// maxSolution is more than the use cases let through, in characters.
const maxSolution = 100_000

const selectLetter = "SELECT l.*, u.login AS assignee FROM dead_letters l LEFT JOIN users u ON u.id=l.assignee_id"

// takeLetter reads a letter, locked; NotFound when there is none.
func takeLetter(tx *gorm.DB, lock string, id int64) (sched.Letter, error) {
	var r letterRow
	err := tx.Raw("SELECT * FROM dead_letters WHERE id=?"+lock, id).Take(&r).Error
	return r.ofTask(tx, err)
}

// ofTask is the letter with its task's team, once it was read.
func (r letterRow) ofTask(tx *gorm.DB, err error) (sched.Letter, error) {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return sched.Letter{}, access.NoObject()
	}
	if err == nil {
		r.TeamID, err = teamOf(tx, r.TaskID)
	}
	return r.letter(), err
}

// Letter gives a letter; NotFound when there is none.
func (d *DB) Letter(ctx context.Context, id int64) (sched.Letter, error) {
	var r letterRow
	err := d.view(ctx).Raw(selectLetter+" WHERE l.id=?", id).Take(&r).Error
	return r.ofTask(d.view(ctx), err)
}

// Letters gives a page of letters, newest first.
func (d *DB) Letters(ctx context.Context, f sched.LetterFilter, p sched.PageRequest) (sched.PageOf[sched.Letter], error) {
	m, err := d.moving(ctx, f.Scope)
	if err != nil {
		return sched.PageOf[sched.Letter]{}, err
	}
	w := &where{}
	m.scope(w, "l.", f.Scope)
	if f.TaskID != 0 {
		w.and("l.task_id=?", f.TaskID)
	}
	if len(f.Statuses) > 0 {
		w.and("l.status IN ?", f.Statuses)
	}
	if f.BizID != "" {
		w.begins("l.biz_id", f.BizID)
	}
	if f.Assignee != 0 {
		w.and("l.assignee_id=?", f.Assignee)
	}
	if !f.Since.IsZero() {
		w.and("l.opened_at>=?", at(f.Since))
	}
	rows, page, err := keyset(p, w, "l.id", false, func(q string, args []any) ([]letterRow, error) {
		var rows []letterRow
		err := d.view(ctx).Raw(selectLetter+q, args...).Scan(&rows).Error
		return rows, err
	}, func(r letterRow) string { return itoa(r.ID) })
	if err != nil {
		return sched.PageOf[sched.Letter]{}, fmt.Errorf("list dead letters: %w", err)
	}
	out := sched.PageOf[sched.Letter]{Next: page.Next, Prev: page.Prev, Items: make([]sched.Letter, len(rows))}
	for i, r := range rows {
		out.Items[i] = r.letter()
	}
	return out, nil
}

// Member finds an enabled user by login who belongs to the team or is an
// admin; NotFound otherwise.
func (d *DB) Member(ctx context.Context, login string, teamID int64) (int64, error) {
	var id int64
	err := d.view(ctx).Raw("SELECT u.id FROM users u WHERE u.login=? AND u.disabled=0 AND"+
		" (u.admin=1 OR EXISTS (SELECT 1 FROM memberships m WHERE m.user_id=u.id AND m.team_id=?))", login, teamID).Scan(&id).Error
	if err == nil && id == 0 {
		return 0, fault.NotFound("There is no such member")
	}
	return id, err
}

// EditLetter applies a change to a letter under its lock and writes the audit
// row.
func (d *DB) EditLetter(ctx context.Context, id int64, apply func(sched.Letter) (sched.Letter, access.Entry, error)) (sched.Letter, error) {
	var l sched.Letter
	err := d.tx(ctx, "edit letter "+itoa(id), func(tx *gorm.DB) error {
		old, err := takeLetter(tx, d.dialect.forUpdate, id)
		if err != nil {
			return err
		}
		old.Assignee, err = loginOf(tx, old.AssigneeID)
		if err != nil {
			return err
		}
		next, entry, err := apply(old)
		if err != nil {
			return err
		}
		var assignee *int64
		if next.AssigneeID != 0 {
			assignee = &next.AssigneeID
		}
		next.Version = old.Version + 1
		err = tx.Exec("UPDATE dead_letters SET status=?, solution=?, cause=?, assignee_id=?, closed_at=?, closed_by=?, version=? WHERE id=?",
			string(next.Status), maybe(clip(next.Solution, maxSolution)), clip(next.Cause, 500), assignee, at(next.ClosedAt), clip(next.ClosedBy, 100), next.Version, id).Error
		if err != nil {
			return err
		}
		l = next
		return recordAudit(tx, entry)
	})
	return l, err
}

func loginOf(tx *gorm.DB, id int64) (string, error) {
	var login string
	if id == 0 {
		return "", nil
	}
	err := tx.Raw("SELECT login FROM users WHERE id=?", id).Scan(&login).Error
	return login, err
}

// Replay makes a new instance of a letter's business action with the same
// biz_id and key. Conflict when the letter is closed or a replay is open.
func (d *DB) Replay(ctx context.Context, id int64, newID string, now time.Time, by access.Actor, reason string) (sched.Instance, error) {
	var in sched.Instance
	err := d.tx(ctx, "replay letter "+itoa(id), func(tx *gorm.DB) error {
		l, err := takeLetter(tx, d.dialect.forUpdate, id)
		if err != nil {
			return err
		}
		switch {
		case l.Replaying != "":
			return fault.Conflict("A replay of this letter is under way already")
		case l.Status.Closed():
			return fault.Conflict("The letter is closed; open it again to replay it")
		}
		old, err := takeInstance(tx, "", l.InstanceID)
		if err != nil {
			return err
		}
		in = old.Again(newID, l.Replay+1, by.Name, now)
		in.TeamID = l.TeamID
		n, err := d.insertInstances(tx, []instanceRow{instanceRowOf(in)})
		if err != nil {
			return err
		}
		if n == 0 { // or the letter would wait for a replay that isn't there
			return fault.Conflict("Replay %d of this business action is there already", in.Replay)
		}
		if err := fail.At("replay.inserted"); err != nil {
			return err
		}
		err = tx.Exec("UPDATE dead_letters SET replaying=?, replay=?, version=version+1 WHERE id=? AND replaying IS NULL", newID, in.Replay, id).Error
		if err != nil {
			return err
		}
		return recordAudit(tx, access.Entry{
			At: now, Actor: by, Action: "letter.replay", TeamID: l.TeamID, Reason: reason,
			Object:  access.Object{Kind: "dead_letter", ID: strconv.FormatInt(id, 10), Name: l.BizID},
			Changes: []access.Change{{Field: "replaying", New: newID}},
		})
	})
	return in, err
}
