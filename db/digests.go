package db

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/alert"
)

// digestListed is how many lines each list of a digest has.
const digestListed = 5

// Told tells whether a channel has a message already.
func (d *DB) Told(ctx context.Context, channel, dedupe string) (bool, error) {
	var n int
	err := d.view(ctx).Raw("SELECT COUNT(*) FROM deliveries WHERE channel_id=? AND dedupe=?", channel, dedupe).Scan(&n).Error
	if err != nil {
		return false, fmt.Errorf("read what a channel was told of: %w", away(err))
	}
	return n > 0, nil
}

// DigestFigures are those of a team, 0 for all teams, from a moment until before
// another, with the team's name.
func (d *DB) DigestFigures(ctx context.Context, team int64, from, to time.Time) (alert.Summary, string, error) {
	scope := access.Scope{All: true}
	var name maybe
	if team != 0 {
		scope = access.Scope{Teams: []int64{team}}
		if err := d.view(ctx).Raw("SELECT name FROM teams WHERE id=?", team).Scan(&name).Error; err != nil {
			return alert.Summary{}, "", fmt.Errorf("read the team of a digest: %w", away(err))
		}
	}
	var s alert.Summary
	for _, read := range []func(context.Context, access.Scope, time.Time, time.Time, *alert.Summary) error{
		d.digestEnds, d.digestWorst, d.digestLetters, d.digestErrors, d.digestAlerts,
	} {
		if err := read(ctx, scope, from, to, &s); err != nil {
			return s, "", fmt.Errorf("read the figures of a digest: %w", away(err))
		}
	}
	return s, string(name), nil
}

// spanOf divides a span that is over: by hours where they stand, with minutes
// before the first whole one and after the last.
func spanOf(done, from, to time.Time) []part {
	minutes := func(from, to time.Time) part { return part{"stats_minute", "minute_at", from, to} }
	first, last := from.Truncate(time.Hour), to.Truncate(time.Hour)
	if first.Before(from) {
		first = first.Add(time.Hour)
	}
	if done.Before(last) {
		last = done
	}
	if !first.Before(last) {
		return []part{minutes(from, to)}
	}
	return []part{minutes(from, first), {"stats_hour", "hour_at", first, last}, minutes(last, to)}
}

// spanParts are those of the figures as they stand now.
func (d *DB) spanParts(ctx context.Context, from, to time.Time) ([]part, error) {
	done, err := momentOf(d.view(ctx), "", hoursName)
	return spanOf(done, from, to), err
}

func (d *DB) digestEnds(ctx context.Context, scope access.Scope, from, to time.Time, s *alert.Summary) error {
	parts, err := d.spanParts(ctx, from, to)
	if err != nil {
		return err
	}
	for _, p := range parts {
		w := p.where(nil, scope, 0)
		var rows []statRow
		err := d.view(ctx).Raw("SELECT state, SUM(n) AS n FROM "+p.table+w.sql()+" GROUP BY state", w.args...).Scan(&rows).Error
		if err != nil {
			return err
		}
		for _, r := range rows {
			switch r.State {
			case "succeeded", retried:
				s.Good += r.N
			case "failed", "timed_out", "lost":
				s.Bad += r.N
			default: // skipped, canceled
				s.NotRun += r.N
			}
		}
	}
	return nil
}

// digestWorst are the tasks with the most failures.
func (d *DB) digestWorst(ctx context.Context, scope access.Scope, from, to time.Time, s *alert.Summary) error {
	parts, err := d.spanParts(ctx, from, to)
	if err != nil {
		return err
	}
	union, args := "", []any{}
	for _, p := range parts {
		w := p.where(nil, scope, 0)
		w.and("state IN ?", []string{"failed", "timed_out", "lost"})
		if union != "" {
			union += " UNION ALL "
		}
		union += "SELECT task_id, n FROM " + p.table + w.sql()
		args = append(args, w.args...)
	}
	var rows []struct {
		Name, Code string
		N          int
	}
	err = d.view(ctx).Raw("SELECT t.name, t.code, SUM(f.n) AS n FROM ("+union+") AS f JOIN tasks t ON t.id=f.task_id"+
		" GROUP BY t.id, t.name, t.code ORDER BY n DESC, t.code LIMIT ?", append(args, digestListed)...).Scan(&rows).Error
	for _, r := range rows {
		s.Worst = append(s.Worst, alert.SummaryLine{Name: r.Name, N: r.N, More: r.Code})
	}
	return err
}

// openAt limits a query to letters that were open at a moment, as far as the
// rows tell: one that was opened again since counts from then on.
func openAt(scope access.Scope, to time.Time) *where {
	w := &where{}
	w.and("opened_at<? AND (status IN ? OR closed_at>=?)", at(to), []string{"open", "taken"}, at(to))
	w.scope("team_id", scope)
	return w
}

func (d *DB) digestLetters(ctx context.Context, scope access.Scope, from, to time.Time, s *alert.Summary) error {
	for column, n := range map[string]*int{"opened_at": &s.Opened, "closed_at": &s.Closed} {
		w := &where{}
		w.and(column+">=? AND "+column+"<?", at(from), at(to))
		w.scope("team_id", scope)
		if err := d.view(ctx).Raw("SELECT COUNT(*) FROM dead_letters"+w.sql(), w.args...).Scan(n).Error; err != nil {
			return err
		}
	}
	var open struct {
		N      int
		Oldest Millis
	}
	w := openAt(scope, to)
	err := d.view(ctx).Raw("SELECT COUNT(*) AS n, MIN(opened_at) AS oldest FROM dead_letters"+w.sql(), w.args...).Scan(&open).Error
	s.Open, s.Oldest = open.N, open.Oldest.Time
	return err
}

// digestErrors are the errors that most open letters have: those of one
// fingerprint together, told by the latest of them.
func (d *DB) digestErrors(ctx context.Context, scope access.Scope, _, to time.Time, s *alert.Summary) error {
	w := openAt(scope, to)
	var rows []struct {
		N, Tasks int
		Error    string
		Code     string
	}
	err := d.view(ctx).Raw("SELECT g.n, g.tasks, l.error, t.code FROM (SELECT COUNT(*) AS n, COUNT(DISTINCT task_id) AS tasks, MAX(id) AS latest FROM dead_letters"+
		w.sql()+" GROUP BY fingerprint ORDER BY n DESC, latest DESC LIMIT ?) AS g JOIN dead_letters l ON l.id=g.latest JOIN tasks t ON t.id=l.task_id"+
		" ORDER BY g.n DESC, g.latest DESC", append(w.args, digestListed)...).Scan(&rows).Error
	for _, r := range rows {
		line := alert.SummaryLine{Name: clip(r.Error, 500), N: r.N}
		if r.Tasks == 1 {
			line.More = r.Code
		}
		s.Letters = append(s.Letters, line)
	}
	return err
}

// digestAlerts are the incidents that opened, by rule. Their ids are of the
// moment at which the breach began, which is an hour before at most.
func (d *DB) digestAlerts(ctx context.Context, scope access.Scope, from, to time.Time, s *alert.Summary) error {
	w := &where{}
	w.and("id>=? AND id<? AND opened_at>=? AND opened_at<?", firstID(from.Add(-2*alert.MaxFor)), firstID(to.Add(time.Minute)), at(from), at(to))
	w.scope("team_id", scope)
	err := d.view(ctx).Raw("SELECT rule_name AS name, COUNT(*) AS n FROM incidents"+w.sql()+
		" GROUP BY rule_id, rule_name ORDER BY n DESC, rule_name LIMIT ?", append(w.args, digestListed)...).Scan(&s.Alerts).Error
	return err
}
