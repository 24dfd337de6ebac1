package app_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
)

func TestAGuestComesBackToThePageAfterTheSignIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.as("viewer")
	guest := h.as("")
	got := guest.get("/search?q=a&team=payments")
	require.Equal(t, http.StatusSeeOther, got.status)
	require.Equal(t, "/login?next=%2Fsearch%3Fq%3Da%26team%3Dpayments", got.location())
	form := guest.get(got.location())
	require.Equal(t, 200, form.status)
	require.Equal(t, "/search?q=a&team=payments", form.value("next"))
	got = guest.post("/login", "login", "viewer", "password", pass, "next", form.value("next"))
	require.Equal(t, http.StatusSeeOther, got.status)
	require.Equal(t, "/search?q=a&team=payments", got.location())
	require.Equal(t, http.StatusSeeOther, guest.get("/login?next=/help").status, "who is in goes on")
}

func TestTheWayOnAfterTheSignInIsOurs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.as("viewer")
	for name, c := range map[string]struct{ next, to string }{
		"a page":                    {"/tasks", "/tasks"},
		"a page with a query":       {"/tasks?q=%2F%2Fevil", "/tasks?q=%2F%2Fevil"},
		"nothing":                   {"", "/"},
		"another host":              {"//evil.example", "/"},
		"another host, three":       {"///evil.example", "/"},
		"a backslash":               {`/\evil.example`, "/"},
		"two backslashes":           {`\\evil.example`, "/"},
		"a scheme":                  {"https://evil.example/", "/"},
		"a scheme without slashes":  {"https:evil.example", "/"},
		"an escaped host":           {"/%2f%2fevil.example", "/"},
		"an escaped backslash":      {"/%5cevil.example", "/"},
		"a script":                  {"javascript:alert(1)", "/"},
		"a tab":                     {"/\t/evil.example", "/"},
		"a line end":                {"/\r\nSet-Cookie: a=b", "/"},
		"a host after a line end":   {"/\n/evil.example", "/"},
		"a relative path":           {"tasks", "/"},
		"a user before a host":      {"/@evil.example", "/@evil.example"}, // of ours
		"broken escapes":            {"/%zz", "/"},
		"a fragment is not sent on": {"/tasks#x", "/tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			got := h.browser().post("/login", "login", "viewer", "password", pass, "next", c.next)
			require.Equal(t, http.StatusSeeOther, got.status)
			require.Equal(t, c.to, got.location())
			require.Empty(t, got.cookie("a"))
			got = h.browser().get("/language?to=en&back=" + url.QueryEscape(c.next))
			require.Equal(t, c.to, got.location())
		})
	}
}

func TestEveryRefusalOfASignInLooksTheSame(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.as("viewer")
	gone := h.person("gone", access.NewUser{})
	require.NoError(t, h.opt.Users.Disable(t.Context(), root, gone.ID))
	var bodies []string
	for _, c := range [][2]string{{"viewer", "wrong password"}, {"nosuch", pass}, {"gone", pass}} {
		got := h.browser().post("/login", "login", c[0], "password", c[1], "next", "/tasks")
		require.Equal(t, http.StatusUnauthorized, got.status)
		require.Nil(t, got.cookie("ax_session"))
		require.Equal(t, c[0], got.value("login"), "what was typed stays")
		require.Empty(t, got.value("password"))
		require.Equal(t, "/tasks", got.value("next"))
		require.True(t, got.says("Login or password is wrong"))
		bodies = append(bodies, strings.ReplaceAll(got.body, c[0], "…"))
	}
	require.Equal(t, bodies[0], bodies[1])
	require.Equal(t, bodies[0], bodies[2])
}

