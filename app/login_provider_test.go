package app_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/oidc"
	"ax/app/oidc/issuertest"
)

// company is a house whose people come through a provider.
type company struct {
	*house
	*issuertest.Issuer
}

func newCompany(t *testing.T) *company {
	t.Helper()
	c := &company{}
	c.house = newHouse(t, func(o *app.Options) {
		c.Issuer = issuertest.New(t, o.Clock)
		o.ExternalURL = "https://ax.example.com"
		o.Provider = oidc.New(oidc.Config{
			Issuer: c.URL, ClientID: issuertest.ClientID, ClientSecret: issuertest.ClientSecret, Name: "Example Corp",
			Scopes: []string{"openid", "groups"}, GroupsClaim: "groups",
			Groups: []string{"pay-ops = payments:operator", "pay-leads = payments:owner", "shop = store:viewer", "ax-admins = admin", "audit = auditor"},
		}, o.ExternalURL+app.CallbackPath, o.Clock)
	})
	c.found()
	c.is("s-1", "lin", "pay-ops")
	return c
}

// is says who is signed in at the provider.
func (c *company) is(subject, login string, groups ...string) {
	c.Claims = map[string]any{"sub": subject, "preferred_username": login, "name": login + " at work", "email": login + "@example.com", "groups": groups}
}

// callback is the address by which the browser comes back.
func (c *company) callback(b *client, next string) string {
	c.t.Helper()
	got := b.get("/login/oidc?" + url.Values{"next": {next}}.Encode())
	require.Equal(c.t, http.StatusSeeOther, got.status, got.body)
	require.True(c.t, strings.HasPrefix(got.location(), c.URL+"/authorize?"), got.location())
	back, err := url.Parse(c.Answer(got.location()))
	require.NoError(c.t, err)
	require.Equal(c.t, "https://ax.example.com", back.Scheme+"://"+back.Host, "whatever Host the request had")
	return back.RequestURI()
}

// comes goes the whole way in a browser.
func (c *company) comes(b *client, next string) *answer {
	c.t.Helper()
	return b.with("Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate").get(c.callback(b, next))
}

func (c *company) who(login string) access.Standing {
	c.t.Helper()
	people, err := c.opt.Users.List(c.t.Context(), root)
	require.NoError(c.t, err)
	for _, p := range people {
		if p.Person.Login == login {
			return p
		}
	}
	return access.Standing{}
}

// lastAudit are the newest n rows.
func (c *company) lastAudit(n int) []access.Entry {
	c.t.Helper()
	page, err := c.opt.Audit.List(c.t.Context(), root, access.AuditFilter{}, 0, n)
	require.NoError(c.t, err)
	return page.Entries
}

const tripCookie = "__Host-ax_oidc"

func TestAPersonComesInThroughTheProvider(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	b := c.browser()
	form := b.get("/login?next=/tasks")
	require.Equal(t, "Sign in with Example Corp", form.text("[data-test=provider]"))
	require.Equal(t, "/login/oidc?next=%2Ftasks", form.attr("[data-test=provider]", "href"))
	require.True(t, form.has("[name=password]"), "beside the password")

	back := c.callback(b, "/tasks")
	k := b.cookies[tripCookie]
	require.Equal(t, []any{"/", true, true, http.SameSiteLaxMode, 600}, []any{k.Path, k.HttpOnly, k.Secure, k.SameSite, k.MaxAge})
	require.NotContains(t, k.Value, "tasks", "sealed")
	got := b.get(back)
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Equal(t, "/tasks", got.location())
	require.NotContains(t, b.cookies, tripCookie)
	session := got.cookie("__Host-ax_session")
	require.True(t, session.HttpOnly && session.Secure && session.Path == "/" && session.Domain == "" && session.SameSite == http.SameSiteLaxMode)
	require.Equal(t, 200, b.get("/tasks").status)

	lin := c.who("lin")
	require.Equal(t, map[int64]access.Role{c.team.ID: access.Operator}, lin.Roles)
	require.True(t, lin.NoPassword)
	require.Equal(t, access.ProviderID{Issuer: c.URL, Subject: "s-1"}, lin.Bound)
	require.Equal(t, []string{"lin at work", "lin@example.com"}, []string{lin.Person.Name, lin.Person.Email})
	page := b.get("/account")
	require.False(t, page.has("[data-test=password-form]"))
	require.True(t, page.says("You sign in through Example Corp"))

	var told []string
	for _, e := range c.lastAudit(3) {
		require.Equal(t, "through Example Corp", e.Reason)
		require.Equal(t, []any{access.User, lin.Person.ID, "lin"}, []any{e.Actor.Kind, e.Actor.ID, e.Actor.Name})
		told = append(told, e.Action+" "+e.Object.Name)
	}
	require.ElementsMatch(t, []string{"user.create lin", "team.member payments", "session.create lin"}, told)
}

