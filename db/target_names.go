package db

import (
	"encoding/json"
	"strings"

	"gorm.io/gorm"

	"ax/app/sched"
)

// tasksNaming gives, by what names finds in their definitions, the codes of the
// team's tasks. likes are what the definition of such a task holds.
func tasksNaming(q *gorm.DB, team int64, names func(sched.Spec) []string, likes ...string) (map[string][]string, error) {
	args := []any{team}
	for _, l := range likes {
		args = append(args, "%"+l+"%")
	}
	var rows []struct{ Code, Spec string }
	err := q.Raw("SELECT code, spec FROM tasks WHERE team_id=? AND archived_at IS NULL AND (spec LIKE ?"+strings.Repeat(" OR spec LIKE ?", len(likes)-1)+") ORDER BY code", args...).Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, r := range rows {
		var s sched.Spec
		if err := json.Unmarshal([]byte(r.Spec), &s); err != nil {
			continue // it can't run, and its own page says so
		}
		for _, name := range names(s) {
			out[name] = append(out[name], r.Code)
		}
	}
	return out, nil
}
