package app

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
)

// apiPrefix is where version 1 of the API stands.
const apiPrefix = "/api/v1"

// api is the REST API (design.md section 11). An operation decodes, asks one
// use case and shows what came of it; whom it lets in is decided in admit.
type api struct {
	*App
	huma       huma.API
	operations []operation // in the order of their registration
	usual      *limits     // by token
	triggers   *limits     // by token
	strangers  *limits     // wrong receipts, by address
}

// operation is one row of the API's table.
type operation struct {
	method, path string // below apiPrefix
	id           string // operationId
	tag          string
	summary      string // one line
	about        string // what else there is to know
	verb         access.Verb
	object       apiObject // the object in the path; nil: none
	status       int       // of success; 0: 200
	also         map[int]string
	gone         bool   // the object may be over for good: 410
	conflicts    bool   // the object's state may forbid it: 409
	body         any    // a zero value of the body's type; nil: none
	optional     bool   // the body may be left out
	example      string // a body
	bucket       func(*api) *limits
	media        string // of success; "": JSON
}

// apiObject reads the object that the path names, as far as the actor may.
type apiObject func(ctx context.Context, s *api, by access.Actor, c *gin.Context) error

// mountAPI adds the API's routes.
func (a *App) mountAPI(e *gin.Engine) {
	s := &api{
		App: a, usual: newLimits(callsPerSecond, callsBurst), triggers: newLimits(triggersPerSecond, triggersBurst),
		strangers: newLimits(strangersPerSecond, strangersBurst),
	}
	config := huma.Config{
		OpenAPI: s.openAPI(), RejectUnknownQueryParameters: true, DefaultFormat: "application/json",
		Formats:      map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		Transformers: []huma.Transformer{s.problemOfParameters},
		// No CreateHooks: they would put the Host header into every answer.
		// No paths for documents: they fill their copies without a lock.
	}
	s.huma = humagin.NewWithGroup(e, e.Group(apiPrefix), config)
	s.taskOperations()
	s.taskActions()
	s.testCallOperation()
	s.taskVersions()
	s.taskChanges()
	s.scheduleOperations()
	s.calendarOperations()
	s.instanceOperations()
	s.letterOperations()
	s.incidentOperations()
	s.ruleOperations()
	s.channelOperations()
	s.subscriptionOperations()
	s.deliveryOperations()
	s.silenceOperations()
	s.opsOperations()
	s.allowanceOperations()
	s.executorOperations()
	s.brokerOperations()
	s.mountBook(e)
}

// add registers an operation. do gets the call with who asks and the body.
func add[I, O any](s *api, op operation, do func(*api, context.Context, *call, *I) (*O, error)) {
	d := huma.Operation{
		Method: op.method, Path: op.path, OperationID: op.id, Tags: []string{op.tag},
		Summary: op.summary, Description: op.about, DefaultStatus: op.status,
		Responses: s.responses(op), Security: securityOf(op.verb), Middlewares: huma.Middlewares{s.guard(op)},
	}
	if op.media != "" {
		d.Responses["200"] = &huma.Response{Description: "The file", Content: map[string]*huma.MediaType{op.media: {Schema: &huma.Schema{Type: huma.TypeString}}}}
	}
	if role := needs(op.verb); role != "" {
		d.Extensions = map[string]any{needsExtension: role}
	}
	huma.Register(s.huma, d, func(ctx context.Context, in *I) (*O, error) {
		k := callOf(ctx)
		out, err := do(s, ctx, k, in)
		if err != nil {
			return nil, s.refused(k.c, err)
		}
		return out, nil
	})
	s.document(op)
	s.operations = append(s.operations, op)
}

// refused is the error as the caller gets it. What isn't there and what
// belongs to another team are told by the same words, whoever found out.
func (s *api) refused(c *gin.Context, err error) *Problem {
	err = outOfTime(err)
	if fault.KindOf(err) == fault.KindNotFound {
		err = access.NoObject()
	}
	s.note(c, err)
	s.noteRefusal(c, err)
	s.retryAfter(c, err)
	return problemOf(statusOf(err), err, c.Request.URL.Path, requestID(c))
}

// problemOfParameters says what the framework found wrong with parameters as
// every other error is said.
func (s *api) problemOfParameters(ctx huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	c := humagin.Unwrap(ctx)
	p := problemOf(m.Status, nil, c.Request.URL.Path, requestID(c))
	if m.Status != http.StatusUnprocessableEntity {
		s.log.ErrorContext(c.Request.Context(), "request failed", "request_id", requestID(c), "route", c.FullPath(), "error", m.Detail)
		return p, nil
	}
	p.Detail = "Some parameters need another value"
	for _, d := range m.Errors {
		p.Errors = append(p.Errors, ProblemField{Field: parameterName(d.Location), Message: parameterText(d.Message)})
	}
	return p, nil
}

// parameterName is "state" for "query.state[1]".
func parameterName(location string) string {
	_, name, _ := strings.Cut(location, ".")
	name, _, _ = strings.Cut(name, "[")
	return name
}

// parameterText says what the framework says in ax's own words.
func parameterText(message string) string {
	for begin, words := range map[string]string{
		"invalid date/time":                   "A moment such as 2026-12-01T08:00:00Z is needed; + is written %2B in an address",
		"unknown query parameter":             "ax doesn't know this parameter",
		"required query parameter is missing": "This parameter is needed",
		"invalid integer":                     "A whole number is needed",
		"invalid boolean":                     "true or false is needed",
		"expected number >= ":                 "At least ",
		"expected number <= ":                 "At most ",
		"expected length <= ":                 "Length at most ",
		"expected value to be one of ":        "One of ",
	} {
		if rest, ok := strings.CutPrefix(message, begin); ok {
			if strings.HasSuffix(words, " ") {
				words += strings.Trim(rest, `"`)
			}
			return words
		}
	}
	return message
}

// securityOf says which credential an operation asks for.
func securityOf(v access.Verb) []map[string][]string {
	if v == anyone {
		return []map[string][]string{{receiptScheme: {}}}
	}
	return []map[string][]string{{bearerScheme: {}}}
}

// needs names the weakest role that has the verb.
func needs(v access.Verb) string {
	for _, r := range access.Matrix() {
		if r.Verb == v {
			return string(r.Min)
		}
	}
	return ""
}

// ListIn are the parameters of every list in pages. The framework looks into
// embedded types only when they are exported; so it is for InstanceBody.
type ListIn struct {
	Cursor string `query:"cursor" maxLength:"200" doc:"next_cursor of the page before; left out: the first page"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Most items of a page"`
}

// listOf is a page of a list.
type listOf[T any] struct {
	Items      []T     `json:"items" nullable:"false"`
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page; null at the end"`
}

// listPage makes a page; next "" is the end.
func listPage[T any](items []T, next string) listOf[T] {
	out := listOf[T]{Items: items}
	if items == nil {
		out.Items = []T{}
	}
	if next != "" {
		out.NextCursor = &next
	}
	return out
}

// rowNumber reads the number in a path; anything else names nothing.
func rowNumber(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || strconv.FormatInt(n, 10) != s {
		return 0, access.NoObject()
	}
	return n, nil
}
