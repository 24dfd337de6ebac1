package app_test

import (
	"bytes"
	"mime/multipart"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
)

// multi posts a form with a file, as a browser does.
func (c *client) multi(path, file string, fields ...string) *answer {
	c.h.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for i := 0; i < len(fields); i += 2 {
		require.NoError(c.h.t, w.WriteField(fields[i], fields[i+1]))
	}
	if file != "" {
		part, err := w.CreateFormFile("file", "days.csv")
		require.NoError(c.h.t, err)
		_, err = part.Write([]byte(file))
		require.NoError(c.h.t, err)
	}
	require.NoError(c.h.t, w.Close())
	return c.do("POST", path, w.FormDataContentType(), &body)
}

func (h *house) storedCalendar(code string) *calendar.Calendar {
	h.t.Helper()
	c, err := h.ledger.Calendar(h.t.Context(), code)
	require.NoError(h.t, err)
	return c
}

// A calendar by the pages alone, without a script: made, filled from a file in
// two steps, read, edited, copied, exported, deleted.
func TestACalendarByThePages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("editor")
	require.True(t, c.get("/calendars").has(`a[href="/calendars/new"]`))
	form := c.get("/calendars/new")
	require.Equal(t, 5, form.doc().Find(`input[name=week][checked]`).Length())
	require.False(t, form.has(`select[name=team] option[value=""]`), "only administrators make one for all")
	got := c.post("/calendars/new", "code", "store", "name", "Store 门店", "team", "payments", "week", "mon", "week", "tue", "week", "sat")
	require.Equal(t, "/calendars/store", got.location(), got.body)
	require.Equal(t, []string{"mon", "tue", "sat"}, h.storedCalendar("store").Week.Names())

	text := "2026-12-25,off,Christmas\r\n2026-02-30,off\r\n2026-12-27,班,make-up"
	look := c.multi("/calendars/store/import", text, "mode", "replace", "version", "1", "step", "look", "year", "2026")
	require.Equal(t, 200, look.status, look.body)
	require.Len(t, look.texts("[data-test=change]"), 2)
	require.Contains(t, look.text("[data-test=bad-line]"), "2026-02-30")
	require.Contains(t, look.doc().Find("textarea[name=text]").Text(), "Christmas")
	require.Equal(t, 1, h.storedCalendar("store").Version, "nothing is stored before it was seen")
	seen := look.doc().Find("input[name=seen]").AttrOr("value", "")
	shown := look.doc().Find("textarea[name=text]").Text()

	// Something else than what was shown is shown first.
	other := c.multi("/calendars/store/import", "", "mode", "replace", "version", "1", "step", "save", "seen", seen, "text", shown+"\n2026-12-28,off")
	require.Equal(t, 200, other.status)
	require.Len(t, other.texts("[data-test=change]"), 3)
	other = c.multi("/calendars/store/import", "", "mode", "add", "version", "1", "step", "save", "seen", seen, "text", shown)
	require.Equal(t, 200, other.status, "another mode, too")
	require.Equal(t, 1, h.storedCalendar("store").Version)

	saved := c.multi("/calendars/store/import", "", "mode", "replace", "version", "1", "step", "save", "seen", seen, "text", strings.ReplaceAll(shown, "\n", "\r\n"))
	require.Equal(t, "/calendars/store?year=2026", saved.location(), saved.body)
	require.Len(t, h.storedCalendar("store").Listed, 2)
	again := c.multi("/calendars/store/import", "", "mode", "replace", "version", "1", "step", "save", "seen", seen, "text", shown)
	require.Equal(t, 409, again.status)
	require.Contains(t, again.text("[data-test=moved]"), "version 2")
	require.True(t, again.has("[data-test=no-change]"))

	page := c.get("/calendars/store?year=2026")
	require.Equal(t, 12, page.doc().Find(".mon").Length())
	require.Equal(t, "25 off", page.text(".mon td.off"))
	require.Equal(t, "27 worked", page.text(".mon td.make"))
	require.Contains(t, page.text("[data-test=days-off]"), "Christmas")
	require.Contains(t, page.text("[data-test=worked]"), "27 Dec")
	require.True(t, page.has(`.mon td.now`))

	set := c.post("/calendars/store/days", "version", "2", "year", "2026", "from", "2026-12-30", "to", "2026-12-31", "kind", "off", "name", "Stock-taking")
	require.Equal(t, "/calendars/store/edit?year=2026", set.location(), set.body)
	require.Equal(t, "Stock-taking", h.storedCalendar("store").Listed[calendar.Date(2026, 12, 31)].Name)
	edit := c.get("/calendars/store/edit?year=2026")
	require.Equal(t, 3, edit.doc().Find(`form input[name=kind][value=week][type=hidden]`).Length())
	set = c.post("/calendars/store/days", "version", "3", "year", "2026", "from", "2026-12-30", "to", "2026-12-31", "kind", "week")
	require.Equal(t, 303, set.status)
	require.Len(t, h.storedCalendar("store").Listed, 2)
	renamed := c.post("/calendars/store/edit", "version", "4", "year", "2026", "title", "Store days", "week", "sun")
	require.Equal(t, "/calendars/store?year=2026", renamed.location())
	require.Equal(t, "Store days", h.storedCalendar("store").Name)

	require.Contains(t, c.get("/calendars/new?from=store").text("h1"), "Store days")
	copied := c.post("/calendars/new", "code", "store2", "name", "Copy", "team", "payments", "from", "store")
	require.Equal(t, "/calendars/store2", copied.location(), copied.body)
	require.Equal(t, h.storedCalendar("store").Listed, h.storedCalendar("store2").Listed)

	csv := c.get("/calendars/store/export.csv")
	require.Equal(t, "text/csv; charset=utf-8", csv.header.Get("Content-Type"))
	require.Contains(t, csv.body, "2026-12-25,off,Christmas")
	require.Contains(t, c.get("/calendars/store/export.ics").body, "BEGIN:VEVENT")

	h.task("orders.send", follow("store"))
	touched := c.multi("/calendars/store/import", "2027-01-03,off", "mode", "add", "version", "5", "step", "look")
	require.Contains(t, touched.text("[data-test=slots]"), "of 1 task fall on days that change")
	require.Equal(t, "No coming slot falls on a day that changes.", c.multi("/calendars/store/import", "2020-01-06,off", "mode", "add", "version", "5", "step", "look").text("[data-test=slots]"))
	require.Contains(t, c.get("/calendars/store").text("[data-test=uses]"), "moves to the next workday")
	require.Equal(t, "/tasks?calendar=store", c.get("/calendars/store").attr(".facts a", "href"))
	require.Equal(t, "/tasks?calendar=store", c.get("/calendars").attr(`[data-calendar=store] a.ink`, "href"))
	require.Equal(t, 409, c.post("/calendars/store/delete").status)
	gone := c.post("/calendars/store2/delete", "reason", "twice")
	require.Equal(t, "/calendars", gone.location())
	require.Equal(t, 404, c.get("/calendars/store2").status)
	require.Contains(t, h.lastAudit("calendar.delete"), "twice")
}