func TestGroupsOfTheProviderComeAndGo(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.is("s-1", "lin", "pay-ops", "pay-leads", "ax-admins", "audit", "others")
	first := c.browser()
	require.Equal(t, http.StatusSeeOther, c.comes(first, "/").status)
	lin := c.who("lin")
	require.Equal(t, map[int64]access.Role{c.team.ID: access.Owner}, lin.Roles, "the higher one of two")
	require.True(t, lin.Person.Admin && lin.Person.Auditor)
	require.NoError(t, c.opt.Teams.SetMember(t.Context(), root, c.other, "lin", access.Editor)) // by hand

	c.is("s-1", "lin.renamed", "pay-ops", "shop", "audit")
	second := c.browser()
	require.Equal(t, http.StatusSeeOther, c.comes(second, "/").status)
	lin = c.who("lin")
	require.Equal(t, map[int64]access.Role{c.team.ID: access.Operator, c.other.ID: access.Editor}, lin.Roles, "what was given by hand stays")
	require.False(t, lin.Person.Admin)
	require.True(t, lin.Person.Auditor)
	require.Zero(t, c.who("lin.renamed").Person.ID, "the subject is the person, whatever the name")
	require.Equal(t, http.StatusSeeOther, first.get("/tasks").status, "a role was changed: the other session has ended")
	require.Equal(t, 200, second.get("/tasks").status)

	third := c.browser()
	require.Equal(t, http.StatusSeeOther, c.comes(third, "/").status)
	require.Equal(t, 200, second.get("/tasks").status, "nothing was changed")

	c.is("s-1", "lin", "shop")
	require.Equal(t, http.StatusSeeOther, c.comes(c.browser(), "/").status)
	require.Equal(t, map[int64]access.Role{c.other.ID: access.Editor}, c.who("lin").Roles)
	require.Equal(t, http.StatusSeeOther, second.get("/tasks").status)
}

func TestARightGivenByHandIsNotTakenByTheProvider(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.is("s-1", "lin", "pay-ops", "audit")
	c.comes(c.browser(), "/")
	id := c.who("lin").Person.ID
	require.NoError(t, c.opt.Users.SetRights(t.Context(), root, id, access.Rights{Admin: true, Auditor: true}))
	require.NoError(t, c.opt.Teams.SetMember(t.Context(), root, c.team, "lin", access.Owner))
	c.is("s-1", "lin", "shop")
	require.Equal(t, http.StatusSeeOther, c.comes(c.browser(), "/").status)
	lin := c.who("lin")
	require.True(t, lin.Person.Admin)
	require.False(t, lin.Person.Auditor, "this one was the provider's")
	require.Equal(t, map[int64]access.Role{c.team.ID: access.Owner, c.other.ID: access.Viewer}, lin.Roles)
}

func TestWhoHasNoGroupThatCountsIsTurnedAway(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	in := c.browser()
	c.comes(in, "/")
	require.Equal(t, 200, in.get("/tasks").status)
	c.is("s-1", "lin", "canteen")
	b := c.browser()
	got := c.comes(b, "/")
	require.Equal(t, http.StatusForbidden, got.status)
	require.True(t, got.says("You can’t come in with this account"))
	require.True(t, got.says("None of your groups at Example Corp opens anything in ax"))
	for _, name := range []string{"pay-ops", "pay-leads", "ax-admins", "canteen"} {
		require.False(t, strings.Contains(got.body, name), name)
	}
	require.False(t, strings.Contains(got.body, "state="), "the address is good once, and not shown")
	require.Nil(t, got.cookie("__Host-ax_session"))
	require.Empty(t, c.who("lin").Roles, "what the groups gave is gone")
	require.Equal(t, http.StatusSeeOther, in.get("/tasks").status, "and so are the sessions")
	e := c.lastAudit(1)[0]
	require.Equal(t, []string{"session.refuse", "lin", "through Example Corp"}, []string{e.Action, e.Object.Name, e.Reason})
	require.True(t, e.Refused())

	c.is("s-2", "wei", "canteen")
	require.Equal(t, http.StatusForbidden, c.comes(c.browser(), "/").status)
	require.Zero(t, c.who("wei").Person.ID, "nobody is made")
	require.Equal(t, []access.Change{{Field: "subject", New: "s-2"}, {Field: "groups", New: "1"}}, c.lastAudit(1)[0].Changes)
}

