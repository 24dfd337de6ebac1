package app_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/sched"
)

// The cases of other products' holes, each by its number.

const script = `<script>alert(1)</script>`

// bare fails when the text stands in the answer as markup.
func bare(t *testing.T, got *answer, markup ...string) {
	t.Helper()
	for _, m := range markup {
		require.NotContains(t, got.body, m)
	}
}

func TestAUTHZ01NoWayToAnotherTeamsInstance(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "secret-biz", "secret error")
	stranger := h.as("stranger")
	api := h.bearer(func() string {
		secret, _, err := h.opt.Tokens.Create(t.Context(), root, access.NewToken{TeamID: h.other.ID, Name: "x", Role: access.Owner})
		require.NoError(t, err)
		return secret
	}())
	for _, path := range []string{"/instances/" + l.InstanceID, "/dead-letters/" + strconv.FormatInt(l.ID, 10), "/tasks/orders.send"} {
		for name, got := range map[string]*answer{
			"page": stranger.get(path), "fragment": stranger.htmx(path).get(path), "api": api.get(v1 + path),
		} {
			require.Equal(t, http.StatusNotFound, got.status, "%s %s", name, path)
			bare(t, got, "secret-biz", "secret error")
		}
	}
}

func TestAUTHZ03AListTakesNoTeamOfOthers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send", func(s *sched.TaskSpec) { s.Name = "Secret name" })
	h.letter("orders.send", "secret-biz", "secret error")
	for _, list := range []string{"/tasks", "/instances", "/dead-letters", "/audit", "/audit.csv", "/calendars", "/"} {
		for _, query := range []string{"", "?team=payments", "?team=payments&team=store", "?team=", "?team_id=" + strconv.FormatInt(h.team.ID, 10)} {
			got := h.as("stranger").get(list + query)
			require.Less(t, got.status, 500)
			bare(t, got, "Secret name", "secret-biz", "secret error", "orders.send")
		}
	}
}

func TestAUTHZ05NothingIsMadeWithoutSigningIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	before, err := h.opt.Users.List(t.Context(), root)
	require.NoError(t, err)
	for _, r := range h.app.Rows() {
		if r.Method == http.MethodGet || r.Verb == app.Anyone {
			continue
		}
		got := h.browser().post(filled(r.Path), "login", "eve", "password", pass, "code", "eve", "name", "eve", "admin", "true")
		require.Equal(t, "/login", strings.SplitN(got.location(), "?", 2)[0], "%s %s", r.Method, r.Path)
	}
	h.browser().post("/invitation", "token", "x", "login", "eve", "password", pass)
	h.browser().post("/setup", "token", "x", "login", "eve", "password", pass)
	after, err := h.opt.Users.List(t.Context(), root)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

func TestAUTHZ07APrivilegeIsNotTakenFromAForm(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	owner := h.as("owner")
	made := owner.post("/teams/payments/invitations", "invite_role", "viewer", "role", "owner", "admin", "true", "team_id", "2")
	guest := h.browser()
	guest.post("/invitation", "token", tokenOf(shownLink.FindString(made.body)), "login", "eve", "password", pass, "admin", "true", "auditor", "true", "role", "owner", "team_id", "2", "id", "1")
	eve, err := h.opt.Users.ByLogin(t.Context(), root, "eve")
	require.NoError(t, err)
	require.False(t, eve.Admin || eve.Auditor)
	_, roles, err := h.ledger.Standing(t.Context(), eve.ID)
	require.NoError(t, err)
	require.Equal(t, map[int64]access.Role{h.team.ID: access.Viewer}, roles)
	guest.post("/account/preferences", "language", "en", "zone", "UTC", "theme", "dark", "admin", "true", "disabled", "false")
	require.Equal(t, http.StatusForbidden, guest.get("/settings").status)
}

func TestAUTHZ09EveryAliasOfAPageIsDecidedAlike(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer := h.as("viewer")
	for _, path := range []string{"/settings", "/settings/", "//settings", "/./settings", "/teams/../settings", "/SETTINGS", "/settings?show=changed", "/settings%2f"} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE"} {
			got := viewer.with("X-HTTP-Method-Override", "GET", "X-Original-URL", "/settings", "X-Rewrite-URL", "/settings").do(method, path, "", nil)
			require.GreaterOrEqual(t, got.status, 300, "%s %s", method, path)
			bare(t, got, "data-test=\"setting\"", "shutdown_grace")
		}
	}
}

