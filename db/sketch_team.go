package db

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/access"
)

const (
	// totalsFromName and totalsToName are the settings that name the minutes
	// (the second not within) of which sketch_team has all that sketch_minute
	// has, with the teams that its rows have now. A task that moves to another
	// team begins this stretch anew, and so does a version of ax that makes no
	// totals: until it is as long as a window, the window reads tasks.
	totalsFromName = "stats.totals_from"
	totalsToName   = "stats.totals_to"
	// everyTeam is the team_id of the rows over all teams.
	everyTeam = 0
	// totalsLife is how long totals are kept: a window over a day reads hours.
	totalsLife = byHours + 2*time.Hour
)

// totals of a minute's sketches: by team and over all teams.
func (s sketches) totals() (sketches, error) {
	out := sketches{}
	for key, one := range s {
		for _, team := range [...]int64{everyTeam, one.team} {
			total, err := out.of(team, key.kind, team)
			if err != nil {
				return nil, err
			}
			if err := total.dd.MergeWith(one.dd); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// replaceTotals stores those of a minute; the key's task is a team here.
func replaceTotals(tx *gorm.DB, minute time.Time, totals sketches) error {
	if err := tx.Exec("DELETE FROM sketch_team WHERE minute_at=?", at(minute)).Error; err != nil {
		return err
	}
	keys := slices.SortedFunc(maps.Keys(totals), func(a, b sketchKey) int {
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.kind, b.kind))
	})
	const marks = "(?,?,?,?,?)"
	for some := range slices.Chunk(keys, 200) {
		args := make([]any, 0, 5*len(some))
		for _, key := range some {
			args = append(args, key.task, at(minute), string(key.kind), totals[key].count(), totals[key].encoded())
		}
		err := tx.Exec("INSERT INTO sketch_team (team_id, minute_at, kind, n, sketch) VALUES "+marks+strings.Repeat(","+marks, len(some)-1), args...).Error
		if err != nil {
			return err
		}
	}
	return nil
}

// reachTotals notes that totals stand up to a moment; began is where the
// minutes' sketches stood before. Where somebody else made minutes without
// totals in between, the stretch begins here.
func (d *DB) reachTotals(tx *gorm.DB, began, to time.Time) error {
	last, err := d.takeMoment(tx, totalsToName, began)
	if err != nil {
		return err
	}
	if _, err := d.takeMoment(tx, totalsFromName, began); err != nil {
		return err
	}
	if !last.Equal(began) {
		if err := setMoment(tx, totalsFromName, began); err != nil {
			return err
		}
	}
	return setMoment(tx, totalsToName, to)
}

// forgetTotals begins the stretch anew after rows of tasks changed their team.
// It holds the minutes' roll-up until the transaction ends.
func (d *DB) forgetTotals(tx *gorm.DB) error {
	reached, err := momentOf(tx, d.dialect.forUpdate, sketchName)
	if err != nil || reached.IsZero() {
		return err
	}
	if _, err := d.takeMoment(tx, totalsFromName, reached); err != nil {
		return err
	}
	return setMoment(tx, totalsFromName, reached)
}

// byTeams divides a part over minutes into what the totals tell and, around
// it, what the tasks' own rows do.
func (d *DB) byTeams(ctx context.Context, p part) ([]part, error) {
	from, err := momentOf(d.view(ctx), "", totalsFromName)
	if err != nil {
		return nil, err
	}
	to, err := momentOf(d.view(ctx), "", totalsToName)
	if err != nil {
		return nil, err
	}
	if from = later(from, p.from); !to.After(from) || !p.to.IsZero() {
		return []part{p}, nil
	}
	out := []part{{"sketch_team", p.at, from, to}, {p.table, p.at, to, time.Time{}}}
	if from.After(p.from) {
		out = append(out, part{p.table, p.at, p.from, from})
	}
	return out, nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// total limits a query over sketch_team to the scope.
func (p part) total(scope access.Scope) *where {
	w := &where{}
	w.and("minute_at>=? AND minute_at<?", at(p.from), at(p.to))
	if scope.All {
		w.and("team_id=?", everyTeam)
	} else {
		w.scope("team_id", scope)
	}
	return w
}

// spreadParts are what a percentile over all tasks of the scope is read from.
// Nobody's (no team) is read from nothing.
func (d *DB) spreadParts(ctx context.Context, m moves, taskID int64, parts []part) ([]part, error) {
	if taskID != 0 || len(m) > 0 || len(parts) != 1 {
		return parts, nil
	}
	return d.byTeams(ctx, parts[0])
}
