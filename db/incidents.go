package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/alert"
	"ax/app/fail"
)

// turnName is the setting that names the latest turn of the alert rules.
const turnName = "alerts.turn"

// incidentRow is a row of incidents.
type incidentRow struct {
	ID          string
	RuleID      int64
	RuleName    string
	Metric      string
	TeamID      int64
	Fingerprint string
	OpenKey     *string
	State       string
	Level       string
	Host        string
	Threshold   float64
	Value       float64
	Worst       float64
	SinceAt     Millis
	OpenedAt    Millis
	QuietSince  Millis
	Quiets      int
	EndedAt     Millis
	EndedBy     string
	Everyone    int
	AckedBy     string
	AckedAt     Millis
	Assignee    string
	Note        string
	Silenced    bool
	TellAt      Millis
	ToldAt      Millis
	ToldFirstAt Millis
	Told        int
	ToldOf      int
	EscalatedMs int64
	Version     int
}

// TableName is read by GORM.
func (incidentRow) TableName() string { return "incidents" }

func rowOfIncident(i alert.Incident) incidentRow {
	r := incidentRow{
		ID: i.ID, RuleID: i.RuleID, RuleName: clip(i.RuleName, 200), Metric: string(i.Metric), TeamID: i.TeamID, Fingerprint: i.Fingerprint,
		State: string(i.State), Level: string(i.Level), Host: clip(i.Host, 255), Threshold: i.Threshold, Value: i.Value, Worst: i.Worst,
		SinceAt: at(i.Since), OpenedAt: at(i.OpenedAt), QuietSince: at(i.QuietSince), Quiets: i.Quiets,
		EndedAt: at(i.EndedAt), EndedBy: clip(i.EndedBy, 100), Everyone: i.Everyone,
		AckedBy: clip(i.AckedBy, 100), AckedAt: at(i.AckedAt), Assignee: clip(i.Assignee, 100), Note: clip(i.Note, 2000),
		Silenced: i.Silenced, TellAt: at(i.TellAt), ToldAt: at(i.ToldAt), ToldFirstAt: at(i.ToldFirst), Told: i.Told, ToldOf: i.ToldOf,
		EscalatedMs: i.Escalated.Milliseconds(), Version: i.Version,
	}
	if i.Open() {
		r.OpenKey = &r.Fingerprint
	}
	return r
}

func (r incidentRow) incident() alert.Incident {
	return alert.Incident{
		ID: r.ID, RuleID: r.RuleID, RuleName: r.RuleName, Metric: alert.Metric(r.Metric), TeamID: r.TeamID, Fingerprint: r.Fingerprint,
		State: alert.IncidentState(r.State), Level: alert.Level(r.Level), Host: r.Host, Threshold: r.Threshold, Value: r.Value, Worst: r.Worst,
		Since: r.SinceAt.Time, OpenedAt: r.OpenedAt.Time, QuietSince: r.QuietSince.Time, Quiets: r.Quiets,
		EndedAt: r.EndedAt.Time, EndedBy: r.EndedBy, Everyone: r.Everyone,
		AckedBy: r.AckedBy, AckedAt: r.AckedAt.Time, Assignee: r.Assignee, Note: r.Note,
		Silenced: r.Silenced, TellAt: r.TellAt.Time, ToldAt: r.ToldAt.Time, ToldFirst: r.ToldFirstAt.Time, Told: r.Told, ToldOf: r.ToldOf,
		Escalated: time.Duration(r.EscalatedMs) * time.Millisecond, Version: r.Version,
	}
}

// TakeTurn is true for one caller within each alert.TurnEvery, of all nodes.
func (d *DB) TakeTurn(ctx context.Context, now time.Time) (bool, error) {
	return d.takeTurn(ctx, turnName, alert.TurnEvery, now)
}

// OpenIncidents are all that are not over, of every team, with the members that
// break the rule now.
func (d *DB) OpenIncidents(ctx context.Context) ([]alert.Incident, error) {
	var rows []incidentRow
	err := d.view(ctx).Raw("SELECT * FROM incidents WHERE open_key IS NOT NULL ORDER BY id").Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the open incidents: %w", away(err))
	}
	var members []memberRow
	err = d.view(ctx).Raw("SELECT m.* FROM incident_members m JOIN incidents i ON i.id=m.incident_id" +
		" WHERE i.open_key IS NOT NULL AND m.gone_at IS NULL").Scan(&members).Error
	if err != nil {
		return nil, fmt.Errorf("read the members of open incidents: %w", away(err))
	}
	return withMembers(rows, members), nil
}

// RecordIncident stores what a turn made of an incident, with the messages that
// tell of it. false: it is not what it was any more, or the cause has an open
// incident already; nothing was stored then.
func (d *DB) RecordIncident(ctx context.Context, c alert.IncidentChange, now time.Time) (stored bool, err error) {
	err = d.tx(ctx, "record an incident", func(tx *gorm.DB) error {
		stored, err = d.moveIncident(tx, c)
		if err != nil || !stored {
			return err
		}
		if c.Drop {
			return tx.Exec("DELETE FROM incident_members WHERE incident_id=?", c.Is.ID).Error
		}
		if c.Members || c.Is.Version == 0 {
			if err := d.replaceMembers(tx, c.Is, now); err != nil {
				return err
			}
		}
		if err := fail.At("alert.incident"); err != nil {
			return err
		}
		return d.insertDeliveries(tx, c.Deliveries)
	})
	return stored, err
}

// moveIncident changes the row if it is what was read.
func (d *DB) moveIncident(tx *gorm.DB, c alert.IncidentChange) (bool, error) {
	r := rowOfIncident(c.Is)
	switch {
	case c.Is.Version == 0:
		if c.Drop {
			return false, nil
		}
		r.Version = 1
		err := tx.Create(&r).Error
		if isDuplicate(err) {
			return false, nil
		}
		return err == nil, err
	case c.Drop:
		done := tx.Exec("DELETE FROM incidents WHERE id=? AND version=? AND state=?", r.ID, r.Version, string(alert.Pending))
		return done.RowsAffected > 0, done.Error
	}
	r.Version++
	// All columns, also what is zero by now; and only of the version that was read.
	done := tx.Model(&incidentRow{}).Select("*").Omit("id").Where("id=? AND version=?", r.ID, c.Is.Version).Updates(&r)
	return done.RowsAffected > 0, done.Error
}

// PruneIncidents forgets what is over for more than a year, a batch at a time.
func (d *DB) PruneIncidents(ctx context.Context, now time.Time) error {
	const batch = 500
	for {
		n := 0
		err := d.tx(ctx, "prune incidents", func(tx *gorm.DB) error {
			var ids []string
			err := tx.Raw("SELECT id FROM incidents WHERE ended_at<? ORDER BY ended_at LIMIT ?", at(now.Add(-incidentLife)), batch).Scan(&ids).Error
			if n = len(ids); err != nil || n == 0 {
				return err
			}
			if err := tx.Exec("DELETE FROM incident_members WHERE incident_id IN (?)", ids).Error; err != nil {
				return err
			}
			return tx.Exec("DELETE FROM incidents WHERE id IN (?)", ids).Error
		})
		if err != nil || n < batch {
			return err
		}
	}
}

// incidentLife is how long incidents that are over are kept.
const incidentLife = 400 * 24 * time.Hour