func TestADisabledPersonDoesNotComeInThroughTheProvider(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.comes(c.browser(), "/")
	require.NoError(t, c.opt.Users.Disable(t.Context(), root, c.who("lin").Person.ID))
	c.is("s-1", "lin", "pay-leads", "ax-admins")
	got := c.comes(c.browser(), "/")
	require.Equal(t, http.StatusForbidden, got.status)
	require.True(t, got.says("This person is disabled"))
	require.Nil(t, got.cookie("__Host-ax_session"))
	require.False(t, c.who("lin").Person.Admin, "nothing is given either")
	require.Equal(t, "session.refuse", c.lastAudit(1)[0].Action)
}

func TestALoginOfAxIsNotTakenOverThroughTheProvider(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.as("owner") // a person with a password
	for _, login := range []string{"owner", "OWNER", " Owner ", "admin"} {
		c.is("s-9", login, "pay-ops", "ax-admins")
		c.Claims["email"] = "owner@example.com"
		got := c.comes(c.browser(), "/")
		require.Equal(t, http.StatusForbidden, got.status, login)
		require.True(t, got.says("belongs to somebody else in ax"))
		require.Nil(t, got.cookie("__Host-ax_session"))
	}
	require.Empty(t, c.who("owner").Bound)
	require.Equal(t, map[int64]access.Role{c.team.ID: access.Owner}, c.who("owner").Roles)

	c.is("s-9", "owner", "pay-ops") // an administrator knows that it is the same person
	owner := c.as("owner")
	admin := c.as("admin")
	require.Equal(t, http.StatusForbidden, owner.post("/users/owner/provider", "subject", "s-9").status)
	page := admin.get("/users/owner")
	require.True(t, page.has("[data-test=bind]"))
	require.Equal(t, "/users/owner", admin.post("/users/owner/provider", "subject", "s-9").location())
	require.Equal(t, http.StatusSeeOther, owner.get("/tasks").status, "the sessions end")
	got := c.comes(c.browser(), "/tasks")
	require.Equal(t, "/tasks", got.location(), got.body)
	require.Equal(t, "s-9", admin.get("/users/owner").value("subject"))
	require.Equal(t, http.StatusConflict, admin.post("/users/admin/provider", "subject", "s-9").status)
	require.Equal(t, http.StatusUnprocessableEntity, admin.post("/users/admin/provider", "subject", strings.Repeat("x", 256)).status)
	admin.post("/users/owner/provider", "subject", "")
	require.Equal(t, http.StatusForbidden, c.comes(c.browser(), "/").status, "bound no more")
}

// Addresses change hands; the subject does not.
func TestAnAddressOpensNoAccount(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.comes(c.browser(), "/")
	c.is("s-2", "other", "shop")
	c.Claims["email"], c.Claims["email_verified"] = "lin@example.com", true
	require.Equal(t, http.StatusSeeOther, c.comes(c.browser(), "/").status)
	require.NotEqual(t, c.who("lin").Person.ID, c.who("other").Person.ID)
	c.is("s-3", "lin", "pay-leads")
	require.Equal(t, http.StatusForbidden, c.comes(c.browser(), "/").status, "nor does the name of somebody who left")
}

