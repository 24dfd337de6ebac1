package app_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

// taskFields is a form that is fine, with changes as name, value, …; the value
// "-" leaves the field out.
func taskFields(changes ...string) []string {
	fields := []string{
		"version", "0", "name", "Send orders", "code", "orders.send", "team", "payments", "owner", "operator", "group", "orders",
		"tags", "Bank, month-end", "enabled", "true", "target.url", "https://target.example.com/send", "payload", "", "queue", "default",
		"schedule.kind", "cron", "schedule.cron", "30 2 * * MON-FRI", "schedule.timezone", "Asia/Shanghai",
		"schedule.every_seconds", "", "schedule.anchor", "", "schedule.run_at", "", "schedule.delay_seconds", "",
		"policy.idempotent", "true", "policy.retry.kind", "steps", "policy.retry.max", "", "policy.retry.delays_seconds", "",
		"policy.timeout_seconds", "30 s", "policy.max_concurrent", "", "policy.alert_level", "p1", "note", "new",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		at := slices.Index(fields, changes[i])
		switch {
		case at < 0:
			fields = append(fields, changes[i], changes[i+1])
		case changes[i+1] == "-":
			fields = slices.Delete(fields, at, at+2)
		default:
			fields[at+1] = changes[i+1]
		}
	}
	return fields
}

// fieldError is what stands at the field of a form.
func fieldError(a *answer, field string) string {
	id := "f-" + strings.NewReplacer(".", "-", "_", "-").Replace(field)
	return a.text("#" + id + "-error")
}

func (h *house) stored(code string) sched.Task {
	h.t.Helper()
	t, err := h.opt.Tasks.Get(h.t.Context(), root, code)
	require.NoError(h.t, err)
	return t
}

func (h *house) countTasks() int {
	h.t.Helper()
	list, err := h.opt.Tasks.List(h.t.Context(), root, sched.TaskFilter{}, sched.PageRequest{})
	require.NoError(h.t, err)
	return len(list.Items)
}

func TestATaskThatIsMadeStandsInTheList(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	require.Equal(t, "payments", editor.get("/tasks/new").value("team"))

	made := editor.post("/tasks/new", taskFields("payload", "{\"a\": 1}")...)
	require.Equal(t, http.StatusSeeOther, made.status, made.body)
	require.Equal(t, "/tasks/orders.send", made.location())
	page := editor.get("/tasks/orders.send")
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, "Send orders", page.text("h1"))
	require.Contains(t, page.text("#ax-toasts"), "Saved as version 1. Next run 18:30:00.")
	require.Contains(t, page.text("#payload"), `"a": 1`)

	row := editor.get("/tasks").doc().Find("[data-test=task]")
	require.Equal(t, 1, row.Length())
	text := strings.Join(strings.Fields(row.Text()), " ")
	for _, part := range []string{"Send orders", "orders.send", "#bank", "#month-end", "At 2:30 on Monday to Friday", "Asia/Shanghai", "Never ran", "18:30:00", "in 11 h 57 min"} {
		require.Contains(t, text, part)
	}
	got := h.stored("orders.send")
	require.Equal(t, []int{10, 30, 120}, got.Spec.Policy.Retry.DelaysSeconds, "what is left empty gets the default")
	require.Equal(t, 3, got.Spec.Policy.Retry.Max)
	require.Equal(t, 1, got.Spec.Policy.MaxConcurrent)
	require.Equal(t, sched.AlertP1, got.Spec.Policy.AlertLevel)
	require.JSONEq(t, `{"a":1}`, string(got.Spec.Payload))
}

func TestEveryKindOfScheduleIsRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	for name, c := range map[string]struct {
		fields []string
		check  func(t *testing.T, s sched.Schedule)
	}{
		"interval": {[]string{"schedule.kind", "interval", "schedule.every_seconds", "1 h 30 min", "schedule.anchor", "2026-12-01T00:05:00"}, func(t *testing.T, s sched.Schedule) {
			require.Equal(t, 5400, s.EverySeconds)
			require.True(t, s.Anchor.Equal(time.Date(2026, 11, 30, 16, 5, 0, 0, time.UTC)))
		}},
		"once": {[]string{"schedule.kind", "once", "schedule.run_at", "2026-12-24T18:00", "schedule.timezone", "Europe/Berlin"}, func(t *testing.T, s sched.Schedule) {
			require.True(t, s.RunAt.Equal(time.Date(2026, 12, 24, 17, 0, 0, 0, time.UTC)), "typed by the clocks of the zone")
		}},
		"delay": {[]string{"schedule.kind", "delay", "schedule.delay_seconds", "30 分钟"}, func(t *testing.T, s sched.Schedule) {
			require.Equal(t, 1800, s.DelaySeconds)
		}},
		"manual": {[]string{"schedule.kind", "manual"}, func(t *testing.T, s sched.Schedule) {
			require.Empty(t, s.Cron, "fields of the kinds that aren't chosen are left out")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			made := editor.post("/tasks/new", taskFields(append([]string{"code", "kind." + name}, c.fields...)...)...)
			require.Equal(t, http.StatusSeeOther, made.status, fieldError(made, "schedule.kind"), made.text("[data-test=problems]"))
			s := h.stored("kind." + name).Spec.Schedule
			require.Equal(t, name, string(s.Kind))
			c.check(t, s)

			again := editor.get("/tasks/kind." + name + "/edit")
			require.Equal(t, http.StatusOK, again.status)
			saved := editor.post("/tasks/kind."+name, formValues(again)...)
			require.Equal(t, http.StatusSeeOther, saved.status, saved.text("[data-test=problems]"))
			require.Equal(t, s, h.stored("kind."+name).Spec.Schedule, "a form saved as it came changes nothing")
		})
	}
}

// formValues are the fields of the page's task form, as a browser would send
// them.
func formValues(a *answer) []string {
	a.h.t.Helper()
	form := a.doc().Find("[data-test=task-form]")
	require.Equal(a.h.t, 1, form.Length())
	var out []string
	for _, f := range form.Find("[name]").EachIter() {
		kind := f.AttrOr("type", "")
		_, ticked := f.Attr("checked")
		if (kind == "radio" || kind == "checkbox") && !ticked {
			continue
		}
		name, value := f.AttrOr("name", ""), f.AttrOr("value", "")
		switch {
		case f.Is("textarea"):
			value = f.Text()
		case f.Is("select"):
			value = f.Find("option[selected]").AttrOr("value", "")
		}
		out = append(out, name, value)
	}
	return out
}

// setField replaces a value of formValues; "-" drops it.
func setField(fields []string, name, value string) []string {
	at := slices.Index(fields, name)
	switch {
	case at >= 0 && value == "-":
		return slices.Delete(fields, at, at+2)
	case at >= 0:
		fields[at+1] = value
		return fields
	}
	return append(fields, name, value)
}

