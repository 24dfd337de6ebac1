package db

import (
	"context"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/alert"
)

// rulesSeeded is the setting that says when the first rules were made.
const rulesSeeded = "alert.rules_seeded"

// addRules makes rules of a team that begins, all with what every rule begins
// with.
func addRules(tx *gorm.DB, team int64, rules []alert.Rule, by string, now time.Time) error {
	rows := make([]ruleRow, len(rules))
	for i, r := range rules {
		r = r.Default()
		r.TeamID, r.Version = team, 1
		r.CreatedBy, r.CreatedAt, r.ChangedBy, r.ChangedAt = by, now, by, now
		rows[i] = ruleRowOf(r)
	}
	return tx.Create(&rows).Error
}

// SeedHouseRules makes the rules of the installation once, those of teams that
// were made before there were rules, and those of metrics that came later. What
// somebody deletes is not made again. Several nodes may do it at once. It tells whether anything was written.
func (d *DB) SeedHouseRules(ctx context.Context, now time.Time) (bool, error) {
	var wrote bool
	seed := func() error {
		return d.tx(ctx, "seed the rules", func(tx *gorm.DB) error {
			wrote = false
			_, done, err := takeSetting(tx, "", rulesSeeded)
			if err != nil {
				return err
			}
			if done {
				wrote, err = seedNewRules(tx, d.dialect.forUpdate, now)
				return err
			}
			wrote = true
			return seedRules(tx, now)
		})
	}
	err := seed()
	if errors.Is(err, errSeededMeanwhile) { // it has committed: its setting is there
		err = seed()
	}
	return wrote && err == nil, err
}

func seedRules(tx *gorm.DB, now time.Time) error {
	err := tx.Create(&settingRow{Name: rulesSeeded, Value: now.UTC().Format(time.RFC3339)}).Error
	if isDuplicate(err) {
		return errSeededMeanwhile
	}
	if err != nil {
		return err
	}
	if err := knowMetrics(tx, defaultMetrics()); err != nil {
		return err
	}
	var teams []int64
	q := "SELECT t.id FROM teams t LEFT JOIN alert_rules r ON r.team_id=t.id WHERE r.id IS NULL ORDER BY t.id"
	if err := tx.Raw(q).Scan(&teams).Error; err != nil {
		return err
	}
	for _, team := range teams {
		if err := seedTeam(tx, team, alert.TeamDefaults(), now); err != nil {
			return err
		}
	}
	return seedTeam(tx, 0, alert.HouseDefaults(), now)
}

// seedTeam makes rules of a team, 0 for the installation, with the audit.
func seedTeam(tx *gorm.DB, team int64, rules []alert.Rule, now time.Time) error {
	by := alert.House()
	if err := addRules(tx, team, rules, by.Name, now); err != nil {
		return err
	}
	return recordAudit(tx, seedEntry(by, team, rules, now))
}

// defaultMetrics are those that first rules are made of.
func defaultMetrics() (out []string) {
	for _, r := range append(alert.TeamDefaults(), alert.HouseDefaults()...) {
		out = append(out, string(r.Metric))
	}
	return out
}

func seedEntry(by access.Actor, team int64, rules []alert.Rule, now time.Time) access.Entry {
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = r.Name
	}
	return access.Entry{
		At: now, Actor: by, Action: "rule.seed", TeamID: team, Object: access.Object{Kind: "rule"},
		Changes: []access.Change{{Field: "rules", New: strings.Join(names, ", ")}},
	}
}
