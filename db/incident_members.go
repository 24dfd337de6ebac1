package db

import (
	"cmp"
	"maps"
	"slices"
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

// replaceMembers marks who is no member any more, and stores who came or is
// other than before: of a thousand members few change at a turn.
func (d *DB) replaceMembers(tx *gorm.DB, i alert.Incident, now time.Time) error {
	var rows []memberRow
	if err := tx.Raw("SELECT * FROM incident_members WHERE incident_id=? AND gone_at IS NULL", i.ID).Scan(&rows).Error; err != nil {
		return err
	}
	had := make(map[alert.Subject]memberRow, len(rows))
	for _, r := range rows {
		had[r.subject()] = r
	}
	var changed []memberRow
	for _, m := range i.Members {
		r := rowOfMember(i.ID, m)
		if was, ok := had[r.subject()]; !ok || !was.same(r) {
			changed = append(changed, r)
		}
		delete(had, r.subject())
	}
	if err := goneMembers(tx, i.ID, had, now); err != nil {
		return err
	}
	for some := range slices.Chunk(changed, memberBatch) {
		if err := d.storeMembers(tx, some); err != nil {
			return err
		}
	}
	return nil
}

// subject is the row's key within its incident.
func (r memberRow) subject() alert.Subject {
	return alert.Subject{Kind: alert.SubjectKind(r.SubjectKind), Key: r.SubjectKey}
}

func (r memberRow) same(o memberRow) bool {
	same := text(r.InstanceID) == text(o.InstanceID) && r.SinceAt.Equal(o.SinceAt.Time)
	r.InstanceID, o.InstanceID, r.SinceAt, o.SinceAt = nil, nil, Millis{}, Millis{}
	return same && r == o
}

// goneMembers marks those who left. In the order of their keys: two who write
// the same incident must not wait for each other.
func goneMembers(tx *gorm.DB, incident string, left map[alert.Subject]memberRow, now time.Time) error {
	keys := slices.SortedFunc(maps.Keys(left), func(a, b alert.Subject) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
	})
	for some := range slices.Chunk(keys, memberBatch) {
		args := []any{at(now), incident}
		for _, k := range some {
			args = append(args, string(k.Kind), k.Key)
		}
		one := "subject_kind=? AND subject_key=?"
		err := tx.Exec("UPDATE incident_members SET gone_at=? WHERE incident_id=? AND ("+one+strings.Repeat(" OR "+one, len(some)-1)+")", args...).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// rowOfMember is the member as it is stored.
func rowOfMember(incident string, m alert.Member) memberRow {
	return memberRow{
		IncidentID: incident, SubjectKind: string(m.Subject.Kind), SubjectKey: clip(m.Subject.Key, 100), SubjectName: clip(m.Subject.Name, 200),
		Value: m.Value, SinceAt: at(m.Since), Detail: clip(m.Detail, 500), InstanceID: none(m.Instance), Owner: clip(m.Owner, 100), Level: string(m.Level),
	}
}

func (d *DB) storeMembers(tx *gorm.DB, members []memberRow) error {
	args := make([]any, 0, 10*len(members))
	for _, r := range members {
		args = append(args, r.IncidentID, r.SubjectKind, r.SubjectKey, r.SubjectName, r.Value, r.SinceAt, r.Detail, r.InstanceID, r.Owner, r.Level)
	}
	const row = "(?,?,?,?,?,?,?,?,?,?)"
	return tx.Exec("INSERT INTO incident_members (incident_id, subject_kind, subject_key, subject_name, value, since_at, detail, instance_id, owner, level) VALUES "+
		strings.Repeat(row+",", len(members)-1)+row+" "+
		d.dialect.upsert("incident_id, subject_kind, subject_key", "subject_name", "value", "since_at", "detail", "instance_id", "owner", "level", "gone_at=NULL"),
		args...).Error
}
