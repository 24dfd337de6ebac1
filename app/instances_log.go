package app

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// maxLogWords is how long the words may be that a log is searched for.
const maxLogWords = 200

// logAskOf reads what the address says of the log that is to be shown.
func logAskOf(c *gin.Context) (views.LogAsk, error) {
	ask := views.LogAsk{Words: c.Query("q"), Whole: c.Query("log") == "all"}
	if len(ask.Words) > maxLogWords {
		return ask, fault.Invalid(fault.Field("q", "Length at most %d", maxLogWords))
	}
	for _, s := range c.QueryArray("source") {
		if src := sched.LogSource(s); slices.Contains(sched.LogSources(), src) && !slices.Contains(ask.Sources, src) {
			ask.Sources = append(ask.Sources, src)
		}
	}
	if typed := c.Query("attempt"); typed != "" {
		no, err := strconv.Atoi(typed)
		if err != nil || no < 1 {
			return ask, access.NoObject()
		}
		ask.Attempt = no
	}
	return ask, nil
}

// logOf gives the page the log of an attempt, the last one if none is asked
// for. An instance without attempts has none.
func (a *App) logOf(c *gin.Context, v sched.InstanceView, page *views.InstancePage) error {
	ask, err := logAskOf(c)
	if err != nil {
		return err
	}
	page.Ask = ask
	if ask.Attempt == 0 && len(v.Attempts) == 0 {
		return nil
	}
	q := sched.LogQuery{Attempt: ask.Attempt, Words: ask.Words, Sources: ask.Sources, Limit: views.LogShort}
	if q.Attempt == 0 {
		q.Attempt = v.Attempts[len(v.Attempts)-1].No
	}
	most := views.LogShortBytes
	if ask.Whole || ask.Words != "" {
		q.Limit, most = views.LogLong, views.LogLongBytes
	}
	page.Log, err = a.instances.LogTail(c.Request.Context(), actor(c), v, q, most)
	return err
}

// showLog shows the log alone, for a page that follows it; anybody else gets
// the page.
func (a *App) showLog(c *gin.Context) (reply, error) {
	v, err := a.instanceOf(c)
	if err != nil {
		return reply{}, err
	}
	if !wantsPiece(c) {
		to := goTo("/instances/%s", v.ID)
		if q := c.Request.URL.RawQuery; q != "" {
			to.to += "?" + q
		}
		return to, nil
	}
	page := views.InstancePage{View: v, Again: []sched.Instance{v.Instance}}
	if err := a.logOf(c, v, &page); err != nil {
		return reply{}, err
	}
	if page.Nodes, err = a.nodesSince(c.Request.Context(), v.CreatedAt); err != nil {
		return reply{}, err
	}
	if v.State.Final() {
		c.Header("HX-Refresh", "true")
	}
	return fragment(views.InstanceLog(page)), nil
}

// showOutput sends all that is kept of a log, as a file.
func (a *App) showOutput(c *gin.Context) (reply, error) {
	v, err := a.instanceOf(c)
	if err != nil {
		return reply{}, err
	}
	ask, err := logAskOf(c)
	if err != nil {
		return reply{}, err
	}
	q := sched.LogQuery{Attempt: ask.Attempt, Words: ask.Words, Sources: ask.Sources}
	if q.Attempt == 0 {
		q.Attempt = max(1, v.Attempt)
	}
	return reply{}, a.sendLog(c.Request.Context(), actor(c), v, q, a.viewer(c), c.Writer)
}

// sendLog writes a log as a file, a part at a time. Nothing is written before
// it is known that there is one.
func (a *App) sendLog(ctx context.Context, by access.Actor, v sched.InstanceView, q sched.LogQuery, who views.Viewer, w http.ResponseWriter) error {
	if err := by.Check(access.Read, v.TeamID); err != nil {
		return err
	}
	if _, ok := v.AttemptNo(q.Attempt); !ok {
		return access.NoObject()
	}
	h := w.Header()
	h.Set("Content-Type", plainText)
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", fmt.Sprintf("%s-%d.txt", v.ID, q.Attempt)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(http.StatusOK)
	out := bufio.NewWriterSize(w, 32<<10)
	err := a.instances.LogWalk(ctx, by, v, q, func(e sched.LogEntry) error {
		_, err := out.WriteString(who.LogText(e, bare(q.Sources)))
		return err
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil && ctx.Err() == nil {
		a.log.WarnContext(ctx, "a log was not sent whole", "instance_id", v.ID, "error", err)
		panic(http.ErrAbortHandler) // the reader must not take what came for all
	}
	return nil
}

const plainText = "text/plain; charset=utf-8"

// bare tells whether a file is to hold nothing but what was printed.
func bare(sources []sched.LogSource) bool {
	return len(sources) > 0 && !slices.ContainsFunc(sources, func(s sched.LogSource) bool { return s != sched.LogStdout && s != sched.LogStderr })
}
