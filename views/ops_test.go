package views

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

func TestTheStateOfANodeFollowsItsLastBeat(t *testing.T) {
	t.Parallel()
	p := NodesPage{Beats: sched.DefaultPulse(), Alarms: sampleAlarms()}
	for name, c := range map[string]struct {
		change func(n *sched.NodeInfo)
		want   string
	}{
		"just now":            {func(n *sched.NodeInfo) { n.BeatAt = ago(0) }, "Alive"},
		"on its way":          {func(n *sched.NodeInfo) { n.BeatAt = ago(5900 * time.Millisecond) }, "Alive"},
		"one is late":         {func(n *sched.NodeInfo) { n.BeatAt = ago(6 * time.Second) }, "Beat is late"},
		"as long as it may":   {func(n *sched.NodeInfo) { n.BeatAt = ago(14999 * time.Millisecond) }, "Beat is late"},
		"nobody declared it":  {func(n *sched.NodeInfo) { n.BeatAt = ago(15 * time.Second) }, "No beat"},
		"declared dead":       {func(n *sched.NodeInfo) { n.DeadAt = ago(time.Second) }, "Dead"},
		"stopped in order":    {func(n *sched.NodeInfo) { n.ClosedAt = ago(time.Second) }, "Stopped"},
		"draining":            {func(n *sched.NodeInfo) { n.Draining = true }, "Draining"},
		"draining, and late":  {func(n *sched.NodeInfo) { n.Draining, n.BeatAt = true, ago(9*time.Second) }, "Beat is late"},
		"its clock is behind": {func(n *sched.NodeInfo) { n.BeatAt = ahead(time.Second) }, "Alive"},
	} {
		n := sampleNode("wk-1", "worker")
		c.change(&n)
		require.Equal(t, c.want, p.look(galleryCtx(t, English), n).Word, name)
	}
}

func TestOnlyOldVersionsAreMarkedInARollOut(t *testing.T) {
	t.Parallel()
	older, newer, gone := sampleNode("a", "worker"), sampleNode("b", "worker"), sampleNode("c", "worker")
	newer.Version, newer.StartedAt = "1.1.0", ago(time.Minute)
	gone.Version, gone.ClosedAt = "0.9.0", ago(time.Minute)
	p := NodesPage{Beats: sched.DefaultPulse(), Alarms: sampleAlarms(), Nodes: []sched.NodeInfo{older, newer, gone}}
	ctx := galleryCtx(t, English)
	require.True(t, p.behind(ctx, older))
	require.False(t, p.behind(ctx, newer))
	require.False(t, p.behind(ctx, gone))
	require.Equal(t, "2 of 2 beat · 20 of 48 places · 2 versions in use", p.summary(ctx))
}

func TestAClockIsColouredByItsThresholds(t *testing.T) {
	t.Parallel()
	p := NodesPage{Alarms: sampleAlarms()}
	for offset, want := range map[time.Duration]string{
		0: "", 5 * time.Second: "", 5001 * time.Millisecond: "retry", -29 * time.Second: "retry", 30 * time.Second: "fail", -time.Hour: "fail",
	} {
		require.Equal(t, want, p.offset(sched.NodeInfo{ClockOffset: offset}), offset)
	}
	require.Equal(t, "−38 s", offsetText(galleryCtx(t, English), -38*time.Second))
	require.Equal(t, "+4 ms", offsetText(galleryCtx(t, English), 4*time.Millisecond))
}

func TestTheBarOfPlacesStaysInItsBounds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		busy, slots  int
		class, width string
	}{
		"no places":      {0, 0, "f-acc", "0"},
		"idle":           {0, 24, "f-acc", "0"},
		"a third":        {8, 24, "f-acc", "33.33"},
		"nearly full":    {22, 24, "f-retry", "91.67"},
		"more than full": {30, 24, "f-retry", "100"}, // a beat tells the places of a moment ago
	} {
		class, width := taken(c.busy, c.slots)
		require.Equal(t, c.class, class, name)
		require.Equal(t, c.width, width, name)
	}
}

func TestTheUnitStandsApartWhenThereIsOne(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][2]string{
		"23 min": {"23", " min"}, "400 ms": {"400", " ms"}, "2 min 51 s": {"2 min 51 s", ""}, dash: {dash, ""}, "23 分钟": {"23", " 分钟"},
	} {
		value, unit := withUnit(in)
		require.Equal(t, want, [2]string{value, unit}, in)
	}
}

func TestADrainingNodeServesNoQueue(t *testing.T) {
	t.Parallel()
	p := sampleQueues()
	ctx := galleryCtx(t, English)
	require.Equal(t, 3, p.serving(ctx, "default"))
	for i := range p.Nodes {
		p.Nodes[i].Draining = true
	}
	require.Equal(t, 0, p.serving(ctx, "default"))
	require.Equal(t, "Not served", p.look(ctx, p.Rows[0]).Word)
}
