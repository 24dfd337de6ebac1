package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// another is a second browser of somebody who is signed in already.
func (h *house) another(who, agent, password string) *client {
	h.t.Helper()
	h.as(who)
	c := h.browser().with("User-Agent", agent)
	require.Equal(h.t, http.StatusSeeOther, c.post("/login", "login", who, "password", password).status)
	return c
}

// signedOut tells whether the browser's next request is sent to the login,
// by a link and by a part of a page that refreshes itself.
func (c *client) signedOut() bool {
	c.h.t.Helper()
	got, piece := c.get("/help"), c.htmx("/tasks").get("/tasks")
	out := got.location() == "/login?next=%2Fhelp"
	require.Equal(c.h.t, out, piece.status == http.StatusUnauthorized && piece.location() == "/login?next=%2Ftasks")
	return out
}

func TestTheAccountPageSaysWhoOneIsAndMay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer := h.as("viewer")
	page := viewer.get("/account")
	require.Equal(t, 200, page.status)
	require.Equal(t, "viewer’s name · viewer", page.text(".lede"))
	require.Equal(t, []string{"PaymentsViewer: sees everything of the team, changes nothing"}, page.texts("[data-test=roles] li"))
	require.True(t, viewer.get("/help").has(`.menu.me a[href="/account"]`), "the menu leads there")

	require.NoError(t, h.opt.Teams.SetMember(t.Context(), root, h.other, "viewer", access.Owner))
	require.Equal(t, []string{"PaymentsViewer: sees everything of the team, changes nothing", "StoreOwner: everything in the team, also members and tokens"},
		viewer.get("/account").texts("[data-test=roles] li"))
	require.Equal(t, []string{"The whole installationAdministrator: everything, in every team"}, h.as("admin").get("/account").texts("[data-test=roles] li"))
	require.Equal(t, []string{"The whole installationAuditor: reads everything, also the audit"}, h.as("auditor").get("/account").texts("[data-test=roles] li"))
	require.True(t, h.as("nobody").get("/account").says("You are in no team yet."))
}

func TestPreferencesAreSavedWithThePerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	c.get("/language?to=en")
	c.post("/theme", "theme", "light")
	got := c.post("/account/preferences", "language", "zh-CN", "zone", "Asia/Shanghai", "theme", "dark")
	require.Equal(t, "/account", got.location())
	page := c.get("/account")
	require.Equal(t, "zh-CN", page.attr("html", "lang"), "what was chosen in the browser makes way")
	require.Equal(t, "dark", page.attr("html", "data-bs-theme"))
	require.True(t, page.says("已保存"), "in the language chosen")
	require.Equal(t, "Asia/Shanghai", page.value("zone"))
	require.Equal(t, "zh-CN", page.attr("[name=language][checked]", "value"))
	require.Equal(t, "dark", page.attr("[name=theme][checked]", "value"))
	p, err := h.opt.Users.ByLogin(t.Context(), root, "viewer")
	require.NoError(t, err)
	require.Equal(t, access.Preferences{Language: "zh-CN", Zone: "Asia/Shanghai", Theme: "dark"}, access.Preferences{Language: p.Language, Zone: p.Zone, Theme: p.Theme})

	c.post("/account/preferences", "language", "", "zone", "", "theme", "auto")
	got = c.post("/account/preferences", "language", "en", "zone", "Mars/Olympus", "theme", "pink")
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	require.Equal(t, `There is no zone "Mars/Olympus"`, got.text("#f-zone-error"))
	require.Equal(t, "The theme is auto, light or dark", got.text("#f-theme-error"))
	require.Equal(t, "Mars/Olympus", got.value("zone"), "what was typed stays")
	require.Equal(t, "en", got.attr("[name=language][checked]", "value"))
}

func TestAPasswordIsChangedAtTheAccount(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	const next = "another good long one"
	for name, f := range map[string]struct{ current, next, again, field, says string }{
		"wrong now":    {"wrong", next, next, "current", "This is not your present password"},
		"too short":    {pass, "short", "short", "password", "A password has 10 to 128 characters"},
		"not the same": {pass, next, next + "!", "again", "The two are not the same"},
		"no change":    {pass, pass, pass, "password", "This is the password you have"},
	} {
		got := c.post("/account/password", "current", f.current, "password", f.next, "again", f.again)
		require.Equal(t, http.StatusUnprocessableEntity, got.status, name)
		require.Equal(t, f.says, got.text("#f-"+f.field+"-error"), name)
		require.Equal(t, 1, got.doc().Find("p.bad").Length(), "%s: one error, at its field", name)
		for _, secret := range []string{f.current, f.next} {
			if len(secret) > 8 {
				require.False(t, strings.Contains(got.body, secret), "%s: a password comes back", name)
			}
		}
	}
	old := *c.cookies["ax_session"]
	got := c.post("/account/password", "current", pass, "password", next, "again", next)
	require.Equal(t, "/account", got.location())
	require.True(t, c.get("/account").says("Your password is changed."))
	require.NotEqual(t, old.Value, c.cookies["ax_session"].Value, "this browser has a new session")
	stale := h.browser()
	stale.cookies["ax_session"] = &old
	require.True(t, stale.signedOut())
	require.False(t, strings.Contains(h.log.String(), next))
	require.Equal(t, http.StatusUnauthorized, h.browser().post("/login", "login", "viewer", "password", pass).status)
	h.another("viewer", firefox, next)
}

