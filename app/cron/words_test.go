package cron

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

var goldenWords = map[string][2]string{
	"0 0/5 9-18 ? * MON-FRI":   {"Every 5 minutes from 9:00 to 18:59 on Monday to Friday", "周一至周五 9:00 至 18:59，每 5 分钟"},
	"*/5 * * * *":              {"Every 5 minutes", "每 5 分钟"},
	"* * * * *":                {"Every minute", "每分钟"},
	"0 * * * *":                {"Every hour", "每小时"},
	"20 * * * *":               {"Every hour at minute 20", "每小时第 20 分"},
	"30 2 * * 1-5":             {"At 2:30 on Monday to Friday", "周一至周五 2:30"},
	"15 8 * * *":               {"At 8:15 every day", "每天 8:15"},
	"5/15 * * * *":             {"At minutes 5, 20, 35 and 50 of every hour", "每小时第 5、20、35、50 分"},
	"*/7 * * * *":              {"Every 7 minutes from minute 0 to 56 of every hour", "每小时第 0 至 56 分，每 7 分钟"},
	"0 */2 * * *":              {"Every 2 hours", "每 2 小时"},
	"20 */2 * * *":             {"Every 2 hours from 0:20 to 22:20 every day", "每天 0:20 至 22:20，每 2 小时"},
	"0 1/2 * * *":              {"Every 2 hours from 1:00 to 23:00 every day", "每天 1:00 至 23:00，每 2 小时"},
	"0 */5 * * *":              {"At 0:00, 5:00, 10:00, 15:00 and 20:00 every day", "每天 0:00、5:00、10:00、15:00、20:00"},
	"0 9-18 * * *":             {"Every hour from 9:00 to 18:00 every day", "每天 9:00 至 18:00，每小时"},
	"30 9-18 * * *":            {"Every hour from 9:30 to 18:30 every day", "每天 9:30 至 18:30，每小时"},
	"*/30 23-05 * * *":         {"Every 30 minutes from 23:00 to 5:59 every day", "每天 23:00 至次日 5:59，每 30 分钟"},
	"*/30 22-2 * * MON":        {"Every 30 minutes in the hours 0 to 2, 22 and 23 on Monday", "周一，0 至 2、22、23 点，每 30 分钟"},
	"0 22-2 * * MON":           {"At 0:00, 1:00, 2:00, 22:00 and 23:00 on Monday", "周一 0:00、1:00、2:00、22:00、23:00"},
	"5,10 23-3 * * *":          {"At minutes 5 and 10 of the hours 23 to 3", "23 点至次日 3 点第 5、10 分"},
	"* 0 * * *":                {"Every minute from 0:00 to 0:59 every day", "每天 0:00 至 0:59，每分钟"},
	"* 9,12,15 * * *":          {"Every minute in the hours 9, 12 and 15", "9、12、15 点，每分钟"},
	"*/5 */2 * * *":            {"Every 5 minutes in every 2nd hour from 0 to 22", "0、2、4、6、8、10、12、14、16、18、20、22 点，每 5 分钟"},
	"5/15 9-17 * * *":          {"At minutes 5, 20, 35 and 50 of the hours 9 to 17", "9 至 17 点第 5、20、35、50 分"},
	"3/4 9-17 * * *":           {"Every 4 minutes from 9:03 to 17:59 every day", "每天 9:03 至 17:59，每 4 分钟"},
	"*/7 9 * * *":              {"Every 7 minutes from 9:00 to 9:56 every day", "每天 9:00 至 9:56，每 7 分钟"},
	"10-30 * * * *":            {"Every minute from minute 10 to 30 of every hour", "每小时第 10 至 30 分，每分钟"},
	"10-30 9-17 * * *":         {"Every minute from minute 10 to 30 of the hours 9 to 17", "9 至 17 点第 10 至 30 分，每分钟"},
	"1,17,40 * * * *":          {"At minutes 1, 17 and 40 of every hour", "每小时第 1、17、40 分"},
	"30 1,2,4,7,9,11,13 * * *": {"At 1:30, 2:30, 4:30, 7:30, 9:30, 11:30 and 13:30 every day", "每天 1:30、2:30、4:30、7:30、9:30、11:30、13:30"},
	"0 0 9 ? * 2#2":            {"At 9:00 on the second Monday of the month", "每月第二个周一 9:00"},
	"0 0 14 ? * FRIL":          {"At 14:00 on the last Friday of the month", "每月最后一个周五 14:00"},
	"0 0 9 ? * L":              {"At 9:00 on Saturday", "周六 9:00"},
	"0 0 9 15W * ?":            {"At 9:00 on the weekday (Monday to Friday) nearest to day 15 of the month", "每月离 15 日最近的工作日（周一至周五）9:00"},
	"0 0 9 LW * ?":             {"At 9:00 on the last weekday (Monday to Friday) of the month", "每月最后一个工作日（周一至周五）9:00"},
	"0 0 9 L-3 * ?":            {"At 9:00 on the day 3 days before the last day of the month", "每月倒数第 4 天 9:00"},
	"0 0 9 L-3W * ?":           {"At 9:00 on the weekday (Monday to Friday) nearest to the day 3 days before the last day of the month", "每月离倒数第 4 天最近的工作日（周一至周五）9:00"},
	"0 0 9 L * ?":              {"At 9:00 on the last day of the month", "每月最后一天 9:00"},
	"0 0 1,15,L * *":           {"At 0:00 on days 1 and 15 and on the last day of the month", "每月 1、15 日和最后一天 0:00"},
	"0 0 25-5 * *":             {"At 0:00 on days 1 to 5 and 25 to 31 of the month", "每月 1 至 5、25 至 31 日 0:00"},
	"30 0 1 * 1":               {"At 0:30 on day 1 of the month or on Monday", "每月 1 日或周一 0:30"},
	"0 0 */2 * 1":              {"At 0:00 on Monday, but only on every 2nd day from day 1 to 31 of the month", "每月 1 日起每 2 天（至 31 日）且为周一 0:00"},
	"0 0 13 3 FRI":             {"At 0:00 on day 13 of the month or on Friday, in March", "3 月的 13 日或周五 0:00"},
	"0 0 13 3 5L":              {"At 0:00 on day 13 of March or on the last Friday of March", "3 月的 13 日或当月最后一个周五 0:00"},
	"0 10,44 14 ? 3 WED":       {"At 14:10 and 14:44 on Wednesday in March", "3 月的周三 14:10、14:44"},
	"0 0 1 jan,JUL *":          {"At 0:00 on day 1 of January and July", "1、7 月 1 日 0:00"},
	"0 0 1 NOV-FEB *":          {"At 0:00 on day 1 of November to February", "11 月至次年 2 月 1 日 0:00"},
	"0 0 0 1 NOV-FEB ? 2026":   {"At 0:00 on day 1 of January, February, November and December in 2026", "2026 年 1、2、11、12 月 1 日 0:00"},
	"0 0 12 25 12 ? 2026-2027": {"At 12:00 on day 25 of December in 2026 and 2027", "2026、2027 年 12 月 25 日 12:00"},
	"0 0 0 1 1 ? 2026/2":       {"At 0:00 on day 1 of January every 2 years from 2026 to 2098", "2026 至 2098 年每 2 年 1 月 1 日 0:00"},
	"*/10 * * * * ?":           {"Every 10 seconds", "每 10 秒"},
	"* * * * * ?":              {"Every second", "每秒"},
	"30 */5 * * * ?":           {"Every 5 minutes, at second 30", "每 5 分钟，第 30 秒"},
	"15,45 * * * * ?":          {"Every minute, at seconds 15 and 45", "每分钟，第 15、45 秒"},
	"* 0 0 * * ?":              {"Every second from 0:00:00 to 0:00:59 every day", "每天 0:00:00 至 0:00:59，每秒"},
	"30 0 9 * * ?":             {"At 9:00:30 every day", "每天 9:00:30"},
	"*/10 0-4 * * * ?":         {"Every 10 seconds in minutes 0 to 4 of every hour", "每小时第 0 至 4 分，每 10 秒"},
	"*/7 * * * * ?":            {"Every 7 seconds from second 0 to 56 of every minute", "每分钟第 0 至 56 秒，每 7 秒"},
	"*/10 * 9-17 ? * MON-FRI":  {"Every 10 seconds from 9:00:00 to 17:59:59 on Monday to Friday", "周一至周五 9:00:00 至 17:59:59，每 10 秒"},
	"*/10 * 9,12,15 * * ?":     {"Every 10 seconds in the hours 9, 12 and 15", "9、12、15 点，每 10 秒"},
	"*/10 0-4 9,10,13 * * ?":   {"Every 10 seconds in minutes 0 to 4 of the hours 9, 10 and 13", "9、10、13 点第 0 至 4 分，每 10 秒"},
	"10-30 */5 */2 * * ?":      {"Every second from second 10 to 30 in every 5th minute from 0 to 55 of every 2nd hour from 0 to 22", "0、2、4、6、8、10、12、14、16、18、20、22 点第 0 至 55 分中每 5 分钟，每分钟第 10 至 30 秒，每秒"},
	"1,4,9,16,25,36 5 3 * * ?": {"At minute 5 of hour 3, at seconds 1, 4, 9, 16, 25 and 36", "3 点第 5 分，第 1、4、9、16、25、36 秒"},
	"0 9 * * FRI-MON":          {"At 9:00 on Friday to Monday", "周五至周一 9:00"},
	"0 9 * * MON#1,FRIL":       {"At 9:00 on the first Monday and the last Friday of the month", "每月第一个周一和最后一个周五 9:00"},
	"0 9 * 3 MON,FRIL":         {"At 9:00 on Monday and on the last Friday of the month in March", "3 月的周一和当月最后一个周五 9:00"},
	"0 0 1/5 * *":              {"At 0:00 on every 5th day from day 1 to 31 of the month", "每月 1 日起每 5 天（至 31 日）0:00"},
	"@every 90s":               {"Every 1 minute and 30 seconds", "每 1 分钟 30 秒"},
	"@every 1h":                {"Every hour", "每小时"},
	"@every 24h":               {"Every 24 hours", "每 24 小时"},
	"@every 1h1m1s":            {"Every 1 hour, 1 minute and 1 second", "每 1 小时 1 分钟 1 秒"},
	"@daily":                   {"At 0:00 every day", "每天 0:00"},
	"@weekly":                  {"At 0:00 on Sunday", "周日 0:00"},
	"0 0 1-31 * MON":           {"At 0:00 every day", "每天 0:00"},
	"0 9 * 3 *":                {"At 9:00 every day in March", "3 月每天 9:00"},
	"*/5 * * 3 *":              {"Every 5 minutes in March", "3 月每天，每 5 分钟"},
	"*/5 * * * MON":            {"Every 5 minutes on Monday", "周一，每 5 分钟"},
	"0 0 9 * * ? 2027":         {"At 9:00 every day in 2027", "2027 年每天 9:00"},
}

