package app_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/sched"
)

// calendar makes a calendar of the team payments with New Year's Day 2027.
func (h *house) calendar(code string) *calendar.Calendar {
	h.t.Helper()
	h.found()
	c, err := h.opt.Calendars.Create(h.t.Context(), root, calendar.Draft{
		Code: code, Name: "Days of " + code, Team: "payments", Week: calendar.MondayToFriday,
		Days: map[calendar.Day]calendar.Entry{calendar.Date(2027, 1, 1): {Name: "元旦"}},
	})
	require.NoError(h.t, err)
	return c
}

// follow makes a task go by a calendar.
func follow(code string) func(*sched.TaskSpec) {
	return func(s *sched.TaskSpec) {
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindCron, Cron: "0 9 * * *", Timezone: "UTC", Calendar: code, CalendarMode: sched.OnWorkdays, CalendarMove: sched.MoveNext}
	}
}

type calendarJSON struct {
	Code, Name, Team, NextDayOff string
	Week                         []string
	Workdays, Worked, Tasks      int
	Version                      int
	NoDataYear                   *int `json:"no_data_year"`
}

// A calendar over the API alone: made, filled, read, used, changed, deleted.
func TestACalendarByAPIAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.api(access.Editor)
	made := c.wants(v1+"/calendars", `{"code": "store", "name": "Store", "team": "payments"}`, 201)
	require.Equal(t, v1+"/calendars/store", made.header.Get("Location"))
	var cal calendarJSON
	made.into(&cal)
	require.Equal(t, []string{"mon", "tue", "wed", "thu", "fri"}, cal.Week)
	require.Equal(t, 2026, *cal.NoDataYear)

	dry := c.wants(v1+"/calendars/store/import", `{"text": "2026-12-25,off,Christmas\n2026-02-30,off\n2026-12-26,班", "dry_run": true}`, 200)
	require.JSONEq(t, `{"dry_run": true, "version": 1, "read": 2, "bad_line_count": 1,
		"bad_lines": [{"line": 2, "text": "2026-02-30,off", "reason": "\"2026-02-30\" is not a date; write it as 2026-10-01"}],
		"changes": [{"date": "2026-12-25", "was": "week", "now": "off", "now_name": "Christmas"},
			{"date": "2026-12-26", "was": "week", "now": "workday"}]}`, dry.body)
	c.get(v1 + "/calendars/store").into(&cal)
	require.Equal(t, 1, cal.Version, "nothing was stored")

	c.wants(v1+"/calendars/store/import", `{"text": "2026-12-25,off,Christmas\n2026-12-26,班", "version": 1}`, 200)
	require.Equal(t, 409, c.json("POST", v1+"/calendars/store/import", `{"text": "2026-12-25,off", "version": 1}`).problem().Status)
	c.get(v1 + "/calendars/store").into(&cal)
	require.Equal(t, 2, cal.Version)
	require.Equal(t, 1, cal.Worked)
	require.Equal(t, 2027, *cal.NoDataYear)

	got := c.json("PUT", v1+"/calendars/store/days", `{"year": 2027, "version": 2, "days": [{"date": "2027-01-01", "kind": "off", "name": "New Year"}], "reason": "notice"}`)
	require.Equal(t, 200, got.status, got.body)
	require.JSONEq(t, `{"year": 2027, "covered": true, "workdays": 260, "days_off": 105, "worked": 0, "version": 3,
		"days": [{"date": "2027-01-01", "kind": "off", "name": "New Year"}]}`, got.body)
	require.JSONEq(t, got.body, c.get(v1+"/calendars/store/days?year=2027").body)
	require.Contains(t, c.get(v1+"/calendars/store/days").body, `"2026-12-25"`)

	csv := c.get(v1 + "/calendars/store/export.csv")
	require.Equal(t, "text/csv; charset=utf-8", csv.header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="store.csv"`, csv.header.Get("Content-Disposition"))
	require.Equal(t, "\ufeffdate,kind,name\r\n2026-12-25,off,Christmas\r\n2026-12-26,workday,\r\n2027-01-01,off,New Year\r\n", csv.body)
	ics := c.get(v1 + "/calendars/store/export.ics")
	require.Equal(t, "text/calendar; charset=utf-8", ics.header.Get("Content-Type"))
	require.Contains(t, ics.body, "SUMMARY:Christmas\r\n")

	h.task("orders.send", follow("store"))
	c.get(v1 + "/calendars/store").into(&cal)
	require.Equal(t, 1, cal.Tasks)
	require.Equal(t, 409, c.json("DELETE", v1+"/calendars/store", "").problem().Status)
	require.Equal(t, 200, c.json("PUT", v1+"/calendars/store", `{"name": "Store days", "week": ["sat", "sun"], "version": 3}`).status)
	c.get(v1 + "/calendars/store").into(&cal)
	require.Equal(t, []string{"sat", "sun"}, cal.Week)
	require.Equal(t, "Store days", cal.Name)
	_, err := h.opt.Tasks.Archive(t.Context(), root, "orders.send", "")
	require.NoError(t, err)
	require.Equal(t, 204, c.json("DELETE", v1+"/calendars/store", "").status)
	require.Equal(t, 404, c.get(v1+"/calendars/store").problem().Status)
}

func TestWhatIsWrongWithACalendarIsSaidByField(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calendar("mine")
	c := h.api(access.Editor)
	for body, want := range map[string][]string{
		`{"code": "A b", "team": "payments", "week": ["someday"]}`:        {"week"},
		`{"code": "A b", "team": "nonesuch", "name": "a\nb"}`:             {"code", "name", "team"},
		`{"code": "new", "team": "payments"}`:                             {"code"},
		`{"code": "mine", "team": "payments"}`:                            {"code"},
		`{"code": "x", "team": "payments", "from": "nonesuch"}`:           {"from"},
		`{"code": "x", "team": "payments", "colour": "red"}`:              {"colour"},
		`{"code": "` + strings.Repeat("x", 65) + `", "team": "payments"}`: {"code"},
	} {
		got := c.json("POST", v1+"/calendars", body)
		require.Equal(t, 422, got.status, body)
		require.Equal(t, want, got.fields(), body)
	}
	for body, want := range map[string][]string{
		`{"year": 2027, "days": []}`:                                                                                           {"version"},
		`{"year": 1900, "days": [], "version": 1}`:                                                                             {"year"},
		`{"year": 2027, "version": 1, "days": [{"date": "2027-13-01", "kind": "maybe"}]}`:                                      {"days[0].date", "days[0].kind"},
		`{"year": 2027, "version": 1, "days": [{"date": "2026-01-01", "kind": "off"}]}`:                                        {"days"},
		`{"year": 2027, "version": 1, "days": [{"date": "2027-01-01", "kind": "off"}, {"date": "2027-01-01", "kind": "off"}]}`: {"days[1].date"},
	} {
		got := c.json("PUT", v1+"/calendars/mine/days", body)
		require.Equal(t, 422, got.status, body)
		require.Equal(t, want, got.fields(), body)
	}
	for body, want := range map[string][]string{
		`{"text": ""}`:                     {"text"},
		`{"text": "hello"}`:                {"text", "text"},
		`{"text": "x", "mode": "swallow"}`: {"mode"},
		`{"text": "x", "format": "xls"}`:   {"format"},
	} {
		got := c.json("POST", v1+"/calendars/mine/import", body)
		require.Equal(t, 422, got.status, body)
		require.Equal(t, want, got.fields(), body)
	}
	require.Equal(t, 413, c.json("POST", v1+"/calendars/mine/import", `{"text": "`+strings.Repeat("#", 513<<10)+`"}`).problem().Status)
	require.Equal(t, 400, c.json("POST", v1+"/calendars/mine/import", `{"text": "2027-01-01,off", "format": "ics"}`).problem().Status)
	require.Equal(t, []string{"year"}, c.get(v1+"/calendars/mine/days?year=1900").fields())
}

// Those of the installation are everybody's to see and the administrators' to
// change; an API token is never an administrator.
func TestCalendarsOfTheInstallationAreSeenByAll(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calendar("own")
	_, err := h.opt.Calendars.Create(t.Context(), root, calendar.Draft{Code: "cn", Name: "China", Week: calendar.MondayToFriday})
	require.NoError(t, err)
	codes := func(c *client) []string {
		var page struct{ Items []calendarJSON }
		c.get(v1 + "/calendars").into(&page)
		var out []string
		for _, it := range page.Items {
			out = append(out, it.Code+" "+it.Team)
		}
		return out
	}
	require.Equal(t, []string{"cn ", "own payments"}, codes(h.api(access.Viewer)))
	require.Equal(t, []string{"cn "}, codes(h.otherAPI()))
	require.Equal(t, 404, h.otherAPI().get(v1+"/calendars/own").problem().Status)
	require.Equal(t, 200, h.otherAPI().get(v1+"/calendars/cn").status)
	for _, role := range []access.Role{access.Editor, access.Owner} {
		c := h.api(role)
		require.Equal(t, 403, c.json("PUT", v1+"/calendars/cn", `{"name": "x", "week": [], "version": 1}`).problem().Status)
		require.Equal(t, 403, c.json("POST", v1+"/calendars/cn/import", `{"text": "2027-01-01,off", "dry_run": true}`).problem().Status)
		require.Equal(t, 403, c.json("DELETE", v1+"/calendars/cn", "").problem().Status)
		require.Equal(t, 403, c.json("POST", v1+"/calendars", `{"code": "mine"}`).problem().Status)
	}
	// Copying what one sees is no change of it.
	h.api(access.Editor).wants(v1+"/calendars", `{"code": "cn-ours", "team": "payments", "from": "cn"}`, 201)
	require.Equal(t, 422, h.otherAPI().json("POST", v1+"/calendars", `{"code": "stolen", "team": "store", "from": "own"}`).status)
}
