package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"ax/app/fault"
	"ax/views"
)

// reply is what a handler answers with. The zero reply is an empty 204. With
// an error beside it, its page is shown under the error's status, so that a
// form can come back with what was typed; without a page the error page is.
type reply struct {
	page   templ.Component // whole
	piece  templ.Component // what htmx swaps in; nil: the page is sent whole
	to     string          // where to go on
	status int             // 0: 200, or the error's
}

// show answers with a whole page.
func show(page templ.Component) reply { return reply{page: page} }

// piecewise also names the part of the page that htmx asks for when it
// refreshes, filters or pages: the same component as the page's own.
func (r reply) piecewise(piece templ.Component) reply {
	r.piece = piece
	return r
}

// fragment answers with a part of a page, whoever asks.
func fragment(piece templ.Component) reply { return reply{piece: piece} }

// goTo sends the browser on with 303. Values are escaped as path segments:
// goTo("/tasks/%s", code).
func goTo(path string, values ...any) reply {
	for i, v := range values {
		if s, ok := v.(string); ok {
			values[i] = url.PathEscape(s)
		}
	}
	if len(values) > 0 {
		path = fmt.Sprintf(path, values...)
	}
	return reply{to: path}
}

// goBack sends the browser to where the form says it came from (its field
// "back"), when that is a page of ours; else to the fallback.
func goBack(c *gin.Context, fallback string) reply {
	return reply{to: localPath(c.PostForm("back"), fallback)}
}

// respond is the one place where an answer is written.
func (a *App) respond(c *gin.Context, r reply, err error) {
	if c.Writer.Written() { // a stream: it has said what there was to say
		a.note(c, err)
		return
	}
	if err != nil {
		err = outOfTime(err)
		a.note(c, err)
		a.noteRefusal(c, err)
	}
	switch {
	case err != nil && isAPI(c):
		a.writeProblem(c, r.status, err)
	case err != nil && r.page == nil && r.piece == nil:
		a.refuse(c, r.status, err)
	case r.to != "":
		a.sendOn(c, r.to)
	case r.page == nil && r.piece == nil:
		c.Status(http.StatusNoContent)
	default:
		a.render(c, r, err)
	}
}

// wantsPiece tells whether htmx asks for a part of a page. Boosted links and
// restored history want the whole.
func wantsPiece(c *gin.Context) bool {
	return isHTMX(c) && c.GetHeader("HX-Request-Type") == "partial" &&
		c.GetHeader("HX-Boosted") != "true" && c.GetHeader("HX-History-Restore-Request") != "true"
}

func isHTMX(c *gin.Context) bool { return c.GetHeader("HX-Request") == "true" }

// sendOn redirects. htmx follows a 303 by itself and would swap the whole
// page into a corner, so it is told to go there.
func (a *App) sendOn(c *gin.Context, to string) {
	a.keepFlash(c)
	c.Header("Cache-Control", "no-store")
	if isHTMX(c) {
		c.Header("HX-Redirect", to)
		c.Status(http.StatusOK)
		c.Writer.WriteHeaderNow()
		return
	}
	c.Redirect(http.StatusSeeOther, to)
}

func (a *App) render(c *gin.Context, r reply, err error) {
	status := r.status
	switch {
	case err != nil && status == 0:
		status = statusOf(err)
	case status == 0:
		status = http.StatusOK
	}
	if err != nil {
		a.retryAfter(c, err)
	}
	if r.piece != nil && (r.page == nil || wantsPiece(c)) {
		if fault.KindOf(err) == fault.KindInvalid {
			err = nil // said at the fields
		}
		a.sayNow(c, err)
		a.write(c, status, r.piece, a.viewer(c))
		return
	}
	v := a.dressed(c)
	if said := a.failure(c, err); said != nil {
		v.Flash = said
	}
	a.write(c, status, r.page, v)
}

// write renders whole before the first byte goes out, so that a page that
// fails half way still becomes a clean 500.
func (a *App) write(c *gin.Context, status int, page templ.Component, v views.Viewer) {
	var body bytes.Buffer
	if err := views.Render(views.With(c.Request.Context(), v), &body, page); err != nil {
		a.renderFailed(c, err)
		return
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "HX-Request, HX-Request-Type")
	c.Status(status)
	_, _ = c.Writer.Write(body.Bytes()) // the client has gone: nobody to tell
}

// localPath gives raw if it is a path of ours to go on to, else the fallback.
// A browser takes "//host" and "/\host" for other hosts, and drops tabs and
// line ends before it looks.
func localPath(raw, fallback string) string {
	if !strings.HasPrefix(raw, "/") || strings.ContainsFunc(raw, func(r rune) bool { return r < 0x20 || r == 0x7f || r == '\\' }) {
		return fallback
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil ||
		strings.HasPrefix(u.Path, "//") || strings.HasPrefix(u.Path, `/\`) {
		return fallback
	}
	return u.RequestURI()
}

// asciiJSON is v as JSON that may stand in a header.
func asciiJSON(v any) (string, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode for a header: %w", err)
	}
	var b strings.Builder
	for _, r := range string(raw) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String(), nil
}
