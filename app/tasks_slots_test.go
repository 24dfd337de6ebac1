package app_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/sched"
)

// bankDays makes a calendar with Christmas off, and no data for 2027.
func (h *house) bankDays() {
	h.t.Helper()
	h.found()
	_, err := h.opt.Calendars.Create(h.t.Context(), root, calendar.Draft{Code: "bank", Name: "Bank days", Week: calendar.MondayToFriday,
		Days: map[calendar.Day]calendar.Entry{calendar.Date(2026, 12, 25): {Name: "Christmas"}}})
	require.NoError(h.t, err)
}

// plan makes the due slots of all tasks.
func (h *house) plan() {
	h.t.Helper()
	now := h.local()
	_, err := h.ledger.Plan(h.t.Context(), sched.PlanRequest{Now: now, Until: now.Add(sched.PlanHorizon), Limit: 100, Budget: sched.PlanBudget, NodeID: "node"})
	require.NoError(h.t, err)
}

// query is an address with parameters as name, value, ….
func query(path string, fields ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		q.Set(fields[i], fields[i+1])
	}
	return path + "?" + q.Encode()
}

// slotFields is a form that uses every field of slots.
func slotFields(changes ...string) []string {
	return taskFields(append([]string{
		"schedule.cron", "30 2 * * MON-FRI", "schedule.timezone", "Europe/Berlin",
		"schedule.calendar", "bank", "schedule.calendar_mode", "workdays", "schedule.calendar_move", "next_workday",
		"schedule.start_at", "2026-12-10T00:00:00", "schedule.end_at", "2027-12-10T00:00:00", "schedule.jitter_seconds", "90 s",
		"schedule.misfire", "fire_all", "schedule.misfire_grace_seconds", "5 min", "schedule.misfire_cap", "7",
		"policy.overlap", "queue", "policy.max_concurrent", "2",
	}, changes...)...)
}

func TestEveryFieldOfSlotsIsKeptAndComesBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.bankDays()
	editor := h.as("editor")
	made := editor.post("/tasks/new", slotFields()...)
	require.Equal(t, http.StatusSeeOther, made.status, made.text("[data-test=problems]"))
	got := h.stored("orders.send")
	s := got.Spec.Schedule
	require.Equal(t, sched.Schedule{
		Kind: sched.KindCron, Cron: "30 2 * * MON-FRI", Timezone: "Europe/Berlin", Anchor: s.Anchor,
		Calendar: "bank", CalendarMode: sched.OnWorkdays, CalendarMove: sched.MoveNext, JitterSeconds: 90,
		StartAt: time.Date(2026, 12, 9, 23, 0, 0, 0, time.UTC), EndAt: time.Date(2027, 12, 9, 23, 0, 0, 0, time.UTC),
		Misfire: sched.FireAll, MisfireGraceSeconds: 300, MisfireCap: 7,
	}, s, "moments are by the clocks of the zone")
	require.Equal(t, sched.OverlapQueue, got.Spec.Policy.Overlap)
	require.Equal(t, 2, got.Spec.Policy.MaxConcurrent)

	again := editor.get("/tasks/orders.send/edit")
	require.Equal(t, []string{"Every day", "Bank days"}, again.texts("#f-schedule-calendar option"))
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/orders.send", formValues(again)...).status)
	require.Equal(t, s, h.stored("orders.send").Spec.Schedule, "a form saved as it came changes nothing")

	page := editor.get("/tasks/orders.send")
	require.Contains(t, page.texts("[data-test=chip]"), "Bank days")
	require.Contains(t, page.text("[data-test=uncovered]"), "The calendar Bank days has no days for 2027")
	require.Contains(t, page.text("[data-test=upcoming]"), "Fri 25 Dec (Christmas) is off: moves to Mon 28 Dec and joins that day’s own.")
	require.Contains(t, page.text("main"), "Fire all, 7 at most, grace 5 min")
	require.Contains(t, page.text("main"), "Queue: a slot waits until a place is free")
}

