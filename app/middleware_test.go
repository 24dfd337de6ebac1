package app_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/fault"
)

// logLines of the house, decoded.
func (h *house) logLines() []map[string]any {
	var lines []map[string]any
	for line := range strings.SplitSeq(strings.TrimSpace(h.log.String()), "\n") {
		var one map[string]any
		require.NoError(h.t, json.Unmarshal([]byte(line), &one), line)
		lines = append(lines, one)
	}
	return lines
}

func TestAPanicBecomesAPageAndALogLine(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.app.Route("GET", "/boom", app.SignedIn, func(*app.App, *gin.Context) (app.Reply, error) { panic("secret of the panic") })
	got := h.as("viewer").get("/boom")
	require.Equal(t, http.StatusInternalServerError, got.status)
	require.Equal(t, "This page failed on our side", got.text("h1"))
	require.True(t, got.has("aside.side"))
	id := got.header.Get("X-Request-Id")
	require.True(t, got.says(id))
	require.NotContains(t, got.body, "secret")
	require.Equal(t, policy, got.header.Get("Content-Security-Policy"))
	var found bool
	for _, line := range h.logLines() {
		if line["msg"] == "request failed" {
			found = true
			require.Equal(t, id, line["request_id"])
			require.Contains(t, line["error"], "secret of the panic")
			require.Contains(t, line["stack"], "middleware_test.go")
		}
	}
	require.True(t, found)
	require.Equal(t, 200, h.as("viewer").get("/help").status, "the server lives")
}

func TestAnErrorOfOursIsInTheLogOnly(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.app.Route("GET", "/broken", app.SignedIn, func(*app.App, *gin.Context) (app.Reply, error) {
		return app.Reply{}, fmt.Errorf("read tasks: %w", errors.New("SELECT * FROM /var/lib/ax.db"))
	})
	h.app.Route("GET", "/away", app.SignedIn, func(*app.App, *gin.Context) (app.Reply, error) {
		return app.Reply{}, fault.Unavailable(errors.New("dial tcp 10.1.2.3:3306"), "The database can't be reached")
	})
	got := h.as("viewer").get("/broken")
	require.Equal(t, 500, got.status)
	require.NotContains(t, got.body, "SELECT")
	require.Contains(t, h.log.String(), "read tasks: SELECT")
	got = h.as("viewer").get("/away")
	require.Equal(t, 503, got.status)
	require.Equal(t, "5", got.header.Get("Retry-After"))
	require.NotContains(t, got.body, "10.1.2.3")
	require.Contains(t, h.log.String(), "dial tcp 10.1.2.3:3306")
}

func TestAHungUpRequestIsNoError(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.app.Route("GET", "/abort", app.Anyone, func(*app.App, *gin.Context) (app.Reply, error) { panic(http.ErrAbortHandler) })
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { h.as("").get("/abort") })
	require.NotContains(t, h.log.String(), "request failed")
}

func TestABodyHasABound(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	big := strings.Repeat("x", app.MaxBody+1)
	got := h.as("").post("/login", "login", big)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status, "by its length")
	require.Equal(t, "That is too much", got.text("h1"))

	r := httptest.NewRequest("POST", "/login", io.MultiReader(strings.NewReader("login="), strings.NewReader(big)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.ContentLength = -1 // chunked: it says nothing of its length
	got = h.as("").send(r)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status, "by what came")

	got = h.as("").json("POST", "/api/v1/tasks", `"`+big+`"`)
	require.Equal(t, http.StatusRequestEntityTooLarge, got.status)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
}

func TestAnAddressThatCannotBeReadIsMalformed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer := h.as("viewer")
	for _, path := range []string{"/tasks/%00", "/tasks/%0a", "/tasks/%ff%fe", "/help?q=%00", "/help?q=%ff", "/help?%00=1", "/help?q=%zz", "/static/%00"} {
		got := viewer.get(path)
		require.Equal(t, http.StatusBadRequest, got.status, path)
		require.Equal(t, "That could not be read", got.text("h1"), path)
	}
	require.Equal(t, 200, viewer.get("/help?q=%E5%9B%A2%0A").status, "text is not refused")
	got := viewer.post("/login", "login", "a\xffb", "password", "x")
	require.Equal(t, http.StatusBadRequest, got.status)
	got = viewer.with("Cookie", "ax_team=\xff\xfe", "User-Agent", "a\xffb").get("/help")
	require.NotEqual(t, 500, got.status)
}

