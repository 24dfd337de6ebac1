package db

import (
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/alert"
)

// memberRow is a row of incident_members.
type memberRow struct {
	IncidentID  string
	SubjectKind string
	SubjectKey  string
	SubjectName string
	Value       float64
	SinceAt     Millis
	Detail      string
	InstanceID  *string
	Owner       string
	Level       string
	GoneAt      Millis
}

// TableName is read by GORM.
func (memberRow) TableName() string { return "incident_members" }

func (r memberRow) member() alert.Member {
	m := alert.Member{
		Subject: alert.Subject{Kind: alert.SubjectKind(r.SubjectKind), Key: r.SubjectKey, Name: r.SubjectName},
		Value:   r.Value, Since: r.SinceAt.Time, Detail: r.Detail, Owner: r.Owner, Level: alert.Level(r.Level),
	}
	if r.InstanceID != nil {
		m.Instance = *r.InstanceID
	}
	return m
}

// withMembers joins incidents and their members.
func withMembers(rows []incidentRow, members []memberRow) []alert.Incident {
	out := make([]alert.Incident, len(rows))
	place := make(map[string]int, len(rows))
	for i, r := range rows {
		out[i] = r.incident()
		place[r.ID] = i
	}
	for _, m := range members {
		if i, ok := place[m.IncidentID]; ok {
			out[i].Members = append(out[i].Members, m.member())
		}
	}
	for i := range out {
		out[i].SortMembers()
	}
	return out
}

// memberBatch is how many members one statement stores.
const memberBatch = 200

// replaceMembers marks who is no member any more, and stores who is.
func (d *DB) replaceMembers(tx *gorm.DB, i alert.Incident, now time.Time) error {
	err := tx.Exec("UPDATE incident_members SET gone_at=? WHERE incident_id=? AND gone_at IS NULL", at(now), i.ID).Error
	if err != nil {
		return err
	}
	all := i.Members
	for len(all) > 0 {
		n := min(len(all), memberBatch)
		if err := d.storeMembers(tx, i.ID, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

func (d *DB) storeMembers(tx *gorm.DB, incident string, members []alert.Member) error {
	args := make([]any, 0, 10*len(members))
	for _, m := range members {
		var instance *string
		if m.Instance != "" {
			instance = &m.Instance
		}
		args = append(args, incident, string(m.Subject.Kind), clip(m.Subject.Key, 100), clip(m.Subject.Name, 200), m.Value,
			at(m.Since), clip(m.Detail, 500), instance, clip(m.Owner, 100), string(m.Level))
	}
	const row = "(?,?,?,?,?,?,?,?,?,?)"
	return tx.Exec("INSERT INTO incident_members (incident_id, subject_kind, subject_key, subject_name, value, since_at, detail, instance_id, owner, level) VALUES "+
		strings.Repeat(row+",", len(members)-1)+row+" "+
		d.dialect.upsert("incident_id, subject_kind, subject_key", "subject_name", "value", "since_at", "detail", "instance_id", "owner", "level", "gone_at=NULL"),
		args...).Error
}
