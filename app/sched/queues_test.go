package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatCameInIsWhatEndedAndWhatWaitsMore(t *testing.T) {
	s := &shelf{}
	now := func() time.Time { return noon().Add(17 * time.Second) }
	got, err := NewReports(s, NewClock(now)).QueueTrends(t.Context())
	require.NoError(t, err)
	require.Equal(t, map[string]QueueTrend{
		"default": {In: 0.2, Out: 0.1, Hour: Rate{Succeeded: 90, Bad: 10}},
		"slow":    {}, // what was canceled all at once did not come in
	}, got)
	require.Equal(t, []time.Time{noon().Add(-time.Hour), noon().Add(-5 * time.Minute)}, s.since)
	for _, part := range []string{"hour", "QueueRates", "QueueDepths"} {
		_, err := NewReports(&shelf{fail: map[string]error{part: errAway}}, NewClock(now)).QueueTrends(t.Context())
		require.ErrorIs(t, err, errAway, part)
	}
}

func TestDepthsAreInStepsThatHoldNow(t *testing.T) {
	now := noon().Add(17 * time.Minute)
	for span, from := range map[Span]time.Time{
		SpanHour: noon().Add(-42 * time.Minute), SpanDay: noon().Add(15*time.Minute - 95*15*time.Minute), SpanWeek: noon().Add(-166 * time.Hour),
	} {
		s := &shelf{}
		got, err := NewReports(s, NewClock(func() time.Time { return now })).QueueDepths(t.Context(), span)
		require.NoError(t, err)
		require.Equal(t, []time.Time{from, from, now}, []time.Time{s.at, got.From, got.To}, span)
		require.Len(t, got.Queues, 2)
	}
}