func TestBadInputComesBackWithTheFieldsMessageAndStoresNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("there.already")
	editor := h.as("editor")
	for name, c := range map[string]struct{ field, value, says string }{
		"no name":                 {"name", " ", "A name is needed"},
		"a name too long":         {"name", strings.Repeat("界", 101), "At most 100 characters; this has 101"},
		"no code":                 {"code", "", "A code is needed"},
		"a code with blanks":      {"code", "a b", "Lower-case letters"},
		"a code that is taken":    {"code", "there.already", "There is a task with the code"},
		"a code of ax itself":     {"code", "preview", "address of ax itself"},
		"another team":            {"team", "store", "There is no team"},
		"a tag of two words":      {"tags", "two words", "A tag is one word"},
		"an owner too long":       {"owner", strings.Repeat("o", 65), "At most 64 characters"},
		"an unknown queue":        {"queue", "fast", "There is no queue"},
		"a wrong scheme":          {"target.url", "ftp://x/", "must begin with http:// or https://"},
		"an address without host": {"target.url", "https://", "names no host"},
		"a password in it":        {"target.url", "https://u:p@x/", "User name and password"},
		"a payload with a comma":  {"payload", "{\n  \"a\": 1,\n}", "Line 3 is not valid JSON"},
		"an unknown cron":         {"schedule.cron", "61 * * * *", "minute"},
		"CRON-01, no fields":      {"schedule.cron", "TZ=0", "zone"},
		"CRON-01, only a zone":    {"schedule.cron", "CRON_TZ=Asia/Shanghai", "zone"},
		"CRON-03, no step":        {"schedule.cron", "*/0 * * * *", "step"},
		"CRON-05, no such day":    {"schedule.cron", "0 0 31 2 *", "never"},
		"CRON-05, with seconds":   {"schedule.cron", "0 0 0 31 4 ?", "never"},
		"an unknown zone":         {"schedule.timezone", "Asia/Shangai", "is not known"},
		"an unknown kind":         {"schedule.kind", "often", "One of cron, interval"},
		"no word on repeats":      {"policy.idempotent", "-", "there is no default for it"},
		"an odd word on repeats":  {"policy.idempotent", "perhaps", "there is no default for it"},
		"retries in words":        {"policy.retry.max", "three", "is not a whole number"},
		"too many retries":        {"policy.retry.max", "101", "Between 0 and 100 retries"},
		"an unknown growth":       {"policy.retry.kind", "random", "One of steps, fixed, exponential"},
		"waits in words":          {"policy.retry.delays_seconds", "10 s, soon", "is not a length of time"},
		"a wait of nothing":       {"policy.retry.delays_seconds", "0", "Between 1 and"},
		"a limit in words":        {"policy.timeout_seconds", "long", "is not a length of time"},
		"a limit of two days":     {"policy.timeout_seconds", "2 d", "Between 1 and"},
		"places below none":       {"policy.max_concurrent", "-1", "Between 0 (unlimited)"},
		"an unknown level":        {"policy.alert_level", "p3", "One of p1, p2, none"},
	} {
		t.Run(name, func(t *testing.T) {
			before := h.countTasks()
			got := editor.post("/tasks/new", taskFields(c.field, c.value)...)
			require.Equal(t, http.StatusUnprocessableEntity, got.status)
			require.Contains(t, fieldError(got, c.field), c.says)
			require.Contains(t, got.text("[data-test=problems]"), "Nothing was saved.")
			require.Equal(t, before, h.countTasks())
			if c.field != "target.url" {
				require.Equal(t, "https://target.example.com/send", got.value("target.url"), "nothing typed is lost")
			}
			if c.value != "-" && got.doc().Find(`[name="`+c.field+`"]`).Is("input[type=text], textarea") {
				require.Equal(t, strings.TrimSpace(c.value), strings.TrimSpace(got.value(c.field)))
			}
		})
	}
}

func TestFieldsOfOtherKindsAreCheckedWhenTheyAreChosen(t *testing.T) {
	t.Parallel()
	editor := newHouse(t).as("editor")
	for name, c := range map[string]struct{ kind, field, value, says string }{
		"no period":         {"interval", "schedule.every_seconds", "", "Between 1 and"},
		"a period in words": {"interval", "schedule.every_seconds", "often", "is not a length of time"},
		"a number twice":    {"interval", "schedule.every_seconds", "10 20", "is not a length of time"},
		"no moment":         {"once", "schedule.run_at", "", "A moment is needed"},
		"a moment past":     {"once", "schedule.run_at", "2026-01-01T00:00", "has passed"},
		"no such moment":    {"once", "schedule.run_at", "24.12.", "is not a date and time"},
		"no delay":          {"delay", "schedule.delay_seconds", "", "Between 1 and"},
	} {
		t.Run(name, func(t *testing.T) {
			got := editor.post("/tasks/new", taskFields("schedule.kind", c.kind, c.field, c.value)...)
			require.Equal(t, http.StatusUnprocessableEntity, got.status)
			require.Contains(t, fieldError(got, c.field), c.says)
			require.Equal(t, "30 2 * * MON-FRI", got.value("schedule.cron"), "the fields of other kinds are kept")
		})
	}
}

func TestWhatCannotBeReadAndWhatBreaksARuleAreSaidTogether(t *testing.T) {
	t.Parallel()
	got := newHouse(t).as("editor").post("/tasks/new", taskFields("name", "", "policy.timeout_seconds", "long")...)
	require.NotEmpty(t, fieldError(got, "name"))
	require.NotEmpty(t, fieldError(got, "policy.timeout_seconds"))
	require.Equal(t, []string{"Name", "Time limit per attempt"}, got.texts("[data-test=problems] a"))
}