// lastAudit is the reason of the newest audit row of an action.
func (h *house) lastAudit(action string) string {
	h.t.Helper()
	rows, err := h.ledger.Audit(h.t.Context(), root.Scope(), access.AuditFilter{Action: action}, 0, 1)
	require.NoError(h.t, err)
	require.Len(h.t, rows, 1)
	return rows[0].Reason
}

// Two people edit the same days: the later one sees what became of them, and
// nothing of the other's is lost.
func TestTwoPeopleEditingACalendar(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calendar("store")
	a, b := h.as("editor"), h.as("owner")
	require.Equal(t, 303, a.post("/calendars/store/days", "version", "1", "from", "2027-05-01", "kind", "off").status)
	late := b.post("/calendars/store/days", "version", "1", "year", "2027", "from", "2027-05-02", "kind", "work", "name", "mine")
	require.Equal(t, 409, late.status)
	require.Contains(t, late.text("[data-test=moved]"), "editor")
	require.Equal(t, "2027-05-02", late.doc().Find("[data-test=days-form] input[name=from]").AttrOr("value", ""))
	require.Equal(t, "2", late.doc().Find("[data-test=days-form] input[name=version]").AttrOr("value", ""))
	require.NotContains(t, h.storedCalendar("store").Listed, calendar.Date(2027, 5, 2))
	late = b.post("/calendars/store/edit", "version", "1", "title", "x", "week", "mon")
	require.Equal(t, 409, late.status)
}

