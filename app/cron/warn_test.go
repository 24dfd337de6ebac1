package cron

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWarningsTellWhatIsOftenNotMeant(t *testing.T) {
	const (
		newYork = "America/New_York"
		either  = "Both day fields are set: it runs on days that match either of them, not only on days that match both"
		both    = "Both day fields are set and one begins with *: it runs only on days that match both"
		forward = "On 2026-03-08 the clocks go forward from 02:00 to 03:00: what is due in between "
		back    = "On 2026-11-01 the clocks go back from 02:00 to 01:00: what is due in between "
	)
	minutely := func(runs string) string {
		return runs + " runs a day: the minute is *, so it runs in each minute of the hours named"
	}
	secondly := func(runs string) string {
		return runs + " runs a day: the second is *, so it runs in each second of the times named"
	}
	for expr, c := range map[string]struct {
		zone string
		want []string
	}{
		"30 9 * * MON-FRI": {"UTC", nil},
		"* * * * *":        {newYork, nil},
		"* 0 * * *":        {"UTC", []string{minutely("60")}},
		"* 0-23 * * *":     {"UTC", nil},
		"* 9-17 * * 1-5":   {"UTC", []string{minutely("540")}},
		"0 * 0 * * ?":      {"UTC", []string{minutely("60")}},
		"* 0 0 * * ?":      {"UTC", []string{secondly("60")}},
		"* * 0 * * ?":      {"UTC", []string{secondly("3600")}},
		"* * * * * ?":      {"UTC", nil},
		"30 0 1 * 1":       {"UTC", []string{either}},
		"0 0 */2 * 1":      {"UTC", []string{both}},
		"0 0 */1 * 1":      {"UTC", nil},
		"0 0 L * */2":      {"UTC", []string{both}},
		"@every 90s":       {newYork, nil},
		"@daily":           {newYork, nil},

		"30 2 * * *":        {newYork, []string{forward + "runs once, at 03:00"}},
		"30 1 * * *":        {newYork, []string{back + "runs once, at the first pass"}},
		"0 1,2 * * *":       {newYork, []string{forward + "runs once, at 03:00", back + "runs once, at the first pass"}},
		"30 2 * * TUE":      {newYork, nil},
		"0 */2 * * *":       {newYork, []string{forward + "does not run that day"}},
		"0 1-23/2 * * *":    {newYork, []string{back + "runs once, at the first pass"}},
		"*/5 1 * * *":       {newYork, []string{back + "runs twice"}},
		"*/5 * * * *":       {newYork, nil},
		"0 * * * *":         {"Australia/Lord_Howe", []string{"On 2026-10-04 the clocks go forward from 02:00 to 02:30: what is due in between does not run that day"}},
		"45 1 * * *":        {"Australia/Lord_Howe", []string{"On 2026-04-05 the clocks go back from 02:00 to 01:30: what is due in between runs once, at the first pass"}},
		"0 0 * * *":         {"Africa/Cairo", []string{"On 2026-04-24 the clocks go forward from 00:00 to 01:00: what is due in between runs once, at 01:00"}},
		"30 23 * * *":       {"Africa/Cairo", []string{"On 2026-10-30 the clocks go back from 2026-10-30 00:00 to 2026-10-29 23:00: what is due in between runs once, at the first pass"}},
		"0 30 2 * * ? 2025": {newYork, nil},
	} {
		t.Run(expr, func(t *testing.T) {
			var got []string
			for _, n := range parsed(t, expr).Warnings(at(t, "2026-01-01T00:00:00Z"), zone(t, c.zone)) {
				got = append(got, n.String())
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestAClockChangeMoreThanAYearAwayIsNotTold(t *testing.T) {
	loc := zone(t, "America/New_York")
	e := parsed(t, "0 30 2 8 3 ?") // the change of 2026 falls on 8 March, of 2027 on the 14th
	require.Len(t, e.Warnings(at(t, "2026-03-08T06:59:59Z"), loc), 1)
	require.Empty(t, e.Warnings(at(t, "2026-03-08T07:00:00Z"), loc))
}