// DB-01: an update that leaves out zero values would store none of these.
func TestDB01DisableNoRetriesAndAnEmptyOwnerAreStored(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/new", taskFields()...).status)
	f := formValues(editor.get("/tasks/orders.send/edit"))
	for _, c := range [][2]string{{"enabled", "-"}, {"policy.retry.max", "0"}, {"owner", ""}, {"group", ""}, {"tags", ""}, {"policy.max_concurrent", "0"}, {"policy.overlap", "allow"}, {"policy.alert_level", "none"}} {
		f = setField(f, c[0], c[1])
	}
	saved := editor.post("/tasks/orders.send", f...)
	require.Equal(t, http.StatusSeeOther, saved.status, saved.text("[data-test=problems]"))
	got := h.stored("orders.send")
	require.False(t, got.Enabled)
	require.Zero(t, got.NextFireAt)
	require.Zero(t, got.Spec.Policy.Retry.Max)
	require.Zero(t, got.Spec.Policy.MaxConcurrent)
	require.Equal(t, sched.AlertNone, got.Spec.Policy.AlertLevel)
	require.Empty(t, got.Owner)
	require.Empty(t, got.Group)
	require.Empty(t, got.Tags)
	require.Contains(t, editor.get("/tasks/orders.send").text("#ax-toasts"), "Changed: Group, Owner, Tags, Enabled, If the last run is still going when the next is due, Retries, At once, Alert level")
	page := editor.get("/tasks/orders.send/edit")
	require.False(t, page.has("#f-enabled[checked]"))
	require.Equal(t, "0", page.value("policy.retry.max"))
}

func TestAStaleVersionShowsWhoSavedAndInWhatTheyDiffer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/new", taskFields()...).status)
	mine := formValues(editor.get("/tasks/orders.send/edit"))
	theirs := setField(formValues(h.as("owner").get("/tasks/orders.send/edit")), "name", "Theirs")
	require.Equal(t, http.StatusSeeOther, h.as("owner").post("/tasks/orders.send", theirs...).status)

	mine = setField(setField(mine, "name", "Mine"), "policy.timeout_seconds", "45")
	got := editor.post("/tasks/orders.send", mine...)
	require.Equal(t, http.StatusConflict, got.status)
	said := got.text("[data-test=changed]")
	require.Contains(t, said, "owner saved version 2 while you typed")
	require.Contains(t, said, "You began from version 1")
	require.Regexp(t, `^owner version 2, .+$`, got.texts("[data-test=who]")[0])
	require.Equal(t, []string{"Name", "Theirs", "Mine", got.texts("[data-test=who]")[0], "Time limit per attempt", "30 s", "45 s", "you alone"}, got.texts("[data-test=changed] tbody tr > *"), "what is the same is left out")
	require.Equal(t, "Mine", got.value("name"), "nothing typed is lost")
	require.Equal(t, "Theirs", h.stored("orders.send").Name)

	over := editor.post("/tasks/orders.send", formValues(got)...)
	require.Equal(t, http.StatusSeeOther, over.status, "having seen it, one may save over it")
	require.Equal(t, "Mine", h.stored("orders.send").Name)
	require.Equal(t, 3, h.stored("orders.send").Version)
}

func TestAChangeNeedsAVersionAndNoArchivedTask(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	got := h.as("editor").post("/tasks/orders.send", taskFields("version", "")...)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.text("[data-test=problems]"), "The version that you read is needed")
	_, err := h.opt.Tasks.Archive(t.Context(), root, "orders.send", "over")
	require.NoError(t, err)
	require.Equal(t, http.StatusConflict, h.as("editor").get("/tasks/orders.send/edit").status)
	require.Equal(t, http.StatusConflict, h.as("editor").post("/tasks/orders.send", taskFields("version", "1")...).status)
}

func TestOnlyAnOwnerMayAllowUnsafeRetries(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	unsafe := taskFields("policy.idempotent", "false", "policy.retry.max", "2", "policy.retry.unsafe", "true")
	got := h.as("editor").post("/tasks/new", unsafe...)
	require.Equal(t, http.StatusForbidden, got.status)
	require.Contains(t, got.text("[data-test=problems]"), "This needs the role owner")
	require.Equal(t, "Send orders", got.value("name"), "nothing typed is lost")
	require.False(t, h.as("editor").get("/tasks/new").has("[name='policy.retry.unsafe']"))
	require.Equal(t, http.StatusSeeOther, h.as("owner").post("/tasks/new", unsafe...).status)

	f := formValues(h.as("editor").get("/tasks/orders.send/edit"))
	require.Equal(t, http.StatusSeeOther, h.as("editor").post("/tasks/orders.send", f...).status, "whoever may not choose it keeps it")
	require.True(t, h.stored("orders.send").Spec.Policy.Retry.Unsafe)

	got = h.as("editor").post("/tasks/new", taskFields("code", "other", "policy.idempotent", "false", "policy.retry.max", "2")...)
	require.Contains(t, fieldError(got, "policy.retry.max"), "Non-idempotent work is not repeated")
}

