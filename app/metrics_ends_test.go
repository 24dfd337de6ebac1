package app_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/alert"
	"ax/app/sched"
)

// ledgerOfEnds has what ended in each minute, of two teams.
type ledgerOfEnds struct {
	minutes map[time.Time][]sched.TeamEnds
	teams   int
}

func (l *ledgerOfEnds) EndedByTeam(_ context.Context, from, to time.Time) ([]sched.TeamEnds, error) {
	var out []sched.TeamEnds
	for i := range l.teams {
		id := int64(i + 1)
		out = append(out, sched.TeamEnds{TeamID: id, Team: fmt.Sprintf("t%d", id)})
		for at, ends := range l.minutes {
			for _, e := range ends {
				if e.TeamID == id && !at.Before(from) && at.Before(to) {
					out = append(out, e)
				}
			}
		}
	}
	return out, nil
}

func (l *ledgerOfEnds) AlertFigures(context.Context, time.Time) (alert.Figures, error) {
	return alert.Figures{}, nil
}

func (l *ledgerOfEnds) RolledUp(context.Context) (time.Time, error) { return time.Time{}, nil }

func TestWhatEndedIsACounterThatNeverGoesBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l := &ledgerOfEnds{minutes: map[time.Time][]sched.TeamEnds{}, teams: 2}
	m := h.metrics(func(o *app.MetricsOptions) { o.Figures = l })
	const good, bad = `ax_ended_total{outcome="succeeded",team="t1"}`, `ax_ended_total{outcome="failed",team="t2"}`
	end := func(n int, state sched.State, team int64) {
		at := h.local().Truncate(time.Minute)
		l.minutes[at] = append(l.minutes[at], sched.TeamEnds{TeamID: team, Team: fmt.Sprintf("t%d", team), State: state, N: n})
	}
	l.minutes[h.local().Truncate(time.Minute).Add(-time.Minute)] = []sched.TeamEnds{{TeamID: 1, Team: "t1", State: sched.Succeeded, N: 99}}

	got := scrape(t, m)
	require.Equal(t, "0", got[good], "what ended before belongs to nobody's rate")
	require.Equal(t, "0", got[bad], "a series begins before its first event")

	for i := range 20 {
		end(3, sched.Succeeded, 1)
		end(1, sched.Failed, 2)
		h.forward(time.Minute)
		got = scrape(t, m)
		require.Equal(t, fmt.Sprint(3*(i+1)), got[good])
		require.Equal(t, fmt.Sprint(i+1), got[bad])
	}
	for at := range l.minutes {
		delete(l.minutes, at) // pruned
	}
	h.forward(time.Minute)
	require.Equal(t, "60", scrape(t, m)[good])
}

func TestTeamsInLabelsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	l := &ledgerOfEnds{minutes: map[time.Time][]sched.TeamEnds{}, teams: 300}
	m := h.metrics(func(o *app.MetricsOptions) { o.Figures = l })
	_ = scrape(t, m)
	l.minutes[h.local().Truncate(time.Minute)] = []sched.TeamEnds{
		{TeamID: 290, Team: "t290", State: sched.Lost, N: 1}, {TeamID: 300, Team: "t300", State: sched.Lost, N: 1}, {TeamID: 1, Team: "t1", State: sched.Lost, N: 1},
	}
	h.forward(10 * time.Second)
	teams := map[string]bool{}
	got := scrape(t, m)
	for name := range got {
		if _, team, ok := strings.Cut(name, `ax_ended_total{outcome="lost",team="`); ok {
			teams[team] = true
		}
	}
	require.Len(t, teams, 201)
	require.Equal(t, "2", got[`ax_ended_total{outcome="lost",team="(other)"}`])
	require.Equal(t, "1", got[`ax_ended_total{outcome="lost",team="t1"}`])
}
