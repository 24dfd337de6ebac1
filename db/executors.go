package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// executorRow is a row of executors.
type executorRow struct {
	ID           string
	TeamID       int64
	Name         string
	Address      string
	TaskTypes    string // JSON
	Weight       int
	Version      string
	Running      int
	TokenID      int64
	TokenName    string
	RegisteredAt Millis
	BeatAt       Millis
	ClosedAt     Millis
	Cancel       bool `gorm:"->;-:migration"` // of executor_cancels
}

// TableName is read by GORM.
func (executorRow) TableName() string { return "executors" }

func (r executorRow) executor() (sched.ExecutorInfo, error) {
	e := sched.ExecutorInfo{
		ID: r.ID, TeamID: r.TeamID, Name: r.Name, Address: r.Address, Weight: r.Weight, Version: r.Version, Running: r.Running,
		TokenID: r.TokenID, Token: r.TokenName, RegisteredAt: r.RegisteredAt.Time, BeatAt: r.BeatAt.Time, ClosedAt: r.ClosedAt.Time, Cancel: r.Cancel,
	}
	if err := json.Unmarshal([]byte(r.TaskTypes), &e.Types); err != nil {
		return e, fmt.Errorf("types of executor %s: %w", r.ID, err)
	}
	return e, nil
}

// PutExecutor adds an executor, or gives its place to whoever registers the
// same name and address again. Faults: NotFound (the team), Conflict (the team
// has most of them).
func (d *DB) PutExecutor(ctx context.Context, e sched.ExecutorInfo, most int, entry access.Entry) error {
	types, err := json.Marshal(e.Types)
	if err != nil {
		return fmt.Errorf("write the types of executor %s: %w", e.Name, err)
	}
	return d.tx(ctx, "register executor "+e.Name, func(tx *gorm.DB) error {
		n, err := d.countOfTeam(tx, "executors", e.TeamID)
		if err != nil {
			return err
		}
		// The team is locked: nobody registers between this and the insert.
		gone := tx.Exec("DELETE FROM executors WHERE team_id=? AND name=? AND address=?", e.TeamID, e.Name, e.Address)
		if gone.Error != nil {
			return gone.Error
		}
		if n-int(gone.RowsAffected) >= most {
			return fault.Conflict("The team has %d executors already, with those that left within a day", n)
		}
		r := executorRow{
			ID: e.ID, TeamID: e.TeamID, Name: e.Name, Address: e.Address, TaskTypes: string(types), Weight: e.Weight, Version: e.Version,
			Running: e.Running, TokenID: e.TokenID, TokenName: clip(e.Token, 100), RegisteredAt: at(e.RegisteredAt), BeatAt: at(e.BeatAt), ClosedAt: at(e.ClosedAt),
		}
		if err := tx.Create(&r).Error; err != nil {
			return err
		}
		if e.Cancel {
			if err := tx.Exec("INSERT INTO executor_cancels (executor_id) VALUES (?)", e.ID).Error; err != nil {
				return err
			}
		}
		return recordAudit(tx, entry)
	})
}

// Executor of an id; NotFound when there is none.
func (d *DB) Executor(ctx context.Context, id string) (sched.ExecutorInfo, error) {
	var r executorRow
	err := d.view(ctx).Raw("SELECT * FROM executors WHERE id=?", id).Take(&r).Error
	if isNotFound(err) {
		return sched.ExecutorInfo{}, access.NoObject()
	}
	if err != nil {
		return sched.ExecutorInfo{}, fmt.Errorf("read executor %s: %w", id, away(err))
	}
	return r.executor()
}

// BeatExecutor notes a sign of life, unless the executor is out.
func (d *DB) BeatExecutor(ctx context.Context, id string, running int, now time.Time) (bool, error) {
	var ok bool
	err := d.tx(ctx, "beat of executor "+id, func(tx *gorm.DB) error {
		ok = false
		var r executorRow
		err := tx.Raw("SELECT * FROM executors WHERE id=?"+d.dialect.forUpdate, id).Take(&r).Error
		if isNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		e := sched.ExecutorInfo{BeatAt: r.BeatAt.Time, ClosedAt: r.ClosedAt.Time}
		if ok = e.Online(now); !ok {
			return nil
		}
		if now.Before(e.BeatAt) { // beats of two connections may overtake each other
			now = e.BeatAt
		}
		return tx.Exec("UPDATE executors SET running=?, beat_at=? WHERE id=?", running, at(now), id).Error
	})
	return ok, err
}

// CloseExecutor takes an executor out of the rotation.
func (d *DB) CloseExecutor(ctx context.Context, id string, now time.Time, entry access.Entry) error {
	return d.tx(ctx, "close executor "+id, func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE executors SET closed_at=?, running=0 WHERE id=? AND closed_at IS NULL", at(now), id)
		if done.Error != nil || done.RowsAffected == 0 {
			return done.Error
		}
		return recordAudit(tx, entry)
	})
}

// Executors gives those of a team with the name, also those that are out.
func (d *DB) Executors(ctx context.Context, team int64, name string) ([]sched.ExecutorInfo, error) {
	return d.listExecutors(ctx, " WHERE team_id=? AND name=? ORDER BY address", team, name)
}

// ExecutorsOf gives the executors of the scope by team, name and address.
func (d *DB) ExecutorsOf(ctx context.Context, s access.Scope) ([]sched.ExecutorInfo, error) {
	w := &where{}
	w.scope("team_id", s)
	return d.listExecutors(ctx, w.sql()+" ORDER BY team_id, name, address", w.args...)
}

func (d *DB) listExecutors(ctx context.Context, rest string, args ...any) ([]sched.ExecutorInfo, error) {
	var rows []executorRow
	if err := d.view(ctx).Raw("SELECT executors.*, c.executor_id IS NOT NULL AS cancel FROM executors LEFT JOIN executor_cancels c ON c.executor_id=executors.id"+rest, args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list executors: %w", away(err))
	}
	out := make([]sched.ExecutorInfo, len(rows))
	for i, r := range rows {
		var err error
		if out[i], err = r.executor(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// PruneExecutors removes executors that are out since more than a day, and what
// is kept of broadcasts as long as of the output of attempts.
func (d *DB) PruneExecutors(ctx context.Context, now time.Time) error {
	return d.tx(ctx, "prune executors", func(tx *gorm.DB) error {
		if err := tx.Exec("DELETE FROM executors WHERE beat_at<?", at(now.Add(-sched.ExecutorKept))).Error; err != nil {
			return err
		}
		if err := tx.Exec("DELETE FROM executor_cancels WHERE executor_id NOT IN (SELECT id FROM executors)").Error; err != nil {
			return err
		}
		return tx.Exec("DELETE FROM attempt_shards WHERE started_at<?", at(now.Add(-outputLife))).Error
	})
}
