package cron

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(t *testing.T, s string) time.Time {
	t.Helper()
	x, err := time.Parse(time.RFC3339, s)
	require.NoError(t, err)
	return x
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := LoadZone(name)
	require.NoError(t, err)
	return loc
}

func parsed(t *testing.T, expr string) Expr {
	t.Helper()
	e, err := Parse(expr)
	require.NoError(t, err, expr)
	return e
}

// slots returns the next n slots, or fewer where they end.
func slots(e Expr, after time.Time, loc *time.Location, n int) []string {
	var out []string
	for range n {
		next, ok := e.Next(after, loc)
		if !ok {
			break
		}
		out = append(out, next.Format(time.RFC3339))
		after = next
	}
	return out
}

func refusal(t *testing.T, expr string) string {
	t.Helper()
	_, err := Parse(expr)
	require.Error(t, err, expr)
	require.IsType(t, &Error{}, err)
	return err.Error()
}

// The table by which libraries were compared; want is a list of next slots,
// NEVER after the last of them, or ERR for a refusal.
var libraryCases = map[string]struct{ expr, zone, after, want string }{
	"six fields":                          {"0 */5 * * * ?", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z 2026-01-01T00:10:00Z"},
	"seconds":                             {"*/10 * * * * *", "UTC", "2026-01-01T00:00:05Z", "2026-01-01T00:00:10Z 2026-01-01T00:00:20Z"},
	"5f workday":                          {"30 9 * * MON-FRI", "UTC", "2026-01-01T10:00:00Z", "2026-01-02T09:30:00Z 2026-01-05T09:30:00Z"},
	"6f workday ?":                        {"0 0 9 ? * MON-FRI", "UTC", "2026-01-01T10:00:00Z", "2026-01-02T09:00:00Z 2026-01-05T09:00:00Z"},
	"FRIL":                                {"0 0 14 ? * FRIL", "UTC", "2026-01-01T00:00:00Z", "2026-01-30T14:00:00Z 2026-02-27T14:00:00Z 2026-03-27T14:00:00Z"},
	"6L Quartz=Fri":                       {"0 0 14 ? * 6L", "UTC", "2026-01-01T00:00:00Z", "2026-01-30T14:00:00Z 2026-02-27T14:00:00Z"},
	"2#2 Quartz=Mon":                      {"0 0 9 ? * 2#2", "UTC", "2026-01-01T00:00:00Z", "2026-01-12T09:00:00Z 2026-02-09T09:00:00Z"},
	"dow 1 Quartz=Sun":                    {"0 0 0 ? * 1", "UTC", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z"},
	"15W":                                 {"0 0 9 15W * ?", "UTC", "2026-02-01T00:00:00Z", "2026-02-16T09:00:00Z 2026-03-16T09:00:00Z 2026-04-15T09:00:00Z"},
	"15W Sat":                             {"0 0 9 15W * ?", "UTC", "2026-08-01T00:00:00Z", "2026-08-14T09:00:00Z"},
	"1W Sat no cross":                     {"0 0 9 1W * ?", "UTC", "2026-07-31T00:00:00Z", "2026-08-03T09:00:00Z 2026-09-01T09:00:00Z"},
	"LW":                                  {"0 0 9 LW * ?", "UTC", "2026-01-01T00:00:00Z", "2026-01-30T09:00:00Z 2026-02-27T09:00:00Z 2026-03-31T09:00:00Z"},
	"L dom":                               {"0 0 9 L * ?", "UTC", "2026-01-01T00:00:00Z", "2026-01-31T09:00:00Z 2026-02-28T09:00:00Z 2026-03-31T09:00:00Z"},
	"L-3":                                 {"0 0 9 L-3 * ?", "UTC", "2026-01-01T00:00:00Z", "2026-01-28T09:00:00Z 2026-02-25T09:00:00Z 2026-03-28T09:00:00Z"},
	"MON#2":                               {"0 0 9 ? * MON#2", "UTC", "2026-01-01T00:00:00Z", "2026-01-12T09:00:00Z 2026-02-09T09:00:00Z"},
	"MON#5":                               {"0 0 9 ? * MON#5", "UTC", "2026-01-01T00:00:00Z", "2026-03-30T09:00:00Z 2026-06-29T09:00:00Z"},
	"dom 31":                              {"0 0 31 * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-31T00:00:00Z 2026-03-31T00:00:00Z 2026-05-31T00:00:00Z"},
	"29 Feb":                              {"0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},
	"29 Feb over 2100":                    {"0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"},
	"31 Feb never":                        {"0 0 31 2 *", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"6f 30 Feb never":                     {"0 0 0 30 2 ?", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"5/15":                                {"5/15 * * * *", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:05:00Z 2026-01-01T00:20:00Z 2026-01-01T00:35:00Z 2026-01-01T00:50:00Z 2026-01-01T01:05:00Z"},
	"*/7":                                 {"*/7 * * * *", "UTC", "2026-01-01T00:50:00Z", "2026-01-01T00:56:00Z 2026-01-01T01:00:00Z"},
	"10-30/10":                            {"10-30/10 * * * *", "UTC", "2026-01-01T00:15:00Z", "2026-01-01T00:20:00Z 2026-01-01T00:30:00Z 2026-01-01T01:10:00Z"},
	"0 0/30 8-10":                         {"0 0/30 8-10 * * ?", "UTC", "2026-01-01T10:00:00Z", "2026-01-01T10:30:00Z 2026-01-02T08:00:00Z"},
	"dom 1/5":                             {"0 0 0 1/5 * ?", "UTC", "2026-01-26T12:00:00Z", "2026-01-31T00:00:00Z 2026-02-01T00:00:00Z 2026-02-06T00:00:00Z"},
	"wrap hour 22-2":                      {"0 22-2 * * *", "UTC", "2026-01-01T01:30:00Z", "2026-01-01T02:00:00Z 2026-01-01T22:00:00Z"},
	"wrap FRI-MON":                        {"0 9 * * FRI-MON", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T09:00:00Z 2026-01-03T09:00:00Z 2026-01-04T09:00:00Z 2026-01-05T09:00:00Z 2026-01-09T09:00:00Z"},
	"wrap NOV-FEB":                        {"0 0 1 NOV-FEB *", "UTC", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z 2026-11-01T00:00:00Z"},
	"5f both: Vixie OR":                   {"0 0 13 * FRI", "UTC", "2026-01-09T12:00:00Z", "2026-01-13T00:00:00Z 2026-01-16T00:00:00Z"},
	"6f both: Quartz ERR":                 {"0 0 0 13 * FRI", "UTC", "2026-01-09T12:00:00Z", "ERR"},
	"dow 7=Sun 5f":                        {"0 0 * * 7", "UTC", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
	"dow 0=Sun 5f":                        {"0 0 * * 0", "UTC", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
	"names mixed case":                    {"0 0 1 jan,JUL *", "UTC", "2026-01-01T00:00:00Z", "2026-07-01T00:00:00Z 2027-01-01T00:00:00Z"},
	"@daily":                              {"@daily", "UTC", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"},
	"@weekly":                             {"@weekly", "UTC", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"},
	"@every 90s":                          {"@every 90s", "UTC", "2026-01-01T00:00:00Z", "2026-01-01T00:01:30Z"},
	"CRON_TZ: the zone has its own field": {"CRON_TZ=Asia/Shanghai 0 9 * * *", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"year":                                {"0 0 12 25 12 ? 2026-2027", "UTC", "2026-01-01T00:00:00Z", "2026-12-25T12:00:00Z 2027-12-25T12:00:00Z NEVER"},
	"Shanghai 02:00":                      {"0 0 2 * * ?", "Asia/Shanghai", "2026-01-01T00:00:00Z", "2026-01-01T18:00:00Z 2026-01-02T18:00:00Z"},
	"NY gap 02:30":                        {"30 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00", "2026-03-08T07:00:00Z 2026-03-09T06:30:00Z"},
	"NY gap 02:00":                        {"0 2 * * *", "America/New_York", "2026-03-07T12:00:00-05:00", "2026-03-08T07:00:00Z 2026-03-09T06:00:00Z"},
	"NY gap 1-3":                          {"0 1-3 * * *", "America/New_York", "2026-03-08T00:00:00-05:00", "2026-03-08T06:00:00Z 2026-03-08T07:00:00Z 2026-03-09T05:00:00Z"},
	"NY gap hourly":                       {"0 * * * *", "America/New_York", "2026-03-08T00:30:00-05:00", "2026-03-08T06:00:00Z 2026-03-08T07:00:00Z 2026-03-08T08:00:00Z"},
	"NY fold 01:30 once":                  {"30 1 * * *", "America/New_York", "2026-10-31T12:00:00-04:00", "2026-11-01T05:30:00Z 2026-11-02T06:30:00Z"},
	"NY fold restart mid":                 {"30 1 * * *", "America/New_York", "2026-11-01T05:45:00Z", "2026-11-02T06:30:00Z"},
	"NY fold */30":                        {"*/30 * * * *", "America/New_York", "2026-11-01T00:59:00-04:00", "2026-11-01T05:00:00Z 2026-11-01T05:30:00Z 2026-11-01T06:00:00Z 2026-11-01T06:30:00Z 2026-11-01T07:00:00Z"},
	"NY fold hourly":                      {"0 * * * *", "America/New_York", "2026-11-01T00:30:00-04:00", "2026-11-01T05:00:00Z 2026-11-01T06:00:00Z 2026-11-01T07:00:00Z"},
	"NY fold */10 sec":                    {"*/20 * * * * *", "America/New_York", "2026-11-01T05:59:30Z", "2026-11-01T05:59:40Z 2026-11-01T06:00:00Z 2026-11-01T06:00:20Z"},
	"London gap 01:30":                    {"30 1 * * *", "Europe/London", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
	"London fold 01:30":                   {"30 1 * * *", "Europe/London", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
	"LordHowe gap 02:15":                  {"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30", "2026-10-03T15:30:00Z 2026-10-04T15:15:00Z"},
	"LordHowe gap 02:45 real":             {"45 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00:00+10:30", "2026-10-03T15:45:00Z 2026-10-04T15:45:00Z"},
	"LordHowe fold 01:45":                 {"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00+11:00", "2026-04-04T14:45:00Z 2026-04-05T15:15:00Z"},
	"LordHowe fold */15":                  {"*/15 * * * *", "Australia/Lord_Howe", "2026-04-05T01:29:00+11:00", "2026-04-04T14:30:00Z 2026-04-04T14:45:00Z 2026-04-04T15:00:00Z 2026-04-04T15:15:00Z 2026-04-04T15:30:00Z"},
	"Cairo midnight gap":                  {"0 0 * * *", "Africa/Cairo", "2026-04-23T12:00:00+02:00", "2026-04-23T22:00:00Z 2026-04-24T21:00:00Z"},
	"Cairo FRIL midnight gap":             {"0 0 0 ? * FRIL", "Africa/Cairo", "2026-04-01T12:00:00+02:00", "2026-04-23T22:00:00Z 2026-05-28T21:00:00Z"},
	"bad 61":                              {"61 * * * *", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"bad dom 32":                          {"0 0 32 * *", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"bad */0":                             {"*/0 * * * *", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"bad MON#6":                           {"0 0 9 ? * MON#6", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"bad 4 fields":                        {"* * * *", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"bad ? ?":                             {"0 0 0 ? * ?", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"bad ? in minute":                     {"? * * * *", "UTC", "2026-01-01T00:00:00Z", "ERR"},
	"bad month FOO":                       {"0 0 1 FOO *", "UTC", "2026-01-01T00:00:00Z", "ERR"},
}

func TestEveryCaseOfTheLibraryTable(t *testing.T) {
	for name, c := range libraryCases {
		t.Run(name, func(t *testing.T) {
			if c.want == "ERR" {
				refusal(t, c.expr)
				return
			}
			want := strings.Fields(c.want)
			n := len(want)
			if want[n-1] == "NEVER" {
				want = want[:n-1]
			}
			require.Equal(t, want, slots(parsed(t, c.expr), at(t, c.after), zone(t, c.zone), n))
		})
	}
}
