package alert_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
)

// min is a moment so many minutes after noon.
func minute(n float64) time.Time { return noon().Add(time.Duration(n * float64(time.Minute))) }

func task(code string) alert.Subject { return alert.Subject{Kind: alert.TaskSubject, Key: code} }

func lineOf(code string, points ...alert.Point) alert.Track {
	return alert.Track{Subject: task(code), TeamID: 1, Points: points}
}

func at(m, value float64) alert.Point { return alert.Point{At: minute(m), Value: value, N: 100} }

func because(cause string, p alert.Point) alert.Point { p.Cause = cause; return p }

func TestARuleIsTriedOnThePast(t *testing.T) {
	t.Parallel()
	row := alert.Rule{Metric: alert.InARow, Threshold: 3, Repeat: 30 * time.Minute, Recovery: true}
	lasting := row
	lasting.For = 5 * time.Minute
	once := row
	once.Repeat, once.Recovery = 0, false
	rate := alert.Rule{Metric: alert.SuccessRate, Threshold: 95, Least: 20, Window: time.Hour, Recovery: true}
	type found struct {
		since, opened, ended float64 // minutes; ended -1: not over
		worst                float64
		subjects, messages   int
	}
	for name, tt := range map[string]struct {
		rule  alert.Rule
		lines []alert.Track
		want  []found
	}{
		"quiet":                      {row, []alert.Track{lineOf("a", at(0, 0), at(10, 2))}, nil},
		"nothing known":              {row, nil, nil},
		"one":                        {row, []alert.Track{lineOf("a", at(0, 2), at(10, 3), at(12, 5), at(20, 0))}, []found{{10, 10, 20.5, 5, 1, 2}}},
		"repeated":                   {row, []alert.Track{lineOf("a", at(0, 3), at(95, 0))}, []found{{0, 0, 95.5, 3, 1, 5}}},
		"repeat just at the end":     {row, []alert.Track{lineOf("a", at(0, 3), at(60, 0))}, []found{{0, 0, 60.5, 3, 1, 3}}},
		"told once":                  {once, []alert.Track{lineOf("a", at(0, 3), at(95, 0))}, []found{{0, 0, 95.5, 3, 1, 1}}},
		"not over":                   {row, []alert.Track{lineOf("a", at(100, 3))}, []found{{100, 100, -1, 3, 1, 1}}},
		"begins at the very end":     {row, []alert.Track{lineOf("a", at(120, 3))}, []found{{120, 120, -1, 3, 1, 1}}},
		"too short":                  {lasting, []alert.Track{lineOf("a", at(0, 3), at(4, 0))}, nil},
		"just long enough":           {lasting, []alert.Track{lineOf("a", at(0, 3), at(5, 0))}, []found{{0, 5, 5.5, 3, 1, 2}}},
		"not long enough yet":        {lasting, []alert.Track{lineOf("a", at(116, 3))}, nil},
		"flaps before it opened":     {lasting, []alert.Track{lineOf("a", at(0, 3), at(3, 0), at(3.2, 4), at(6, 0))}, nil},
		"flaps":                      {row, []alert.Track{lineOf("a", at(0, 3), at(3, 0), at(3.4, 4), at(6, 0), at(6.9, 3), at(7, 0), at(9, 3), at(9.1, 0))}, []found{{0, 0, 9, 4, 1, 2}, {9, 9, 9.6, 3, 1, 2}}},
		"twice":                      {row, []alert.Track{lineOf("a", at(0, 3), at(3, 0), at(3.5, 4), at(6, 0))}, []found{{0, 0, 3.5, 3, 1, 2}, {3.5, 3.5, 6.5, 4, 1, 2}}},
		"two tasks":                  {row, []alert.Track{lineOf("a", at(0, 3), at(3, 0)), lineOf("b", at(1, 3), at(3, 0))}, []found{{0, 0, 3.5, 3, 1, 2}, {1, 1, 3.5, 3, 1, 2}}},
		"two tasks of one cause":     {row, []alert.Track{lineOf("a", because("x", at(0, 3)), at(3, 0)), lineOf("b", because("x", at(1, 7)), at(5, 0))}, []found{{0, 0, 5.5, 7, 2, 2}}},
		"another cause in between":   {row, []alert.Track{lineOf("a", because("x", at(0, 3)), because("y", at(3, 4)), at(9, 0))}, []found{{0, 0, 3.5, 3, 1, 2}, {3, 3, 9.5, 4, 1, 2}}},
		"one cause, far apart":       {row, []alert.Track{lineOf("a", because("x", at(0, 3)), at(3, 0)), lineOf("b", because("x", at(10, 7)), at(12, 0))}, []found{{0, 0, 3.5, 3, 1, 2}, {10, 10, 12.5, 7, 1, 2}}},
		"too little":                 {rate, []alert.Track{lineOf("a", at(0, 99), at(10, 94.9), at(12, 90), at(20, 95))}, []found{{10, 10, 20.5, 90, 1, 2}}},
		"too few to tell":            {rate, []alert.Track{lineOf("a", alert.Point{At: minute(0), Value: 0, N: 19}, at(10, 99))}, nil},
		"nothing known in between":   {rate, []alert.Track{lineOf("a", at(0, 50), alert.Point{At: minute(5), Blank: true, N: 100}, at(10, 50), at(11, 99))}, []found{{0, 0, 5.5, 50, 1, 2}, {10, 10, 11.5, 50, 1, 2}}},
		"points at the same instant": {row, []alert.Track{lineOf("a", at(0, 3), at(0, 0))}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := alert.BackTest(tt.rule, alert.Series{From: minute(0), To: minute(120), Known: minute(0), Lines: tt.lines})
			require.Len(t, got.Incidents, len(tt.want))
			sum := 0
			for i, want := range tt.want {
				in := got.Incidents[i]
				require.Equal(t, minute(want.since), in.Since)
				require.Equal(t, minute(want.opened), in.OpenedAt)
				if want.ended < 0 {
					require.Zero(t, in.EndedAt)
				} else {
					require.Equal(t, minute(want.ended), in.EndedAt)
				}
				require.InDelta(t, want.worst, in.Worst, 0)
				require.Len(t, in.Subjects, want.subjects)
				require.Equal(t, want.messages, in.Messages)
				sum += in.Messages
			}
			require.Equal(t, sum, got.Messages)
			require.Equal(t, minute(0), got.Known)
		})
	}
}

