package app_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// joins gives somebody a role in the team store as well.
func (h *house) joins(who string, role access.Role) *client {
	h.t.Helper()
	c := h.as(who)
	require.NoError(h.t, h.opt.Teams.SetMember(h.t.Context(), root, h.other, who, role))
	return c
}

func TestATaskIsMovedToAnotherTeam(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	editor, stranger, owner := h.joins("editor", access.Editor), h.as("stranger"), h.as("owner")
	require.True(t, editor.get("/tasks/orders.send").has("[data-test=do-move]"))

	page := editor.get("/tasks/orders.send/confirm/move")
	require.Equal(t, "Move Task orders.send to another team?", page.text("h1"))
	require.Contains(t, page.text(testForm), "The team Payments and its tokens no longer see it.")
	require.Equal(t, []string{"Choose a team", "Store"}, page.texts("#f-team option"))
	require.Equal(t, "1", page.value("read_version"))
	require.True(t, editor.htmx("/tasks").get("/tasks/orders.send/confirm/move").has("dialog[data-ax-show] "+testForm))

	got := editor.post("/tasks/orders.send/move", "team", "store", "reason", "the store runs it now", "read_version", "1")
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Equal(t, "/tasks/orders.send", got.location())
	said := editor.get("/tasks/orders.send")
	require.Contains(t, said.text("#ax-toasts"), "orders.send is moved to another team")
	require.Contains(t, said.text("#ax-toasts"), "from payments to store")
	require.Contains(t, said.texts("[data-test=versions] li")[0], "move from team payments to store: the store runs it now")

	// Those have it who read the new team, with its history; the others don't.
	letter, run := "/dead-letters/"+strconv.FormatInt(l.ID, 10), "/instances/"+l.InstanceID
	for _, path := range []string{"/tasks/orders.send", letter, run} {
		require.Equal(t, http.StatusOK, stranger.get(path).status, path)
		require.Equal(t, http.StatusNotFound, owner.get(path).status, path)
	}
	require.Contains(t, stranger.get("/instances?task=orders.send&since=all").body, l.InstanceID)
	require.NotContains(t, owner.get("/instances?since=all").body, l.InstanceID)
	require.Contains(t, stranger.get("/dead-letters").body, letter)
	require.NotContains(t, owner.get("/dead-letters").body, letter)
	require.Equal(t, http.StatusNotFound, owner.post(letter+"/replay", "reason", "x").status)
	require.Equal(t, http.StatusSeeOther, stranger.post(letter+"/replay", "reason", "x").status)

	// The move stands in the audit of both.
	for _, c := range []*client{owner, stranger} {
		rows := c.get("/audit?action=task.move").text("main")
		require.Contains(t, rows, "Moved the task")
		require.Contains(t, rows, "the store runs it now")
	}
}

func TestAMoveThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	cal := h.calendar("pay-days")
	require.NotZero(t, cal.TeamID)
	h.task("pay.daily", func(s *sched.TaskSpec) {
		s.Schedule = sched.ScheduleSpec{Kind: sched.KindCron, Cron: "0 9 * * *", Timezone: "UTC", Calendar: "pay-days"}
	})
	owner := h.as("owner") // of the team payments only
	require.False(t, owner.get("/tasks/orders.send").has("[data-test=do-move]"), "there is no team to move it to")
	viewerThere := h.joins("operator", access.Editor) // an operator here
	editor := h.joins("editor", access.Editor)
	half := h.joins("viewer", access.Owner) // a viewer here
	for name, c := range map[string]struct {
		by     *client
		task   string
		fields []string
		status int
		field  string
		says   string
	}{
		"to a team that isn't one's own": {owner, "orders.send", []string{"team", "store", "reason", "r"}, 422, "team", `There is no team "store" that you can see`},
		"by an operator here":            {viewerThere, "orders.send", []string{"team", "store", "reason", "r"}, 403, "", ""},
		"by a viewer here":               {half, "orders.send", []string{"team", "store", "reason", "r"}, 403, "", ""},
		"by the auditor":                 {h.as("auditor"), "orders.send", []string{"team", "store", "reason", "r"}, 403, "", ""},
		"by a stranger":                  {h.as("stranger"), "orders.send", []string{"team", "store", "reason", "r"}, 404, "", ""},
		"without a reason":               {editor, "orders.send", []string{"team", "store"}, 422, "reason", "A reason is needed"},
		"without a team":                 {editor, "orders.send", []string{"reason", "r"}, 422, "team", "A team is needed"},
		"to its own team":                {editor, "orders.send", []string{"team", "payments", "reason", "r"}, 422, "team", "belongs to this team already"},
		"away from its calendar":         {editor, "pay.daily", []string{"team", "store", "reason", "r"}, 422, "team", `goes by the calendar "pay-days", which the team "store" can't use`},
	} {
		t.Run(name, func(t *testing.T) {
			before := h.stored(c.task)
			got := c.by.post("/tasks/"+c.task+"/move", c.fields...)
			require.Equal(t, c.status, got.status, got.body)
			if c.field != "" {
				require.Contains(t, fieldError(got, c.field), c.says)
			}
			require.Equal(t, before, h.stored(c.task))
		})
	}
}

// An editor there who only sees what is here is refused, and the other way
// round.
func TestAMoveNeedsTheRightInBothTeams(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	c := h.joins("editor", access.Viewer)
	require.False(t, c.get("/tasks/orders.send").has("[data-test=do-move]"))
	got := c.post("/tasks/orders.send/move", "team", "store", "reason", "r")
	require.Equal(t, http.StatusForbidden, got.status)
	require.Contains(t, got.text(testForm), "This needs the role editor in the team")
	require.Equal(t, 1, h.stored("orders.send").Version)
	require.Equal(t, http.StatusSeeOther, h.as("admin").post("/tasks/orders.send/move", "team", "store", "reason", "r").status)
	require.Equal(t, h.other.ID, h.stored("orders.send").TeamID)
}

// Who opened the form or the question before somebody else's change is told.
func TestAMoveAndAnEditThatCrossAreConflicts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	editor := h.joins("editor", access.Editor)
	fields := taskFields("version", "1", "code", "-")
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/orders.send", fields...).status)
	got := editor.post("/tasks/orders.send/move", "team", "store", "reason", "r", "read_version", "1")
	require.Equal(t, http.StatusConflict, got.status)
	require.Contains(t, got.text(testForm), "editor changed the task meanwhile: it is at version 2, you began from 1")
	require.Equal(t, "2", got.value("read_version"), "having seen it, one may move it")
	require.Equal(t, http.StatusSeeOther, editor.post("/tasks/orders.send/move", "team", "store", "reason", "r", "read_version", "2").status)
	got = editor.post("/tasks/orders.send", taskFields("version", "2", "code", "-", "team", "store")...)
	require.Equal(t, http.StatusConflict, got.status)
	require.Equal(t, 3, h.stored("orders.send").Version)
}

// A run that goes on while its task moves ends, and its letter is the new
// team's.
func TestARunEndsInTheTeamThatItsTaskWasMovedTo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in := h.running("orders.send", "o-1")
	require.Equal(t, http.StatusSeeOther, h.joins("editor", access.Editor).post("/tasks/orders.send/move", "team", "store", "reason", "r").status)
	token := h.signer.ReceiptToken(in.ID, 1)
	got := h.browser().with("Ax-Receipt-Token", token).json("POST", v1+"/instances/"+in.ID+"/receipt", `{"outcome": "failed", "message": "no luck"}`)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Contains(t, h.as("stranger").get("/dead-letters").text("main"), "orders.send")
	require.NotContains(t, h.as("owner").get("/dead-letters").text("main"), "orders.send")
}
