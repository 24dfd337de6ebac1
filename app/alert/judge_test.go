package alert

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

var t0 = time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)

func after(d time.Duration) time.Time { return t0.Add(d) }

func breachOf(keys ...string) *Breach {
	b := &Breach{Fingerprint: "f", TeamID: 1, Level: P2, Value: 3}
	for _, k := range keys {
		b.Members = append(b.Members, Member{Subject: Subject{Kind: TaskSubject, Key: k, Name: k}, Value: 3, Level: P2})
	}
	return b
}

func inARow() Rule {
	return Rule{ID: 1, TeamID: 1, Name: "Failures in a row", Metric: InARow, Threshold: 3, Level: ByTask}.Default()
}

func TestABreachThatDoesNotLastIsForgotten(t *testing.T) {
	r := inARow()
	r.For = time.Minute
	i := Begin("i", r, *breachOf("a"), t0)
	require.Equal(t, Pending, i.State)
	i, drop := i.Follow(r, breachOf("a"), after(59*time.Second))
	require.False(t, drop)
	require.Equal(t, Pending, i.State)
	_, drop = i.Follow(r, nil, after(59*time.Second))
	require.True(t, drop)
	i, _ = i.Follow(r, breachOf("a"), after(time.Minute))
	require.Equal(t, Firing, i.State)
	require.Equal(t, after(time.Minute), i.OpenedAt)
}

func TestWhatFlapsStaysOneIncidentAndIsHeldLonger(t *testing.T) {
	r := inARow()
	i := Begin("i", r, *breachOf("a"), t0)
	now := t0
	for flaps := range 6 {
		now = now.Add(time.Second)
		i, _ = i.Follow(r, nil, now)
		now = now.Add(Hold(flaps) - time.Millisecond)
		i, _ = i.Follow(r, nil, now)
		require.Equal(t, Firing, i.State, "not quiet for long enough")
		now = now.Add(time.Second)
		i, _ = i.Follow(r, breachOf("a"), now)
		require.Equal(t, flaps+1, i.Quiets)
	}
	i, _ = i.Follow(r, nil, now)
	i, _ = i.Follow(r, nil, now.Add(15*time.Minute))
	require.Equal(t, Over, i.State)
	require.LessOrEqual(t, Hold(40), 15*time.Minute)
}

func TestWhoEverWasAMemberIsCounted(t *testing.T) {
	r := inARow()
	i := Begin("i", r, *breachOf("a", "b"), t0)
	require.Equal(t, 2, i.Everyone)
	i, _ = i.Follow(r, breachOf("b", "c"), after(time.Second))
	require.Equal(t, 3, i.Everyone)
	require.Len(t, i.Members, 2)
}

func firing(r Rule) Incident {
	i := Begin("i", r, *breachOf("a"), t0)
	i.TellAt = t0
	return i
}

func kinds(tellings []Telling) (out []MessageKind) {
	for _, x := range tellings {
		out = append(out, x.Kind)
	}
	return out
}

func TestPeopleAreToldOnceThenAgainUntilSomebodyAcknowledges(t *testing.T) {
	r := inARow()
	waits := []time.Duration{0}
	i, told := firing(r).Due(r, waits, t0)
	require.Equal(t, []MessageKind{Opened}, kinds(told))
	i, told = i.Due(r, waits, after(29*time.Minute))
	require.Empty(t, told)
	i, told = i.Due(r, waits, after(30*time.Minute))
	require.Equal(t, []MessageKind{Repeated}, kinds(told))
	i.AckedAt, i.AckedBy = after(31*time.Minute), "ann"
	i, told = i.Due(r, waits, after(10*time.Hour))
	require.Empty(t, told)
	i.State = Over
	_, told = i.Due(r, waits, after(11*time.Hour))
	require.Equal(t, []MessageKind{Closed}, kinds(told))
}

