package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASpedUpScheduleFollowsTheRule(t *testing.T) {
	boot := time.Date(2026, 3, 29, 0, 59, 50, 0, time.UTC)
	cron := func(expr string) schedule { return schedule{Kind: "cron", Cron: expr, Timezone: "Asia/Kolkata"} }
	for name, tc := range map[string]struct {
		kind, text string
		want       schedule
	}{
		"each minute":                     {"cron", "* * * * *", cron("* * * * * ?")},
		"steps of minutes":                {"cron", "5-55/10 * * * *", cron("5-55/10 * * * * ?")},
		"a list of minutes":               {"cron", "09,39 * * * *", cron("09,39 * * * * ?")},
		"hourly":                          {"cron", "17 * * * *", cron("17 * * * * ?")},
		"on the hour":                     {"cron", "@hourly", cron("* * * * *")},
		"hours that divide a day":         {"cron", "18 */3 * * *", cron("18 */3 * * * ?")},
		"hours that don't":                {"cron", "0 */5 * * *", cron("0,5,10,15,20,24,29,34,39,44,48,53,58 * * * *")},
		"a range of hours":                {"cron", "30 7-23 * * *", cron("30 7-23,31-47,55-59 * * * ?")},
		"twice a day":                     {"cron", "0 */12 * * *", cron("0,12 * * * * ?")},
		"daily":                           {"cron", "25 6 * * *", cron("6 * * * * ?")},
		"at midnight":                     {"cron", "@daily", cron("* * * * *")},
		"weekly":                          {"cron", "47 6 * * 7", cron("6 0-56/7 * * * ?")},
		"on workdays":                     {"cron", "0 9 * * mon-fri", cron("9 1-5,8-12,15-19,22-26,29-33,36-40,43-47,50-54,57-59 * * * ?")},
		"hourly on one day of the week":   {"cron", "5 * * * 3", cron("0-23 3-59/7 * * * ?")},
		"monthly":                         {"cron", "52 6 1 * *", cron("6 1-51/10 * * * ?")},
		"yearly":                          {"cron", "@yearly", cron("1 * * * *")},
		"either day field":                {"cron", "0 4 1 * 1", cron("4 1,8,11,15,21,22,29,31,36,41,43,50,51,57 * * * ?")},
		"a timer's word":                  {"calendar", "weekly", cron("1-57/7 * * * *")},
		"a timer each quarter":            {"calendar", "*:0/15", cron("0/15 * * * * ?")},
		"a timer with date and hours":     {"calendar", "*-*-* 6,18:00", cron("6,18 * * * * ?")},
		"a timer's range of hours":        {"calendar", "*-*-* 07..23:30", cron("30 7-23,31-47,55-59 * * * ?")},
		"a timer with the time only":      {"calendar", "1:05:00", cron("1 * * * * ?")},
		"a timer on a weekday":            {"calendar", "Sun *-*-* 03:10:00", cron("3 0-56/7 * * * ?")},
		"a timer on the month's 1st week": {"calendar", "Sun *-*-1..7 1:00:00", cron("1 7,14,21,35,42,56 * * * ?")},
		"a day after the last run":        {"every", "15min 1d", schedule{Kind: "interval", EverySeconds: 60, Anchor: "2026-03-29T01:00:05Z"}},
		"an hour after the last run":      {"every", "- 1h", schedule{Kind: "interval", EverySeconds: 60, Anchor: "2026-03-29T00:59:51Z"}},
		"once after the start":            {"after", "30", schedule{Kind: "once", RunAt: "2026-03-29T01:00:20Z"}},
		"at the start":                    {"reboot", "@reboot", schedule{Kind: "once", RunAt: "2026-03-29T00:59:50Z"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := speedUp(job{kind: tc.kind, schedule: tc.text}, "Asia/Kolkata", boot)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestAScheduleThatTheRuleDoesNotKnowIsRefused(t *testing.T) {
	for _, j := range []job{
		{kind: "cron", schedule: "* * * *"}, {kind: "cron", schedule: "61 1-9 * * *"}, {kind: "cron", schedule: "0 25 * * *"},
		{kind: "cron", schedule: "0 4 x * *"}, {kind: "cron", schedule: "0 4 * * 8"}, {kind: "cron", schedule: "0 */0 * * *"},
		{kind: "calendar", schedule: "Sun"}, {kind: "calendar", schedule: "2026-01-01 00:00"}, {kind: "calendar", schedule: "*:00:30"},
		{kind: "every", schedule: "- soon"}, {kind: "every", schedule: "3q 1d"}, {kind: "after", schedule: ""}, {kind: "path", schedule: "/"},
	} {
		_, err := speedUp(j, "UTC", time.Unix(0, 0))
		require.Error(t, err, "%+v", j)
	}
}

func TestAJobIsReadOnceByItsName(t *testing.T) {
	jobs, err := parseJobs([]byte("/etc/crontab\tcrontab.1\tcron\t17 * * * *\n"))
	require.NoError(t, err)
	require.Equal(t, []job{{"/etc/crontab", "crontab.1", "cron", "17 * * * *"}}, jobs)

	_, err = parseJobs([]byte("a\tb\tcron\t@daily\nc\tb\tcron\t@daily\n"))
	require.Error(t, err)
	_, err = parseJobs([]byte("/etc/crontab 17 * * * *\n"))
	require.Error(t, err)
}

func TestOrdersAreSpreadOverTheWindow(t *testing.T) {
	orders := makeOrders(2000, 10*time.Minute)
	ids, delays, behaviours := map[string]bool{}, map[int]int{}, map[string]int{}
	for _, o := range orders {
		ids[o.BizID] = true
		delays[o.Delay/60]++
		behaviours[o.behaviour]++
		require.LessOrEqual(t, o.Delay, 600)
	}
	require.Len(t, ids, 2000)
	require.Equal(t, map[string]int{behaveOK: 1940, behaveFlaky: 40, behaveSlow: 20}, behaviours)
	for minute := range 10 {
		require.Greater(t, delays[minute], 150, "minute %d", minute)
	}
}
