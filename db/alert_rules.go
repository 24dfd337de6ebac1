package db

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
)

// ruleRow is a row of alert_rules.
type ruleRow struct {
	ID         int64
	TeamID     int64
	Name       string
	Metric     string
	ScopeKind  string
	ScopeValue string
	Threshold  float64
	WindowMs   int64
	Least      int
	ForMs      int64
	Level      string
	EachTry    bool
	RepeatMs   int64
	Recovery   bool
	Mention    bool
	Enabled    bool
	Version    int
	CreatedBy  string
	CreatedAt  Millis
	ChangedBy  string
	ChangedAt  Millis
	Broken     string
	BrokenAt   Millis
}

// TableName is read by GORM.
func (ruleRow) TableName() string { return "alert_rules" }

func ruleRowOf(r alert.Rule) ruleRow {
	return ruleRow{
		ID: r.ID, TeamID: r.TeamID, Name: r.Name, Metric: string(r.Metric), ScopeKind: string(r.Scope.Kind), ScopeValue: r.Scope.Value,
		Threshold: r.Threshold, WindowMs: r.Window.Milliseconds(), Least: r.Least, ForMs: r.For.Milliseconds(), Level: string(r.Level),
		EachTry: r.EachTry, RepeatMs: r.Repeat.Milliseconds(), Recovery: r.Recovery, Mention: r.Mention, Enabled: r.Enabled, Version: r.Version,
		CreatedBy: clip(r.CreatedBy, 100), CreatedAt: at(r.CreatedAt), ChangedBy: clip(r.ChangedBy, 100), ChangedAt: at(r.ChangedAt),
		Broken: clip(r.Broken, 500), BrokenAt: at(r.BrokenAt),
	}
}

func (r ruleRow) rule() alert.Rule {
	return alert.Rule{
		ID: r.ID, TeamID: r.TeamID, Name: r.Name, Metric: alert.Metric(r.Metric),
		Scope:     alert.Scope{Kind: alert.ScopeKind(r.ScopeKind), Value: r.ScopeValue},
		Threshold: r.Threshold, Window: millis(r.WindowMs), Least: r.Least, For: millis(r.ForMs), Level: alert.Level(r.Level),
		EachTry: r.EachTry, Repeat: millis(r.RepeatMs), Recovery: r.Recovery, Mention: r.Mention, Enabled: r.Enabled, Version: r.Version,
		CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt.Time, ChangedBy: r.ChangedBy, ChangedAt: r.ChangedAt.Time,
		Broken: r.Broken, BrokenAt: r.BrokenAt.Time,
	}
}

// millis is a duration as the ledger stores it.
func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

func (d *DB) rules(ctx context.Context, tail string, args ...any) ([]alert.Rule, error) {
	var rows []ruleRow
	if err := d.view(ctx).Raw("SELECT * FROM alert_rules"+tail, args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list rules: %w", away(err))
	}
	out := make([]alert.Rule, len(rows))
	for i, r := range rows {
		out[i] = r.rule()
	}
	return out, nil
}

// RulesOf lists the rules of the scope and of the installation, by team and
// name.
func (d *DB) RulesOf(ctx context.Context, s access.Scope) ([]alert.Rule, error) {
	w := &where{}
	w.shared("team_id", s)
	return d.rules(ctx, w.sql()+" ORDER BY team_id, name", w.args...)
}

// AlertRules lists all rules that are switched on, for the evaluator.
func (d *DB) AlertRules(ctx context.Context) ([]alert.Rule, error) {
	return d.rules(ctx, " WHERE enabled=? ORDER BY id", true)
}

// Rule gives one. Faults: NotFound.
func (d *DB) Rule(ctx context.Context, id int64) (alert.Rule, error) {
	return takeRule(d.view(ctx), "", id)
}

func takeRule(tx *gorm.DB, lock string, id int64) (alert.Rule, error) {
	var r ruleRow
	err := tx.Raw("SELECT * FROM alert_rules WHERE id=?"+lock, id).Take(&r).Error
	if isNotFound(err) {
		return alert.Rule{}, access.NoObject()
	}
	if err != nil {
		return alert.Rule{}, fmt.Errorf("read rule %d: %w", id, away(err))
	}
	return r.rule(), nil
}

