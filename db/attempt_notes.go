package db

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// noteRow is a row of attempt_notes.
type noteRow struct {
	InstanceID string
	Attempt    int
	Source     string
	Seq        int
	At         Millis
	Body       string
}

// TableName is read by GORM.
func (noteRow) TableName() string { return "attempt_notes" }

// addNote adds a word of an attempt whose instance is locked, and takes away
// the one that is neither among the first nor among the last any more.
func addNote(tx *gorm.DB, instanceID string, attempt int, source sched.LogSource, text string, now time.Time) error {
	var last int
	err := tx.Raw("SELECT COALESCE(MAX(seq),0) FROM attempt_notes WHERE instance_id=? AND attempt=? AND source=?", instanceID, attempt, string(source)).Scan(&last).Error
	if err != nil {
		return err
	}
	err = tx.Exec("INSERT INTO attempt_notes (instance_id, attempt, source, seq, at, body) VALUES (?,?,?,?,?,?)",
		instanceID, attempt, string(source), last+1, at(now), clip(text, 600)).Error
	if err != nil || last < sched.NotesHead+sched.NotesTail {
		return err
	}
	return tx.Exec("DELETE FROM attempt_notes WHERE instance_id=? AND attempt=? AND source=? AND seq>? AND seq<=?",
		instanceID, attempt, string(source), sched.NotesHead, last+1-sched.NotesTail).Error
}

// noteAccepted notes when targets took the work of attempts.
func (d *DB) noteAccepted(tx *gorm.DB, ends []ended) error {
	var args []any
	for _, x := range ends {
		if x.e.Outcome == sched.OutcomeAccepted {
			args = append(args, x.in.ID, x.in.Attempt, string(sched.LogAx), 1, at(x.now))
		}
	}
	if len(args) == 0 {
		return nil
	}
	const marks = "(?,?,?,?,?)"
	return tx.Exec("INSERT INTO attempt_notes (instance_id, attempt, source, seq, at) VALUES "+marks+strings.Repeat(","+marks, len(args)/5-1)+" "+
		d.dialect.upsert("instance_id, attempt, source, seq", "at"), args...).Error
}

// NoteRefused notes a receipt that was refused, for the log of its attempt.
// Faults: NotFound.
func (d *DB) NoteRefused(ctx context.Context, r sched.Report, why string, now time.Time) error {
	return d.tx(ctx, "note a refused receipt of "+r.InstanceID, func(tx *gorm.DB) error {
		in, err := takeInstance(tx, d.dialect.forUpdate, r.InstanceID)
		if err != nil || r.Attempt < 1 || r.Attempt > in.Attempt {
			return err
		}
		text := strings.TrimSpace(string(r.Outcome)+" "+clip(r.Message, 300)) + " (" + r.Address + "): " + why
		return addNote(tx, r.InstanceID, r.Attempt, sched.LogReceipt, text, now)
	})
}

// noteProgress notes what the target said; a sign of life without words is
// none.
func noteProgress(tx *gorm.DB, g sched.Sign, now time.Time) error {
	var words []string
	if g.Percent != nil {
		words = append(words, strconv.Itoa(*g.Percent)+" %")
	}
	if g.Message != "" {
		words = append(words, clip(g.Message, 500))
	}
	if len(words) == 0 {
		return nil
	}
	return addNote(tx, g.InstanceID, g.Attempt, sched.LogProgress, strings.Join(words, " · "), now)
}

// LogParts gives what is stored of an attempt for its log: of receipts the
// first n behind a row, or the last -n.
func (d *DB) LogParts(ctx context.Context, instanceID string, attempt int, after int64, n int) (sched.LogParts, error) {
	var out sched.LogParts
	order, limit := "id", n
	if n < 0 {
		order, limit = "id DESC", -n
	}
	var receipts []struct {
		ID      int64
		At      Millis
		Outcome string
		Message string
		Address string
	}
	err := d.view(ctx).Raw("SELECT id, at, outcome, message, address FROM receipts WHERE instance_id=? AND attempt=? AND id>? ORDER BY "+order+" LIMIT ?",
		instanceID, attempt, after, limit).Scan(&receipts).Error
	if err != nil {
		return out, fmt.Errorf("read the receipts of %s: %w", instanceID, away(err))
	}
	if n < 0 {
		slices.Reverse(receipts)
	}
	for _, r := range receipts {
		out.Receipts = append(out.Receipts, sched.ReceiptRow{ID: r.ID, At: r.At.Time, Outcome: sched.Outcome(r.Outcome), Message: r.Message, Address: r.Address})
	}
	var notes []noteRow
	err = d.view(ctx).Raw("SELECT source, seq, at, body FROM attempt_notes WHERE instance_id=? AND attempt=? ORDER BY source, seq", instanceID, attempt).Scan(&notes).Error
	if err != nil {
		return out, fmt.Errorf("read the notes of %s: %w", instanceID, away(err))
	}
	for _, r := range notes {
		out.Notes = append(out.Notes, sched.Note{Source: sched.LogSource(r.Source), Seq: r.Seq, At: r.At.Time, Text: r.Body})
	}
	shards, err := d.Shards(ctx, instanceID)
	for _, s := range shards {
		if s.Attempt == attempt {
			out.Shards = append(out.Shards, s)
		}
	}
	return out, err
}

// PruneNotes removes the words of attempts when their output goes.
func (d *DB) PruneNotes(ctx context.Context, now time.Time) error {
	old := at(now.Add(-outputLife))
	for {
		var n int
		err := d.tx(ctx, "prune the notes of attempts", func(tx *gorm.DB) error {
			var rows []noteRow
			err := tx.Raw("SELECT instance_id, attempt, source, seq FROM attempt_notes WHERE at<? ORDER BY at LIMIT ?", old, pruneOutputs).Scan(&rows).Error
			if err != nil {
				return err
			}
			for _, r := range rows {
				err := tx.Exec("DELETE FROM attempt_notes WHERE instance_id=? AND attempt=? AND source=? AND seq=?", r.InstanceID, r.Attempt, r.Source, r.Seq).Error
				if err != nil {
					return err
				}
			}
			n = len(rows)
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