func TestWhatFailsTogetherIsGatheredBeforeTheFirstMessage(t *testing.T) {
	r := inARow()
	i := Begin("i", r, *breachOf("a"), t0)
	i, told := i.Due(r, []time.Duration{0}, after(gather-time.Second))
	require.Empty(t, told)
	i, _ = i.Follow(r, breachOf("a", "b", "c"), after(gather))
	i, told = i.Due(r, []time.Duration{0}, after(gather))
	require.Equal(t, []MessageKind{Opened}, kinds(told))
	require.Equal(t, 3, i.ToldOf)
}

func TestManyMoreMembersAreToldOfAtMostEachFiveMinutes(t *testing.T) {
	r := inARow()
	r.Repeat = 0
	i, _ := firing(r).Due(r, []time.Duration{0}, t0)
	i, _ = i.Follow(r, breachOf("a", "b", "c"), after(time.Minute))
	i, told := i.Due(r, []time.Duration{0}, after(time.Minute))
	require.Empty(t, told)
	i, told = i.Due(r, []time.Duration{0}, after(growEvery))
	require.Equal(t, []MessageKind{Grown}, kinds(told))
	i, _ = i.Follow(r, breachOf("a", "b", "c", "d"), after(time.Hour))
	_, told = i.Due(r, []time.Duration{0}, after(time.Hour))
	require.Empty(t, told, "four are not many more than three")
}

func TestTheSecondChannelIsToldWhenNobodyAcknowledges(t *testing.T) {
	r := inARow()
	r.Repeat = 0
	waits := []time.Duration{0, 10 * time.Minute, 20 * time.Minute}
	i, _ := firing(r).Due(r, waits, t0)
	i, told := i.Due(r, waits, after(9*time.Minute))
	require.Empty(t, told)
	i, told = i.Due(r, waits, after(10*time.Minute))
	require.Equal(t, []MessageKind{Escalated}, kinds(told))
	require.False(t, told[0].gets(0))
	require.True(t, told[0].gets(10*time.Minute))
	require.False(t, told[0].gets(20*time.Minute))
	i, told = i.Due(r, waits, after(11*time.Minute))
	require.Empty(t, told)
	i.State = Over
	_, told = i.Due(r, waits, after(12*time.Minute))
	require.True(t, told[0].gets(10*time.Minute), "who was told hears that it is over")
	require.False(t, told[0].gets(20*time.Minute), "who was not told does not")
}

func TestWithOnlyAnEscalationItIsToldAfterItsWait(t *testing.T) {
	r := inARow()
	waits := []time.Duration{10 * time.Minute}
	i, told := firing(r).Due(r, waits, after(9*time.Minute))
	require.Empty(t, told)
	_, told = i.Due(r, waits, after(10*time.Minute))
	require.Equal(t, []MessageKind{Escalated}, kinds(told))
}

func TestASilencedIncidentIsToldWhenTheSilenceEnds(t *testing.T) {
	r := inARow()
	i := firing(r)
	i.Silenced = true
	i, told := i.Due(r, []time.Duration{0}, after(time.Hour))
	require.Empty(t, told)
	i.Silenced = false
	_, told = i.Due(r, []time.Duration{0}, after(time.Hour))
	require.Equal(t, []MessageKind{Opened}, kinds(told))
}

func TestWhatEndsBeforeAnybodyWasToldIsNotTold(t *testing.T) {
	r := inARow()
	i := firing(r)
	i.State = Over
	_, told := i.Due(r, []time.Duration{0}, after(time.Hour))
	require.Empty(t, told)
}

func TestWhoSubscribesToWhatStillBurnsIsToldOfIt(t *testing.T) {
	r := inARow()
	i, told := firing(r).Due(r, nil, t0)
	require.Empty(t, told)
	_, told = i.Due(r, []time.Duration{0}, after(time.Hour))
	require.Equal(t, []MessageKind{Opened}, kinds(told))
}

func taskReadings(cause string, codes ...string) (out []Reading, known marks) {
	known = marks{}
	for n, code := range codes {
		id := int64(n + 1)
		out = append(out, Reading{TaskID: id, TeamID: 1, Value: 3, Cause: cause, Host: "pay.internal"})
		known[id] = TaskMark{ID: id, TeamID: 1, Code: code, Name: code, Level: sched.AlertP2}
	}
	return out, known
}

