package db

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
)

// markRow is what rules need of a task. Level is the piece of the definition
// that begins with the alert level.
type markRow struct {
	ID        int64
	TeamID    int64
	Code      string
	Name      string
	GroupName string
	Owner     string
	Tags      string
	Queue     string
	Level     string
}

// levelKey comes once before the payload of a definition as ax writes it:
// within a text its quotation marks would be escaped.
const levelKey = `"alert_level":"`

// TaskMarks gives what rules need of every task that isn't archived, by id. A
// definition is not read as a whole: with its payload it may have 64 KB, and
// there may be 10,000 of them. Marks reads only what changed.
func (d *DB) TaskMarks(ctx context.Context) ([]alert.TaskMark, error) {
	var out []alert.TaskMark
	err := d.eachMark(ctx, "archived_at IS NULL", func(m alert.TaskMark, _ bool) { out = append(out, m) })
	if err != nil {
		return nil, err
	}
	return out, d.mendLevels(ctx, out)
}

// MarksOf is TaskMarks of the teams of a scope.
func (d *DB) MarksOf(ctx context.Context, s access.Scope) ([]alert.TaskMark, error) {
	if s.All {
		return d.TaskMarks(ctx)
	}
	if len(s.Teams) == 0 {
		return nil, nil
	}
	var out []alert.TaskMark
	err := d.eachMark(ctx, "archived_at IS NULL AND team_id IN ?", func(m alert.TaskMark, _ bool) { out = append(out, m) }, s.Teams)
	if err != nil {
		return nil, err
	}
	return out, d.mendLevels(ctx, out)
}

// eachMark reads the tasks of a condition by id.
func (d *DB) eachMark(ctx context.Context, cond string, do func(m alert.TaskMark, archived bool), args ...any) error {
	rows, err := d.view(ctx).Raw("SELECT id, team_id, code, name, group_name, owner, tags, queue, SUBSTR(spec, INSTR(spec, ?), 24) AS level,"+
		" archived_at IS NOT NULL AS archived FROM tasks WHERE "+cond+" ORDER BY id", append([]any{levelKey}, args...)...).Rows()
	if err != nil {
		return fmt.Errorf("read the tasks that rules look at: %w", away(err))
	}
	defer rows.Close()
	for rows.Next() {
		var r markRow
		var archived bool
		if err := rows.Scan(&r.ID, &r.TeamID, &r.Code, &r.Name, &r.GroupName, &r.Owner, &r.Tags, &r.Queue, &r.Level, &archived); err != nil {
			return fmt.Errorf("read the tasks that rules look at: %w", away(err))
		}
		do(r.mark(), archived)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the tasks that rules look at: %w", away(err))
	}
	return nil
}

func (r markRow) mark() alert.TaskMark {
	m := alert.TaskMark{ID: r.ID, TeamID: r.TeamID, Code: r.Code, Name: r.Name, Group: r.GroupName, Owner: r.Owner, Queue: r.Queue}
	if tags := strings.Trim(r.Tags, ","); tags != "" {
		m.Tags = strings.Split(tags, ",")
	}
	if rest, ok := strings.CutPrefix(r.Level, levelKey); ok {
		level, _, _ := strings.Cut(rest, `"`)
		m.Level = sched.AlertLevel(level)
	}
	return m
}

// mendLevels reads the whole definition of tasks whose level was not found by
// its place: MariaDB compares without regard to case, so a header may come first.
func (d *DB) mendLevels(ctx context.Context, marks []alert.TaskMark) error {
	for i, m := range marks {
		switch m.Level {
		case sched.AlertP1, sched.AlertP2, sched.AlertNone:
			continue
		}
		var spec string
		if err := d.view(ctx).Raw("SELECT spec FROM tasks WHERE id=?", m.ID).Row().Scan(&spec); err != nil {
			return fmt.Errorf("read the alert level of %s: %w", m.Code, away(err))
		}
		var s sched.Spec
		marks[i].Level = sched.AlertP2 // of one that can't be read its own page says so
		if json.Unmarshal([]byte(spec), &s) == nil && s.Policy.AlertLevel != "" {
			marks[i].Level = s.Policy.AlertLevel
		}
	}
	return nil
}
