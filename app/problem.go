package app

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"ax/app/fault"
)

// Problem is an error as the API tells it (RFC 9457), in English.
type Problem struct {
	Type      string         `json:"type"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail,omitempty"`
	Instance  string         `json:"instance,omitempty" doc:"Path of the request"`
	RequestID string         `json:"request_id" doc:"Name it when asking for help"`
	Errors    []ProblemField `json:"errors,omitempty"`
}

// ProblemField is a rule that a field breaks.
type ProblemField struct {
	Field   string `json:"field" doc:"Path in the body, such as schedule.cron"`
	Message string `json:"message"`
}

// Error makes a Problem an error, for the API's encoder.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// GetStatus is the HTTP status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType is that of problems, whatever the answer would have been.
func (p *Problem) ContentType(string) string { return problemType }

const problemType = "application/problem+json"

// problemOf says err as the API does. The text of an error that is no fault
// stays in the log.
func problemOf(status int, err error, path, requestID string) *Problem {
	p := &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Instance: path, RequestID: requestID}
	if text, ok := fault.TextOf(err); ok {
		p.Detail = text.String()
	}
	for _, f := range fault.Fields(err) {
		p.Errors = append(p.Errors, ProblemField{Field: f.Name, Message: f.Text.String()})
	}
	return p
}

// writeProblem answers an API request with the error; status 0 is the
// error's own.
func (a *App) writeProblem(c *gin.Context, status int, err error) {
	if status == 0 {
		status = statusOf(err)
	}
	a.retryAfter(c, err)
	h := c.Writer.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", problemType)
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="ax"`)
	}
	c.JSON(status, problemOf(status, err, c.Request.URL.Path, requestID(c)))
}
