package app_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/sched"
)

// write puts an entry into the audit; the change may make it another one.
func (h *house) write(action string, change ...func(*access.Entry)) {
	h.t.Helper()
	e := access.Entry{
		At: h.local(), Action: action, TeamID: h.team.ID, Object: access.Object{Kind: "task", ID: "7", Name: "orders.send"},
		Actor: access.Actor{Kind: access.User, ID: 9, Name: "chen", Address: "10.0.0.9"},
	}
	for _, c := range change {
		c(&e)
	}
	require.NoError(h.t, h.ledger.RecordAudit(h.t.Context(), e))
}

// flush writes what was refused.
func (h *house) flush() {
	h.t.Helper()
	_, err := h.opt.Refusals.Flush(h.t.Context())
	require.NoError(h.t, err)
}

// what gives what the rows say was done, without the reason that stands there
// on a phone.
func what(page *answer) []string {
	page.doc().Find("[data-test=entry] .only-s").Remove()
	return page.texts("[data-test=entry] td:nth-child(3)")
}

func TestTheAuditSaysWhoDidWhatToWhat(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.write("task.update", func(e *access.Entry) {
		e.Reason = "价格冻结"
		e.Changes = []access.Change{{Field: "policy.retry", Old: "10 s", New: "30 s"}, {Field: "headers.Key", Old: access.Masked, New: access.Masked}}
	})
	h.write("token.create", func(e *access.Entry) {
		e.Actor = access.Actor{Kind: access.Token, ID: 4, Name: "ci"}
		e.Object = access.Object{Kind: "token", ID: "4", Name: "<b>bold</b>"}
	})
	page := h.as("owner").get("/audit")
	require.Equal(t, http.StatusOK, page.status)
	rows := page.texts("[data-test=entry]")
	row := cells(page, "[data-test=entry]:has(a[href='/tasks/orders.send'])")
	require.Equal(t, "06:32:07 2 Dec", strings.Join(strings.Fields(strings.Replace(row[0], "07", "07 ", 1)), " "))
	require.Contains(t, row[1], "chen")
	require.Contains(t, row[2], "Changed the task orders.send")
	require.Equal(t, "2 fields policy.retry, headers.Key", page.text("[data-test=entry]:has(a[href='/tasks/orders.send']) summary"))
	require.Contains(t, row[2], "− 10 s")
	require.Contains(t, row[2], "changed, masked")
	require.Equal(t, "“价格冻结”", row[3])
	require.Equal(t, "payments", row[4])
	require.Equal(t, "10.0.0.9", row[5])
	require.True(t, page.has("details[data-test=diff]:not([open])"), "the diff unfolds")
	require.Contains(t, strings.Join(rows, "\n"), "token ciCreated the token <b>bold</b>")
	require.False(t, page.has("[data-test=entry] b"))
}

func TestTheAuditIsNarrowedByItsAddress(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.forward(20 * 24 * time.Hour) // away from what making the house wrote
	h.write("task.update")
	h.forward(40 * 24 * time.Hour)
	h.write("task.pause", func(e *access.Entry) { e.Actor.Name = "li" })
	h.forward(3 * 24 * time.Hour)
	h.write("calendar.update", func(e *access.Entry) { e.Object = access.Object{Kind: "calendar", ID: "3", Name: "bank days"} })
	h.write("access.refuse", func(e *access.Entry) {
		e.TeamID, e.Object = h.other.ID, access.Object{Kind: "route", ID: "POST /x", Name: "POST /x"}
	})
	day := func(ago int) string { return h.local().AddDate(0, 0, -ago).Format("2006-01-02") }
	const update, pause, days, refuse = "Changed the task", "Paused the task", "Changed the calendar", "Refused"
	for query, want := range map[string][]string{
		"object=task&period=7d":             {pause},
		"object=task&period=all":            {pause, update},
		"object=task&period=today":          {},
		"period=today":                      {"Signed in", refuse, days},
		"action=task&actor=chen&period=all": {update},
		"action=task.pause&period=all":      {pause},
		"actor=li":                          {pause},
		"object=calendar&id=3":              {days},
		"words=BANK":                        {days},
		"result=refused&object=route":       {refuse},
		"period=today&result=done":          {"Signed in", days},
		"from=" + day(3) + "&to=" + day(3):  {pause},
		"from=" + day(43) + "&to=" + day(1): {pause, update},
		"to=" + day(20) + "&object=task":    {update},
		"period=today&team=" + h.other.Code: {refuse},
		"actor=nobody&period=all":           {},
		"actor=%27+OR+1%3D1+--&period=all":  {},
		"words=%25&period=all":              {},
	} {
		page := h.as("admin").get("/audit?" + query)
		require.Equal(t, http.StatusOK, page.status, query)
		got := what(page)
		require.Len(t, got, len(want), "%s: %v", query, got)
		for i := range want {
			require.True(t, strings.HasPrefix(got[i], want[i]), "%s: %v", query, got)
		}
		require.Equal(t, len(want) == 0, page.says("Nothing matches"), query)
		h.as("admin").get("/audit?team=") // a team that was asked for stays chosen
	}
}