func TestWhatIsWrongWithSlotsIsSaidAtItsFieldAndNothingIsLost(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.bankDays()
	got := h.as("editor").post("/tasks/new", slotFields("schedule.calendar", "gone", "schedule.end_at", "2026-12-01T00:00:00", "schedule.jitter_seconds", "2 h",
		"schedule.misfire_grace_seconds", "soon", "schedule.misfire_cap", "5000", "policy.overlap", "hope")...)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	for field, want := range map[string]string{
		"schedule.calendar": "There is no calendar", "schedule.end_at": "The end must lie after the start", "schedule.jitter_seconds": "Between 0 and 3600",
		"schedule.misfire_grace_seconds": "is not a length of time", "schedule.misfire_cap": "Between 1 and", "policy.overlap": "One of skip, queue",
	} {
		if field == "schedule.calendar" && fieldError(got, field) == "" {
			continue // said once the rest is right
		}
		require.Contains(t, fieldError(got, field), want, field)
	}
	require.Equal(t, "gone", got.value("schedule.calendar"), "a choice that isn't there stays chosen")
	require.Equal(t, "2026-12-01T00:00:00", got.value("schedule.end_at"))
	require.Equal(t, "2 h", got.value("schedule.jitter_seconds"))
	require.Equal(t, "5000", got.value("schedule.misfire_cap"))
}

func TestAFixedDelayIsCountedFromTheEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	made := editor.post("/tasks/new", taskFields("schedule.kind", "interval", "schedule.every_seconds", "10 min", "schedule.fixed_delay", "true", "schedule.calendar", "left-from-before")...)
	require.Equal(t, http.StatusSeeOther, made.status, made.text("[data-test=problems]"))
	require.True(t, h.stored("orders.send").Spec.Schedule.FixedDelay)
	page := editor.get("/tasks/orders.send")
	require.Contains(t, page.text("main"), "10 min after the end of each run")
	require.Contains(t, page.text("[data-test=upcoming]"), "Only the next run is known")
}

func TestAMomentThatHasPassedIsRefusedUnlessItIsToRunNow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	fields := taskFields("schedule.kind", "once", "schedule.run_at", "2026-12-01T09:00:00")
	require.False(t, editor.get("/tasks/new").has("[data-test=run-now]"))
	got := editor.post("/tasks/new", fields...)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, fieldError(got, "schedule.run_at"), "This moment has passed")
	require.True(t, got.has("[data-test=run-now]"))
	made := editor.post("/tasks/new", append(formValues(got), "schedule.run_now", "true")...)
	require.Equal(t, http.StatusSeeOther, made.status, made.text("[data-test=problems]"))
	require.Equal(t, h.local().Truncate(time.Second), h.stored("orders.send").Spec.Schedule.RunAt)
}

func TestThePreviewSaysWhatCalendarWindowAndPoliciesDo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.bankDays()
	editor := h.as("editor")
	preview := func(changes ...string) *answer { return editor.get(query("/tasks/preview", slotFields(changes...)...)) }
	got := preview()
	require.Equal(t, "22 runs in a usual month.", got.text("[data-test=often]"))
	require.Equal(t, "1 run in a year.", preview("schedule.cron", "30 2 2 2 *").text("[data-test=often]"))
	require.False(t, preview("schedule.cron", "* * * * *").has("[data-test=often]"))
	rules := got.texts("[data-test=rule]")
	require.Equal(t, "Only on workdays of Bank days. A slot on another day moves to the next workday.", rules[0])
	require.Equal(t, "From Thu 10 Dec 00:00 to Fri 10 Dec 2027 00:00.", rules[1])
	require.Equal(t, "Each run begins up to 1 min 30 s later, always the same for one task.", rules[2])
	require.Contains(t, got.text("[data-test=next-runs]"), "Thu 10 Dec 02:30")
	require.Contains(t, got.text("[data-test=next-runs]"), "2026-12-10T01:30:00Z")
	require.Equal(t, "Fri 25 Dec (Christmas) is off: moves to Mon 28 Dec and joins that day’s own.", got.text("[data-test=day-off]"))
	require.Equal(t, "From Sun 28 Mar 2027 on Europe/Berlin is UTC+2: runs begin 1 h earlier in UTC.", got.text("[data-test=shift]"))
	require.NotContains(t, got.text("main, body"), "Fire all and skip")

	require.Contains(t, preview("policy.overlap", "skip", "policy.max_concurrent", "1").texts("[data-test=warning]"),
		"Fire all and skip: of several missed slots only the first will run, the others find it running and are skipped")
	require.Contains(t, preview("schedule.end_at", "2026-12-10T01:00:00").texts("[data-test=warning]"), "No slot lies in the window")
	require.Contains(t, preview("schedule.cron", "0 9 * * SUN", "schedule.calendar_move", "drop").texts("[data-test=warning]"), "The calendar leaves no slot within 2 years")
	editor.get("/language?to=zh-CN&back=/tasks")
	require.Equal(t, "12-25 周五（Christmas） 休息：顺延到 12-28 周一，与当天的运行合并。", preview().text("[data-test=day-off]"))
}

