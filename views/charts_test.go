package views

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnAxisHoldsTheHighestColumnInFewRoundSteps(t *testing.T) {
	t.Parallel()
	for most, want := range map[int64]struct {
		step int64
		n    int
	}{0: {1, 2}, 1: {1, 2}, 4: {1, 4}, 5: {2, 3}, 17: {5, 4}, 21: {10, 3}, 1400: {500, 3}, 2001: {1000, 3}, 9_000_000: {5_000_000, 2}} {
		step, n := axis(most)
		require.Equal(t, want.step, step, "%d", most)
		require.Equal(t, want.n, n, "%d", most)
		require.GreaterOrEqual(t, step*int64(n), most)
	}
}

func TestColumnsStackGoodBelowBadOnTop(t *testing.T) {
	t.Parallel()
	c := outcomeColumns(t.Context(), []OutcomeBucket{{At: noon, Succeeded: 10, Retried: 4, TimedOut: 3, Lost: 2, Failed: 1}}, "said")
	require.Equal(t, "said", c.Label)
	var classes []string
	bottom := float64(columnBase)
	for _, b := range c.Bars {
		classes = append(classes, b.Class)
		y, h := parse(t, b.Y), parse(t, b.H)
		require.InDelta(t, bottom, y+h, 0.11)
		bottom = y
	}
	require.Equal(t, []string{"f-ok", "f-retry", "f-late", "f-lost", "f-fail"}, classes)
	require.InDelta(t, columnTop, bottom, 0.5, "20 fill an axis that ends at 20")
}

func TestOneFailureAmongThousandsIsSeen(t *testing.T) {
	t.Parallel()
	c := outcomeColumns(t.Context(), []OutcomeBucket{{At: noon, Succeeded: 100_000, Failed: 1}}, "")
	require.Equal(t, "0.6", c.Bars[1].H)
}

func TestColumnsOfNothingAreAnEmptyGrid(t *testing.T) {
	t.Parallel()
	c := outcomeColumns(t.Context(), nil, "")
	require.Empty(t, c.Bars)
	require.Len(t, c.YTicks, 3)
	require.Empty(t, outcomeColumns(t.Context(), make([]OutcomeBucket, 24), "").Bars)
}

func TestAStripKeepsTheLastSixtyAndShowsFailuresInFull(t *testing.T) {
	t.Parallel()
	runs := make([]RunMark, 70)
	for i := range runs {
		runs[i] = RunMark{State: "succeeded", Duration: time.Second}
	}
	runs[69] = RunMark{State: "failed"}
	runs[68].Retried = true
	s := runStrip(t.Context(), runs)
	require.Len(t, s.Bars, 60)
	require.Equal(t, "Last 60 runs, 1 failed", s.Label)
	require.Equal(t, "22", s.Bars[59].H)
	require.Equal(t, "f-fail", s.Bars[59].Class)
	require.Equal(t, "f-retry", s.Bars[58].Class)
	require.Equal(t, "15", s.Bars[0].H)
	few := runStrip(t.Context(), runs[:1])
	require.Equal(t, "177", few.Bars[0].X, "time runs to the right edge")
	require.Equal(t, "Last run, 0 failed", few.Label)
	require.Equal(t, "f-idle", runFill(RunMark{State: "nonesuch"}))
}

func TestADurationLineStaysInItsBox(t *testing.T) {
	t.Parallel()
	require.Empty(t, durationLine(nil, 0, "").Paths)
	require.Empty(t, durationLine([]RunMark{{}, {}}, 0, "").Paths)
	l := durationLine([]RunMark{{Duration: time.Second}, {Duration: 4 * time.Second}}, 2*time.Second, "said")
	require.Equal(t, "M0 75L1000 0", l.Paths[1].D)
	require.Equal(t, "M0 50L1000 50", l.Paths[2].D)
	require.True(t, strings.HasSuffix(l.Paths[0].D, "L1000 100L0 100Z"))
	require.Equal(t, "ln hot", l.Paths[1].Class, "it ends above the limit")
	require.Equal(t, "ln", areaLine([]int64{1, 2, 1}, 2, "").Paths[1].Class)
	require.Len(t, areaLine([]int64{1, 2, 1}, 0, "").Paths, 2, "no limit, no line for it")
}

func parse(t *testing.T, s string) float64 {
	t.Helper()
	d, err := time.ParseDuration(s + "s")
	require.NoError(t, err)
	return d.Seconds()
}
