package sched

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

// shelf is the ledger of the reports' tests.
type shelf struct {
	runs  map[int64][]Run
	fail  map[string]error
	since []time.Time
	ids   []int64
	week  Spread
	scope access.Scope
	at    time.Time
}

func (s *shelf) Dashboard(_ context.Context, scope access.Scope, now time.Time) (Dashboard, error) {
	s.scope, s.at = scope, now
	return Dashboard{OpenLetters: 4}, nil
}

func (s *shelf) Runs(_ context.Context, ids []int64, limit int) (map[int64][]Run, error) {
	s.ids = append(s.ids, int64(limit))
	return s.runs, s.fail["Runs"]
}

func (s *shelf) TaskRate(_ context.Context, _ int64, since time.Time) (Rate, error) {
	s.since = append(s.since, since)
	return Rate{Succeeded: 3, Bad: 1}, s.fail["TaskRate"]
}

func (s *shelf) Rates(_ context.Context, ids []int64, since time.Time) (map[int64]Rate, error) {
	s.since = append(s.since, since)
	return map[int64]Rate{ids[0]: {Succeeded: 5}}, s.fail["Rates"]
}

func (s *shelf) Spreads(_ context.Context, ids []int64, since time.Time, of ...Measure) (map[int64]Spread, error) {
	s.since = append(s.since, since)
	return map[int64]Spread{ids[0]: {P50: 7, Of: len(of)}}, s.fail["Spreads"]
}

func (s *shelf) QueueDepths(_ context.Context, from time.Time, step time.Duration) (map[string][]QueueSample, error) {
	s.at = from
	return map[string][]QueueSample{
		"default": {{At: from, Due: 10}, {At: from.Add(step), Due: 40}}, "slow": {{At: from, Due: 900}, {At: from.Add(step)}},
	}, s.fail["QueueDepths"]
}

func (s *shelf) QueueRates(_ context.Context, from, to time.Time) (map[string]QueueRate, error) {
	s.since = append(s.since, from)
	if to.IsZero() {
		return map[string]QueueRate{"default": {Rate{Succeeded: 90, Bad: 10}, 103}}, s.fail["hour"]
	}
	return map[string]QueueRate{"default": {Rate{Succeeded: 30}, 30}}, s.fail["QueueRates"]
}

func (s *shelf) Outcomes(_ context.Context, scope access.Scope, from time.Time, step time.Duration, n int) ([]Bucket, error) {
	s.scope, s.at = scope, from
	return make([]Bucket, n), nil
}

func (s *shelf) Spread(_ context.Context, _ access.Scope, _ int64, since time.Time, of ...Measure) (Spread, error) {
	s.since = append(s.since, since)
	if len(of) == 1 && of[0] == Lag {
		return Spread{P99: 9, Of: 1}, s.fail["lag"]
	}
	return s.week, s.fail["Spread"]
}

func (s *shelf) StateCounts(_ context.Context, _ access.Scope, _ int64, since time.Time) (map[State]int, error) {
	s.since = append(s.since, since)
	return map[State]int{Pending: 1, Queued: 2, Retrying: 4, Running: 8, Succeeded: 16}, s.fail["StateCounts"]
}

func (s *shelf) MissedTotals(context.Context, int64) (map[MissReason]MissedTotal, error) {
	return map[MissReason]MissedTotal{MissedPaused: {Ranges: 2, Slots: 9}}, s.fail["MissedTotals"]
}

func (s *shelf) Missed(context.Context, int64, int) ([]MissedRange, error) {
	return []MissedRange{{Slots: 9}}, s.fail["Missed"]
}

func (s *shelf) TaskVersions(context.Context, int64, int) ([]TaskVersion, error) {
	return []TaskVersion{{Version: 2}}, s.fail["TaskVersions"]
}

func (s *shelf) TasksByID(_ context.Context, ids []int64) (map[int64]Task, error) {
	s.ids = ids
	return map[int64]Task{}, nil
}

// ran is a run that ended after the given time.
func ran(state State, took time.Duration) Run {
	return Run{State: state, StartedAt: noon(), FinishedAt: noon().Add(took)}
}

func TestATasksReport(t *testing.T) {
	s := &shelf{week: Spread{P50: 1, Of: 500}, runs: map[int64][]Run{3: {
		ran(Succeeded, 4*time.Second), ran(Succeeded, time.Second), ran(Failed, time.Hour), ran(Succeeded, 2*time.Second), {State: Running, StartedAt: noon()},
	}}}
	got, err := NewReports(s, NewClock(noon)).Task(t.Context(), taskOf(cronOf("0 * * * *", "UTC")))
	require.NoError(t, err)
	require.Equal(t, s.runs[3], got.Runs)
	require.Equal(t, Spread{P50: 2 * time.Second, P95: 4 * time.Second, P99: 4 * time.Second, Of: 3}, got.Latest, "of the runs that succeeded")
	require.Equal(t, []Spread{{P50: 1, Of: 500}, {P99: 9, Of: 1}}, []Spread{got.Took, got.Lag})
	require.Equal(t, 7, got.Waiting)
	require.Equal(t, Rate{Succeeded: 3, Bad: 1}, got.Week)
	week := noon().AddDate(0, 0, -7)
	require.Equal(t, []time.Time{week, week, week, noon()}, s.since)
	require.Equal(t, []any{9, 2}, []any{got.Missed[0].Slots, got.Versions[0].Version})
}

func TestTheWeekBeginsWithAWholeHour(t *testing.T) {
	s := &shelf{}
	late := func() time.Time { return noon().Add(59*time.Minute + 59*time.Second) }
	_, err := NewReports(s, NewClock(late)).Facts(t.Context(), []Task{{ID: 3}}, 1)
	require.NoError(t, err)
	require.Equal(t, []time.Time{noon().AddDate(0, 0, -7), noon().AddDate(0, 0, -7)}, s.since)
}

