package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/db"
	"ax/db/dbtest"
)

// countedIncidents are incidents of two rules in two teams and in the installation.
func countedIncidents(t *testing.T, d *db.DB) {
	t.Helper()
	for n, c := range []struct {
		rule, team int64
		state      alert.IncidentState
		level      alert.Level
		opened     time.Time
		acked      bool
	}{
		{7, 1, alert.Firing, alert.P1, later(0), true},
		{7, 1, alert.Over, alert.P1, later(0), true},
		{7, 1, alert.Pending, alert.P1, later(0), false}, // nobody was told of it
		{7, 1, alert.Over, alert.P2, later(-60), false},  // before the time that is asked for
		{7, 2, alert.Firing, alert.P2, later(0), false},
		{8, 0, alert.Firing, alert.P2, later(0), false},
		{8, 0, alert.Firing, alert.P1, later(0), true},
		{9, 2, alert.Firing, alert.P1, later(0), false},
	} {
		i := anIncident(string(rune('a'+n)), "task")
		i.RuleID, i.TeamID, i.State, i.Level, i.OpenedAt = c.rule, c.team, c.state, c.level, c.opened
		if c.acked {
			i.AckedBy, i.AckedAt = "ann", later(1)
		}
		if c.state == alert.Over {
			i.EndedAt = later(9)
		}
		require.True(t, record(t, d, alert.IncidentChange{Is: i, Members: true}))
	}
}

func TestIncidentsOfRulesAreCountedWithWhatWasActedOn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		countedIncidents(t, d)
		for name, c := range map[string]struct {
			scope access.Scope
			rules []int64
			since time.Time
			want  map[int64]alert.Count30
		}{
			"all teams":               {access.Scope{All: true}, []int64{7, 8}, t0, map[int64]alert.Count30{7: {Times: 3, Acted: 2}, 8: {Times: 2, Acted: 1}}},
			"one team":                {access.Scope{Teams: []int64{1}}, []int64{7, 8}, t0, map[int64]alert.Count30{7: {Times: 2, Acted: 2}, 8: {Times: 2, Acted: 1}}},
			"the other team":          {access.Scope{Teams: []int64{2}}, []int64{7, 9}, t0, map[int64]alert.Count30{7: {Times: 1}, 9: {Times: 1}}},
			"no team":                 {access.Scope{}, []int64{7, 8}, t0, map[int64]alert.Count30{8: {Times: 2, Acted: 1}}},
			"from before":             {access.Scope{Teams: []int64{1}}, []int64{7}, later(-60), map[int64]alert.Count30{7: {Times: 3, Acted: 2}}},
			"no rule":                 {access.Scope{All: true}, nil, t0, map[int64]alert.Count30{}},
			"a rule without incident": {access.Scope{All: true}, []int64{99}, t0, map[int64]alert.Count30{}},
		} {
			got, err := d.RuleCounts(t.Context(), c.scope, c.rules, c.since)
			require.NoError(t, err, name)
			require.Equal(t, c.want, got, name)
		}
	})
}

func TestWhatFiresIsCountedByLevel(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		countedIncidents(t, d)
		for name, c := range map[string]struct {
			scope access.Scope
			want  alert.FiringCount
		}{
			"all teams":      {access.Scope{All: true}, alert.FiringCount{P1: 3, P2: 2}},
			"one team":       {access.Scope{Teams: []int64{1}}, alert.FiringCount{P1: 2, P2: 1}},
			"the other team": {access.Scope{Teams: []int64{2}}, alert.FiringCount{P1: 2, P2: 2}},
			"no team":        {access.Scope{}, alert.FiringCount{P1: 1, P2: 1}},
		} {
			got, err := d.FiringCount(t.Context(), c.scope)
			require.NoError(t, err, name)
			require.Equal(t, c.want, got, name)
		}
	})
}