func TestAnAnswerIsGoodOnceAndInItsBrowser(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.Reuse = true
	refused := func(b *client, to string) {
		got := b.get(to)
		require.Equal(t, http.StatusUnauthorized, got.status)
		require.Nil(t, got.cookie("__Host-ax_session"))
		require.True(t, got.says("is over, or was begun in another browser"))
		require.True(t, got.has("[name=password]"), "a password still opens it")
		c.forward(time.Minute)
	}
	b := c.browser()
	back := c.callback(b, "/tasks")
	refused(c.browser(), back) // a victim who was sent somebody else's answer
	other := c.browser()
	c.callback(other, "/")
	refused(other, back) // in the middle of a sign-in of their own
	refused(b, strings.Replace(back, "state=", "state=x", 1))
	require.Equal(t, "/tasks", b.get(back).location(), "a wrong answer before the right one does no harm")

	b = c.browser()
	back = c.callback(b, "/tasks")
	copied := b.cookies[tripCookie]
	require.Equal(t, "/tasks", b.get(back).location())
	refused(c.browser(), back)
	again := c.browser()
	again.cookies[tripCookie] = copied
	refused(again, back) // a copy of the cookie, and the code would still be good

	b = c.browser()
	back = c.callback(b, "/")
	c.forward(11 * time.Minute)
	refused(b, back)
}

func TestAForgedAnswerSignsNobodyIn(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for name, forge := range map[string]func(map[string]any){
		"another nonce":    func(m map[string]any) { m["nonce"] = "x" },
		"another audience": func(m map[string]any) { m["aud"] = "other" },
		"expired":          func(m map[string]any) { m["exp"] = c.local().Add(-time.Minute).Unix() },
	} {
		c.Forge = forge
		b := c.browser()
		got := c.comes(b, "/")
		require.Equal(t, http.StatusUnauthorized, got.status, name)
		require.True(t, got.says("can’t be trusted"), name)
		require.Nil(t, got.cookie("__Host-ax_session"), name)
		e := c.lastAudit(1)[0]
		require.Equal(t, []string{"session.refuse", "", "through Example Corp"}, []string{e.Action, e.Object.ID, e.Reason})
		c.forward(time.Minute)
	}
	require.Contains(t, c.log.String(), "the nonce is another", "whoever set the provider up learns why")
	require.Zero(t, c.who("lin").Person.ID)
}

func TestWhatTheProviderSaysInWordsIsShownToNobody(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	b := c.browser()
	back := c.callback(b, "/tasks")
	state := back[strings.Index(back, "state="):]
	got := b.get("/login/oidc/callback?error=access_denied&error_description=Call+0900+555&error_uri=https%3A%2F%2Fevil.example&" + state)
	require.Equal(t, http.StatusUnauthorized, got.status)
	require.True(t, got.says("Example Corp did not sign you in"))
	for _, said := range []string{"0900", "evil.example", state} {
		require.False(t, strings.Contains(got.body, said), said)
	}
	require.Equal(t, "/language?back=%2Flogin%3Fnext%3D%252Ftasks&to=zh-CN", got.attr(".langa", "href"))
	require.Equal(t, "/tasks", got.value("next"))

	b = c.browser()
	back = c.callback(b, "/")
	got = b.get(back + "&iss=https%3A%2F%2Fevil.example")
	require.Equal(t, http.StatusUnauthorized, got.status)
	require.Nil(t, got.cookie("__Host-ax_session"))
}

func TestWhileTheProviderIsAwayPasswordsGoOn(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.Set(func(i *issuertest.Issuer) { i.Down = true })
	b := c.browser()
	require.Equal(t, 200, b.get("/login").status)
	got := b.get("/login/oidc?next=/tasks")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.True(t, got.says("Example Corp can't be reached"))
	require.Equal(t, "/tasks", got.value("next"))
	require.Nil(t, got.cookie(tripCookie))
	require.Equal(t, "/tasks", b.post("/login", "login", "admin", "password", pass, "next", "/tasks").location())

	c.Set(func(i *issuertest.Issuer) { i.Down = false })
	c.forward(3 * time.Second)
	b = c.browser()
	back := c.callback(b, "/tasks")
	c.Set(func(i *issuertest.Issuer) { i.Down = true })
	got = b.get(back)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, "/tasks", got.value("next"))
	c.Set(func(i *issuertest.Issuer) { i.Down = false })
	require.Equal(t, http.StatusSeeOther, c.comes(c.browser(), "/").status)
}

func TestTheWayOnAfterTheProviderIsOurs(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	for next, to := range map[string]string{
		"/tasks?q=a": "/tasks?q=a", "/tasks?q=" + strings.Repeat("a", 5000): "/", "": "/", "//evil.example": "/", `/\evil.example`: "/", "https://evil.example/": "/",
		"https:evil.example": "/", "/%2f%2fevil.example": "/", "javascript:alert(1)": "/", "/\r\nSet-Cookie: a=b": "/", "/\t/evil.example": "/",
	} {
		b := c.browser()
		require.Equal(t, to, c.comes(b, next).location(), "%q", next)
		require.Equal(t, to, b.get("/login/oidc?"+url.Values{"next": {next}}.Encode()).location(), "%q, signed in already", next)
	}
}

