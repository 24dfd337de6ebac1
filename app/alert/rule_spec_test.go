package alert

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

func fieldsOf(err error) []string {
	var out []string
	for _, f := range fault.Fields(err) {
		out = append(out, f.Name)
	}
	return out
}

func TestARuleSaysAllThatIsWrongAtOnce(t *testing.T) {
	good := func(m Metric) RuleSpec {
		w := RuleSpec{Name: "x", Metric: m, Threshold: 1, Level: P2}
		switch m {
		case SuccessRate, TriggerLag, Failures:
			w.Window = 300
		case RunTooLong:
			w.Threshold = 3
		case RunTooShort:
			w.Threshold = 0.5
		}
		return w
	}
	with := func(m Metric, set func(*RuleSpec)) RuleSpec {
		w := good(m)
		set(&w)
		return w
	}
	type as struct {
		w    RuleSpec
		team int64
		want []string
	}
	cases := map[string]as{
		"nothing":              {RuleSpec{}, 7, []string{"name", "metric"}},
		"an unknown metric":    {RuleSpec{Name: "x", Metric: "cpu", For: -1, Repeat: new(5)}, 7, []string{"for_seconds", "repeat_seconds", "metric"}},
		"all at once":          {RuleSpec{Name: "a\nb", Metric: InARow, Scope: Scope{Kind: "host"}, Threshold: 2.5, Window: 60, Least: 1, For: 3601, Level: "p3", Reason: strings.Repeat("x", 501)}, 7, []string{"name", "for_seconds", "reason", "scope.kind", "scope.value", "threshold", "window_seconds", "least", "level"}},
		"a name of 101":        {with(InARow, func(w *RuleSpec) { w.Name = strings.Repeat("节", 101) }), 7, []string{"name"}},
		"a window of seconds":  {with(Failures, func(w *RuleSpec) { w.Window = 90 }), 7, []string{"window_seconds"}},
		"no window":            {with(Failures, func(w *RuleSpec) { w.Window = 0 }), 7, []string{"window_seconds"}},
		"a window of two days": {with(SuccessRate, func(w *RuleSpec) { w.Window = 172_800 }), 7, []string{"window_seconds"}},
		"101 percent":          {with(SuccessRate, func(w *RuleSpec) { w.Threshold = 101 }), 7, []string{"threshold"}},
		"not a number":         {with(SuccessRate, func(w *RuleSpec) { w.Threshold = math.NaN() }), 7, []string{"threshold"}},
		"infinite":             {with(InARow, func(w *RuleSpec) { w.Threshold = math.Inf(1) }), 7, []string{"threshold"}},
		"too long below 1.1":   {with(RunTooLong, func(w *RuleSpec) { w.Threshold = 1 }), 7, []string{"threshold"}},
		"too short above 1":    {with(RunTooShort, func(w *RuleSpec) { w.Threshold = 1.5 }), 7, []string{"threshold"}},
		"yes is 1":             {with(RedisEvicts, func(w *RuleSpec) { w.Threshold = 2 }), 0, []string{"threshold"}},
		"level of the task":    {with(SuccessRate, func(w *RuleSpec) { w.Level = ByTask }), 7, []string{"level"}},
		"every try of letters": {with(OpenLetters, func(w *RuleSpec) { w.EachTry = true }), 7, []string{"each_try"}},
		"least below zero":     {with(SuccessRate, func(w *RuleSpec) { w.Least = -1 }), 7, []string{"least"}},
		"a value for all":      {with(InARow, func(w *RuleSpec) { w.Scope.Value = "x" }), 7, []string{"scope.value"}},
		"a tag without one":    {with(InARow, func(w *RuleSpec) { w.Scope.Kind = OfTag }), 7, []string{"scope.value"}},
		"a queue of tasks":     {with(InARow, func(w *RuleSpec) { w.Scope = Scope{OfQueue, "bulk"} }), 7, []string{"scope.kind"}},
		"a tag of nodes":       {with(NodeOffline, func(w *RuleSpec) { w.Scope = Scope{OfTag, "x"} }), 0, []string{"scope.kind"}},
		"no such queue":        {with(QueueDepth, func(w *RuleSpec) { w.Scope = Scope{OfQueue, "blk"} }), 7, []string{"scope.value"}},
		"a queue of a team":    {with(QueueDepth, func(w *RuleSpec) { w.Scope = Scope{OfQueue, "bulk"} }), 7, nil},
		"repeats each second":  {with(InARow, func(w *RuleSpec) { w.Repeat = new(1) }), 7, []string{"repeat_seconds"}},
		"never repeats":        {with(InARow, func(w *RuleSpec) { w.Repeat = new(0) }), 7, nil},
		"every try":            {with(InARow, func(w *RuleSpec) { w.EachTry, w.Level = true, ByTask }), 7, nil},
	}
	for _, m := range Meters() {
		cases["of the house: "+string(m.Metric)] = as{good(m.Metric), 0, nil}
		c := as{good(m.Metric), 7, nil}
		if m.House && m.Per != PerQueue {
			c.want = []string{"metric"}
		}
		cases["of a team: "+string(m.Metric)] = c
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := c.w.Resolve(Rule{}, c.team, []string{"default", "bulk"})
			require.Equal(t, c.want, fieldsOf(err), "%v", err)
		})
	}
}

func TestAChangedRuleKeepsWhatIsNotWritten(t *testing.T) {
	old := Rule{ID: 3, TeamID: 7, Name: "x", Metric: InARow, Threshold: 3, Level: P1, Version: 4, CreatedBy: "ada"}.Default()
	old.Repeat, old.Recovery, old.Enabled = 0, false, false
	is, err := RuleSpec{Name: "y", Threshold: 5, Level: P2}.Resolve(old, 7, nil)
	require.NoError(t, err)
	want := old
	want.Name, want.Threshold, want.Level = "y", 5, P2
	require.Equal(t, want, is)
	_, err = RuleSpec{Name: "y", Metric: Failures, Threshold: 5, Level: P2}.Resolve(old, 7, nil)
	require.Equal(t, []string{"metric"}, fieldsOf(err))
	fresh, err := RuleSpec{Name: "y", Metric: InARow, Threshold: 5, Level: P2}.Resolve(Rule{}, 7, nil)
	require.NoError(t, err)
	require.True(t, fresh.Enabled && fresh.Recovery && fresh.Mention)
	require.Equal(t, Scope{Kind: All}, fresh.Scope)
}