func TestThePreviewSaysWhatIsTyped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, c := range map[string]struct {
		query string
		says  []string
		runs  int
	}{
		"a cron line in its zone": {"schedule.kind=cron&schedule.cron=30+2+*+*+MON-FRI&schedule.timezone=Europe%2FBerlin",
			[]string{"At 2:30 on Monday to Friday, Europe/Berlin", "Thu 3 Dec 02:30", "Thu 3 Dec 01:30 your time", "in 18 h 57 min"}, 5},
		"CRON-37":                  {"schedule.kind=cron&schedule.cron=*+0+*+*+*&schedule.timezone=UTC", []string{"60 runs a day", "Thu 3 Dec 00:00", "Thu 3 Dec 00:04"}, 5},
		"CRON-21":                  {"schedule.kind=cron&schedule.cron=30+0+1+*+1&schedule.timezone=UTC", []string{"Both day fields are set: it runs on days that match either", "Mon 7 Dec 00:30", "Fri 1 Jan 2027 00:30"}, 5},
		"CRON-05":                  {"schedule.kind=cron&schedule.cron=0+0+31+2+*&schedule.timezone=UTC", []string{"never"}, 0},
		"CRON-01":                  {"schedule.kind=cron&schedule.cron=TZ%3D0&schedule.timezone=UTC", []string{"zone"}, 0},
		"bad cron and bad zone":    {"schedule.kind=cron&schedule.cron=61+*+*+*+*&schedule.timezone=Mars", []string{"minute", "Mars"}, 0},
		"an interval":              {"schedule.kind=interval&schedule.every_seconds=90&schedule.timezone=UTC", []string{"Every 1 min 30 s", "Wed 2 Dec 06:33:37"}, 5},
		"once":                     {"schedule.kind=once&schedule.run_at=2026-12-24T18:00&schedule.timezone=Asia%2FShanghai", []string{"Once, Thu 24 Dec 18:00, Asia/Shanghai"}, 1},
		"a delay":                  {"schedule.kind=delay&schedule.delay_seconds=30+min", []string{"30 min after each request", "It has no slots"}, 0},
		"by hand":                  {"schedule.kind=manual", []string{"On request only"}, 0},
		"nothing yet":              {"schedule.kind=cron&schedule.cron=", []string{"stand here as you type"}, 0},
		"nothing at all":           {"", []string{"stand here as you type"}, 0},
		"a long limit":             {"schedule.kind=manual&policy.timeout_seconds=5+min", []string{"A time limit of 5 min holds a worker’s place"}, 0},
		"a limit that is no limit": {"schedule.kind=manual&policy.timeout_seconds=x", []string{"On request only"}, 0},
		"a clock change":           {"schedule.kind=cron&schedule.cron=30+2+*+*+*&schedule.timezone=Europe%2FBerlin", []string{"On 2027-03-28 the clocks go forward"}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.as("viewer").htmx("/tasks/new").get("/tasks/preview?" + c.query)
			require.Equal(t, http.StatusOK, got.status)
			require.False(t, got.has("main"), "a fragment")
			for _, part := range c.says {
				require.Contains(t, got.text("#task-preview"), part)
			}
			require.Equal(t, c.runs, got.doc().Find("[data-test=next-runs] tr").Length())
		})
	}
	zh := h.as("viewer")
	zh.get("/language?to=zh-CN")
	require.Contains(t, zh.get("/tasks/preview?schedule.kind=cron&schedule.cron=30+2+*+*+MON-FRI&schedule.timezone=Asia%2FShanghai").text("[data-test=words]"), "周一至周五")
	long := h.as("viewer").get("/tasks/preview?schedule.kind=cron&schedule.cron=" + strings.Repeat("1,", 2000))
	require.Equal(t, http.StatusRequestEntityTooLarge, long.status)
}

func TestAnAdministratorMayMakeTasksForAnyTeam(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	page := h.as("admin").get("/tasks/new?team=store")
	require.Equal(t, []string{"Store", "Payments"}, page.texts("#f-team option"), "the team of the lists comes first")
	require.Equal(t, http.StatusSeeOther, h.as("admin").post("/tasks/new", taskFields("team", "store")...).status)
	require.Equal(t, h.other.ID, h.stored("orders.send").TeamID)
	require.Equal(t, http.StatusNotFound, h.as("editor").get("/tasks/orders.send/edit").status)
}