func TestARequestHasADeadline(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var left time.Duration
	h.app.Route("GET", "/slow", app.Anyone, func(_ *app.App, c *gin.Context) (app.Reply, error) {
		until, ok := c.Request.Context().Deadline()
		require.True(t, ok)
		left = time.Until(until)
		return app.Reply{}, fmt.Errorf("list tasks: %w", contextDeadline(c))
	})
	got := h.as("").get("/slow")
	require.InDelta(t, app.RequestDeadline.Seconds(), left.Seconds(), 5)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.True(t, got.says("This took longer than ax waits"))
}

func TestWhatAnotherSiteSendsIsRefusedWithAPage(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.ExternalURL = "https://ax.example.com" })
	viewer := h.as("viewer")
	for name, c := range map[string]struct {
		headers []string
		passes  bool
	}{
		"another site":                    {[]string{"Sec-Fetch-Site", "cross-site"}, false},
		"a sister host":                   {[]string{"Sec-Fetch-Site", "same-site"}, false},
		"another origin, an old browser":  {[]string{"Origin", "https://evil.example"}, false},
		"no origin":                       {[]string{"Origin", "null"}, false},
		"our page":                        {[]string{"Sec-Fetch-Site", "same-origin"}, true},
		"typed":                           {[]string{"Sec-Fetch-Site", "none"}, true},
		"our page, an old browser":        {[]string{"Origin", "https://example.com"}, true}, // the Host of the test
		"our page behind a proxy":         {[]string{"Origin", "https://ax.example.com"}, true},
		"a program":                       {nil, true},
		"another site that forges a host": {[]string{"Sec-Fetch-Site", "cross-site", "X-Forwarded-Host", "ax.example.com"}, false},
		"another site by another method":  {[]string{"Sec-Fetch-Site", "cross-site", "X-HTTP-Method-Override", "GET"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/theme", "/nowhere"} {
				got := viewer.with(c.headers...).post(path, "theme", "dark")
				if c.passes {
					require.NotEqual(t, http.StatusForbidden, got.status)
					continue
				}
				require.Equal(t, http.StatusForbidden, got.status)
				require.Equal(t, "This came from another website", got.text("h1"))
				require.Nil(t, got.cookie("ax_theme"), "nothing is done")
			}
		})
	}
	got := viewer.with("Sec-Fetch-Site", "cross-site").json("POST", "/api/v1/tasks", "{}")
	require.Equal(t, http.StatusForbidden, got.status)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
}

func TestALogLineCannotBeForged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.found()
	forged := "x\r\n2026-12-01 level=INFO msg=\"login ok\"\u2028\u0085"
	c := h.as("").with("User-Agent", "a", "X-Request-Id", "chosen", "X-Forwarded-For", "6.6.6.6")
	c.post("/login", "login", forged, "password", forged)
	r := httptest.NewRequest("GET", "/help", nil)
	r.Method = "GE\u0085T\u2028"
	h.as("").send(r)
	for _, line := range h.logLines() { // each line is one JSON object
		require.NotContains(t, fmt.Sprint(line), "login ok")
		require.NotContains(t, fmt.Sprint(line), "chosen")
		require.NotContains(t, fmt.Sprint(line), "6.6.6.6")
	}
	require.NotContains(t, h.log.String(), "\u2028")
	require.NotContains(t, h.log.String(), "\u0085")
}

func TestTheLogNamesTheRouteAndThePerson(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.app.Route("GET", "/things/:id", app.SignedIn, func(*app.App, *gin.Context) (app.Reply, error) { return app.GoTo("/"), nil })
	h.as("viewer").get("/things/secret-id?token=secret-token")
	lines := h.logLines()
	last := lines[len(lines)-1]
	require.Equal(t, "/things/:id", last["route"])
	require.Equal(t, "viewer", last["user"])
	require.EqualValues(t, 303, last["status"])
	require.NotContains(t, h.log.String(), "secret")
}

