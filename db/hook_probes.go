package db

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// probeRow is a row of hook_probes.
type probeRow struct {
	InstanceID string
	Address    string
	Asked      int
	FirstAt    Millis
	LastAt     Millis
	NextAt     Millis
	GiveUpAt   Millis
	ReadyAt    Millis
	Answers    string
}

// TableName is read by GORM.
func (probeRow) TableName() string { return "hook_probes" }

func (r probeRow) probing() (sched.Probing, error) {
	p := sched.Probing{
		InstanceID: r.InstanceID, Address: r.Address, Asked: r.Asked, FirstAt: r.FirstAt.Time, NextAt: r.NextAt.Time,
		GiveUpAt: r.GiveUpAt.Time, ReadyAt: r.ReadyAt.Time,
	}
	if r.Asked == 0 {
		return p, nil
	}
	if err := json.Unmarshal([]byte(r.Answers), &p.Answers); err != nil {
		return p, fmt.Errorf("read the answers of the hook of %s: %w", r.InstanceID, err)
	}
	return p, nil
}

// Probed stores what the hook of an instance answered and what becomes of the
// instance: it waits, or ends. What has begun or ended meanwhile stays as it
// is. Gates are not needed: nothing is counted here, and what may begin is
// claimed afterwards.
func (d *DB) Probed(ctx context.Context, p sched.Probed) (sched.ProbeEnd, error) {
	var end sched.ProbeEnd
	err := d.tx(ctx, "store what a hook answered to "+p.InstanceID, func(tx *gorm.DB) error {
		in, err := takeInstance(tx, d.dialect.forUpdate, p.InstanceID)
		if err != nil {
			return err
		}
		if end = (sched.ProbeEnd{}); in.Attempt > 0 || in.State != sched.Pending && in.State != sched.Queued {
			return nil
		}
		var row probeRow
		if err := tx.Raw("SELECT * FROM hook_probes WHERE instance_id=?", p.InstanceID).Scan(&row).Error; err != nil {
			return err
		}
		was, err := row.probing()
		if err != nil {
			return err
		}
		var is sched.Probing
		is, end = p.Hook.After(was, p)
		if err := d.unready(tx, in, end, p.Now); err != nil {
			return err
		}
		if err := fail.At("probe.row"); err != nil {
			return err
		}
		return d.storeProbing(tx, is)
	})
	return end, err
}

// unready writes what a hook that isn't ready makes of an instance that was
// read under its lock. A waiting one has no place that a wake could give it, so
// it counts as not deferred.
func (d *DB) unready(tx *gorm.DB, in sched.Instance, end sched.ProbeEnd, now time.Time) error {
	if end.Ready {
		return nil
	}
	set, args := "due_at=?, look_at=?, defers=0", []any{at(end.Due), at(end.Due.Add(sched.LookAgain))}
	switch end.To {
	case sched.Skipped:
		set, args = "state='skipped', look_at=NULL, finished_at=?, reason=?", []any{at(now), clip(end.Why, 500)}
	case sched.Failed:
		set, args = "state='failed', look_at=NULL, finished_at=?, error=?", []any{at(now), clip(end.Why, 500)}
	}
	res := tx.Exec("UPDATE "+d.dialect.forcePrimary("instances")+" SET "+set+" WHERE id=? AND state IN ('pending','queued') AND attempt=0", append(args, in.ID)...)
	if res.Error != nil || end.To == "" {
		return res.Error
	}
	return d.endLetter(tx, in, end.To, end.Why, now)
}

func (d *DB) storeProbing(tx *gorm.DB, p sched.Probing) error {
	answers, err := json.Marshal(p.Answers)
	if err != nil {
		return fmt.Errorf("write the answers of a hook: %w", err)
	}
	up := d.dialect.upsert("instance_id", "address", "asked", "last_at", "next_at", "give_up_at", "ready_at", "answers")
	return tx.Exec("INSERT INTO hook_probes (instance_id, address, asked, first_at, last_at, next_at, give_up_at, ready_at, answers) VALUES (?,?,?,?,?,?,?,?,?) "+up,
		p.InstanceID, clip(p.Address, 2000), p.Asked, at(p.FirstAt), at(p.Last().At), at(p.NextAt), at(p.GiveUpAt), at(p.ReadyAt), string(answers)).Error
}

// Probing is how far the questions of an instance are; nil: none was asked.
func (d *DB) Probing(ctx context.Context, instanceID string) (*sched.Probing, error) {
	var row probeRow
	if err := d.view(ctx).Raw("SELECT * FROM hook_probes WHERE instance_id=?", instanceID).Scan(&row).Error; err != nil {
		return nil, fmt.Errorf("read what the hook answered to %s: %w", instanceID, away(err))
	}
	if row.Asked == 0 {
		return nil, nil //nolint:nilnil // none was asked
	}
	p, err := row.probing()
	return &p, err
}

// PruneProbes removes what hooks answered longer ago than outputs are kept.
func (d *DB) PruneProbes(ctx context.Context, now time.Time) error {
	for {
		var ids []string
		err := d.tx(ctx, "prune what hooks answered", func(tx *gorm.DB) error {
			ids = nil
			err := tx.Raw("SELECT instance_id FROM hook_probes WHERE last_at<? ORDER BY last_at LIMIT ?", at(now.Add(-outputLife)), pruneOutputs).Scan(&ids).Error
			if err != nil || len(ids) == 0 {
				return err
			}
			return tx.Exec("DELETE FROM hook_probes WHERE instance_id IN ?", ids).Error
		})
		if err != nil || len(ids) == 0 {
			return err
		}
	}
}
