package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/static"
)

const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func TestEveryAnswerCarriesTheHeaders(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	admin := h.as("admin")
	check := func(got *answer, what string) {
		t.Helper()
		for name, want := range map[string]string{
			"Content-Security-Policy":    policy,
			"X-Content-Type-Options":     "nosniff",
			"Referrer-Policy":            "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin",
			"Strict-Transport-Security":  "",
		} {
			require.Equal(t, want, got.header.Get(name), "%s of %s", name, what)
		}
		require.NotEmpty(t, got.header.Get("Permissions-Policy"), what)
		require.Len(t, got.header.Get("X-Request-Id"), 16, what)
		if !strings.HasPrefix(what, "GET /static/") {
			require.Equal(t, "no-store", got.header.Get("Cache-Control"), what)
		}
	}
	for _, r := range h.app.Rows() {
		check(h.as("").do(r.Method, filled(r.Path), "", nil), r.Method+" "+r.Path+" as a guest")
		if r.Path != "/logout" {
			check(admin.do(r.Method, filled(r.Path), "", nil), r.Method+" "+r.Path)
		}
	}
	check(admin.get("/nowhere"), "a wrong address")
	check(admin.post("/nowhere"), "a wrong address, posted to")
	check(admin.do("DELETE", "/login", "", nil), "a wrong method")
	check(admin.get("/tasks/%00"), "a NUL")
	check(admin.with("Sec-Fetch-Site", "cross-site").post("/logout"), "another site’s form")
	check(admin.get("/api/v1/nowhere"), "a wrong address of the API")
	check(admin.get(static.URL("app.css")), "GET /static/app.css")
	check(admin.get("/static/app.000000000000.css"), "GET /static/ of an old build")
}

func TestHTTPSAddsTheStrictHeader(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.ExternalURL = "https://ax.example.com" })
	require.Equal(t, "max-age=31536000", h.as("").get("/healthz").header.Get("Strict-Transport-Security"))
}

func TestPagesVaryByWhatHTMXAsks(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.Contains(t, strings.Join(h.as("viewer").get("/help").header.Values("Vary"), ", "), "HX-Request, HX-Request-Type")
}

func TestHEADIsGETWithoutABody(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, path := range []string{"/healthz", "/login", "/nowhere"} {
		require.Equal(t, h.as("").get(path).status, h.as("").do(http.MethodHead, path, "", nil).status, path)
	}
}

func TestAWrongMethodIsNamed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	got := h.as("viewer").do(http.MethodDelete, "/login", "", nil)
	require.Equal(t, http.StatusMethodNotAllowed, got.status)
	require.Contains(t, got.header.Get("Allow"), "POST")
	require.Equal(t, "That can’t be done here", got.text("h1"))
}

func TestAnAddressHasOneSpelling(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, path := range []string{"/login/", "//login", "/LOGIN", "/./login", "/help/"} {
		got := h.as("viewer").get(path)
		require.Equal(t, http.StatusNotFound, got.status, path)
	}
}

func TestAWrongAddressGetsThePageWithTheShell(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	got := h.as("viewer").get("/nowhere")
	require.Equal(t, http.StatusNotFound, got.status)
	require.Equal(t, "There is nothing at this address", got.text("h1"))
	require.True(t, got.has("aside.side"), "people signed in keep the sidebar")
	require.True(t, got.says(got.header.Get("X-Request-Id")), "the page names the request")

	got = h.as("").get("/nowhere")
	require.Equal(t, http.StatusNotFound, got.status)
	require.False(t, got.has("aside.side"))

	got = h.as("").get("/api/v1/nowhere")
	require.Equal(t, http.StatusNotFound, got.status)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
	var p app.Problem
	got.into(&p)
	require.Equal(t, app.Problem{Type: "about:blank", Title: "Not Found", Status: 404, Detail: "There is nothing at this address",
		Instance: "/api/v1/nowhere", RequestID: got.header.Get("X-Request-Id")}, p)
}
