package db

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"ax/app/access"

	"ax/app/fail"
)

// auditRow is a row of audit_log. Rows are only ever inserted; the hash chain
// stands in audit_seals.
type auditRow struct {
	ID         int64
	At         Millis
	ActorKind  string
	ActorID    string
	ActorName  string
	Address    string
	Action     string
	ObjectKind string
	ObjectID   string
	ObjectName string
	TeamID     *int64 // NULL: the installation's
	Diff       maybe  // JSON of []access.Change
	Reason     string
	RequestID  string
}

// TableName is read by GORM.
func (auditRow) TableName() string { return "audit_log" }

// recordAudit writes the audit row of a change in the change's transaction. A
// text that is too long or no UTF-8 is mended: it must not make the change
// fail.
func recordAudit(tx *gorm.DB, e access.Entry) error {
	r, err := auditRowOf(e)
	if err != nil {
		return err
	}
	if err := fail.At("audit.row"); err != nil {
		return err
	}
	if err := tx.Create(&r).Error; err != nil {
		return fmt.Errorf("record %s in the audit: %w", e.Action, err)
	}
	return nil
}

func auditRowOf(e access.Entry) (auditRow, error) {
	r := auditRow{
		At: at(e.At), ActorKind: string(e.Actor.Kind), ActorName: told(e.Actor.Name, 200),
		Address: told(e.Actor.Address, 64), Action: e.Action,
		ObjectKind: e.Object.Kind, ObjectID: clip(printable(e.Object.ID), 100), ObjectName: told(e.Object.Name, 200),
		Reason: told(e.Reason, 1000), RequestID: clip(printable(e.Actor.RequestID), 64),
	}
	if e.Actor.ID != 0 {
		r.ActorID = strconv.FormatInt(e.Actor.ID, 10)
	}
	if e.TeamID != 0 {
		r.TeamID = &e.TeamID
	}
	if len(e.Changes) > 0 {
		diff, err := json.Marshal(e.Changes)
		if err != nil {
			return r, fmt.Errorf("write the changes of %s: %w", e.Action, err)
		}
		r.Diff = maybe(diff)
	}
	return r, nil
}

// told is text as a column of n characters can hold it.
func told(s string, n int) string { return clip(strings.ToValidUTF8(s, "\uFFFD"), n) }

// printable drops what an ascii column can't hold: a request id may come from
// a header.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return -1
		}
		return r
	}, s)
}

func (r auditRow) entry() (access.Entry, error) {
	e := access.Entry{
		ID: r.ID, At: r.At.Time, Action: r.Action, Reason: r.Reason,
		Actor: access.Actor{Kind: access.ActorKind(r.ActorKind), Name: r.ActorName,
			Address: r.Address, RequestID: r.RequestID},
		Object: access.Object{Kind: r.ObjectKind, ID: r.ObjectID, Name: r.ObjectName},
	}
	if r.TeamID != nil {
		e.TeamID = *r.TeamID
	}
	if r.ActorID != "" {
		id, err := strconv.ParseInt(r.ActorID, 10, 64)
		if err != nil {
			return e, fmt.Errorf("read the actor of audit row %d: %w", r.ID, err)
		}
		e.Actor.ID = id
	}
	if r.Diff != "" {
		if err := json.Unmarshal([]byte(r.Diff), &e.Changes); err != nil {
			return e, fmt.Errorf("read the changes of audit row %d: %w", r.ID, err)
		}
	}
	return e, nil
}

// RecordAudit writes a row that belongs to no change, such as a refusal.
func (d *DB) RecordAudit(ctx context.Context, e access.Entry) error {
	return d.tx(ctx, "record "+e.Action, func(tx *gorm.DB) error { return recordAudit(tx, e) })
}