// SHOW-01: each time shows its zone; the form shows the next runs by the
// clocks of the task, by the viewer's and in UTC.
func TestSHOW01ATaskInAnotherZoneIsShownByBothClocks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/new", taskFields()...).status)
	got := editor.get("/tasks/orders.send/edit")
	require.Equal(t, "Asia/Shanghai", got.text("[data-test=preview] .sec-h .sub"))
	require.Equal(t, 5, got.doc().Find("[data-test=next-runs] tbody tr").Length())
	first := got.text("[data-test=next-runs] tbody tr:first-child")
	for _, part := range []string{"Thu 3 Dec 02:30", "Wed 2 Dec 18:30 your time", "2026-12-02T18:30:00Z", "in 11 h 57 min"} {
		require.Contains(t, first, part)
	}
	page := editor.get("/tasks/orders.send")
	require.Equal(t, "UTC", page.text("[data-test=upcoming] .sec-h .sub"))
	title := page.attr("[data-test=upcoming] time", "title")
	require.Contains(t, title, "2026-12-02T18:30:00")
	require.Contains(t, title, "2026-12-03 02:30:00 +08:00 Asia/Shanghai")
}

func TestThePageTellsEverySlotThatWasMissedByItsReason(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.bankDays()
	h.task("shop.close", func(s *sched.TaskSpec) {
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindCron, Cron: "0 9 * * *", Timezone: "UTC", Calendar: "bank"}
	})
	operator := h.as("operator")
	require.Equal(t, http.StatusSeeOther, operator.post("/tasks/shop.close/pause", "for", "monday", "reason", "stock-taking").status)
	require.Equal(t, time.Date(2026, 12, 7, 8, 0, 0, 0, time.UTC), h.stored("shop.close").PausedUntil)
	h.forward(14 * 24 * time.Hour)
	h.plan()
	delete(h.people, "operator") // the session has ended
	page := h.as("operator").get("/tasks/shop.close")
	said := page.texts("[data-test=missed-range]")
	require.Len(t, said, 4, "%s", said)
	require.Equal(t, []string{"misfire", "calendar", "misfire", "paused"}, reasons(page))
	require.Contains(t, said[0], "1 slot missed, too late to run: fire once")
	require.Contains(t, said[0], "A later slot ran in their place")
	require.Contains(t, said[1], "2 slots on days off: dropped")
	require.Contains(t, said[3], "5 slots in a pause")
	require.Equal(t, []string{"In all: 6 slots missed, too late to run"}, page.texts("[data-test=missed-total]"))
}

func reasons(a *answer) []string {
	var out []string
	for _, r := range a.doc().Find("[data-test=missed-range]").EachIter() {
		out = append(out, r.AttrOr("data-reason", ""))
	}
	return out
}

