package app

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"ax/app/sched"
	"ax/views"
)

// outputOf gives the page what the last attempt printed, if it ran a command.
func (a *App) outputOf(c *gin.Context, v sched.InstanceView, page *views.InstancePage) error {
	if len(v.Attempts) == 0 || v.Attempts[len(v.Attempts)-1].Executor != string(sched.TargetShell) {
		return nil
	}
	limit := views.OutputShort
	if page.Whole = c.Query("output") == "all"; page.Whole {
		limit = views.OutputLong
	}
	var err error
	page.Output, err = a.instances.Output(c.Request.Context(), actor(c), v.Instance, v.Attempts[len(v.Attempts)-1].No, limit)
	return err
}

// showOutput sends all that is kept of what an attempt printed, as a file.
func (a *App) showOutput(c *gin.Context) (reply, error) {
	v, err := a.instanceOf(c)
	if err != nil {
		return reply{}, err
	}
	attempt, err := strconv.Atoi(c.Query("attempt"))
	if err != nil {
		attempt = v.Attempt
	}
	out, err := a.instances.Output(c.Request.Context(), actor(c), v.Instance, attempt, 0)
	if err != nil {
		return reply{}, err
	}
	h := c.Writer.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", fmt.Sprintf("%s-%d.txt", v.ID, attempt)))
	h.Set("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	for _, s := range out.Stretches {
		if s.Skipped > 0 {
			_, _ = c.Writer.WriteString(a.viewer(c).CutText(s.Skipped) + "\n")
		}
		if _, err := c.Writer.WriteString(s.Text); err != nil {
			return reply{}, nil //nolint:nilerr // the client has gone: nobody to tell
		}
	}
	return reply{}, nil
}
