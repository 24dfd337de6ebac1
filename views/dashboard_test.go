package views

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/views/ui"
)

func TestTheLagSaysItsUnitOnce(t *testing.T) {
	t.Parallel()
	ctx := galleryCtx(t, English)
	for name, c := range map[string]struct {
		p50, p99 time.Duration
		want     string
	}{
		"both in ms":        {38 * time.Millisecond, 212 * time.Millisecond, "38 · 212 ms"},
		"clocks differ":     {-3 * time.Millisecond, 2 * time.Millisecond, "0 · 2 ms"},
		"ms and seconds":    {184 * time.Millisecond, 43600 * time.Millisecond, "184 ms · 43.6 s"},
		"seconds, minutes":  {2 * time.Second, 171 * time.Second, "2 s · 2 min"},
		"minutes and hours": {10 * time.Minute, 26 * time.Hour, "10 min · 1 d 2 h"},
	} {
		value, rest := lagText(ctx, c.p50, c.p99)
		require.Equal(t, c.want, value+rest, name)
	}
}

func TestTheSuccessRateIsHeldAgainstItsAlarm(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rate  sched.Rate
		value string
		alarm bool
	}{
		"nothing ended":    {sched.Rate{}, dash, false},
		"all of them":      {sched.Rate{Succeeded: 3}, "100.00", false},
		"at the alarm":     {sched.Rate{Succeeded: 95, Bad: 5}, "95.00", false},
		"just below":       {sched.Rate{Succeeded: 9499, Bad: 501}, "94.99", true},
		"one in a million": {sched.Rate{Succeeded: 999_999, Bad: 1}, "99.99", false},
	} {
		p := quietPage()
		p.Figures.Hour = c.rate
		f := p.successFigure(galleryCtx(t, English))
		require.Equal(t, c.value, f.Value, name)
		require.Equal(t, c.alarm, f.Alarm, name)
	}
}

func TestTheLagIsHeldAgainstItsAlarm(t *testing.T) {
	t.Parallel()
	p := quietPage()
	p.Figures.LagOf, p.Figures.LagP99 = 1, 5*time.Second
	require.False(t, p.lagFigure(galleryCtx(t, English)).Alarm)
	p.Figures.LagP99++
	require.True(t, p.lagFigure(galleryCtx(t, English)).Alarm)
}

func TestTheChartTellsWhenMostFailed(t *testing.T) {
	t.Parallel()
	p := sampleBusy()
	require.Equal(t, "Ended per hour over 24 hours: 87,807 succeeded, 6,178 failed; most of them, 2,989, from 14:00.", p.finding(galleryCtx(t, English)))
	p = sampleCalm()
	require.Equal(t, "Ended per hour over 24 hours: 5,088 succeeded, none failed.", p.finding(galleryCtx(t, English)))
}

func TestTheColumnsHoldEachEndOnce(t *testing.T) {
	t.Parallel()
	p := sampleBusy()
	total := int64(0)
	for i, b := range p.buckets() {
		require.Equal(t, p.Figures.Buckets[i].At, b.At)
		require.Equal(t, int64(p.Figures.Buckets[i].Counts[sched.Succeeded]), b.Succeeded+b.Retried)
		total += b.total()
	}
	require.Equal(t, int64(p.ended()), total)
}

func TestWhatIsDueOnAnotherDaySaysWhich(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 12, 2, 16, 0, 0, 0, time.UTC) // in Shanghai
	en, zh := galleryCtx(t, English), galleryCtx(t, Chinese)
	require.Equal(t, "", otherDay(en, midnight.Add(-time.Second)))
	require.Equal(t, "23:59:59", timeOfDay(en, midnight.Add(-time.Second)))
	require.Equal(t, "3 Dec", otherDay(en, midnight))
	require.Equal(t, "12-03", otherDay(zh, midnight))
	require.Equal(t, "00:00:00", timeOfDay(en, midnight))
}

func TestTeamsStandBesideTheTitleWhileTheyAreFew(t *testing.T) {
	t.Parallel()
	v := GalleryViewer(English, "light")
	for n, want := range map[int]int{0: 0, 1: 0, 2: 3, 3: 4, 4: 0} {
		v.Teams = nil
		for i := range n {
			v.Teams = append(v.Teams, Team{Code: string(rune('a' + i)), Name: "Team"})
		}
		require.Len(t, teamTabs(With(t.Context(), v)), want, "%d teams", n)
	}
}

func TestNoFailureIsNothingToLookAt(t *testing.T) {
	t.Parallel()
	for _, g := range sampleCalm().groups(galleryCtx(t, English)) {
		if g.name == "failed" {
			require.Equal(t, ui.State{Icon: "circle-x", Class: "idle", Word: "Failed"}, g.look)
		}
	}
}
