package db

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
)

// Incident gives one with the members that break the rule now, or broke it at
// the end. Faults: NotFound.
func (d *DB) Incident(ctx context.Context, id string) (alert.Incident, error) {
	var row incidentRow
	err := d.view(ctx).Raw("SELECT * FROM incidents WHERE id=?", id).Take(&row).Error
	if isNotFound(err) {
		return alert.Incident{}, fault.NotFound("There is no such incident")
	}
	if err != nil {
		return alert.Incident{}, fmt.Errorf("read incident %s: %w", id, away(err))
	}
	all, err := d.incidentsWithMembers(ctx, []incidentRow{row})
	if err != nil {
		return alert.Incident{}, err
	}
	return all[0], nil
}

// Incidents lists those of the scope's teams and of the installation, the
// latest first.
func (d *DB) Incidents(ctx context.Context, f alert.IncidentFilter) ([]alert.Incident, error) {
	w := &where{}
	if !f.Scope.All {
		w.and("team_id IN (?)", append([]int64{0}, f.Scope.Teams...))
	}
	if f.Open {
		w.and("state IN (?)", []string{string(alert.Pending), string(alert.Firing)})
	} else {
		w.and("state=?", string(alert.Over))
		w.and("ended_at>=?", at(f.Since))
	}
	if f.RuleID != 0 {
		w.and("rule_id=?", f.RuleID)
	}
	if f.Task != "" {
		w.and("id IN (SELECT incident_id FROM incident_members WHERE subject_kind=? AND subject_key=?)", string(alert.TaskSubject), f.Task)
	}
	if f.Before != "" {
		w.and("id<?", f.Before)
	}
	var rows []incidentRow
	err := d.view(ctx).Raw("SELECT * FROM incidents"+w.sql()+" ORDER BY id DESC LIMIT ?", append(w.args, f.Limit)...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list incidents: %w", away(err))
	}
	return d.incidentsWithMembers(ctx, rows)
}

func (d *DB) incidentsWithMembers(ctx context.Context, rows []incidentRow) ([]alert.Incident, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	var members []memberRow
	err := d.view(ctx).Raw("SELECT * FROM incident_members WHERE incident_id IN (?) AND gone_at IS NULL", ids).Scan(&members).Error
	if err != nil {
		return nil, fmt.Errorf("read the members of incidents: %w", away(err))
	}
	return withMembers(rows, members), nil
}

// ChangeIncident stores what a person did to it. Faults: Conflict.
func (d *DB) ChangeIncident(ctx context.Context, i alert.Incident, e access.Entry) error {
	return d.tx(ctx, "change an incident", func(tx *gorm.DB) error {
		done := tx.Exec("UPDATE incidents SET acked_by=?, acked_at=?, assignee=?, note=?, version=version+1 WHERE id=? AND version=? AND state<>?",
			clip(i.AckedBy, 100), at(i.AckedAt), clip(i.Assignee, 100), clip(i.Note, 2000), i.ID, i.Version, string(alert.Over))
		if done.Error != nil {
			return done.Error
		}
		if done.RowsAffected == 0 {
			return fault.Conflict("The incident was changed meanwhile: look at it again")
		}
		return recordAudit(tx, e)
	})
}
