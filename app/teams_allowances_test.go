package app_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
)

// rangeID is the row number of the team's only range.
func (h *house) rangeID() string {
	h.t.Helper()
	list, err := h.opt.Allowances.List(h.t.Context(), root, h.team.ID)
	require.NoError(h.t, err)
	require.Len(h.t, list, 1)
	return strconv.FormatInt(list[0].ID, 10)
}

func TestAnAdministratorOpensARangeToATeamAndTheTeamSeesIt(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	require.Equal(t, "/teams/payments", admin.post("/teams/payments/allowances", "prefix", " 10.20.0.0/16", "open_reason", "order services").location())
	page := admin.get("/teams/payments")
	require.Contains(t, page.body, "Tasks of the team may call 10.20.0.0/16 now")
	for _, who := range []string{"viewer", "owner", "auditor"} {
		page = h.as(who).get("/teams/payments")
		require.Equal(t, []string{"10.20.0.0/16 order services, by admin"}, page.texts("[data-test=allowance]"))
		require.Contains(t, page.text("#targets"), "An administrator opens ranges and commands.")
		require.Empty(t, page.texts("dialog#open-range, dialog#close-range"))
	}
	require.Empty(t, admin.get("/teams/store").texts("[data-test=allowance]"), "another team's list")

	got := admin.post("/teams/payments/allowances/remove", "range", h.rangeID(), "close_reason", "moved away")
	require.Equal(t, "/teams/payments", got.location())
	require.Empty(t, admin.get("/teams/payments").texts("[data-test=allowance]"))

	found, err := h.opt.Audit.List(t.Context(), root, access.AuditFilter{Team: h.team.ID, Action: "allowance."}, 0, 2)
	require.NoError(t, err)
	require.Equal(t, []string{"allowance.delete", "moved away", "allowance.create", "order services"},
		[]string{found.Entries[0].Action, found.Entries[0].Reason, found.Entries[1].Action, found.Entries[1].Reason})
	require.Equal(t, []access.Change{{Field: "prefix", New: "10.20.0.0/16"}}, found.Entries[1].Changes)
	page = admin.get("/audit")
	require.Contains(t, page.body, "Opened the range")
	require.Contains(t, page.body, "Closed the range")
}

func TestOnlyAnAdministratorOpensAndClosesRanges(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	admin.post("/teams/payments/allowances", "prefix", "10.20.0.0/16", "open_reason", "x")
	id := h.rangeID()
	for who, want := range map[string]int{"owner": http.StatusForbidden, "editor": http.StatusForbidden, "auditor": http.StatusForbidden, "stranger": http.StatusForbidden, "nobody": http.StatusNotFound} {
		require.Equal(t, want, h.as(who).post("/teams/payments/allowances", "prefix", "10.30.0.0/16", "open_reason", "x").status, who)
		require.Equal(t, want, h.as(who).post("/teams/payments/allowances/remove", "range", id, "close_reason", "x").status, who)
	}
	require.Equal(t, http.StatusNotFound, admin.post("/teams/store/allowances/remove", "range", id, "close_reason", "x").status, "by another team's page")
	require.Equal(t, id, h.rangeID())
}