// InsertRule stores a rule. Faults: NotFound (the team), Conflict at name (the
// team has it already, or has most of them).
func (d *DB) InsertRule(ctx context.Context, r alert.Rule, most int, e access.Entry) (alert.Rule, error) {
	err := d.tx(ctx, "store a rule", func(tx *gorm.DB) error {
		n, err := d.countShared(tx, "alert_rules", r.TeamID, "1=1")
		if err != nil {
			return err
		}
		if n >= most {
			return taken("name", "There are %d rules, and no more are kept", n)
		}
		row := ruleRowOf(r)
		row.ID = 0 // of a try that was rolled back
		if err := tx.Create(&row).Error; isDuplicate(err) {
			return taken("name", "There is a rule with the name %q already", r.Name)
		} else if err != nil {
			return err
		}
		r.ID = row.ID
		return recordAudit(tx, numbered(e, r.ID))
	})
	return r, err
}

// countShared locks the team, so that two who add at once are counted, and
// counts its rows of a table that cond is true of. For the installation (team
// 0) no row is locked: administrators who add at once may pass the bound by a
// few. Faults: NotFound (the team).
func (d *DB) countShared(tx *gorm.DB, table string, team int64, cond string, args ...any) (int, error) {
	if team != 0 {
		if err := d.lockTeam(tx, team); err != nil {
			return 0, err
		}
	}
	var n int
	err := tx.Raw("SELECT COUNT(*) FROM "+table+" WHERE team_id=? AND "+cond, append([]any{team}, args...)...).Scan(&n).Error
	return n, err
}

// ChangeRule locks a rule, asks change what is to become of it, and stores that
// with the audit row. Faults: NotFound, Conflict at name, those of change.
func (d *DB) ChangeRule(ctx context.Context, id int64, change func(alert.Rule) (alert.Rule, access.Entry, error)) (alert.Rule, error) {
	var is alert.Rule
	err := d.tx(ctx, "change a rule", func(tx *gorm.DB) error {
		was, err := takeRule(tx, d.dialect.forUpdate, id)
		if err != nil {
			return err
		}
		var e access.Entry
		if is, e, err = change(was); err != nil {
			return err
		}
		row := ruleRowOf(is)
		err = tx.Model(&ruleRow{}).Where("id=?", id).Select("*").Omit("id", "team_id", "metric", "created_at", "created_by").Updates(&row).Error
		if isDuplicate(err) {
			return taken("name", "There is a rule with the name %q already", is.Name)
		}
		if err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
	return is, err
}

// DeleteRule takes a rule away with the subscriptions to it alone. Faults:
// NotFound, those of entry.
func (d *DB) DeleteRule(ctx context.Context, id int64, entry func(was alert.Rule, subscriptions int) (access.Entry, error)) error {
	return d.tx(ctx, "delete a rule", func(tx *gorm.DB) error {
		was, err := takeRule(tx, d.dialect.forUpdate, id)
		if err != nil {
			return err
		}
		gone := tx.Exec("DELETE FROM subscriptions WHERE rule_id=?", id)
		if gone.Error != nil {
			return gone.Error
		}
		if err := tx.Exec("DELETE FROM alert_rules WHERE id=?", id).Error; err != nil {
			return err
		}
		e, err := entry(was, int(gone.RowsAffected))
		if err != nil {
			return err
		}
		return recordAudit(tx, e)
	})
}

// SetBroken notes why a rule could not be judged, and since when; an empty why
// says that it could. A rule that is gone is left alone.
func (d *DB) SetBroken(ctx context.Context, rule int64, why string, now time.Time) error {
	why = clip(why, 500)
	since := at(now)
	if why == "" {
		since = Millis{}
	}
	err := d.tx(ctx, "note a broken rule", func(tx *gorm.DB) error {
		return tx.Exec("UPDATE alert_rules SET broken=?, broken_at=? WHERE id=? AND broken<>?", why, since, rule, why).Error
	})
	return err
}
