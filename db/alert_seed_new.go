package db

import (
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/alert"
)

// rulesKnown is the setting that lists the metrics whose first rules were made,
// separated by commas.
const rulesKnown = "alert.rules_known"

// seedNewRules makes the first rules of metrics that are newer than the
// ledger's first rules: once, for each team that has none of the metric or the
// name. It tells whether anything was written.
func seedNewRules(tx *gorm.DB, lock string, now time.Time) (bool, error) {
	if _, _, err := takeSetting(tx, lock, rulesSeeded); err != nil { // several nodes may start
		return false, err
	}
	known, err := knownMetrics(tx)
	if err != nil {
		return false, err
	}
	fresh := map[int64][]alert.Rule{}
	var metrics []string
	for from, rules := range map[string][]alert.Rule{"teams AS t": alert.TeamDefaults(), "(SELECT 0 AS id) AS t": alert.HouseDefaults()} {
		for _, r := range rules {
			if slices.Contains(known, string(r.Metric)) {
				continue
			}
			metrics = append(metrics, string(r.Metric))
			var teams []int64
			if err := tx.Raw("SELECT t.id FROM "+from+" WHERE NOT EXISTS (SELECT 1 FROM alert_rules r WHERE r.team_id=t.id AND (r.metric=? OR r.name=?))", r.Metric, r.Name).Scan(&teams).Error; err != nil {
				return false, err
			}
			for _, team := range teams {
				fresh[team] = append(fresh[team], r)
			}
		}
	}
	if len(metrics) == 0 {
		return false, nil
	}
	if err := knowMetrics(tx, append(known, metrics...)); err != nil {
		return false, err
	}
	for _, team := range slices.Sorted(maps.Keys(fresh)) {
		if err := seedTeam(tx, team, fresh[team], now); err != nil {
			return false, err
		}
	}
	return true, nil
}

// knownMetrics are those whose first rules were made. A ledger of before they
// were listed knows those that it has rules of.
func knownMetrics(tx *gorm.DB) ([]string, error) {
	list, ok, err := takeSetting(tx, "", rulesKnown)
	if err != nil || ok {
		return strings.Split(list, ","), err
	}
	var known []string
	err = tx.Raw("SELECT DISTINCT metric FROM alert_rules").Scan(&known).Error
	return known, err
}

func knowMetrics(tx *gorm.DB, metrics []string) error {
	slices.Sort(metrics)
	if err := tx.Exec("DELETE FROM settings WHERE name=?", rulesKnown).Error; err != nil {
		return err
	}
	return tx.Create(&settingRow{Name: rulesKnown, Value: strings.Join(slices.Compact(metrics), ",")}).Error
}