func TestAFilterThatCannotBeReadIsSaidAtTheFilter(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for query, want := range map[string]string{
		"object=Task!":                      `There is no kind of object "Task!"`,
		"action=drop+table":                 `There is no action "drop table"`,
		"result=perhaps":                    `There is no result "perhaps"`,
		"period=year":                       `There is no period "year"`,
		"from=yesterday":                    "not a date and time",
		"from=2026-12-02&to=2026-12-01":     "The period ends before it begins",
		"team=nonesuch":                     `There is no team "nonesuch"`,
		"after=x":                           "This place in the list can’t be read",
		"before=99999999999999999999999999": "This place in the list can’t be read",
	} {
		page := h.as("admin").get("/audit?" + query)
		require.Equal(t, http.StatusUnprocessableEntity, page.status, query)
		require.Contains(t, page.text(".note.bad"), want, query)
		require.False(t, page.has("[data-test=entry]"), query)
		require.Equal(t, http.StatusUnprocessableEntity, h.as("admin").get("/audit.csv?"+query).status, query)
	}
}

func TestTheBoxOfTheAuditTakesWordsAndFilters(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for typed, want := range map[string]string{
		"who:li":                        "/audit?actor=li",
		"action:task. object:task id:7": "/audit?action=task.&id=7&object=task",
		"from:2026-11-01 to:2026-11-30": "/audit?from=2026-11-01&to=2026-11-30",
		"period:30d result:refused":     "/audit?period=30d&result=refused",
		"bank days":                     "/audit?words=bank+days",
		"https://x y: team:payments":    "/audit?words=https%3A%2F%2Fx+y%3A&team=payments",
		"team:a&b=c":                    "/audit?team=a%26b%3Dc",
	} {
		got := h.as("admin").get("/audit?q=" + strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(typed, "&", "%26"), " ", "+"), "=", "%3D"))
		require.Equal(t, http.StatusSeeOther, got.status, typed)
		require.Equal(t, want, got.location(), typed)
	}
}

func TestTheAuditIsPagedBothWays(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	for i := range 120 {
		h.write("task.update", func(e *access.Entry) { e.Object = access.Object{Kind: "task", ID: "7", Name: fmt.Sprintf("t%03d", i)} })
	}
	c := h.as("owner")
	names := func(p *answer) string {
		all := p.texts("[data-test=entry] .nm")
		return all[0] + ".." + all[len(all)-1]
	}
	page := c.get("/audit?object=task")
	require.Equal(t, "t119..t070", names(page))
	require.False(t, page.has("a[rel=prev]"))
	page = c.get(page.attr("a[rel=next]", "href"))
	require.Equal(t, "t069..t020", names(page))
	last := c.get(page.attr("a[rel=next]", "href"))
	require.Equal(t, "t019..t000", names(last))
	require.False(t, last.has("a[rel=next]"))
	require.Equal(t, "t069..t020", names(c.get(last.attr("a[rel=prev]", "href"))))
	require.Equal(t, "t119..t070", names(c.get(page.attr("a[rel=prev]", "href"))))
}

