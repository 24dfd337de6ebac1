package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func setupFields(token string, changes ...string) []string {
	f := map[string]string{
		"token": token, "login": "Anna", "name": "Anna", "password": "a sentence is fine", "team_code": "payments",
		"team_name": "Payments", "language": "zh-CN", "zone": "Asia/Shanghai",
	}
	for i := 0; i+1 < len(changes); i += 2 {
		f[changes[i]] = changes[i+1]
	}
	var out []string
	for k, v := range f {
		out = append(out, k, v)
	}
	return out
}

func TestWithoutAnAdministratorEveryPageNamesTheSetupLink(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, path := range []string{"/help", "/login", "/search?q=x"} {
		got := h.browser().get(path)
		require.True(t, got.says("ax setup-link"), path)
		require.Equal(t, http.StatusServiceUnavailable, got.status, path)
	}
	require.Equal(t, 200, h.browser().get("/healthz").status)
	h.found()
	require.Equal(t, "/login?next=%2Fhelp", h.browser().get("/help").location())
}

func TestTheSetupLinkMakesTheFirstAdministratorOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token, err := h.opt.Setup.NewLink(t.Context())
	require.NoError(t, err)
	c := h.browser().with("Accept-Language", "zh-CN,en;q=0.5")
	form := c.get("/setup?token=" + token)
	require.Equal(t, 200, form.status)
	require.Equal(t, token, form.value("token"))
	require.Equal(t, "default", form.value("team_code"))
	require.Equal(t, "zh-CN", form.value("language"))
	require.Contains(t, form.texts(`select[name=zone] option`), "Asia/Shanghai")

	got := c.post("/setup", setupFields(token)...)
	require.Equal(t, http.StatusSeeOther, got.status, got.body)
	require.Equal(t, "/", got.location())
	home := c.get("/help")
	require.Equal(t, 200, home.status)
	require.Equal(t, "zh-CN", home.attr("html", "lang"))
	require.Contains(t, home.text("#ax-toasts"), "Payments", "it says what was made")
	require.NotContains(t, c.get("/help").text("#ax-toasts [role=status], #ax-toasts .toast"), "Payments", "once")

	for name, again := range map[string]*answer{
		"shown again": h.browser().get("/setup?token=" + token),
		"sent again":  h.browser().post("/setup", setupFields(token)...),
		"guessed":     h.browser().get("/setup?token=guess"),
		"without":     h.browser().get("/setup"),
	} {
		require.Equal(t, http.StatusNotFound, again.status, name)
		require.Equal(t, "This link is used up", again.text("h1"), name)
		require.Nil(t, again.cookie("ax_session"), name)
	}
}

func TestAWrongSetupKeepsWhatWasTyped(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token, err := h.opt.Setup.NewLink(t.Context())
	require.NoError(t, err)
	got := h.browser().post("/setup", setupFields(token, "password", "short", "team_code", "Pay!", "zone", "Mars/Base")...)
	require.Equal(t, http.StatusUnprocessableEntity, got.status)
	for field, want := range map[string]string{"login": "Anna", "name": "Anna", "team_code": "Pay!", "zone": "Mars/Base", "password": "", "token": token} {
		require.Equal(t, want, got.value(field), field)
	}
	require.Equal(t, 3, strings.Count(got.body, `aria-invalid="true"`))
	require.Equal(t, http.StatusSeeOther, h.browser().post("/setup", setupFields(token)...).status, "the link is still good")
}

func TestASetupLinkEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token, err := h.opt.Setup.NewLink(t.Context())
	require.NoError(t, err)
	h.forward(25 * time.Hour)
	require.Equal(t, http.StatusNotFound, h.browser().get("/setup?token="+token).status)
	require.Equal(t, http.StatusNotFound, h.browser().post("/setup", setupFields(token)...).status)
}

func TestTheSetupTokenIsNotInTheLog(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	token, err := h.opt.Setup.NewLink(t.Context())
	require.NoError(t, err)
	h.browser().get("/setup?token=" + token)
	h.browser().post("/setup", setupFields(token)...)
	require.NotContains(t, h.log.String(), token)
	require.NotContains(t, h.log.String(), "a sentence is fine")
}
