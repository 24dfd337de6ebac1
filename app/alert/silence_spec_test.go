package alert

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASilenceSaysAllThatIsWrongAtOnce(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 400e6, time.UTC)
	again := func(cron, zone string, lasts int) SilenceSpec {
		return SilenceSpec{Reason: "x", Cron: cron, Zone: zone, Lasts: lasts}
	}
	until := func(from, to time.Duration) SilenceSpec {
		return SilenceSpec{Reason: "x", StartsAt: now.Add(from), EndsAt: now.Add(to)}
	}
	for name, c := range map[string]struct {
		w    SilenceSpec
		want []string
	}{
		"nothing":                       {SilenceSpec{}, []string{"reason", "ends_at"}},
		"for 20 minutes":                {SilenceSpec{Reason: "x", Lasts: 1200}, nil},
		"for 10 seconds":                {SilenceSpec{Reason: "x", Lasts: 10}, []string{"lasts_seconds"}},
		"both":                          {SilenceSpec{Reason: "x", Lasts: 1200, EndsAt: now.Add(time.Hour)}, []string{"lasts_seconds"}},
		"until":                         {until(time.Hour, 2*time.Hour), nil},
		"ends before it begins":         {until(2*time.Hour, time.Hour), []string{"ends_at"}},
		"ended already":                 {until(-2*time.Hour, -time.Hour), []string{"ends_at"}},
		"begun already":                 {until(-2*time.Hour, time.Hour), nil},
		"for two years":                 {until(0, 731*24*time.Hour), []string{"ends_at"}},
		"in two years":                  {until(731*24*time.Hour, 732*24*time.Hour), []string{"starts_at"}},
		"a zone for nothing":            {SilenceSpec{Reason: "x", Lasts: 1200, Zone: "UTC"}, []string{"zone"}},
		"a queue":                       {SilenceSpec{Reason: "x", Lasts: 1200, Scope: Scope{OfQueue, "bulk"}}, nil},
		"a scope that is none":          {SilenceSpec{Reason: "x", Lasts: 1200, Scope: Scope{"host", "a"}}, []string{"scope.kind"}},
		"held by a rule":                {SilenceSpec{Reason: "x", Lasts: 1200, RuleID: 3, Hold: true}, []string{"hold"}},
		"each night":                    {again("0 2 * * *", "Asia/Shanghai", 7200), nil},
		"each night without a zone":     {again("0 2 * * *", "", 7200), []string{"zone"}},
		"a zone that there is not":      {again("0 2 * * *", "Asia/Nowhere", 7200), []string{"zone"}},
		"a cron line that is none":      {again("0 26 * * *", "UTC", 7200), []string{"cron"}},
		"never":                         {SilenceSpec{Reason: "x", Cron: "0 2 1 6 *", Zone: "UTC", Lasts: 7200, EndsAt: now.Add(24 * time.Hour)}, []string{"cron"}},
		"longer than between two":       {again("0 * * * *", "UTC", 3601), []string{"lasts_seconds"}},
		"as long as between two":        {again("0 * * * *", "UTC", 3600), []string{"lasts_seconds"}},
		"longer on some days":           {again("0 2 * * 1,2", "UTC", 2*86_400), []string{"lasts_seconds"}},
		"longer than a week":            {again("0 2 1 * *", "UTC", 8*86_400), []string{"lasts_seconds"}},
		"again without a length":        {again("0 2 * * *", "UTC", 0), []string{"lasts_seconds"}},
		"each night, ended in the past": {SilenceSpec{Reason: "x", Cron: "0 2 * * *", Zone: "UTC", Lasts: 7200, EndsAt: now.Add(-time.Hour)}, []string{"ends_at", "cron"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.w.Resolve(7, now)
			require.Equal(t, c.want, fieldsOf(err), "%v", err)
		})
	}
}

func TestASilenceBeginsNowAndEndsAtAWholeSecond(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 400e6, time.UTC)
	s, err := SilenceSpec{Reason: " release ", Lasts: 1200, StartsAt: now.Add(-time.Hour)}.Resolve(7, now)
	require.NoError(t, err)
	require.Equal(t, now, s.StartsAt)
	require.Equal(t, time.Date(2026, 12, 1, 12, 20, 1, 0, time.UTC), s.EndsAt)
	require.Equal(t, "release", s.Reason)
	require.Equal(t, SilenceActive, s.State(now))
	require.Equal(t, SilenceEnded, s.State(s.EndsAt))
}

func TestWhenASilenceBeginsNext(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	night := Silence{Cron: "0 2 * * *", Zone: "Asia/Shanghai", Lasts: time.Hour, StartsAt: now}
	two := time.Date(2026, 12, 1, 18, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		s     Silence
		at    time.Time
		next  time.Time
		state SilenceState
	}{
		"before the night":   {night, now, two, SilenceComing},
		"within":             {night, two.Add(time.Minute), two.AddDate(0, 0, 1), SilenceActive},
		"after":              {night, two.Add(time.Hour), two.AddDate(0, 0, 1), SilenceComing},
		"begins next week":   {Silence{Cron: night.Cron, Zone: night.Zone, Lasts: time.Hour, StartsAt: now.AddDate(0, 0, 7)}, now, two.AddDate(0, 0, 7), SilenceComing},
		"ends before":        {Silence{Cron: night.Cron, Zone: night.Zone, Lasts: time.Hour, StartsAt: now, EndsAt: two}, now, time.Time{}, SilenceEnded},
		"ended by hand":      {Silence{Cron: night.Cron, Zone: night.Zone, Lasts: time.Hour, StartsAt: now, EndedAt: now}, now, time.Time{}, SilenceEnded},
		"once, tomorrow":     {Silence{StartsAt: now.AddDate(0, 0, 1), EndsAt: now.AddDate(0, 0, 2)}, now, now.AddDate(0, 0, 1), SilenceComing},
		"once, now":          {Silence{StartsAt: now, EndsAt: now.AddDate(0, 0, 2)}, now, time.Time{}, SilenceActive},
		"once, from the end": {Silence{StartsAt: now.AddDate(0, 0, -1), EndsAt: now}, now, time.Time{}, SilenceEnded},
	} {
		t.Run(name, func(t *testing.T) {
			next, ok := c.s.NextStart(c.at)
			require.Equal(t, !c.next.IsZero(), ok)
			if ok {
				require.True(t, c.next.Equal(next), "%v", next)
			}
			require.Equal(t, c.state, c.s.State(c.at))
		})
	}
}
