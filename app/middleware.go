package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"ax/app/fault"
	"ax/views"
)

const (
	// maxBody bounds what anybody can send, before it is known who it is.
	maxBody = 1 << 20
	// requestDeadline bounds the work for one request; streams have none.
	requestDeadline = 30 * time.Second
)

// use puts the middleware in its order: what must be on every answer, errors
// included, comes first.
func (a *App) use(e *gin.Engine) {
	e.Use(
		named,
		a.logged,
		a.headers,
		squeezed,
		a.recovered,
		a.readable,
		a.bounded,
		a.timed,
		a.sameOrigin(),
	)
}

const requestIDKey = "ax.request_id"

// named gives the request an id of our own. One that came with it would let
// anybody write into our log and audit.
func named(c *gin.Context) {
	id := strings.ToLower(rand.Text()[:16])
	c.Set(requestIDKey, id)
	c.Header("X-Request-Id", id)
}

// requestID of the request, as it stands in the log, the audit and on error
// pages.
func requestID(c *gin.Context) string { return c.GetString(requestIDKey) }

// callerKey holds the name of the token that a call of the API came with.
const callerKey = "ax.caller"

// logged writes one line per request. It names the route, not the address:
// that may hold a token.
func (a *App) logged(c *gin.Context) {
	begun := time.Now() // a duration: the ledger's clock can jump
	c.Next()
	level := slog.LevelInfo
	if quiet(c) {
		level = slog.LevelDebug
	}
	who := cmp.Or(c.GetString(callerKey), "-")
	if v, ok := visited(c); ok && v.person.ID != 0 {
		who = v.person.Login
	}
	ended := time.Now()
	a.tell(c, begun, ended)
	a.log.LogAttrs(c.Request.Context(), level, "request",
		slog.String("request_id", requestID(c)),
		slog.String("method", plain(c.Request.Method)),
		slog.String("route", c.FullPath()),
		slog.Int("status", c.Writer.Status()),
		slog.Int("bytes", max(c.Writer.Size(), 0)),
		slog.Duration("took", ended.Sub(begun)),
		slog.String("address", address(c)),
		slog.String("user", who),
	)
}

// quiet requests come every few seconds and tell nothing when they go well.
func quiet(c *gin.Context) bool {
	p := c.FullPath()
	return c.Writer.Status() < 400 && (p == "/healthz" || p == "/readyz" || strings.HasPrefix(p, "/static/"))
}

// plain replaces what could forge or break a line of a log.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || (r >= 0x7f && r < 0xa0) || r == 0x2028 || r == 0x2029 || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
}

// contentPolicy allows what comes from ax itself and nothing else: no inline
// script or style, no frame, no other host. data: is for the icons in the
// style sheet.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers stand on every answer, refusals and files included.
func (a *App) headers(c *gin.Context) {
	h := c.Writer.Header()
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
	if a.https() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// recovered turns a panic into a 500 page. http.ErrAbortHandler is how
// net/http is told to hang up.
func (a *App) recovered(c *gin.Context) {
	whole := c.Request // its context outlives the deadline's, which ends on the way here
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler { //nolint:errorlint // a sentinel by identity
			panic(p)
		}
		c.Abort()
		c.Request = whole
		a.respond(c, reply{}, &panicked{value: p, stack: debug.Stack()})
	}()
	c.Next()
}

// readable refuses addresses that no page of ours has: NUL and broken UTF-8
// crash other programs further down.
func (a *App) readable(c *gin.Context) {
	u := c.Request.URL
	if clean(u.Path, 0x20) && readableQuery(u.RawQuery) {
		return
	}
	c.Abort()
	a.respond(c, reply{}, fault.Malformed("The address has characters that ax can’t read"))
}

func readableQuery(raw string) bool {
	q, err := url.ParseQuery(raw)
	if err != nil {
		return false
	}
	for name, values := range q {
		if !clean(name, 1) || !clean(strings.Join(values, ""), 1) {
			return false
		}
	}
	return true
}

// clean tells whether s is UTF-8 without characters below the limit.
func clean(s string, limit rune) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < limit })
}

// bounded refuses bodies that are too long: by what they say of themselves,
// or when it is read.
func (a *App) bounded(c *gin.Context) {
	if c.Request.ContentLength > maxBody {
		c.Abort()
		a.respond(c, reply{}, tooLarge())
		return
	}
	c.Request.Body = http.MaxBytesReader(c.Writer, c.Request.Body, maxBody)
}

func tooLarge() error { return fault.TooLarge("A request has at most %d bytes", maxBody) }

// timed bounds the work for a request.
func (a *App) timed(c *gin.Context) {
	if a.streams[c.FullPath()] {
		return
	}
	ctx, cancel := context.WithTimeout(c.Request.Context(), requestDeadline)
	defer cancel()
	c.Request = c.Request.WithContext(ctx)
	c.Next()
}

// sameOrigin refuses what another website makes a browser send. Programs
// send neither Origin nor Sec-Fetch-Site and pass: they have no cookie.
func (a *App) sameOrigin() gin.HandlerFunc {
	cop := http.NewCrossOriginProtection()
	if a.external != nil {
		// Behind a proxy that doesn't keep Host, Origin is compared with this.
		if err := cop.AddTrustedOrigin(a.external.Scheme + "://" + a.external.Host); err != nil {
			a.log.Warn("the external URL is no origin", "error", err)
		}
	}
	return func(c *gin.Context) {
		if cop.Check(c.Request) == nil {
			return
		}
		c.Abort()
		lang := a.viewer(c).Lang
		a.respond(c, show(views.Error(views.ErrorPage{
			Status: http.StatusForbidden, RequestID: requestID(c),
			Title: views.Translate(lang, "This came from another website"),
			Why:   views.Translate(lang, "A page that isn’t ours asked for it in your name, so ax did nothing."),
			Help:  views.Translate(lang, "If you meant it, open ax in this window and do it there."),
		})), fault.Denied("This came from another website"))
	}
}
