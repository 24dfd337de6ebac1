package app

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
)

// call is one request to the API that was let in.
type call struct {
	c     *gin.Context
	actor access.Actor
	body  []byte // as sent; "{}" when it was left out and may be
	name  string // of what a request with an Idempotency-Key makes; empty without one
}

type callKey struct{}

// callOf gives the call that guard let in; every operation has one.
func callOf(ctx context.Context) *call {
	k, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		panic("an operation of the API was reached without guard")
	}
	return k
}

// guard stands before an operation: who it is, how often, may they, and what
// was sent. Nothing of a body is read before it is known whose it is.
func (s *api) guard(op operation) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		c := humagin.Unwrap(ctx)
		c.Header("Cache-Control", "no-store")
		k := &call{c: c}
		if status, err := s.admitCall(c, op, k); err != nil {
			s.respond(c, reply{status: status}, err)
			return
		}
		s.once(op, k, func() { next(huma.WithValue(ctx, callKey{}, k)) })
	}
}

// admitCall fills in the call; the status is 0 unless it is not the error's own.
func (s *api) admitCall(c *gin.Context, op operation, k *call) (status int, err error) {
	for _, p := range c.Params {
		if p.Value == "" { // the router takes // for a name
			return 0, access.NoObject()
		}
	}
	if op.verb != anyone {
		if k.actor, err = s.bearer(c); err != nil {
			return 0, err
		}
		c.Set(callerKey, "token "+plain(k.actor.Name))
		c.Set(callerActorKey, k.actor)
		if err := op.limits(s).take(bucketKey(k.actor), s.now()); err != nil {
			return 0, err
		}
		if err := s.may(c, op, k.actor); err != nil {
			return 0, err
		}
	}
	if err := singleParameters(c); err != nil {
		return 0, err
	}
	if op.body == nil || op.verb == anyone { // a receipt's body comes after its token
		return 0, nil
	}
	if !isJSON(c) {
		return http.StatusUnsupportedMediaType, notJSON()
	}
	k.body, err = readBody(c.Request.Body)
	if len(k.body) == 0 && op.optional {
		k.body = []byte("{}")
	}
	return 0, err
}

func (op operation) limits(s *api) *limits {
	if op.bucket != nil {
		return op.bucket(s)
	}
	return s.usual
}

// bearer tells whose token came with the request. Cookies are not looked at:
// that is why another website can't use the API in a person's name.
func (s *api) bearer(c *gin.Context) (access.Actor, error) {
	values := c.Request.Header.Values("Authorization")
	if len(values) == 0 {
		return access.Actor{}, fault.Unauthenticated("Send a token: Authorization: Bearer ax_…")
	}
	scheme, secret, _ := strings.Cut(values[0], " ")
	if len(values) > 1 || !strings.EqualFold(scheme, "Bearer") {
		return access.Actor{}, fault.Unauthenticated("Send one token: Authorization: Bearer ax_…")
	}
	return s.tokens.Resolve(c.Request.Context(), strings.TrimSpace(secret), address(c), requestID(c))
}

// may refuses who has the verb in no team: 404 when the object in the path
// isn't theirs to see either, else 403. Who has it goes on to the use case,
// which asks again for the object's own team.
func (s *api) may(c *gin.Context, op operation, by access.Actor) error {
	if mayAnywhere(by, op.verb) {
		return nil
	}
	if op.object != nil {
		if err := op.object(c.Request.Context(), s, by, c); err != nil {
			if fault.KindOf(err) == fault.KindNotFound {
				return access.NoObject()
			}
			return err
		}
	}
	for team := range by.Roles {
		return by.Check(op.verb, team)
	}
	return by.Check(op.verb, 0)
}

// singleParameters refuses a parameter given twice: whoever reads it next
// might take the other one.
func singleParameters(c *gin.Context) error {
	var bad []fault.FieldError
	for name, values := range c.Request.URL.Query() {
		if len(values) > 1 {
			bad = append(bad, fault.Field(name, "This parameter stands here twice"))
		}
	}
	return fault.Invalid(bad...)
}

// isJSON tells whether the body may be JSON by its head. curl -d calls every
// body a form, and a caller that says nothing means JSON; both are taken.
func isJSON(c *gin.Context) bool {
	if c.GetHeader("Content-Encoding") != "" {
		return false
	}
	head := c.GetHeader("Content-Type")
	if head == "" {
		return true
	}
	kind, params, err := mime.ParseMediaType(head)
	if err != nil || (params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8")) {
		return false
	}
	return kind == "application/json" || strings.HasSuffix(kind, "+json") || kind == "application/x-www-form-urlencoded"
}

func notJSON() error {
	return fault.Malformed("Send the body as JSON in UTF-8: Content-Type: application/json")
}

// readBody reads all; the middleware bounds it.
func readBody(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(r)
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, fault.TooLarge("A request has at most %d bytes", tooLong.Limit)
	}
	if err != nil {
		return nil, fault.Malformed("The body ended early")
	}
	return body, nil
}