func TestWordsSayWhatAnExpressionMeans(t *testing.T) {
	for expr, want := range goldenWords {
		t.Run(expr, func(t *testing.T) {
			e := parsed(t, expr)
			require.Equal(t, want[0], e.Words("en"))
			require.Equal(t, want[1], e.Words("zh-CN"))
		})
	}
}

func TestWordsAreEnglishForAnUnknownLanguage(t *testing.T) {
	require.Equal(t, "Every hour", parsed(t, "@hourly").Words(""))
	require.Equal(t, "Every hour", parsed(t, "@hourly").Words("de"))
	require.Equal(t, "每小时", parsed(t, "@hourly").Words("zh"))
}

// Two expressions with the same words must have the same slots.
func TestWordsTellDifferentMeaningsApart(t *testing.T) {
	t.Parallel()
	type meaning struct {
		sec, min, hour, month uint64
		table                 dayTable
		years                 yearSet
	}
	w := writer{rand.New(rand.NewPCG(9, 9))}
	said := map[string]meaning{}
	written := map[string]string{}
	for range 40_000 {
		expr := w.clock() + " * * *"
		switch w.IntN(4) {
		case 0:
			expr = w.field(0, 59, nil, 2) + " " + w.clock() + " * * ?"
		case 1:
			expr = "0 9 " + w.date(false, 5)
		case 2:
			expr = "0 */5 9-17 " + w.date(true, 5) + " " + w.field(2026, 2029, nil, 5)
		}
		e, err := Parse(expr)
		if err != nil {
			continue
		}
		m := meaning{sec: e.r.sec, min: e.r.min, hour: e.r.hour, month: e.r.month, table: e.r.table}
		if e.r.years != nil {
			m.years = *e.r.years
		}
		for _, lang := range []string{"en", "zh"} {
			text := e.Words(lang)
			if old, ok := said[text]; ok && old != m {
				t.Fatalf("%q and %q mean different things, both are %q", expr, written[text], text)
			}
			said[text], written[text] = m, expr
		}
	}
}
