package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

func TestAnOwnerMakesATaskThatRunsACommandAndAnEditorDoesNot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.openCommands()
	fields := taskFields("target.kind", "shell", "target.command", "/opt/jobs/close.sh", "target.args", "--day\n; touch x\r\n", "target.input", "env", "target.success_codes", "0, 3")
	refused := h.as("editor").post("/tasks/new", fields...)
	require.Equal(t, http.StatusForbidden, refused.status)
	require.Zero(t, h.countTasks())

	owner := h.as("owner")
	bad := owner.post("/tasks/new", append(fields, "target.success_codes", "x")...)
	require.Equal(t, http.StatusSeeOther, bad.status, "the first value counts")
	made := h.stored("orders.send")
	require.Equal(t, sched.Target{
		Kind: sched.TargetShell, Command: "/opt/jobs/close.sh", Args: []string{"--day", "; touch x"}, Input: sched.InputEnv, SuccessCodes: []int{0, 3},
	}, made.Spec.Target)
	page := owner.get("/tasks/orders.send")
	require.Equal(t, `/opt/jobs/close.sh --day "; touch x"`, page.text("[data-test=command]"))
	form := owner.get("/tasks/orders.send/edit")
	require.Equal(t, "/opt/jobs/close.sh", form.value("target.command"))

	again := taskFields("code", "orders.again", "target.kind", "shell", "target.command", "close.sh", "target.success_codes", "many")
	wrong := owner.post("/tasks/new", again...)
	require.Equal(t, http.StatusUnprocessableEntity, wrong.status)
	require.Contains(t, fieldError(wrong, "target.command"), "The whole path of a file")
	require.Contains(t, fieldError(wrong, "target.success_codes"), "is no number")
}

// openCommands lets the team's tasks run commands, as an administrator does.
func (h *house) openCommands() {
	h.t.Helper()
	got := h.as("admin").post("/teams/payments/commands", "commands", "on", "commands_reason", "nightly scripts")
	require.Equal(h.t, "/teams/payments", got.location())
}

// Commands are enabled per node by its configuration, and per team by an
// administrator (security.md item 44).
func TestAnAdministratorOpensCommandsToATeam(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fields := taskFields("target.kind", "shell", "target.command", "/opt/jobs/close.sh")
	owner := h.as("owner")
	closed := owner.post("/tasks/new", fields...)
	require.Equal(t, http.StatusUnprocessableEntity, closed.status)
	require.Contains(t, closed.body, "This team may not run commands.")
	for who, want := range map[string]int{"owner": 403, "editor": 403, "auditor": 403, "nobody": 404} {
		require.Equal(t, want, h.as(who).post("/teams/payments/commands", "commands", "on", "commands_reason", "x").status, who)
	}
	admin := h.as("admin")
	require.Contains(t, fieldError(admin.post("/teams/payments/commands", "commands", "on"), "commands_reason"), "A reason is needed")
	require.Contains(t, owner.get("/teams/payments").text("[data-test=commands]"), "may not run commands")

	h.openCommands()
	require.Contains(t, owner.get("/teams/payments").text("[data-test=commands]"), "may run commands of nodes that allow it")
	require.Equal(t, http.StatusSeeOther, owner.post("/tasks/new", fields...).status)
	found, err := h.opt.Audit.List(t.Context(), root, access.AuditFilter{Team: h.team.ID, Action: "team.open_commands"}, 0, 1)
	require.NoError(t, err)
	require.Equal(t, "nightly scripts", found.Entries[0].Reason)
	require.Equal(t, []access.Change{{Field: "commands", Old: "false", New: "true"}}, found.Entries[0].Changes)
	require.Contains(t, admin.get("/audit").body, "Opened commands to the team")

	admin.post("/teams/payments/commands", "commands", "off", "commands_reason", "no more")
	require.Contains(t, admin.get("/teams/payments").text("[data-test=commands]"), "may not run commands")
}

