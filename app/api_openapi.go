package app

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"ax/app/access"
)

// The security schemes.
const (
	bearerScheme  = "token"
	receiptScheme = "receipt"
)

// needsExtension names the weakest role that may call an operation.
const needsExtension = "x-ax-role"

// The groups of operations, in the order in which they are shown.
const (
	tagTasks     = "Tasks"
	tagSchedules = "Schedules"
	tagCalendars = "Calendars"
	tagInstances = "Instances"
	tagLetters   = "Dead letters"
	tagAlerts    = "Alerts"
	tagOperation = "Operation"
)

// Where the document is, for everybody: it holds nothing of this installation.
const (
	openAPIJSON = "/api/openapi.json"
	openAPIYAML = "/api/openapi.yaml"
)

// openAPI begins the document.
func (s *api) openAPI() *huma.OpenAPI {
	return &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "ax", Version: "1",
			Description: "Runs background work on time and says what became of it. " +
				"Times are RFC 3339 in UTC with milliseconds. Errors are problem+json with the fields that break a rule. " +
				"Lists come in pages: send next_cursor back as cursor until it is null. " +
				"A POST may carry an Idempotency-Key; the same request with the same key gets the same answer for 24 hours.",
		},
		// The paths of the operations leave the prefix out.
		Servers: []*huma.Server{{URL: apiPrefix}},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry("#/components/schemas/", schemaName),
			SecuritySchemes: map[string]*huma.SecurityScheme{
				bearerScheme: {Type: "http", Scheme: "bearer", BearerFormat: "ax_…",
					Description: "A token of a team, with a role; made with: ax token create"},
				receiptScheme: {Type: "apiKey", In: "header", Name: "Ax-Receipt-Token",
					Description: "The token that came with a call; may stand in the body instead"},
			},
		},
		Tags: []*huma.Tag{
			{Name: tagTasks, Description: "What runs, when, and how"},
			{Name: tagSchedules, Description: "What a schedule means before it is stored"},
			{Name: tagCalendars, Description: "Workdays and days off that schedules go by"},
			{Name: tagInstances, Description: "Runs of tasks"},
			{Name: tagLetters, Description: "Business actions that ended badly"},
			{Name: tagAlerts, Description: "What is wrong, and who is told of it"},
			{Name: tagOperation, Description: "What ax itself is doing"},
		},
	}
}

// responses are the answers of an operation beside its success.
func (s *api) responses(op operation) map[string]*huma.Response {
	statuses := []int{http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if op.verb != access.Read && op.verb != anyone {
		statuses = append(statuses, http.StatusForbidden)
	}
	if op.object != nil || op.verb == anyone {
		statuses = append(statuses, http.StatusNotFound)
	}
	if op.body != nil {
		statuses = append(statuses, http.StatusBadRequest, http.StatusRequestEntityTooLarge)
		if op.verb != anyone {
			statuses = append(statuses, http.StatusUnsupportedMediaType)
		}
	}
	if op.conflicts || op.method == http.MethodPost {
		statuses = append(statuses, http.StatusConflict)
	}
	if op.gone {
		statuses = append(statuses, http.StatusGone)
	}
	statuses = append(statuses, http.StatusUnauthorized)
	problem := s.huma.OpenAPI().Components.Schemas.Schema(typeOf(Problem{}), true, "")
	out := map[string]*huma.Response{}
	for _, status := range statuses {
		r := &huma.Response{
			Description: http.StatusText(status),
			Content:     map[string]*huma.MediaType{problemType: {Schema: problem}},
		}
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			r.Headers = map[string]*huma.Header{"Retry-After": {
				Description: "Seconds to wait", Schema: &huma.Schema{Type: huma.TypeInteger},
			}}
		}
		out[strconv.Itoa(status)] = r
	}
	return out
}

// document adds to the registered operation what the framework must not see:
// ax reads bodies itself, more strictly.
func (s *api) document(op operation) {
	doc := s.huma.OpenAPI()
	d := operationOf(doc.Paths[op.path], op.method)
	if op.body != nil {
		d.RequestBody = &huma.RequestBody{
			Required: !op.optional,
			Content: map[string]*huma.MediaType{"application/json": {
				Schema: doc.Components.Schemas.Schema(typeOf(op.body), true, ""), Example: json.RawMessage(op.example),
			}},
		}
	}
	if op.method == http.MethodPost && op.verb != anyone {
		d.Parameters = append(d.Parameters, &huma.Param{
			Name: idempotencyHeader, In: "header", Schema: &huma.Schema{Type: huma.TypeString, MaxLength: new(255)}, Example: "close-SO-20261202-778431",
			Description: "Any text of yours for this request: the same request with it again gets the same answer and changes nothing",
		})
	}
	success := d.Responses[strconv.Itoa(d.DefaultStatus)]
	for status, words := range op.also {
		d.Responses[strconv.Itoa(status)] = &huma.Response{Description: words, Content: success.Content}
	}
}

func operationOf(item *huma.PathItem, method string) *huma.Operation {
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	}
	panic("no operations by " + method)
}

// mountBook serves the document, made at the first request.
func (s *api) mountBook(e *gin.Engine) {
	doc := s.huma.OpenAPI()
	s.tidy(doc)
	e.GET(openAPIJSON, s.serveBook("application/json", sync.OnceValues(doc.MarshalJSON)))
	e.GET(openAPIYAML, s.serveBook("application/yaml", sync.OnceValues(doc.YAML)))
	s.mountDocs(e)
}

func (s *api) serveBook(contentType string, read func() ([]byte, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		raw, err := read()
		if err != nil {
			s.respond(c, reply{}, err)
			return
		}
		c.Header("Cache-Control", "no-cache")
		c.Data(http.StatusOK, contentType, raw)
	}
}

// tidy drops the framework's own error from the document, which ax never
// sends, and tells more of fields that stand in types of the domain.
func (s *api) tidy(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")
	for name, fields := range fieldNotes() {
		for field, note := range fields {
			p := schemas[name].Properties[field]
			p.Description = note.doc
			if note.example != nil {
				p.Examples = []any{note.example}
			}
			for v := range strings.SplitSeq(note.enum, ",") {
				if v != "" {
					p.Enum = append(p.Enum, v)
				}
			}
		}
	}
}