func TestTheAuditIsForOwnersAuditorsAndAdministrators(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.write("task.update", func(e *access.Entry) { e.Object.Name = "payments-thing" })
	h.write("task.update", func(e *access.Entry) { e.Object.Name, e.TeamID = "store-thing", h.other.ID })
	h.write("user.create", func(e *access.Entry) {
		e.Object, e.TeamID = access.Object{Kind: "user", ID: "5", Name: "new-person"}, 0
	})
	for who, want := range map[string]string{
		"viewer": "403", "operator": "403", "editor": "403", "nobody": "404",
		"owner": "payments-thing", "stranger": "store-thing",
		"auditor": "new-person payments-thing store-thing", "admin": "new-person payments-thing store-thing",
	} {
		page, file := h.as(who).get("/audit"), h.as(who).get("/audit.csv")
		require.Equal(t, page.status, file.status, who)
		require.Equal(t, page.status == http.StatusOK, h.as(who).get("/help").has(`.side-link[href="/audit"]`), who)
		if page.status != http.StatusOK {
			require.Equal(t, want, strconv.Itoa(page.status), who)
			continue
		}
		var seen, written []string
		for _, thing := range []string{"new-person", "payments-thing", "store-thing"} {
			if page.says(thing) {
				seen = append(seen, thing)
			}
			if strings.Contains(file.body, thing) {
				written = append(written, thing)
			}
		}
		require.Equal(t, want, strings.Join(seen, " "), who)
		require.Equal(t, want, strings.Join(written, " "), who)
	}
}

func TestTheAuditSaysHowFarItIsSealed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	require.Equal(t, "Nothing is sealed yet", h.as("admin").get("/audit").text("[data-test=chain]"))
	n, err := h.ledger.SealAudit(t.Context(), h.local(), 1000)
	require.NoError(t, err)
	h.write("task.update")
	page := h.as("admin").get("/audit")
	require.Contains(t, page.text("[data-test=chain]"), fmt.Sprintf("Chain sealed %d entries, the last at 06:32:07, head ", n))
	require.Equal(t, "1 newer waits for its seal", page.text("[data-test=waiting]"))
	require.Contains(t, page.text("[data-test=looked]"), "ax verify checks all")
}

