package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/fault"
	"ax/views"
)

// statusGone is what the access log says of a request whose client left
// before the answer; nobody sees it.
const statusGone = 499

// statusOf gives the HTTP status of an error's kind.
func statusOf(err error) int {
	switch fault.KindOf(err) {
	case fault.KindMalformed:
		return http.StatusBadRequest
	case fault.KindUnauthenticated:
		return http.StatusUnauthorized
	case fault.KindDenied:
		return http.StatusForbidden
	case fault.KindNotFound:
		return http.StatusNotFound
	case fault.KindConflict:
		return http.StatusConflict
	case fault.KindGone:
		return http.StatusGone
	case fault.KindTooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.KindInvalid:
		return http.StatusUnprocessableEntity
	case fault.KindTooMany:
		return http.StatusTooManyRequests
	case fault.KindUnavailable:
		return http.StatusServiceUnavailable
	}
	if errors.Is(err, context.Canceled) {
		return statusGone
	}
	return http.StatusInternalServerError
}

// outOfTime makes a fault of a request that ran into its deadline.
func outOfTime(err error) error {
	if fault.KindOf(err) == fault.KindInternal && errors.Is(err, context.DeadlineExceeded) {
		return fault.Unavailable(err, "This took longer than ax waits")
	}
	return err
}

// panicked is a panic on its way to the log.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// note logs what the person is not told: the chain of an internal error.
func (a *App) note(c *gin.Context, err error) {
	kind := fault.KindOf(err)
	if err == nil || (kind != fault.KindInternal && kind != fault.KindUnavailable) || statusOf(err) == statusGone {
		return
	}
	log := a.log.With("request_id", requestID(c), "method", c.Request.Method, "route", c.FullPath(), "error", plain(err.Error()))
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Cause != nil {
		log = log.With("cause", plain(f.Cause.Error()))
	}
	if p, ok := errors.AsType[*panicked](err); ok {
		log = log.With("stack", string(p.stack))
	}
	log.ErrorContext(c.Request.Context(), "request failed")
}

// retryAfter says how long to wait. The only argument of a TooMany is the
// seconds.
func (a *App) retryAfter(c *gin.Context, err error) {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return
	}
	switch {
	case f.Kind == fault.KindTooMany && len(f.Text.Args) == 1:
		if s, ok := f.Text.Args[0].(int); ok {
			c.Header("Retry-After", strconv.Itoa(s))
		}
	case f.Kind == fault.KindUnavailable:
		c.Header("Retry-After", "5")
	}
}

// refuse shows the error page: in the shell for people signed in. To htmx it
// says the error in a toast, so that no part of a page is lost to it.
func (a *App) refuse(c *gin.Context, status int, err error) {
	if fault.KindOf(err) == fault.KindUnauthenticated {
		a.askToSignIn(c)
		return
	}
	if status == 0 {
		status = statusOf(err)
	}
	a.retryAfter(c, err)
	if isHTMX(c) {
		a.sayNow(c, err)
		c.Header("HX-Reswap", "none")
		c.Header("Cache-Control", "no-store")
		c.Status(status)
		c.Writer.WriteHeaderNow()
		return
	}
	v := a.dressed(c)
	page := views.ErrorPage{Status: status, RequestID: requestID(c)}
	if text, ok := fault.TextOf(err); ok {
		page.What = views.TranslateText(v.Lang, text)
	}
	a.write(c, status, views.Error(page), v)
}

// renderFailed is the end of the line: a page could not be made.
func (a *App) renderFailed(c *gin.Context, err error) {
	a.note(c, err)
	c.Header("Content-Type", "text/plain; charset=utf-8")
	c.Header("Cache-Control", "no-store")
	c.String(http.StatusInternalServerError, "500 · this page failed on our side · request %s\n", requestID(c))
}

// failure is what is said over a page that was shown again because of err,
// when it is not the fault of a field.
func (a *App) failure(c *gin.Context, err error) *views.Flash {
	if kind := fault.KindOf(err); err == nil || (kind != fault.KindInternal && kind != fault.KindUnavailable) {
		return nil
	}
	f := a.errorFlash(c, err)
	return &f
}

func (a *App) errorFlash(c *gin.Context, err error) views.Flash {
	lang := a.viewer(c).Lang
	f := views.Flash{Bad: true, Detail: views.Translate(lang, "Request %s", requestID(c))}
	text, ok := fault.TextOf(err)
	if !ok {
		text = fault.Text{Format: "Something went wrong on our side. Nothing was changed."}
	}
	f.Text = views.TranslateText(lang, text)
	for _, field := range fault.Fields(err) {
		f.Text += " " + views.TranslateText(lang, field.Text)
	}
	return f
}

// isAPI tells whether the request gets problem+json for an error.
func isAPI(c *gin.Context) bool { return strings.HasPrefix(c.Request.URL.Path, "/api/") }