func TestOutcomesAreCountedInStepsThatHoldNow(t *testing.T) {
	now := noon().Add(17*time.Minute + 3*time.Second)
	for span, from := range map[Span]time.Time{
		SpanHour: noon().Add(-42 * time.Minute), SpanDay: noon().Add(-23 * time.Hour), SpanWeek: noon().Add(-167 * time.Hour),
	} {
		s := &shelf{}
		got, err := NewReports(s, NewClock(func() time.Time { return now })).Outcomes(t.Context(), access.Scope{All: true}, span)
		require.NoError(t, err)
		step, n := span.Steps()
		require.Len(t, got, n, span)
		require.Equal(t, from, s.at, span)
		require.True(t, s.at.Add(step*time.Duration(n)).After(now) && !s.at.Add(step*time.Duration(n-1)).After(now), span)
	}
	require.Equal(t, []Span{"1h", "24h", "7d"}, Spans())
}

func TestEveryPartOfAReportMayFail(t *testing.T) {
	for _, part := range []string{"Runs", "TaskRate", "Spread", "lag", "Missed", "MissedTotals", "TaskVersions", "StateCounts"} {
		s := &shelf{fail: map[string]error{part: errAway}}
		_, err := NewReports(s, NewClock(noon)).Task(t.Context(), taskOf(Schedule{Kind: KindManual}))
		require.ErrorIs(t, err, errAway, part)
	}
	for _, part := range []string{"Runs", "Rates", "Spreads"} {
		_, err := NewReports(&shelf{fail: map[string]error{part: errAway}}, NewClock(noon)).Facts(t.Context(), []Task{{ID: 3}}, 5)
		require.ErrorIs(t, err, errAway, part)
	}
}

func TestFactsOfEachTaskOfAList(t *testing.T) {
	s := &shelf{runs: map[int64][]Run{3: {ran(Failed, time.Second), ran(Succeeded, time.Second)}}}
	got, err := NewReports(s, NewClock(noon)).Facts(t.Context(), []Task{{ID: 3}, {ID: 4}}, 12)
	require.NoError(t, err)
	require.Len(t, got, 2)
	last, ok := got[3].Last()
	require.True(t, ok)
	require.Equal(t, Succeeded, last.State)
	require.Equal(t, []any{Rate{Succeeded: 5}, Spread{P50: 7, Of: 1}}, []any{got[3].Week, got[3].Took})
	require.Equal(t, []any{Rate{}, Spread{}}, []any{got[4].Week, got[4].Took})
	_, ok = got[4].Last()
	require.False(t, ok, "it never ran")
}

func TestReportsAskForTheMomentAndForEachTaskOnce(t *testing.T) {
	s := &shelf{}
	r := NewReports(s, NewClock(noon))
	d, err := r.Dashboard(t.Context(), access.Scope{Teams: []int64{shop}})
	require.NoError(t, err)
	require.Equal(t, []any{4, noon(), access.Scope{Teams: []int64{shop}}}, []any{d.OpenLetters, s.at, s.scope})
	ids := []int64{5, 3, 5, 3}
	_, err = r.TasksByID(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, []int64{3, 5}, s.ids)
	require.Equal(t, []int64{5, 3, 5, 3}, ids, "the caller's list is the caller's")
	counts, err := r.StateCounts(t.Context(), access.Scope{}, 3, noon())
	require.NoError(t, err)
	require.Equal(t, 8, counts[Running])
}

func TestUpcomingSlots(t *testing.T) {
	task := taskOf(cronOf("0 * * * *", "UTC"))
	require.Equal(t, []time.Time{noon().Add(time.Hour), noon().Add(2 * time.Hour)}, task.Coming(noon(), 2).Runs)
	for name, change := range map[string]func(*Task){
		"disabled": func(t *Task) { t.Enabled = false },
		"archived": func(t *Task) { t.ArchivedAt = noon() },
		"unread":   func(t *Task) { t.Spec.Schedule.Cron = "x" },
		"manual":   func(t *Task) { t.Spec.Schedule = Schedule{Kind: KindManual} },
	} {
		task := task
		change(&task)
		require.Empty(t, task.Coming(noon(), 2).Runs, name)
	}
}

func TestTheSuccessRate(t *testing.T) {
	share, ok := Rate{Succeeded: 3, Bad: 1}.Success()
	require.True(t, ok)
	require.InDelta(t, 0.75, share, 1e-9)
	_, ok = Rate{}.Success()
	require.False(t, ok, "nothing ended")
	require.Equal(t, 4, Rate{Succeeded: 3, Bad: 1}.Ended())
}

func TestHowLongARunTook(t *testing.T) {
	require.Equal(t, time.Minute, ran(Failed, time.Minute).Took())
	require.Zero(t, Run{StartedAt: noon()}.Took())
	require.Zero(t, Run{FinishedAt: noon()}.Took(), "skipped: it never began")
}

func TestPercentilesByNearestRank(t *testing.T) {
	var hundred []time.Duration
	for i := 100; i > 0; i-- {
		hundred = append(hundred, time.Duration(i))
	}
	for p, want := range map[int]time.Duration{0: 1, 1: 1, 50: 50, 95: 95, 99: 99, 100: 100} {
		require.Equal(t, want, Percentile(hundred, p), "p%d", p)
	}
	require.Equal(t, time.Duration(100), hundred[0], "the caller's list is not sorted")
	require.Zero(t, Percentile(nil, 50))
	require.Equal(t, time.Duration(7), Percentile([]time.Duration{7}, 99))
	require.Equal(t, time.Duration(1), Percentile([]time.Duration{1, 2}, 50))
}