func TestTheAuditAsAFileHasTheRowsOfTheList(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	for i := range 450 { // more than two pages
		h.write("task.update", func(e *access.Entry) {
			e.Object.Name, e.Reason = fmt.Sprintf("t%03d", i), "=HYPERLINK(\"http://evil\",\"价\")\nnext"
			e.Changes = []access.Change{{Field: "a", Old: "1", New: "2"}}
		})
	}
	h.write("access.refuse", func(e *access.Entry) { e.Actor.Name = "@evil" })
	h.write("task.update", func(e *access.Entry) { e.TeamID = h.other.ID })
	file := h.as("owner").get("/audit.csv?object=task&team=payments")
	require.Equal(t, http.StatusOK, file.status)
	require.Equal(t, "text/csv; charset=utf-8", file.header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="audit-20261202-0632.csv"`, file.header.Get("Content-Disposition"))
	require.True(t, strings.HasPrefix(file.body, "\ufeffid,time,result,action,"), "UTF-8 for spreadsheets")
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.body, "\ufeff"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 452)
	require.Equal(t, []string{"2026-12-02T06:32:07Z", "refused", "access.refuse", "user", "9", "'@evil", "10.0.0.9", "task", "7", "orders.send", "payments", "", ""}, rows[1][1:14])
	require.Equal(t, []string{"done", "t449", "'=HYPERLINK(\"http://evil\",\"价\")\nnext", `[{"field":"a","old":"1","new":"2"}]`}, []string{rows[2][2], rows[2][10], rows[2][12], rows[2][13]})
	require.Equal(t, "t000", rows[451][10])
}

func TestARefusalIsInTheAudit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.task("orders.send", func(*sched.TaskSpec) {})
	require.Equal(t, http.StatusForbidden, h.as("viewer").post("/tasks/orders.send/run", "reason", "x").status)
	require.Equal(t, http.StatusForbidden, h.as("operator").post("/tasks/orders.send").status)
	require.Equal(t, http.StatusForbidden, h.bearer(h.token(access.Viewer)).json(http.MethodPost, "/api/v1/tasks/orders.send/trigger", "{}").status)
	require.Equal(t, http.StatusForbidden, h.as("owner").with("Sec-Fetch-Site", "cross-site").post("/tasks/orders.send/run").status)
	require.Equal(t, http.StatusForbidden, h.as("viewer").get("/audit").status, "reading isn't told")
	require.Equal(t, http.StatusNotFound, h.as("stranger").post("/tasks/orders.send/run").status, "nor what isn't there for them")
	h.flush()
	page := h.as("admin").get("/audit?result=refused")
	require.ElementsMatch(t, []string{
		"Refused POST /tasks/orders.send/run",
		"Refused Run a task now POST /api/v1/tasks/orders.send/trigger",
		"Refused Create, change and archive tasks POST /tasks/orders.send",
		"Refused Run a task now POST /tasks/orders.send/run",
	}, what(page))
	require.ElementsMatch(t, []string{"viewer", "operator", "token test-viewer", "owner"}, page.texts("[data-test=entry] td:nth-child(2) a"))
	require.Contains(t, page.texts("[data-test=entry] td:nth-child(4)"), "This needs the role editor in the team")
	require.Contains(t, page.texts("[data-test=entry] td:nth-child(4)"), "This came from another website")
	require.Len(t, what(h.as("owner").get("/audit?result=refused")), 3, "the team's own, for its owner")
}

func TestARefusedSignInIsInTheAudit(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.browser().post("/login", "login", "admin", "password", "wrong")
	page := h.as("admin").get("/audit?result=refused")
	require.Equal(t, []string{"Refused a sign-in admin"}, what(page))
	require.Equal(t, "192.0.2.1", page.text("[data-test=entry] td:nth-child(6)"))
}

func TestManyRefusalsAreTwoRowsOfAMinute(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.task("orders.send", func(*sched.TaskSpec) {})
	for range 30 {
		h.as("viewer").post("/tasks/orders.send/run")
		h.flush()
	}
	h.forward(time.Minute)
	h.flush()
	require.Equal(t, []string{
		"Refused Run a task now 29 times within a minute POST /tasks/orders.send/run",
		"Refused Run a task now POST /tasks/orders.send/run",
	}, what(h.as("admin").get("/audit?result=refused")))
}

func TestARefusalIsAnsweredWhileTheAuditCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.Refusals = access.NewRefusals(nil, time.Now) })
	h.found()
	h.task("orders.send", func(*sched.TaskSpec) {})
	require.Equal(t, http.StatusForbidden, h.as("viewer").post("/tasks/orders.send/run").status, "nothing was written: the store is nil")
}

func TestObjectsShowTheirHistory(t *testing.T) {
	t.Parallel()
	w := newWatched(t)
	letter, calendar := "/dead-letters/"+strconv.FormatInt(w.letter.ID, 10), "/calendars/orders.send"
	require.Equal(t, http.StatusSeeOther, w.as("operator").post(letter, "version", strconv.Itoa(w.letter.Version), "status", "taken").status)
	for _, who := range []string{"viewer", "owner"} {
		page := w.as(who).get(letter)
		require.Len(t, page.texts("[data-test=event]"), 1)
		require.Contains(t, page.text("[data-test=event]"), "operator · Changed the dead letter")
		require.NotContains(t, page.text("[data-test=history]"), "192.0.2.", "from where it was done is in the audit only")
		require.Contains(t, w.as(who).get(calendar).text("[data-test=event]"), "Created the calendar")
		for _, path := range []string{letter, calendar, "/tasks/orders.send"} {
			more := w.as(who).get(path).attr(`#history .more, #versions .more`, "href")
			require.Equal(t, who == "owner", more != "", "%s for the %s", path, who)
			if more != "" {
				require.NotEmpty(t, what(w.as(who).get(more)), more)
			}
		}
	}
}
