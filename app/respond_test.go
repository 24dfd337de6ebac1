package app_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/fault"
	"ax/views"
)

func html(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	})
}

// answers makes a route for each case and asks for it as the client.
func (h *house) answers(path string, r func(a *app.App, c *gin.Context) (app.Reply, error)) {
	h.app.Route("GET", path, app.SignedIn, r)
	h.app.Route("POST", path, app.SignedIn, r)
}

func TestAPieceGoesToHTMXAndThePageToTheRest(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.answers("/list", func(*app.App, *gin.Context) (app.Reply, error) {
		return app.Show(html("<h1>whole</h1>")).Piecewise(html("<p>piece</p>")), nil
	})
	h.answers("/only", func(*app.App, *gin.Context) (app.Reply, error) { return app.Fragment(html("<p>piece</p>")), nil })
	v := h.as("viewer")
	require.Equal(t, "<h1>whole</h1>", v.get("/list").body)
	require.Equal(t, "<p>piece</p>", v.htmx("/list").get("/list").body)
	require.Equal(t, "<h1>whole</h1>", v.with("HX-Request", "true").get("/list").body, "htmx wants all of it")
	require.Equal(t, "<h1>whole</h1>", v.htmx("/").with("HX-Boosted", "true").get("/list").body)
	require.Equal(t, "<h1>whole</h1>", v.htmx("/").with("HX-History-Restore-Request", "true").get("/list").body)
	require.Equal(t, "<p>piece</p>", v.get("/only").body)
}

func TestGoingOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.answers("/act", func(a *app.App, c *gin.Context) (app.Reply, error) {
		a.Flash(c, views.Flash{Text: "Saved 已保存", Detail: "next run 15:00"})
		return app.GoTo("/help/%s/%d", "a b/../c?d", 7), nil
	})
	h.answers("/back", func(_ *app.App, c *gin.Context) (app.Reply, error) { return app.GoBack(c, "/help"), nil })
	v := h.as("viewer")
	got := v.post("/act")
	require.Equal(t, http.StatusSeeOther, got.status)
	require.Equal(t, "/help/a%20b%2F..%2Fc%3Fd/7", got.header.Get("Location"), "values are escaped")
	page := v.get("/help")
	require.Contains(t, page.text("#ax-toasts"), "Saved 已保存")
	require.Contains(t, page.text("#ax-toasts"), "next run 15:00")
	require.NotContains(t, v.get("/help").text("#ax-toasts"), "Saved", "once")

	got = v.htmx("/x").post("/act")
	require.Equal(t, 200, got.status)
	require.Equal(t, "/help/a%20b%2F..%2Fc%3Fd/7", got.header.Get("HX-Redirect"))
	require.Empty(t, got.header.Get("Location"))
	require.Contains(t, v.get("/help").text("#ax-toasts"), "Saved")

	require.Equal(t, "/tasks?q=a&page=2", v.post("/back", "back", "/tasks?q=a&page=2").location())
	require.Equal(t, "/help", v.post("/back", "back", "https://evil.example").location())
	require.Equal(t, "/help", v.post("/back").location())
}

func TestWhatAHandlerSaysToAPieceIsAToast(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.answers("/piece", func(a *app.App, c *gin.Context) (app.Reply, error) {
		a.Flash(c, views.Flash{Text: "Saved 已保存 😀"})
		return app.Fragment(html("<p>x</p>")), nil
	})
	got := h.as("viewer").htmx("/").post("/piece")
	require.Equal(t, "Saved 已保存 😀", got.toast())
	for _, b := range []byte(got.header.Get("HX-Trigger")) {
		require.Less(t, b, byte(0x80), "a header is ASCII")
	}
}

func TestAnErrorAtAFormShowsTheFormUnderItsStatus(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, c := range map[string]struct {
		err    error
		status int
		toast  bool
	}{
		"invalid":     {fault.Invalid(fault.Field("name", "A name is needed")), 422, false},
		"conflict":    {fault.Conflict("It was changed meanwhile"), 409, true},
		"denied":      {fault.Denied("This needs the role %s in the team", "owner"), 403, true},
		"unavailable": {fault.Unavailable(errors.New("x"), "The database can't be reached"), 503, true},
		"ours":        {errors.New("secret"), 500, true},
	} {
		path := "/form-" + name
		h.answers(path, func(*app.App, *gin.Context) (app.Reply, error) {
			return app.Show(html("<form>typed</form>")).Piecewise(html("<form>piece</form>")), c.err
		})
		got := h.as("viewer").post(path)
		require.Equal(t, c.status, got.status, name)
		require.Equal(t, "<form>typed</form>", got.body, name)
		got = h.as("viewer").htmx("/").post(path)
		require.Equal(t, c.status, got.status, name)
		require.Equal(t, "<form>piece</form>", got.body, name)
		require.Equal(t, c.toast, got.toast() != "", name)
		require.NotContains(t, got.header.Get("HX-Trigger"), "secret")
	}
}

func TestAnErrorWithoutAPageLeavesHTMXsPageAlone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.answers("/gone", func(*app.App, *gin.Context) (app.Reply, error) {
		return app.Reply{}, fault.NotFound("There is no task %q", "x")
	})
	h.answers("/bad", func(*app.App, *gin.Context) (app.Reply, error) {
		return app.Reply{}, fault.Invalid(fault.Field("until", "It must be later"))
	})
	got := h.as("viewer").htmx("/tasks").post("/gone")
	require.Equal(t, http.StatusNotFound, got.status)
	require.Equal(t, "none", got.header.Get("HX-Reswap"))
	require.Equal(t, `There is no task "x"`, got.toast())
	require.Empty(t, got.body)
	require.Equal(t, "Some fields need another value It must be later", h.as("viewer").htmx("/tasks").post("/bad").toast())
	got = h.as("viewer").get("/gone")
	require.True(t, got.says(`There is no task "x"`))
}

func TestAPageThatFailsHalfWayIsACleanError(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.answers("/half", func(*app.App, *gin.Context) (app.Reply, error) {
		return app.Show(templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
			_, _ = io.WriteString(w, "<h1>half")
			return errors.New("no such field")
		})), nil
	})
	got := h.as("viewer").get("/half")
	require.Equal(t, 500, got.status)
	require.NotContains(t, got.body, "half<")
	require.NotContains(t, got.body, "no such field")
	require.Contains(t, got.body, got.header.Get("X-Request-Id"))
	require.Contains(t, h.log.String(), "no such field")
}

func TestAFlashFromAForgedCookieIsText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	v := h.as("viewer")
	for _, value := range []string{"nonsense", "e30", "eyJ0IjoiPHNjcmlwdD4ifQ"} { // {} and {"t":"<script>"}
		v.cookies["ax_flash"] = &http.Cookie{Name: "ax_flash", Value: value}
		got := v.get("/help")
		require.Equal(t, 200, got.status)
		require.NotContains(t, got.body, "<script>")
		require.NotContains(t, v.cookies, "ax_flash")
	}
}