func TestABadRangeIsRefusedAtItsField(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	for prefix, says := range map[string]string{
		"orders.internal": `Write a range such as 10.20.0.0/16, or one address such as 10.20.0.7; this is "orders.internal"`,
		"10.20.0.7/16":    "10.20.0.7/16 begins inside its range, which is 10.20.0.0/16",
		"169.254.169.254": "169.254.169.254 is a metadata service of clouds: it hands out credentials, and nothing opens it",
		"0.0.0.0/0":       "Only parts of loopback, private and shared ranges can be opened: 127.0.0.0/8, ::1/128, 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7. Public addresses are open to every team.",
		"":                "A range or an address is needed",
	} {
		got := admin.post("/teams/payments/allowances", "prefix", prefix, "open_reason", "why not")
		require.Equal(t, http.StatusUnprocessableEntity, got.status, prefix)
		require.Equal(t, says, got.text("dialog#open-range[open] #f-prefix-error"))
		require.Equal(t, prefix, got.doc().Find("#f-prefix").AttrOr("value", ""))
		require.Equal(t, "why not", got.doc().Find("#f-open_reason, #f-open-reason").AttrOr("value", ""))
	}
	got := admin.post("/teams/payments/allowances", "prefix", "10.20.0.0/16", "open_reason", " ")
	require.Equal(t, "A reason is needed: it stands in the audit", got.text("#f-open_reason-error, #f-open-reason-error"))
	admin.post("/teams/payments/allowances", "prefix", "10.20.0.0/16", "open_reason", "x")
	got = admin.post("/teams/payments/allowances", "prefix", "10.20.0.0/16", "open_reason", "x")
	require.Equal(t, http.StatusConflict, got.status)
	require.Equal(t, "The team may call 10.20.0.0/16 already", got.text("dialog#open-range[open] #f-prefix-error"))

	got = admin.post("/teams/payments/allowances/remove", "range", h.rangeID(), "close_reason", "")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, "A reason is needed: it stands in the audit", got.text("dialog#close-range[open] #f-close_reason-error, dialog#close-range[open] #f-close-reason-error"))
	require.Equal(t, "Choose a range of the list", admin.post("/teams/payments/allowances/remove", "range", "x", "close_reason", "x").text("#f-range-error"))
}

func TestTheTeamPageSaysWhatIsOpenToEveryTeam(t *testing.T) {
	t.Parallel()
	page := newHouse(t).as("viewer").get("/teams/payments")
	require.Empty(t, page.texts("[data-test=network], [data-test=newcomers]"))
	page = newHouse(t, func(o *app.Options) { o.OpenNetworks, o.OpensLoopback = access.Loopback(), true }).as("viewer").get("/teams/payments")
	require.Equal(t, []string{"127.0.0.0/8 open to every team", "::1/128 open to every team"}, page.texts("[data-test=network]"))
	require.Contains(t, page.text("[data-test=newcomers]"), "so that a first task works")
}

func TestATaskWithATargetThatIsClosedToTheTeamIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	editor := h.as("editor")
	create := func(by *client, changes ...string) *answer { return by.post("/tasks/new", taskFields(changes...)...) }
	got := create(editor, "target.url", "http://10.20.0.7:9000/run")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, "This team may not call 10.20.0.7, which is inside the network. An administrator can open it on the team's page.", fieldError(got, "target.url"))
	require.Equal(t, "http://10.20.0.7:9000/run", got.value("target.url"))
	require.Contains(t, fieldError(create(h.as("admin"), "target.url", "http://169.254.169.254/"), "target.url"), "a metadata service of clouds")

	h.as("admin").post("/teams/payments/allowances", "prefix", "10.20.0.0/16", "open_reason", "x")
	require.Equal(t, http.StatusSeeOther, create(editor, "target.url", "http://10.20.0.7:9000/run").status, "at once")
	got = create(h.as("admin"), "target.url", "http://10.20.0.7:9000/run", "team", "store", "code", "orders.other")
	require.Contains(t, fieldError(got, "target.url"), "This team may not call 10.20.0.7")
}

func TestAServiceReadsWhichRangesItsTeamMayCall(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.OpenNetworks = access.Loopback()[:1] })
	h.as("admin").post("/teams/payments/allowances", "prefix", "10.20.0.0/16", "open_reason", "order services")
	h.as("admin").post("/teams/store/allowances", "prefix", "10.30.0.0/16", "open_reason", "x")
	got := h.api(access.Viewer).get("/api/v1/allowances")
	require.JSONEq(t, `{"next_cursor": null, "items": [
		{"prefix": "127.0.0.0/8", "every_team": true, "reason": "", "created_by": "", "created_at": null},
		{"prefix": "10.20.0.0/16", "every_team": false, "reason": "order services", "created_by": "admin", "created_at": "2026-12-02T06:32:07.000Z"}]}`, got.body)
}