func TestWhatIsTypedWrongIsSaidAtItsField(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calendar("store")
	c := h.as("editor")
	for name, fields := range map[string][]string{
		"from": {"version", "1", "from", "2027-02-30", "kind", "off"},
		"to":   {"version", "1", "from", "2027-02-03", "to", "2027-02-01", "kind", "off"},
		"name": {"version", "1", "from", "2027-02-03", "kind", "off", "name", strings.Repeat("x", 101)},
	} {
		got := c.post("/calendars/store/days", fields...)
		require.Equal(t, 422, got.status, name)
		require.True(t, got.has("#f-"+name+"-error"), name)
	}
	require.Equal(t, 422, c.post("/calendars/store/days", "from", "2027-02-03", "kind", "off").status, "no version")
	got := c.post("/calendars/store/edit", "version", "1", "title", "", "week", "mon")
	require.Equal(t, 422, got.status)
	require.True(t, got.has("#f-title-error"))
	got = c.post("/calendars/new", "code", "A b", "name", "", "team", "payments")
	require.Equal(t, 422, got.status)
	require.True(t, got.has("#f-code-error"))
	for _, text := range []string{"", "hello", "2027-01-01,off,\xd4\xaa\xb5\xa9", strings.Repeat("#\n", 300<<10)} {
		got = c.multi("/calendars/store/import", text, "mode", "replace", "step", "look")
		require.Contains(t, []int{400, 413, 422}, got.status, "%.20q", text)
		require.True(t, got.has("[data-test=bad-line]"), "%.20q", text)
	}
	require.Equal(t, 413, c.multi("/calendars/store/import", strings.Repeat("#", 1<<20+1), "mode", "replace").status)
	require.Equal(t, 422, c.post("/calendars/store/import", "mode", "replace", "text", "hello").status, "a plain form works too")
	require.Equal(t, 1, h.storedCalendar("store").Version)
}

func TestCalendarsAreChangedByWhoMay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calendar("own")
	_, err := h.opt.Calendars.Create(t.Context(), root, calendar.Draft{Code: "cn", Name: "China", Week: calendar.MondayToFriday})
	require.NoError(t, err)
	for _, who := range []string{"viewer", "operator", "editor", "owner", "auditor"} {
		c := h.as(who)
		page := c.get("/calendars/cn")
		require.Equal(t, 200, page.status, who)
		require.False(t, page.has(`a[href^="/calendars/cn/edit"]`), who)
		require.Equal(t, 403, c.get("/calendars/cn/edit").status, who)
		require.Equal(t, 403, c.post("/calendars/cn/days", "version", "1", "from", "2027-01-01", "kind", "off").status, who)
		require.Equal(t, 403, c.multi("/calendars/cn/import", "2027-01-01,off", "mode", "add").status, who)
		require.Equal(t, 403, c.post("/calendars/cn/delete").status, who)
	}
	for _, who := range []string{"stranger", "nobody"} {
		require.Equal(t, 404, h.as(who).get("/calendars/own").status, who)
		require.Equal(t, 404, h.as(who).get("/calendars/own/export.csv").status, who)
		require.NotContains(t, h.as(who).get("/calendars").body, "Days of own", who)
		require.Equal(t, 200, h.as(who).get("/calendars/cn").status, who)
	}
	require.True(t, h.as("admin").get("/calendars/cn").has(`a[href^="/calendars/cn/edit"]`))
	require.Equal(t, 303, h.as("admin").post("/calendars/cn/days", "version", "1", "from", "2027-01-01", "kind", "off").status)
	require.Equal(t, "/calendars/all", h.as("admin").post("/calendars/new", "code", "all", "name", "All", "team", "", "week", "mon").location())
	require.Zero(t, h.storedCalendar("all").TeamID)
}

