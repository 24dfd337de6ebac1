package app

import (
	"encoding/json"
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
	// Differences come with a 409 of a stale version.
	Differences []ProblemDifference `json:"differences,omitempty" doc:"409 of a stale version: the fields in which what was sent and what is stored differ"`
}

// ProblemDifference is a field that somebody else may have changed meanwhile.
type ProblemDifference struct {
	Field     string          `json:"field" doc:"Path in the body, such as schedule.cron"`
	Stored    json.RawMessage `json:"stored,omitempty" doc:"The value by now; left out: none"`
	Sent      json.RawMessage `json:"sent,omitempty" doc:"The value that was sent; left out: none"`
	Version   int             `json:"version,omitempty" doc:"The version that changed it last; left out: not since the version that was read, or not known"`
	ChangedBy string          `json:"changed_by,omitempty"`
	ChangedAt *instant        `json:"changed_at,omitempty"`
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
	p.Differences = isStale(err)
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
