package app

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"ax/app/fault"
	"ax/views"
)

// docsPath is the readable form of the document, for people signed in.
const docsPath = "/api/docs"

func (s *api) mountDocs(e *gin.Engine) {
	e.GET(docsPath, func(c *gin.Context) {
		if who, err := s.visit(c); err != nil || who.person.ID == 0 {
			s.refuse(c, 0, cmp.Or(err, signInFirst()))
			return
		}
		answer, err := s.showDocs(c)
		if err != nil {
			s.refuse(c, 0, err) // a page, though it stands under /api
			return
		}
		s.respond(c, answer, nil)
	})
}

func (s *api) showDocs(c *gin.Context) (reply, error) {
	if id := c.Query("show"); id != "" {
		for _, op := range s.operations {
			if op.id == id {
				return show(views.APICallDocs(views.APICallPage{Call: s.describe(op)})), nil
			}
		}
		return reply{}, fault.NotFound("There is nothing at this address")
	}
	p := views.APIDocsPage{Base: s.base(), Query: clip(strings.TrimSpace(c.Query("q")), 100), Error: exampleProblem}
	for _, tag := range s.huma.OpenAPI().Tags {
		g := views.APIGroup{Name: tag.Name}
		for _, op := range s.operations {
			if call := s.describe(op); op.tag == tag.Name && mentions(call, p.Query) {
				g.Calls = append(g.Calls, call)
			}
		}
		if len(g.Calls) > 0 {
			p.Groups = append(p.Groups, g)
			p.Calls += len(g.Calls)
		}
	}
	for _, op := range s.operations {
		if op.id == "trigger-task" {
			p.Run = views.APIExample{Call: s.curl(op), Status: op.status, Answer: exampleTriggered}
		}
	}
	return show(views.APIDocs(p)), nil
}

// base is the address of the API. It never comes from the Host header, which
// anybody can forge.
func (s *api) base() string {
	if s.external != nil {
		return s.external.Scheme + "://" + s.external.Host + apiPrefix
	}
	return "$AX_URL" + apiPrefix
}

// mentions tells whether all words stand in what is said of the operation.
func mentions(c views.APICall, query string) bool {
	said := c.ID + " " + c.Method + " " + c.Path + " " + c.Summary + " " + c.About
	for _, f := range slices.Concat(c.Params, c.Body, c.Answer) {
		said += " " + f.Name
	}
	said = strings.ToLower(said)
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(said, word) {
			return false
		}
	}
	return true
}

// describe reads an operation out of the document.
func (s *api) describe(op operation) views.APICall {
	d := operationOf(s.huma.OpenAPI().Paths[op.path], op.method)
	out := views.APICall{ID: op.id, Method: op.method, Path: op.path, Summary: op.summary, About: op.about, Example: s.curl(op)}
	if op.verb != anyone {
		out.Role = needs(op.verb)
	}
	for _, p := range d.Parameters {
		f := s.field(p.Name, p.Schema, p.Required)
		f.Place, f.About = p.In, cmp.Or(p.Description, f.About)
		f.Type += ", in the " + p.In
		if p.Example != nil {
			f.Example = exampleText(p.Example)
		}
		out.Params = append(out.Params, f)
	}
	if d.RequestBody != nil {
		out.Body = s.fields(d.RequestBody.Content["application/json"].Schema, "", nil)
	}
	for code, r := range d.Responses {
		status, _ := strconv.Atoi(code)
		out.Ends = append(out.Ends, views.APIEnd{Status: status, About: r.Description})
		if m := r.Content["application/json"]; m != nil && status == d.DefaultStatus {
			out.Answer = s.fields(m.Schema, "", nil)
		}
	}
	slices.SortFunc(out.Ends, func(a, b views.APIEnd) int { return a.Status - b.Status })
	return out
}

// fields lists those of an object by their paths, in the order of the type.
func (s *api) fields(schema *huma.Schema, path string, out []views.APIField) []views.APIField {
	schema = s.resolved(schema)
	names := make([]string, 0, len(schema.Properties))
	for name := range schema.Properties {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		need := func(n string) int { return slices.Index([]bool{true, false}, slices.Contains(schema.Required, n)) }
		return cmp.Or(need(a)-need(b), strings.Compare(a, b))
	})
	for _, name := range names {
		p := schema.Properties[name]
		at := path + name
		inner := s.resolved(p)
		if inner.Type == huma.TypeArray {
			at += "[]"
			inner = s.resolved(inner.Items)
		}
		if len(inner.Properties) == 0 {
			out = append(out, s.field(path+name, p, slices.Contains(schema.Required, name)))
			continue
		}
		out = s.fields(inner, at+".", out)
	}
	return out
}

func (s *api) resolved(schema *huma.Schema) *huma.Schema {
	if schema.Ref != "" {
		return s.huma.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}

func (s *api) field(name string, schema *huma.Schema, needed bool) views.APIField {
	f := views.APIField{Name: name, Type: s.typeWords(schema), Needed: needed, About: schema.Description}
	if len(schema.Examples) > 0 {
		f.Example = exampleText(schema.Examples[0])
	}
	return f
}

// typeWords says a type as the document does, with its choices.
func (s *api) typeWords(schema *huma.Schema) string {
	schema = s.resolved(schema)
	words := cmp.Or(schema.Type, "any JSON")
	switch {
	case schema.Format == "date-time":
		words = "date-time"
	case schema.Type == huma.TypeArray:
		words = "list of " + s.typeWords(schema.Items)
	}
	if len(schema.Enum) > 0 {
		choices := make([]string, len(schema.Enum))
		for i, v := range schema.Enum {
			choices[i] = exampleText(v)
		}
		words = strings.Join(choices, " | ")
	}
	if schema.Nullable {
		words += " or null"
	}
	return words
}

// curl is a command line that calls the operation.
func (s *api) curl(op operation) string {
	path := op.path
	d := operationOf(s.huma.OpenAPI().Paths[op.path], op.method)
	var query []string
	for _, p := range d.Parameters {
		if len(p.Schema.Examples) == 0 {
			continue
		}
		switch p.In {
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", exampleText(p.Schema.Examples[0]))
		case "query":
			query = append(query, `  --data-urlencode "`+p.Name+"="+exampleText(p.Schema.Examples[0])+`"`)
		}
	}
	lines := []string{"curl -sS " + s.base() + path}
	if op.method != http.MethodGet && (op.method != http.MethodPost || op.example == "") {
		lines[0] = "curl -sS -X " + op.method + " " + s.base() + path
	}
	if op.verb == anyone {
		lines = append(lines, `  -H "Ax-Receipt-Token: $TOKEN"`)
	} else {
		lines = append(lines, `  -H "Authorization: Bearer $AX_TOKEN"`)
	}
	if op.example != "" {
		lines = append(lines, `  -H "Content-Type: application/json"`, "  -d '"+op.example+"'")
	}
	if len(query) > 0 {
		lines = append(lines, append([]string{"  -G"}, query...)...)
	}
	return strings.Join(lines, " \\\n")
}