func TestTheOutputOfACommandIsOnItsPageAndInAFile(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.openCommands()
	h.task("orders.close", func(w *sched.TaskSpec) {
		w.Target = sched.TargetSpec{Kind: sched.TargetShell, Command: "/opt/jobs/close.sh"}
		w.Policy.TimeoutSeconds = new(60)
	})
	id := h.trigger("orders.close", "day-7").ID
	h.claim(id)
	require.NoError(t, h.ledger.WriteOutput(t.Context(), id, 1, 0, []sched.Stretch{
		{Seq: 1, At: h.local(), Text: "<script>begin</script>\n" + strings.Repeat("line\n", 250) + "\x0ebad\n"},
		{Seq: sched.OutputTail, At: h.local(), Skipped: 4096, Text: "the end\n"},
	}))
	viewer := h.as("viewer")
	short := viewer.get("/instances/" + id)
	require.Contains(t, short.text("[data-test=log] .log"), "the end")
	require.NotContains(t, short.text("[data-test=log] .log"), "begin")
	whole := viewer.get("/instances/" + id + "?log=all")
	require.Contains(t, whole.text("[data-test=log] .log"), "<script>begin</script>")
	require.Contains(t, whole.text("[data-test=log] .log-cut"), "4 KB not kept here")

	found := viewer.get("/instances/" + id + "?q=" + url.QueryEscape("<SCRIPT>"))
	require.Equal(t, "<script>", found.text("[data-test=log] mark"))
	require.Contains(t, found.text("[data-test=log-count]"), "one entry matches")
	require.Equal(t, "<SCRIPT>", found.attr("[data-test=log] input[name=q]", "value"))
	none := viewer.get("/instances/" + id + "?q=nowhere")
	require.Contains(t, none.text("[data-test=log-none]"), "No entry has “nowhere”.")
	require.Equal(t, http.StatusUnprocessableEntity, viewer.get("/instances/"+id+"?q="+strings.Repeat("x", 201)).status)
	require.Equal(t, http.StatusNotFound, viewer.get("/instances/"+id+"?attempt=2").status)
	bad := viewer.get("/instances/" + id + "?source=stderr&source=nonsense")
	require.Equal(t, []string{"bad"}, bad.texts("[data-test=log] .log .tx"))
	require.Equal(t, "stderr", bad.text("[data-test=log] .log-chip[aria-current]"))

	alone := h.as("viewer").htmx("/instances/" + id).get("/instances/" + id + "/log?source=stderr")
	require.True(t, strings.HasPrefix(alone.body, "<section"), alone.body)
	require.Equal(t, "/instances/"+id+"/log?source=stderr", alone.attr("#log", "hx-get"), "it follows what it shows")
	require.Equal(t, http.StatusSeeOther, viewer.get("/instances/"+id+"/log?q=x").status)

	file := viewer.get("/instances/" + id + "/output?attempt=1")
	require.Equal(t, http.StatusOK, file.status)
	require.Equal(t, "text/plain; charset=utf-8", file.header.Get("Content-Type"))
	require.Contains(t, file.header.Get("Content-Disposition"), "attachment")
	require.Contains(t, file.body, "  stdout    <script>begin</script>\n")
	require.Contains(t, file.body, "  ax        Attempt 1 began on node ")
	file = viewer.get("/instances/" + id + "/output?attempt=1&source=stdout")
	require.True(t, strings.HasPrefix(file.body, "<script>begin</script>\nline\n"), file.body)
	require.True(t, strings.HasSuffix(file.body, "line\n[… 4 KB not kept here …]\nthe end\n"), file.body)
	require.Equal(t, http.StatusNotFound, viewer.get("/instances/"+id+"/output?attempt=2").status)
	require.Equal(t, http.StatusNotFound, h.as("stranger").get("/instances/"+id+"/output?attempt=1").status)
}