func TestAPauseHasLengthsToChooseFrom(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("shop.close")
	operator := h.as("operator")
	asked := operator.get("/tasks/shop.close/confirm/pause")
	require.Equal(t, []string{"1 hour", "Tomorrow 8:00", "Monday 8:00", "Another moment"}, asked.texts(".seg label"))
	for choice, want := range map[string]time.Time{
		"hour":     time.Date(2026, 12, 2, 7, 32, 7, 0, time.UTC),
		"tomorrow": time.Date(2026, 12, 3, 8, 0, 0, 0, time.UTC),
		"monday":   time.Date(2026, 12, 7, 8, 0, 0, 0, time.UTC),
		"own":      time.Date(2026, 12, 9, 10, 0, 0, 0, time.UTC),
	} {
		got := operator.post("/tasks/shop.close/pause", "for", choice, "until", "2026-12-09T10:00", "reason", "quiet")
		require.Equal(t, http.StatusSeeOther, got.status, choice)
		require.Equal(t, want, h.stored("shop.close").PausedUntil, choice)
	}
	h.task("shop.open")
	require.Equal(t, 1, operator.get("/tasks?paused=true").doc().Find("[data-test=task]").Length())
	require.Contains(t, operator.get("/tasks?paused=true").text("[data-test=task]"), "shop.close")
	require.Contains(t, operator.get("/tasks").text("[data-code='shop.close']"), "Paused")
	page := operator.get("/tasks/shop.close")
	require.True(t, page.has("[data-test=banner-resume]"))
	require.False(t, h.as("viewer").get("/tasks/shop.close").has("[data-test=banner-resume]"))
	require.Equal(t, http.StatusForbidden, h.as("viewer").post("/tasks/shop.close/pause", "for", "hour", "reason", "x").status)

	again := operator.post("/tasks/shop.close/pause", "for", "own", "until", "", "reason", "quiet")
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.NotEmpty(t, fieldError(again, "until"))
	require.Equal(t, "quiet", again.value("reason"))
}

func TestAStaleVersionOverTheAPITellsTheFieldsThatDiffer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	api := h.api(access.Editor)
	change := func(timeout int, version int) *answer {
		return api.json(http.MethodPut, v1+"/tasks/orders.send", map[string]any{
			"name": "Task orders.send", "schedule": map[string]any{"kind": "manual"}, "target": map[string]any{"kind": "http", "url": "https://target.example.com/orders.send"},
			"policy": map[string]any{"idempotent": true, "timeout_seconds": timeout, "retry": map[string]any{"max": 0}}, "version": version,
		})
	}
	require.Equal(t, http.StatusOK, change(40, 1).status)
	got := change(50, 1)
	require.Equal(t, http.StatusConflict, got.status)
	var p struct {
		Differences []struct {
			Field        string
			Stored, Sent any
			Version      int
			ChangedBy    string `json:"changed_by"`
		}
	}
	got.into(&p)
	require.Len(t, p.Differences, 1)
	d := p.Differences[0]
	require.Equal(t, []any{"policy.timeout_seconds", 40.0, 50.0, 2}, []any{d.Field, d.Stored, d.Sent, d.Version})
	require.NotEmpty(t, d.ChangedBy)
}

func TestAStaleFormSaysWhoChangedWhatAndOffersBoth(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/new", taskFields()...).status)
	mine := setField(formValues(editor.get("/tasks/orders.send/edit")), "policy.overlap", "queue")
	theirs := setField(formValues(h.as("owner").get("/tasks/orders.send/edit")), "schedule.cron", "0 5 * * *")
	require.Equal(t, http.StatusSeeOther, h.as("owner").post("/tasks/orders.send", theirs...).status)

	got := editor.post("/tasks/orders.send", mine...)
	require.Equal(t, http.StatusConflict, got.status)
	who := got.texts("[data-test=who]")
	require.Len(t, who, 2)
	require.Contains(t, who[0], "owner version 2")
	require.Equal(t, "you alone", who[1])
	require.Equal(t, "/tasks/orders.send/edit", got.attr("[data-test=take-theirs]", "href"))
	require.Equal(t, "submit", got.attr("[data-test=keep-mine]", "type"))
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/orders.send", formValues(got)...).status)
	require.Equal(t, "30 2 * * MON-FRI", h.stored("orders.send").Spec.Schedule.Cron)
	require.Equal(t, sched.OverlapQueue, h.stored("orders.send").Spec.Policy.Overlap)
}
