package db

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// outputLife is how long what attempts printed is kept.
const outputLife = 30 * 24 * time.Hour

// stretchRow is a row of attempt_logs.
type stretchRow struct {
	InstanceID string
	Attempt    int
	Seq        int
	At         Millis
	Skipped    int64
	Body       string
}

// TableName is read by GORM.
func (stretchRow) TableName() string { return "attempt_logs" }

// WriteOutput adds stretches of what an attempt printed. Those from number from
// on that are there already are replaced; 0: none is.
func (d *DB) WriteOutput(ctx context.Context, instanceID string, attempt, from int, add []sched.Stretch) error {
	return d.tx(ctx, "write the output of "+instanceID, func(tx *gorm.DB) error {
		if from > 0 {
			err := tx.Exec("DELETE FROM attempt_logs WHERE instance_id=? AND attempt=? AND seq>=?", instanceID, attempt, from).Error
			if err != nil {
				return err
			}
		}
		if len(add) == 0 {
			return nil
		}
		const marks = "(?,?,?,?,?,?)"
		args := make([]any, 0, 6*len(add))
		for _, s := range add {
			args = append(args, instanceID, attempt, s.Seq, at(s.At), s.Skipped, s.Text)
		}
		return tx.Exec("INSERT INTO attempt_logs (instance_id, attempt, seq, at, skipped, body) VALUES "+
			marks+strings.Repeat(","+marks, len(add)-1)+" "+
			d.dialect.upsert("instance_id, attempt, seq", "at", "skipped", "body"), args...).Error
	})
}

// Output of an attempt: its last stretches, or all when limit is 0.
func (d *DB) Output(ctx context.Context, instanceID string, attempt, limit int) (sched.Output, error) {
	out := sched.Output{Attempt: attempt}
	q, args := "SELECT seq, at, skipped, body FROM attempt_logs WHERE instance_id=? AND attempt=? ORDER BY seq DESC", []any{instanceID, attempt}
	if limit > 0 {
		q, args = q+" LIMIT ?", append(args, limit+1)
	}
	var rows []stretchRow
	if err := d.view(ctx).Raw(q, args...).Scan(&rows).Error; err != nil {
		return out, fmt.Errorf("read the output of %s: %w", instanceID, away(err))
	}
	if limit > 0 && len(rows) > limit {
		out.Earlier, rows = true, rows[:limit]
	}
	slices.Reverse(rows)
	for _, r := range rows {
		out.Stretches = append(out.Stretches, sched.Stretch{Seq: r.Seq, At: r.At.Time, Skipped: r.Skipped, Text: r.Body})
	}
	return out, nil
}

// PruneOutputs removes what attempts printed more than thirty days ago.
func (d *DB) PruneOutputs(ctx context.Context, now time.Time) error {
	old := at(now.Add(-outputLife))
	for {
		var n int64
		err := d.tx(ctx, "prune the output of attempts", func(tx *gorm.DB) error {
			var rows []stretchRow
			err := tx.Raw("SELECT instance_id, attempt, seq FROM attempt_logs WHERE at<? ORDER BY at LIMIT ?", old, pruneOutputs).Scan(&rows).Error
			if err != nil {
				return err
			}
			for _, r := range rows {
				if err := tx.Exec("DELETE FROM attempt_logs WHERE instance_id=? AND attempt=? AND seq=?", r.InstanceID, r.Attempt, r.Seq).Error; err != nil {
					return err
				}
			}
			n = int64(len(rows))
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

// pruneOutputs is how many stretches one transaction removes: each may be long.
const pruneOutputs = 200