func TestTooManySignInsMustWait(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.as("viewer")
	var got *answer
	for i := range 50 {
		c := h.browser()
		c = c.with("X-Forwarded-For", "10.0.0."+strconv.Itoa(i), "X-Real-Ip", "10.1.0."+strconv.Itoa(i))
		if got = c.post("/login", "login", "viewer", "password", "wrong"); got.status == http.StatusTooManyRequests {
			break
		}
	}
	require.Equal(t, http.StatusTooManyRequests, got.status, "a header is not believed without a trusted proxy")
	wait, err := strconv.Atoi(got.header.Get("Retry-After"))
	require.NoError(t, err)
	require.Positive(t, wait)
	require.True(t, got.says("Too many wrong sign-ins"))
	require.Equal(t, "viewer", got.value("login"))

	far := h.browser()
	far.address = "198.51.100.7:1"
	h.forward(time.Duration(wait+1) * time.Second)
	require.Equal(t, http.StatusSeeOther, far.post("/login", "login", "viewer", "password", pass).status)
}

func TestTheSessionCookie(t *testing.T) {
	t.Parallel()
	for external, want := range map[string]struct {
		name   string
		secure bool
	}{
		"":                       {"ax_session", false},
		"http://ax.example.com":  {"ax_session", false},
		"https://ax.example.com": {"__Host-ax_session", true},
	} {
		t.Run(external, func(t *testing.T) {
			h := newHouse(t, func(o *app.Options) { o.ExternalURL = external })
			h.found()
			form := h.as("").get("/login")
			require.Equal(t, !want.secure, form.says("This connection is not encrypted"))
			got := h.as("").post("/login", "login", "admin", "password", pass)
			k := got.cookie(want.name)
			require.NotNil(t, k)
			require.Equal(t, []any{"/", "", true, want.secure, http.SameSiteLaxMode},
				[]any{k.Path, k.Domain, k.HttpOnly, k.Secure, k.SameSite})
			require.Equal(t, int((7 * 24 * time.Hour).Seconds()), k.MaxAge)
			require.GreaterOrEqual(t, len(k.Value), 22, "128 bits or more")
			for _, other := range got.cookies {
				require.Equal(t, want.secure, other.Secure, other.Name)
			}
			require.Nil(t, h.as("").get("/login").cookie(want.name), "none before the sign-in")
		})
	}
}

func TestASessionHandedToSomebodyElseEndsWithTheSignIn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	thief := h.as("viewer")
	planted := thief.cookies["ax_session"]
	h.as("owner")
	victim := h.browser()
	victim.cookies[planted.Name] = planted
	require.Equal(t, http.StatusSeeOther, victim.post("/login", "login", "owner", "password", pass).status)
	require.NotEqual(t, planted.Value, victim.cookies[planted.Name].Value)
	require.Equal(t, 200, victim.get("/help").status)
	require.Equal(t, http.StatusSeeOther, thief.get("/help").status, "the old one is anonymous")
	made := h.browser()
	made.cookies["ax_session"] = &http.Cookie{Name: "ax_session", Value: "chosen-by-somebody-else-0123456789"}
	require.Equal(t, http.StatusSeeOther, made.post("/login", "login", "owner", "password", pass).status)
	require.NotEqual(t, "chosen-by-somebody-else-0123456789", made.cookies["ax_session"].Value)
}

func TestSigningOutEndsTheSessionInTheLedger(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	copied := h.browser()
	copied.cookies["ax_session"] = c.cookies["ax_session"]
	got := c.post("/logout")
	require.Equal(t, http.StatusSeeOther, got.status)
	require.Equal(t, "/login", got.location())
	require.NotContains(t, c.cookies, "ax_session")
	require.Equal(t, http.StatusSeeOther, copied.get("/help").status, "a copy of the cookie is worth nothing")
	require.Equal(t, http.StatusSeeOther, c.post("/logout").status, "twice is no error")
	require.Equal(t, http.StatusMethodNotAllowed, c.get("/logout").status, "a link can't sign out")
}

func TestASessionEndsByTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	h.forward(access.SessionIdle - time.Minute)
	require.Equal(t, 200, c.get("/help").status)
	h.forward(access.SessionIdle)
	require.Equal(t, http.StatusSeeOther, c.get("/help").status)
}

func TestADisabledPersonIsOutAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.as("viewer")
	p, err := h.opt.Users.ByLogin(t.Context(), root, "viewer")
	require.NoError(t, err)
	require.NoError(t, h.opt.Users.Disable(t.Context(), root, p.ID))
	require.Equal(t, http.StatusSeeOther, c.get("/help").status)
}