func TestXSS01AMarkupNameIsText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	image := `"><img src=x onerror=alert(1)>`
	h.task("orders.send", func(s *sched.TaskSpec) { s.Name, s.Owner, s.Note = script, image, image })
	l := h.letter("orders.send", "o-1", script)
	for _, path := range []string{"/tasks", "/tasks/orders.send", "/tasks/orders.send/edit", "/instances", "/instances/" + l.InstanceID, "/dead-letters", "/dead-letters/" + strconv.FormatInt(l.ID, 10), "/audit", "/"} {
		got := h.as("admin").get(path)
		require.Equal(t, http.StatusOK, got.status, path)
		bare(t, got, script, "<img src=x")
		require.NotContains(t, got.header.Get("Content-Security-Policy"), "unsafe")
	}
	require.Contains(t, h.as("admin").get("/tasks").text("main"), script, "shown as it is")
}

func TestXSS03AnAnswerOfATargetIsText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", script)
	admin := h.as("admin")
	path := "/instances/" + l.InstanceID
	for _, got := range []*answer{admin.get(path), admin.htmx(path).get(path), admin.get("/"), admin.htmx("/").get("/")} {
		bare(t, got, script)
	}
	require.Contains(t, admin.get(path).text("main"), script)
}

func TestXSS05MarkupInATypedFieldIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	got := h.api(access.Editor).json("POST", v1+"/tasks", `{"code": "orders.new", "name": "x", "team": "payments", "queue": "red\" onmouseover=",
		"schedule": {"kind": "manual"}, "target": {"kind": "http", "url": "https://x.example.com"},
		"policy": {"idempotent": true, "retry": {"max": "1 onclick=alert(1)"}}}`)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Contains(t, got.fields(), "policy.retry.max")
	_, err := h.ledger.Task(t.Context(), "orders.new")
	require.Error(t, err)
}

func TestXSS08ASolutionIsText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "no luck")
	solution := `<a href=javascript:alert(1) hx-get=/logout hx-trigger=load>x</a>`
	_, err := h.opt.Letters.Edit(t.Context(), root, l.ID, sched.LetterEdit{Solution: &solution})
	require.NoError(t, err)
	got := h.as("viewer").get("/dead-letters/" + strconv.FormatInt(l.ID, 10))
	require.Contains(t, got.body, "javascript:alert(1)")
	require.Zero(t, got.doc().Find(`a[href^="javascript"], [hx-get="/logout"]`).Length())
}

func TestCSV01ANameIsNoFormula(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	formula := `=cmd|' /C calc'!A0`
	_, err := h.opt.Teams.Create(t.Context(), root, access.NewTeam{Code: "odd", Name: formula})
	require.NoError(t, err)
	h.person("@sum", access.NewUser{})
	got := h.as("admin").get("/audit.csv")
	require.Equal(t, http.StatusOK, got.status)
	require.Contains(t, got.body, "'@sum")
	for line := range strings.Lines(got.body) {
		for cell := range strings.SplitSeq(strings.TrimSpace(line), ",") {
			require.NotRegexp(t, `^"?[=+@]`, cell, line)
		}
	}
}

func TestUNI01AnEmojiInAnErrorIsStored(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	l := h.letter("orders.send", "o-1", "boom \U0001F468\u200d\U0001F4BB \\ud83d")
	got := h.as("viewer").get("/instances/" + l.InstanceID)
	require.Contains(t, got.text("main"), "\U0001F468\u200d\U0001F4BB")
}

func TestUNI06ANULIsRefusedAndTheServerLives(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	require.Equal(t, http.StatusBadRequest, admin.get("/tasks/%00").status)
	require.Equal(t, http.StatusBadRequest, admin.post("/teams", "code", "odd", "name", "a\x00b").status)
	require.Less(t, admin.with("Accept-Language", "\xff\xfe", "User-Agent", "a\xffb").get("/tasks").status, 500)
	require.Equal(t, http.StatusOK, admin.get("/tasks").status)
	require.NotContains(t, h.log.String(), "\x00")
}

func TestBIG03AForgedReceiptIsNotReadToItsEnd(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in := h.accepted("orders.send", "o-1")
	body := &endless{}
	r := httptest.NewRequest(http.MethodPost, receiptPath(in.ID), io.LimitReader(body, 500<<20))
	r.Header.Set("Content-Type", "application/json")
	got := h.browser().send(r)
	require.Contains(t, []int{401, 404, 413, 422}, got.status)
	require.LessOrEqual(t, body.read, 2*app.MaxBody)
}
