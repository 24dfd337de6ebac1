package app

import (
	"context"
	"maps"
	"slices"
	"time"

	"ax/app/sched"
)

const (
	// endsOpen is how long a minute may still change: the roll-up counts three
	// minutes anew. What is older is added up once.
	endsOpen = 5 * time.Minute
	// teamsNamed bounds the label: teams after the oldest so many are one.
	teamsNamed  = 200
	otherTeams  = "(other)"
	keySplitter = "\x00" // in no code
)

// teamEnds counts what ended since the process first looked. The ledger's
// minutes are removed in time, so a sum over all of them would go back, which a
// counter never does.
type teamEnds struct {
	from time.Time // minutes before are in sums, or ended before this process
	sums map[string]float64
	told map[string]float64 // a task that moves takes its minutes along; no count goes back by that
}

// at gives the counts of a moment, with a zero for each outcome of each team. It
// is called by one at a time.
func (e *teamEnds) at(ctx context.Context, now time.Time, of figures) ([]sample, error) {
	end := now.Truncate(time.Minute).Add(time.Minute)
	if e.sums == nil {
		e.from, e.sums, e.told = end.Add(-time.Minute), map[string]float64{}, map[string]float64{}
	}
	if done := end.Add(-endsOpen); done.After(e.from) {
		old, err := of.EndedByTeam(ctx, e.from, done)
		if err != nil {
			return nil, err
		}
		addEnds(e.sums, old)
		e.from = done
	}
	late, err := of.EndedByTeam(ctx, e.from, end)
	if err != nil {
		return nil, err
	}
	sums := maps.Clone(e.sums)
	addEnds(sums, late)
	out := make([]sample, 0, len(sums))
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		e.told[key] = max(e.told[key], sums[key])
		out = append(out, sample{key, e.told[key]})
	}
	return out, nil
}

func addEnds(sums map[string]float64, ends []sched.TeamEnds) {
	named := map[int64]bool{}
	for _, e := range ends {
		if len(named) < teamsNamed {
			named[e.TeamID] = true
		}
		team := e.Team
		if !named[e.TeamID] {
			team = otherTeams
		}
		for _, s := range sched.States() {
			if s.Final() {
				sums[team+keySplitter+string(s)] += 0
			}
		}
		if e.State != "" {
			sums[team+keySplitter+string(e.State)] += float64(e.N)
		}
	}
}
