package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
)

// Audit lists rows newest first, below the id cursor (0: from the newest);
// those right above a negative cursor's value come oldest first. The rows of
// the installation itself are in the scope of all only.
func (d *DB) Audit(ctx context.Context, s access.Scope, f access.AuditFilter, cursor int64, limit int) ([]access.Entry, error) {
	tx, w, order := d.view(ctx), auditWhere(s, f), "DESC"
	switch {
	case cursor > 0:
		w.and("id < ?", cursor)
	case cursor < 0:
		w.and("id > ?", -cursor)
		order = "ASC"
	}
	if err := auditBetween(tx, w, f); err != nil {
		return nil, fmt.Errorf("bound the audit in time: %w", away(err))
	}
	var rows []auditRow
	err := tx.Raw("SELECT * FROM audit_log"+w.sql()+" ORDER BY id "+order+" LIMIT ?", append(w.args, limit)...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read the audit: %w", away(err))
	}
	out := make([]access.Entry, len(rows))
	for i, r := range rows {
		if out[i], err = r.entry(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func auditWhere(s access.Scope, f access.AuditFilter) *where {
	w := &where{}
	w.scope("team_id", s)
	if f.Actor != "" {
		w.and("actor_name=?", f.Actor)
	}
	if strings.HasSuffix(f.Action, ".") {
		w.and("action LIKE ? ESCAPE '!'", likePrefix(f.Action))
	} else if f.Action != "" {
		w.and("action=?", f.Action)
	}
	switch f.Outcome {
	case access.Done:
		w.and("action NOT LIKE '%.refuse'")
	case access.Refused:
		w.and("action LIKE '%.refuse'")
	}
	if f.ObjectKind != "" {
		w.and("object_kind=?", f.ObjectKind)
	}
	if f.ObjectID != "" {
		w.and("object_id=?", f.ObjectID)
	}
	if f.Words != "" {
		w.and("object_name LIKE ? ESCAPE '!'", likePart(f.Words))
	}
	if !f.Since.IsZero() {
		w.and("at>=?", at(f.Since))
	}
	if !f.Until.IsZero() {
		w.and("at<?", at(f.Until))
	}
	return w
}

// auditBetween also bounds the ids, so that a list of a few days doesn't walk
// through years: ids and times rise together, but for what a transaction
// holds back.
func auditBetween(tx *gorm.DB, w *where, f access.AuditFilter) error {
	for _, edge := range []struct {
		on       bool
		at       time.Time
		find, op string
	}{
		{!f.Since.IsZero(), f.Since.Add(-auditSettle), "SELECT id FROM audit_log WHERE at<? ORDER BY at DESC, id DESC LIMIT 1", "id>?"},
		{!f.Until.IsZero(), f.Until.Add(auditSettle), "SELECT id FROM audit_log WHERE at>=? ORDER BY at, id LIMIT 1", "id<?"},
	} {
		if !edge.on {
			continue
		}
		var ids []int64
		if err := tx.Raw(edge.find, at(edge.at)).Scan(&ids).Error; err != nil {
			return err
		}
		if len(ids) > 0 {
			w.and(edge.op, ids[0])
		}
	}
	return nil
}
