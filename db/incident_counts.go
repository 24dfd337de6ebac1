package db

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/alert"
)

// RuleCounts counts the incidents that the rules opened since then, and those
// of them that somebody acknowledged, of the scope and of the installation.
func (d *DB) RuleCounts(ctx context.Context, s access.Scope, rules []int64, since time.Time) (map[int64]alert.Count30, error) {
	out := map[int64]alert.Count30{}
	if len(rules) == 0 {
		return out, nil
	}
	var rows []struct {
		RuleID int64
		Times  int
		Acted  int
	}
	w := &where{}
	w.and("rule_id IN (?)", rules)
	w.and("opened_at>=?", at(since))
	w.and("state<>?", string(alert.Pending))
	if !s.All {
		w.and("team_id IN (?)", append([]int64{0}, s.Teams...))
	}
	err := d.view(ctx).Raw("SELECT rule_id, COUNT(*) AS times, COUNT(acked_at) AS acted FROM incidents"+w.sql()+" GROUP BY rule_id", w.args...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count the incidents of rules: %w", away(err))
	}
	for _, r := range rows {
		out[r.RuleID] = alert.Count30{Times: r.Times, Acted: r.Acted}
	}
	return out, nil
}

// FiringCount counts the incidents that fire, of the scope and of the
// installation.
func (d *DB) FiringCount(ctx context.Context, s access.Scope) (alert.FiringCount, error) {
	w := &where{}
	w.and("state=?", string(alert.Firing))
	if !s.All {
		w.and("team_id IN (?)", append([]int64{0}, s.Teams...))
	}
	var rows []struct {
		Level string
		N     int
	}
	err := d.view(ctx).Raw("SELECT level, COUNT(*) AS n FROM incidents"+w.sql()+" GROUP BY level", w.args...).Scan(&rows).Error
	if err != nil {
		return alert.FiringCount{}, fmt.Errorf("count the incidents that fire: %w", away(err))
	}
	var out alert.FiringCount
	for _, r := range rows {
		if alert.Level(r.Level) == alert.P1 {
			out.P1 += r.N
		} else {
			out.P2 += r.N
		}
	}
	return out, nil
}