func TestAForgedHostDoesNotChangeWhereTheProviderSendsPeople(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/login/oidc", nil)
	require.NoError(t, err)
	r.Host, r.RemoteAddr = "evil.example", "192.0.2.1:4711"
	r.Header.Set("X-Forwarded-Host", "evil.example")
	got := c.browser().send(r)
	to, err := url.Parse(got.location())
	require.NoError(t, err)
	require.Equal(t, "https://ax.example.com/login/oidc/callback", to.Query().Get("redirect_uri"))
	require.NotContains(t, got.location(), "evil")
}

// A session that was in the browser before, perhaps somebody else's, ends.
func TestTheProvidersSignInGivesANewSession(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	thief := c.as("stranger")
	b := c.browser()
	back := c.callback(b, "/")
	planted := thief.cookies["__Host-ax_session"]
	b.cookies[planted.Name] = planted
	require.Equal(t, http.StatusSeeOther, b.get(back).status)
	require.NotEqual(t, planted.Value, b.cookies[planted.Name].Value)
	require.Equal(t, http.StatusSeeOther, thief.get("/tasks").status)
}

// The second step is the provider's business: a person who has one in ax is
// asked for it after the password only.
func TestNoSecondStepIsAskedForAfterTheProvider(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	c.as("owner").secure()
	admin := c.as("admin")
	require.Equal(t, http.StatusSeeOther, admin.post("/users/owner/provider", "subject", "s-1").status)
	b := c.browser()
	require.Equal(t, "/tasks", c.comes(b, "/tasks").location())
	require.Equal(t, 200, b.get("/tasks").status)
	require.True(t, c.browser().post("/login", "login", "owner", "password", pass).has("[name=code]"))
}

func TestTheSecretOfTheProviderStandsNowhere(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	admin := c.as("admin")
	var said strings.Builder
	note := func(a *answer) {
		said.WriteString(a.body)
		for _, values := range a.header {
			said.WriteString(strings.Join(values, " "))
		}
	}
	c.Token = func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		http.Error(w, issuertest.ClientSecret+r.Header.Get("Authorization")+r.PostForm.Encode(), http.StatusBadRequest)
	}
	b := c.browser()
	note(c.comes(b, "/"))
	c.Token = nil
	note(c.comes(c.browser(), "/"))
	for _, path := range []string{"/login", "/users/lin", "/audit", "/settings", "/account"} {
		note(admin.get(path))
	}
	for _, secret := range []string{issuertest.ClientSecret, url.QueryEscape(issuertest.ClientSecret), "access-"} {
		require.False(t, strings.Contains(said.String(), secret), secret)
		require.False(t, strings.Contains(c.log.String(), secret), secret)
	}
}

func TestWithoutAProviderItsPagesAreNotThere(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	require.Equal(t, http.StatusNotFound, h.browser().get("/login/oidc").status)
	require.Equal(t, http.StatusNotFound, h.browser().get(app.CallbackPath).status)
	require.Equal(t, http.StatusNotFound, admin.post("/users/admin/provider", "subject", "s").status)
	require.False(t, h.browser().get("/login").has("[data-test=provider]"))
	require.False(t, admin.get("/users/admin").has("[data-test=bind]"))
}

// Beside a cookie of the browser, the way to the provider keeps nothing.
func TestTheWayToTheProviderWritesNothing(t *testing.T) {
	t.Parallel()
	c := newCompany(t)
	rows := len(c.lastAudit(100))
	b := c.browser()
	c.callback(b, "/")
	for range 4 {
		require.Equal(t, http.StatusUnauthorized, c.browser().get(app.CallbackPath+"?state=x&code=y").status)
	}
	require.Len(t, c.lastAudit(100), rows, "whoever asks for the address with nothing leaves nothing")
	for range 4 {
		c.browser().get(app.CallbackPath + "?state=x&code=y")
	}
	require.Equal(t, http.StatusTooManyRequests, c.browser().get(app.CallbackPath+"?state=x&code=y").status)
	require.Zero(t, c.Called("/token"))
}
