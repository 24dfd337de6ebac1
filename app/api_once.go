package app

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"ax/app/access"
)

const (
	idempotencyHeader = "Idempotency-Key"
	replayedHeader    = "Idempotency-Replayed"
	// keepLimit is how long keeping an answer may take after the work is
	// done, whether the caller still waits or not.
	keepLimit = 5 * time.Second
)

// kept is an answer as it is stored for a key.
type kept struct {
	Location string `json:"location,omitempty"`
	Body     string `json:"body"`
}

// once does the work at most once per Idempotency-Key: a second request with
// the same key and body gets the first one's answer. A refusal (4xx) changed
// nothing, so it isn't kept and the key may be tried again. After a failure
// (5xx) nobody knows what was done: the key stays taken for
// access.CallPatience.
func (s *api) once(op operation, k *call, work func()) {
	c, keys := k.c, k.c.Request.Header.Values(idempotencyHeader)
	if op.method != http.MethodPost || op.verb == anyone || len(keys) == 0 {
		work()
		return
	}
	ctx := c.Request.Context()
	one, err := access.NewCall(k.actor, keys[0], op.method, c.Request.URL.Path, k.body)
	if err != nil {
		s.respond(c, reply{}, err)
		return
	}
	one.Name = uuid.Must(uuid.NewV7()).String()
	answer, done, err := s.calls.BeginCall(ctx, one, s.now())
	switch {
	case err != nil:
		s.respond(c, reply{}, err)
	case done:
		s.repeat(c, answer)
	default:
		k.name = answer.Name
		rec := &recorder{ResponseWriter: c.Writer}
		c.Writer = rec
		work()
		s.keep(c, one, rec)
	}
}

// repeat gives a kept answer again.
func (s *api) repeat(c *gin.Context, a access.Answer) {
	var was kept
	if err := json.Unmarshal([]byte(a.Body), &was); err != nil {
		s.respond(c, reply{}, err)
		return
	}
	if was.Location != "" {
		c.Header("Location", was.Location)
	}
	c.Header(replayedHeader, "true")
	c.Data(a.Status, "application/json", []byte(was.Body))
}

// keep stores the answer of a call, or gives its key back.
func (s *api) keep(c *gin.Context, one access.Call, rec *recorder) {
	// The caller may have gone: what was done is to be remembered all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), keepLimit)
	defer cancel()
	status := rec.Status()
	var err error
	switch {
	case status < 300:
		var body []byte
		body, err = json.Marshal(kept{Location: rec.Header().Get("Location"), Body: rec.body.String()})
		if err == nil {
			err = s.calls.FinishCall(ctx, one, access.Answer{Status: status, Body: string(body)})
		}
	case status < 500:
		err = s.calls.DropCall(ctx, one)
	}
	if err != nil {
		s.log.WarnContext(ctx, "the answer of an idempotency key was not kept", "request_id", requestID(c), "error", err.Error())
	}
}

// recorder keeps what is written.
type recorder struct {
	gin.ResponseWriter
	body bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}

func (r *recorder) WriteString(p string) (int, error) {
	r.body.WriteString(p)
	return r.ResponseWriter.WriteString(p)
}