func TestAProxyIsBelievedWhenItIsTrusted(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.TrustedProxies = []string{"192.0.2.0/24"} })
	seen := ""
	h.app.Route("GET", "/who", app.SignedIn, func(_ *app.App, c *gin.Context) (app.Reply, error) {
		seen = app.Actor(c).Address
		return app.GoTo("/"), nil
	})
	viewer := h.as("viewer")
	viewer.with("X-Forwarded-For", "6.6.6.6, 203.0.113.9", "X-Real-Ip", "7.7.7.7").get("/who")
	require.Equal(t, "203.0.113.9", seen, "the last hop that isn’t ours")
	viewer.with("X-Forwarded-For", "nonsense").get("/who")
	require.Equal(t, "192.0.2.10", seen)
	far := viewer.with("X-Forwarded-For", "6.6.6.6")
	far.address = "198.51.100.1:9"
	far.get("/who")
	require.Equal(t, "198.51.100.1", seen, "who isn’t a proxy can’t say who it is")
}

func TestBigPagesGoOutCompressed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.app.Route("GET", "/small", app.Anyone, func(_ *app.App, c *gin.Context) (app.Reply, error) {
		c.JSON(200, gin.H{"a": 1})
		return app.Reply{}, nil
	})
	h.app.Route("GET", "/parts", app.Anyone, func(_ *app.App, c *gin.Context) (app.Reply, error) {
		c.Header("Content-Type", "application/json")
		for range 1000 {
			_, _ = c.Writer.WriteString("12345 ")
		}
		return app.Reply{}, nil
	})
	h.app.Route("GET", "/binary", app.Anyone, func(_ *app.App, c *gin.Context) (app.Reply, error) {
		c.Data(200, "application/octet-stream", bytes.Repeat([]byte("x"), 5000))
		return app.Reply{}, nil
	})
	h.app.Route("GET", "/stream", app.Anyone, func(_ *app.App, c *gin.Context) (app.Reply, error) {
		c.Header("Content-Type", "text/event-stream")
		for range 3 {
			_, _ = c.Writer.WriteString("data: x\n\n")
			c.Writer.Flush()
		}
		return app.Reply{}, nil
	})
	zip := h.as("").with("Accept-Encoding", "gzip, br")
	plain := h.as("").get("/login")
	require.Empty(t, plain.header.Get("Content-Encoding"))
	require.Empty(t, h.as("").with("Accept-Encoding", "gzip; q=0, br").get("/login").header.Get("Content-Encoding"))

	got := h.as("viewer").with("Accept-Encoding", "gzip").get("/help")
	require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
	require.Contains(t, strings.Join(got.header.Values("Vary"), ","), "Accept-Encoding")
	require.Contains(t, unzip(t, got.body), "</html>")
	require.Equal(t, strings.Repeat("12345 ", 1000), unzip(t, zip.get("/parts").body))
	for _, path := range []string{"/small", "/binary", "/stream"} {
		got := zip.get(path)
		require.Empty(t, got.header.Get("Content-Encoding"), path)
	}
	require.Equal(t, strings.Repeat("data: x\n\n", 3), zip.get("/stream").body)
	require.Equal(t, `{"a":1}`, zip.get("/small").body)
	require.Empty(t, zip.do("HEAD", "/login", "", nil).header.Get("Content-Encoding"))
	require.Less(t, len(got.body), 9000)
}

func TestAPanicAfterAHalfWrittenAnswerIsStillLogged(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.app.Route("GET", "/half", app.Anyone, func(_ *app.App, c *gin.Context) (app.Reply, error) {
		c.Data(200, "text/html", []byte("<p>half"))
		panic("too late")
	})
	h.as("").with("Accept-Encoding", "gzip").get("/half")
	require.Contains(t, h.log.String(), "too late")
}

func unzip(t *testing.T, body string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(body))
	require.NoError(t, err)
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(out)
}

// contextDeadline is what the context says when its time is over.
func contextDeadline(c *gin.Context) error {
	ctx, cancel := context.WithDeadline(c.Request.Context(), time.Unix(0, 0))
	defer cancel()
	<-ctx.Done()
	return ctx.Err()
}
