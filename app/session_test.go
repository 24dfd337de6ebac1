package app_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/views"
)

func TestTheLanguageOfAPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	h.person("li", access.NewUser{Preferences: access.Preferences{Language: "zh-CN"}})
	for name, c := range map[string]struct{ cookie, accept, want string }{
		"nothing said":              {"", "", "en"},
		"the browser’s wish":        {"", "zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"},
		"the browser’s second wish": {"", "fr, zh-TW;q=0.3", "zh-CN"},
		"a language we don’t have":  {"", "fr", "en"},
		"chosen in this browser":    {"zh-CN", "en", "zh-CN"},
		"a cookie that’s nonsense":  {"x--", "en", "en"},
	} {
		t.Run(name, func(t *testing.T) {
			b := h.browser().with("Accept-Language", c.accept)
			if c.cookie != "" {
				b.cookies["ax_lang"] = &http.Cookie{Name: "ax_lang", Value: c.cookie}
			}
			require.Equal(t, c.want, b.get("/login").attr("html", "lang"))
		})
	}

	b := h.browser().with("Accept-Language", "en")
	require.Equal(t, "/login", b.get("/language?to=en&back=/login").location())
	b.post("/login", "login", "li", "password", pass)
	require.Equal(t, "zh-CN", b.get("/help").attr("html", "lang"), "the person’s own setting, after the sign-in")
	got := b.get("/language?to=en&back=%2Fhelp")
	require.Equal(t, "/help", got.location())
	require.Equal(t, "en", b.get("/help").attr("html", "lang"), "until somebody chooses in this browser")
	require.Equal(t, http.StatusBadRequest, b.get("/language?to=fr").status)
	p, err := h.opt.Users.ByLogin(t.Context(), root, "li")
	require.NoError(t, err)
	require.Equal(t, "zh-CN", p.Language, "a link changes nothing in the ledger")
}

func TestTheThemeIsKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer := h.as("viewer")
	require.Equal(t, "auto", viewer.get("/help").attr("html", "data-ax-theme"))
	got := viewer.post("/theme", "theme", "dark", "back", "/help")
	require.Equal(t, "/help", got.location())
	require.False(t, got.cookie("ax_theme").HttpOnly, "theme.js reads it")
	require.Equal(t, "dark", viewer.get("/help").attr("html", "data-bs-theme"))
	delete(viewer.cookies, "ax_theme")
	require.Equal(t, "dark", viewer.get("/help").attr("html", "data-ax-theme"), "with the person, too")
	require.Equal(t, http.StatusBadRequest, viewer.post("/theme", "theme", "pink").status)
	require.Equal(t, "/", viewer.post("/theme", "theme", "light", "back", "//evil.example").location())
	require.Equal(t, http.StatusSeeOther, h.as("").post("/theme", "theme", "light").status, "guests have one, too")
}

func TestTheTeamChosenNarrowsWhatIsShown(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var scope access.Scope
	h.app.Route("GET", "/scope", access.Read, func(_ *app.App, c *gin.Context) (app.Reply, error) {
		scope = app.ScopeOf(c)
		require.Equal(t, "", app.TeamCode(c, 999))
		return app.GoTo("/"), nil
	})
	admin, viewer := h.as("admin"), h.as("viewer")
	admin.get("/scope")
	require.Equal(t, access.Scope{All: true}, scope)
	admin.get("/scope?team=store")
	require.Equal(t, access.Scope{Teams: []int64{h.other.ID}}, scope)
	admin.get("/scope")
	require.Equal(t, access.Scope{Teams: []int64{h.other.ID}}, scope, "the browser remembers")
	require.Equal(t, "Store", admin.get("/help").text(".menu.team summary .cut, .menu.team .side-link[aria-current] .cut"))
	admin.get("/scope?team=")
	require.Equal(t, access.Scope{All: true}, scope)

	viewer.get("/scope?team=store")
	require.Equal(t, access.Scope{Teams: []int64{h.team.ID}}, scope, "another’s team shows one’s own")
	viewer.get("/scope?team=payments")
	require.Equal(t, access.Scope{Teams: []int64{h.team.ID}}, scope)
	h.as("nobody").get("/scope")
	require.Equal(t, access.Scope{}, scope)
}

func TestTimesAreInThePersonsZone(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.Zone = zone(t, "Europe/Berlin") })
	h.found()
	h.person("li", access.NewUser{Preferences: access.Preferences{Zone: "Asia/Shanghai"}})
	var seen views.Viewer
	h.app.Route("GET", "/see", app.SignedIn, func(a *app.App, c *gin.Context) (app.Reply, error) {
		seen = a.Viewer(c)
		return app.GoTo("/"), nil
	})
	li := h.as("li")
	li.get("/see?x=1")
	require.Equal(t, "Asia/Shanghai", seen.Zone.String())
	require.Equal(t, h.local(), seen.Now)
	require.Equal(t, "/see?x=1", seen.Path)
	require.Equal(t, views.User{ID: seen.User.ID, Login: "li", Name: "li’s name"}, seen.User)
	li.htmx("/tasks?q=a").get("/see")
	require.Equal(t, "/tasks?q=a", seen.Path, "a piece belongs to the page it is on")
	li.with("HX-Request", "true", "HX-Current-URL", "https://evil.example//evil.example/").get("/see")
	require.Equal(t, "/", seen.Path)
	h.as("viewer").get("/see")
	require.Equal(t, "Europe/Berlin", seen.Zone.String(), "the installation’s")
}

func TestTheSidebarSaysWhatIsAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.work() // a node that beats
	viewer := h.as("viewer")
	require.Equal(t, "Ledger and Redis fine", viewer.get("/help").text(".side-foot .st.ok .w"))
	h.checks[1].OK = false
	require.True(t, viewer.get("/help").has(".side-foot .st.ok"), "read every few seconds only")
	h.forward(6 * time.Second)
	got := viewer.get("/help")
	require.True(t, got.says("No Redis: work is late"))
	require.True(t, got.says("1 of 1 nodes"))
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	require.NoError(t, err)
	return z
}
