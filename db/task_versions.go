package db

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/sched"
)

// versionRow is a row of task_versions.
type versionRow struct {
	TaskID    int64
	Version   int
	Spec      string // JSON of versionDoc
	Author    string
	Note      string
	CreatedAt Millis
}

// TableName is read by GORM.
func (versionRow) TableName() string { return "task_versions" }

// versionDoc is a version as it is kept: the definition, and what a task has
// besides it.
type versionDoc struct {
	sched.Spec
	Heading *sched.Heading `json:"heading,omitempty"` // rows of older releases have none
}

// addVersion keeps the task as it is by now.
func addVersion(tx *gorm.DB, t sched.Task, note string) error {
	heading := t.Heading()
	doc, err := json.Marshal(versionDoc{t.Spec, &heading})
	if err != nil {
		return fmt.Errorf("write version %d of task %s: %w", t.Version, t.Code, err)
	}
	return tx.Create(&versionRow{
		TaskID: t.ID, Version: t.Version, Spec: string(doc), Author: clip(t.UpdatedBy, 100), Note: clip(note, 500), CreatedAt: at(t.UpdatedAt),
	}).Error
}

// TaskVersions gives the latest definitions of a task, newest first.
func (d *DB) TaskVersions(ctx context.Context, taskID int64, limit int) ([]sched.TaskVersion, error) {
	var rows []versionRow
	err := d.view(ctx).Raw("SELECT * FROM task_versions WHERE task_id=? ORDER BY version DESC LIMIT ?", taskID, limit).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list versions of task %d: %w", taskID, err)
	}
	out := make([]sched.TaskVersion, len(rows))
	for i, r := range rows {
		if out[i], err = r.version(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// TaskVersion gives one definition of a task; NotFound when it has none of the
// number.
func (d *DB) TaskVersion(ctx context.Context, taskID int64, version int) (sched.TaskVersion, error) {
	var rows []versionRow
	err := d.view(ctx).Raw("SELECT * FROM task_versions WHERE task_id=? AND version=?", taskID, version).Scan(&rows).Error
	if err != nil {
		return sched.TaskVersion{}, fmt.Errorf("read version %d of task %d: %w", version, taskID, away(err))
	}
	if len(rows) == 0 {
		return sched.TaskVersion{}, access.NoObject()
	}
	return rows[0].version()
}

func (r versionRow) version() (sched.TaskVersion, error) {
	doc, err := r.doc()
	return sched.TaskVersion{
		TaskID: r.TaskID, Version: r.Version, Spec: doc.Spec, Heading: doc.Heading, Author: r.Author, Note: r.Note, CreatedAt: r.CreatedAt.Time,
	}, err
}

func (r versionRow) doc() (versionDoc, error) {
	var doc versionDoc
	if err := json.Unmarshal([]byte(r.Spec), &doc); err != nil {
		return doc, fmt.Errorf("read version %d of task %d: %w", r.Version, r.TaskID, err)
	}
	return doc, nil
}

// policyAt reads the policy of a task as of a version: what an attempt may do
// after its node died is decided by the definition that it began with.
func policyAt(tx *gorm.DB, taskID int64, version int) (sched.Policy, error) {
	spec, err := specAt(tx, taskID, version)
	return spec.Policy, err
}

// specAt reads the definition of a task as of a version.
func specAt(tx *gorm.DB, taskID int64, version int) (sched.Spec, error) {
	r := versionRow{TaskID: taskID, Version: version}
	err := tx.Raw("SELECT spec FROM task_versions WHERE task_id=? AND version=?", taskID, version).Row().Scan(&r.Spec)
	if err != nil {
		return sched.Spec{}, fmt.Errorf("read version %d of task %d: %w", version, taskID, err)
	}
	doc, err := r.doc()
	return doc.Spec, err
}