func TestVariantsAreThreeOtherRules(t *testing.T) {
	t.Parallel()
	for _, m := range alert.Meters() {
		for _, threshold := range []float64{0.3, 1, 3, 5, 50, 95, 99.9, 100} {
			for _, window := range []time.Duration{5 * time.Minute, time.Hour, 24 * time.Hour} {
				r := alert.Rule{Metric: m.Metric, Threshold: threshold, Window: window}
				got := alert.Variants(r)
				require.Len(t, got, 3)
				seen := map[[2]float64]bool{{threshold, window.Hours()}: true}
				for _, v := range got {
					if !m.Windowed {
						v.Window = window
					}
					require.False(t, seen[[2]float64{v.Threshold, v.Window.Hours()}], "%s %v: %v", m.Metric, threshold, got)
					seen[[2]float64{v.Threshold, v.Window.Hours()}] = true
					require.Positive(t, v.Window)
					require.LessOrEqual(t, v.Window, alert.MaxWindow)
					require.GreaterOrEqual(t, v.Threshold, 0.0)
				}
			}
		}
	}
	got := alert.Variants(alert.Rule{Metric: alert.SuccessRate, Threshold: 99, Window: 15 * time.Minute})
	require.Equal(t, []float64{99.5, 99, 98}, []float64{got[0].Threshold, got[1].Threshold, got[2].Threshold})
	require.Equal(t, time.Hour, got[1].Window)
}