// A year without data is told where tasks go by the calendar.
func TestAYearWithoutDataIsTold(t *testing.T) {
	t.Parallel()
	h := newHouse(t) // it is 2 December 2026
	h.calendar("own")
	c := h.as("editor")
	require.False(t, c.get("/calendars").has("[data-test=no-data]"), "nobody goes by it")
	require.False(t, c.get("/calendars").has("[data-test=ahead]"))
	h.task("orders.send", follow("own"))
	require.Contains(t, c.get("/calendars").text("[data-test=ahead]"), "Moves to Mon 7 Dec, joins")
	require.False(t, h.as("stranger").get("/calendars").has("[data-test=ahead]"), "another team’s")
	require.Contains(t, c.get("/calendars").text("[data-test=no-data]"), "has no data for 2026")
	require.Contains(t, c.get("/calendars").text(".note"), "1 task goes by it")
	c.post("/calendars/own/days", "version", "1", "from", "2026-12-25", "kind", "off")
	require.False(t, c.get("/calendars").has("[data-test=no-data]"))
	c.post("/calendars/own/days", "version", "2", "from", "2027-01-01", "kind", "week")
	page := c.get("/calendars/own")
	require.Contains(t, page.text("[data-test=no-data]"), "has no data after 31 Dec 2026")
	require.Contains(t, page.text(".tabs"), "2027, no data")
	require.Contains(t, c.with("Cookie", "ax_lang=zh-CN").get("/help").body, "日历")
}

// A calendar's tasks are a list of tasks like any other, on the page and in the
// API.
func TestTasksAreListedByTheirCalendar(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calendar("store")
	h.task("orders.send", follow("store"))
	h.task("orders.close")
	name := h.storedCalendar("store").Name
	v := h.as("viewer")
	for _, calendar := range []string{"store", name} {
		got := v.get("/tasks?calendar=" + url.QueryEscape(calendar))
		require.Equal(t, []string{"orders.send"}, codes(got))
		require.Equal(t, []string{"calendar" + calendar}, got.texts(".tok"))
		require.Equal(t, "/tasks", got.attr(".tok a", "href"), "it leads to all")
		require.Equal(t, calendar, got.attr(`.tokens input[name="calendar"]`, "value"), "a search keeps it")
	}
	require.Equal(t, "Nothing matches", v.get("/tasks?calendar=gone").text("h2"))
	require.Equal(t, "/tasks?calendar=store&q=x", v.get("/tasks?q=x+calendar:store").location())

	api := h.api(access.Viewer)
	require.Equal(t, []string{"orders.send"}, listedCodes(api.get(v1+"/tasks?calendar=store")))
	require.Equal(t, []string{"orders.send"}, listedCodes(api.get(v1+"/tasks?kind=cron&calendar="+url.QueryEscape(name))))
	require.Empty(t, listedCodes(api.get(v1+"/tasks?calendar=gone")))
}

func listedCodes(got *answer) (out []string) {
	var body struct {
		Items []struct{ Code string }
	}
	got.into(&body)
	for _, item := range body.Items {
		out = append(out, item.Code)
	}
	return out
}

// The list's own entry to the import asks for the calendar first.
func TestAnImportFromTheListAsksForTheCalendar(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.calendar("store")
	c := h.as("editor")
	require.Equal(t, "/calendars/import", c.get("/calendars").attr("[data-test=import-any]", "href"))
	page := c.get("/calendars/import")
	require.Equal(t, 200, page.status, page.body)
	require.Equal(t, []string{h.storedCalendar("store").Name}, page.texts("select[name=calendar] option"), "those that may be changed")
	require.Equal(t, "/calendars/store/import", c.get("/calendars/import?calendar=store").location())
	require.Equal(t, 422, c.get("/calendars/import?calendar=../x").status)
	require.Equal(t, 422, c.get("/calendars/import?calendar=gone").status)

	v := h.as("viewer")
	require.False(t, v.get("/calendars").has("[data-test=import-any]"))
	require.Equal(t, 403, v.get("/calendars/import").status)
}

// Without a calendar that may be changed the way leads to a new one.
func TestAnImportWithoutACalendarLeadsToANewOne(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("editor")
	require.False(t, c.get("/calendars/import").has("select[name=calendar]"))
	require.True(t, c.get("/calendars/import").has(`main a[href="/calendars/new"]`))
}