func TestFortyTasksOfOneDeadHostAreOneBreach(t *testing.T) {
	codes := make([]string, 40)
	for i := range codes {
		codes[i] = string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	readings, known := taskReadings("unreachable pay.internal", codes...)
	r := inARow()
	got := r.breaches(r.measured(answer{byTeam: map[int64][]Reading{1: readings}}, known), nil)
	require.Len(t, got, 1)
	require.Len(t, got[0].Members, 40)
	require.Equal(t, "pay.internal", got[0].Host)
}

func TestATaskStaysInItsIncidentWhenItsErrorChanges(t *testing.T) {
	readings, known := taskReadings("another cause", "a")
	r := inARow()
	at := map[string]string{(Subject{Kind: TaskSubject, Key: "a"}).key(): "f"}
	got := r.breaches(r.measured(answer{byTeam: map[int64][]Reading{1: readings}}, known), at)
	require.Equal(t, "f", got[0].Fingerprint)
}

func TestATasksOwnLevelDecides(t *testing.T) {
	readings, known := taskReadings("", "a", "b", "c")
	for id, level := range map[int64]sched.AlertLevel{1: sched.AlertP1, 2: sched.AlertP2, 3: sched.AlertNone} {
		m := known[id]
		m.Level = level
		known[id] = m
	}
	r := inARow()
	got := r.measured(answer{byTeam: map[int64][]Reading{1: readings}}, known)
	require.Len(t, got, 2, "none leaves the task out")
	require.Equal(t, []Level{P1, P2}, []Level{got[0].level, got[1].level})
}

func TestARuleSumsUpWhatItsScopeCovers(t *testing.T) {
	known := marks{1: {ID: 1, TeamID: 1, Tags: []string{"critical"}}, 2: {ID: 2, TeamID: 1}, 3: {ID: 3, TeamID: 2, Tags: []string{"critical"}}}
	readings := []Reading{
		{TaskID: 1, TeamID: 1, Good: 90, Bad: 10}, {TaskID: 2, TeamID: 1, Good: 0, Bad: 100}, {TaskID: 3, TeamID: 2, Good: 100},
	}
	a := answer{readings: readings, byTeam: map[int64][]Reading{1: readings[:2], 2: readings[2:]}}
	for name, c := range map[string]struct {
		rule Rule
		want []float64
	}{
		"a tag of the team":    {Rule{TeamID: 1, Metric: SuccessRate, Scope: Scope{OfTag, "critical"}}, []float64{90}},
		"all of the team":      {Rule{TeamID: 1, Metric: SuccessRate, Scope: Scope{Kind: All}}, []float64{45}},
		"the installation":     {Rule{Metric: SuccessRate, Scope: Scope{Kind: All}}, []float64{190.0 / 3}},
		"too few runs":         {Rule{TeamID: 1, Metric: SuccessRate, Scope: Scope{OfTag, "critical"}, Least: 101}, nil},
		"nothing in the scope": {Rule{TeamID: 1, Metric: SuccessRate, Scope: Scope{OfTag, "none"}}, nil},
		"the tag of all teams": {Rule{Metric: SuccessRate, Scope: Scope{OfTag, "critical"}}, []float64{95}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []float64
			for _, x := range c.rule.measured(a, known) {
				got = append(got, x.Value)
			}
			require.InDeltaSlice(t, c.want, got, 1e-9)
		})
	}
}

func TestTheP99OfTheLagIsTheStepThatItReaches(t *testing.T) {
	steps := []float64{1, 5, 10}
	require.Zero(t, lagP99(steps, []int{0, 0, 0}, 0))
	require.Zero(t, lagP99(steps, []int{1, 0, 0}, 100), "one of a hundred is above the P99")
	require.InDelta(t, 1, lagP99(steps, []int{2, 1, 0}, 100), 0)
	require.InDelta(t, 10, lagP99(steps, []int{1, 1, 1}, 1), 0)
	require.InDelta(t, 5, lagP99(steps, []int{50, 11, 10}, 1000), 0, "the eleventh latest of a thousand")
}