func TestGuessingAtTheAccountIsThrottled(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	for range 5 {
		require.Equal(t, http.StatusUnprocessableEntity, c.post("/account/password", "current", "guess", "password", "x", "again", "x").status)
	}
	got := c.post("/account/password", "current", pass, "password", "another good one", "again", "another good one")
	require.Equal(t, http.StatusTooManyRequests, got.status)
	require.Equal(t, "1", got.header.Get("Retry-After"))
	require.Equal(t, "Too many wrong passwords. Try again in 1 s", got.text(".note.bad[role=alert]"))
	h.forward(time.Second)
	require.Equal(t, http.StatusSeeOther, c.post("/account/password", "current", pass, "password", "another good one", "again", "another good one").status)
}

func TestOnesSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	h.forward(41 * time.Minute)
	phone := h.another("viewer", "Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.1 Mobile/15E148 Safari/604.1", pass)
	desk := h.another("viewer", firefox, pass)
	stranger := h.as("stranger")
	h.forward(30 * time.Second)

	page := c.get("/account")
	require.Equal(t, []string{"This browser", "Other browser", "Phone"}, sorted(page.texts("[data-test=session] .strong"))) // two were seen at once
	require.ElementsMatch(t, []string{"A program that says no name", "Safari on iOS", "Firefox on Linux"}, page.texts("[data-test=session] td:first-child .sub"))
	require.Equal(t, "Now", page.text("[data-test=session]:first-child td:nth-child(3)"))
	require.Equal(t, "30 s ago", page.text("[data-test=session]:last-child td:nth-child(3)"))
	require.True(t, page.says("A session ends 12 h after its last use, and 7 d after the sign-in at the latest."))
	require.Equal(t, 2, page.doc().Find(`form[action="/account/sessions/end"]`).Length(), "the asking one has no button")
	for _, one := range []*client{c, phone, desk} {
		require.False(t, strings.Contains(page.body, one.cookies["ax_session"].Value))
	}

	id := page.attr(`[data-test=session]:last-child [name=session]`, "value")
	require.True(t, stranger.post("/account/sessions/end", "session", id).status == http.StatusSeeOther)
	require.True(t, stranger.get("/account").says("This session has ended already"), "another’s is not there")
	require.False(t, phone.signedOut())
	require.False(t, desk.signedOut())
	c.post("/account/sessions/end", "session", id)
	require.True(t, c.get("/account").says("The session has ended"))
	require.True(t, phone.signedOut() != desk.signedOut(), "that one only")

	require.Equal(t, "/account", c.post("/account/sessions/end-others").location())
	require.True(t, c.get("/account").says("1 session has ended"))
	require.True(t, phone.signedOut() && desk.signedOut())
	require.False(t, stranger.signedOut())
	require.False(t, c.signedOut())
	require.False(t, c.get("/account").has("#end-others"), "nothing left to end")
}

// What a person may not do any more ends in every browser at once: at the
// next request, or when an open page next refreshes itself.
func TestTwoBrowsers(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*house, *client){
		"the password is changed in one": func(_ *house, c *client) {
			c.post("/account/password", "current", pass, "password", "another good one", "again", "another good one")
		},
		"an administrator sets another password": func(h *house, _ *client) {
			require.NoError(h.t, h.opt.Users.SetPassword(h.t.Context(), root, h.personID("editor"), "another good one"))
		},
		"the role is taken away": func(h *house, _ *client) {
			require.NoError(h.t, h.opt.Teams.RemoveMember(h.t.Context(), root, h.team, "editor"))
		},
		"a weaker role": func(h *house, _ *client) {
			require.NoError(h.t, h.opt.Teams.SetMember(h.t.Context(), root, h.team, "editor", access.Viewer))
		},
		"the person is disabled": func(h *house, _ *client) {
			require.NoError(h.t, h.opt.Users.Disable(h.t.Context(), root, h.personID("editor")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			one, two := h.as("editor"), h.another("editor", firefox, pass)
			page := two.get("/tasks")
			require.Equal(t, "5", page.attr("[data-ax-live]", "data-ax-live"), "an open page asks for its parts every 5 s")
			require.False(t, two.signedOut())
			end(h, one)
			require.True(t, two.signedOut(), "the other browser")
			require.Equal(t, name != "the password is changed in one", one.signedOut(), "the one that asked goes on, if it asked")
		})
	}
}

// An open page is a stream as soon as a route is one: then it must end
// within 5 s as well, which the test above does not look at.
func TestNoRouteStaysOpen(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.Dev = true })
	for _, r := range h.app.Rows() {
		require.False(t, r.Stream, "%s %s stays open: TestTwoBrowsers must hold it open too", r.Method, r.Path)
	}
}

func (h *house) personID(login string) int64 {
	h.t.Helper()
	p, err := h.opt.Users.ByLogin(h.t.Context(), root, login)
	require.NoError(h.t, err)
	return p.ID
}

// sorted keeps the first and sorts the rest.
func sorted(s []string) []string {
	if len(s) == 3 && s[1] > s[2] {
		s[1], s[2] = s[2], s[1]
	}
	return s
}
