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

// Stretches gives at most n stretches of an output, from the one on that holds
// the number.
func (d *DB) Stretches(ctx context.Context, instanceID string, attempt, from, n int) ([]sched.Stretch, error) {
	var rows []stretchRow
	err := d.view(ctx).Raw("SELECT seq, at, skipped, body FROM attempt_logs WHERE instance_id=? AND attempt=? AND seq>="+
		"COALESCE((SELECT MAX(l.seq) FROM attempt_logs l WHERE l.instance_id=? AND l.attempt=? AND l.seq<=?),0) ORDER BY seq LIMIT ?",
		instanceID, attempt, instanceID, attempt, from, n).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the output of %s: %w", instanceID, away(err))
	}
	out := make([]sched.Stretch, len(rows))
	for i, r := range rows {
		out[i] = sched.Stretch{Seq: r.Seq, At: r.At.Time, Skipped: r.Skipped, Text: r.Body}
	}
	return out, nil
}

// LogMark tells whether something came to the log of an attempt: it is another
// one then. It is cheap to ask.
func (d *DB) LogMark(ctx context.Context, instanceID string, attempt int) (string, error) {
	var got struct {
		State    string
		Attempt  int
		Ended    Millis
		Code     int
		Seq      int64
		At       int64
		Progress int64
		Refused  int64
		Receipt  int64
		Event    int64
	}
	const last = " FROM attempt_logs l WHERE l.instance_id=i.id AND l.attempt=a.no ORDER BY l.seq DESC LIMIT 1),0)"
	const note = "COALESCE((SELECT MAX(n.seq) FROM attempt_notes n WHERE n.instance_id=i.id AND n.attempt=a.no AND n.source="
	err := d.view(ctx).Raw("SELECT i.state, i.attempt, a.ended_at AS ended, a.status_code AS code, COALESCE((SELECT l.seq"+last+" AS seq, COALESCE((SELECT l.at"+last+" AS at, "+
		note+"'progress'),0) AS progress, "+note+"'receipt'),0) AS refused,"+
		" COALESCE((SELECT MAX(r.id) FROM receipts r WHERE r.instance_id=i.id),0) AS receipt,"+
		" COALESCE((SELECT MAX(e.id) FROM instance_events e WHERE e.instance_id=i.id),0) AS event"+
		" FROM instances i JOIN attempts a ON a.instance_id=i.id AND a.no=? WHERE i.id=?", attempt, instanceID).Scan(&got).Error
	if err != nil {
		return "", fmt.Errorf("look at the log of %s: %w", instanceID, away(err))
	}
	return fmt.Sprint(got), nil
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
