package app_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"ax/app/access"
)

// apiDoc is the document as tests read it.
func (h *house) apiDoc() map[string]any {
	h.t.Helper()
	got := h.browser().get("/api/openapi.json") // for everybody
	require.Equal(h.t, 200, got.status)
	require.Equal(h.t, "application/json", got.header.Get("Content-Type"))
	return got.fieldsOf()
}

type object = map[string]any

// operations calls f with each operation of the document.
func operations(doc object, f func(method, path string, op object)) {
	for path, item := range doc["paths"].(object) {
		for method, op := range item.(object) {
			f(strings.ToUpper(method), path, op.(object))
		}
	}
}

func TestTheDocumentHasEveryRouteAndNoOther(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var documented []string
	parameter := regexp.MustCompile(`\{(\w+)\}`)
	operations(h.apiDoc(), func(method, path string, _ object) {
		documented = append(documented, method+" "+parameter.ReplaceAllString(path, ":$1"))
	})
	slices.Sort(documented)
	require.Equal(t, h.apiRoutes(), documented)
}

func TestTheDocumentIsWholeAndReadable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	doc := h.apiDoc()
	require.Regexp(t, `^3\.1\.\d+$`, doc["openapi"])
	require.Equal(t, "/api/v1", doc["servers"].([]any)[0].(object)["url"])
	schemas := doc["components"].(object)["schemas"].(object)
	schemes := doc["components"].(object)["securitySchemes"].(object)
	ids, used, tags := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, tag := range doc["tags"].([]any) {
		tags[tag.(object)["name"].(string)] = true
	}
	operations(doc, func(method, path string, op object) {
		at := method + " " + path
		id := op["operationId"].(string)
		require.False(t, ids[id], "%s: the operationId %s is there twice", at, id)
		ids[id] = true
		require.NotEmpty(t, op["summary"], at)
		require.True(t, tags[op["tags"].([]any)[0].(string)], at)
		for _, s := range op["security"].([]any) {
			for name := range s.(object) {
				require.Contains(t, schemes, name, at)
			}
		}
		var inPath []string
		for _, p := range objects(op["parameters"]) {
			require.NotEmpty(t, p["schema"], at)
			if p["in"] == "path" {
				require.Equal(t, true, p["required"], at)
				inPath = append(inPath, "{"+p["name"].(string)+"}")
			}
		}
		require.ElementsMatch(t, regexp.MustCompile(`\{\w+\}`).FindAllString(path, -1), inPath, at)
		good := 0
		for status, r := range op["responses"].(object) {
			require.NotEmpty(t, r.(object)["description"], "%s %s", at, status)
			content, _ := r.(object)["content"].(object)
			if status[0] == '2' {
				good++
				continue
			}
			require.Equal(t, "#/components/schemas/Problem", content["application/problem+json"].(object)["schema"].(object)["$ref"], "%s %s", at, status)
		}
		require.NotZero(t, good, at)
		require.Contains(t, op["responses"], "401", at)
		if bare := regexp.MustCompile(`^/(alerts/.*/(acknowledge|reopen|replay|test)|brokers/\{name\}/test)$`); strings.HasPrefix(method, "P") && !bare.MatchString(path) {
			require.Contains(t, op["requestBody"].(object)["content"], "application/json", at)
		}
	})
	walk(doc, func(key string, value any) {
		if ref, ok := value.(string); ok && key == "$ref" {
			name := strings.TrimPrefix(ref, "#/components/schemas/")
			require.Contains(t, schemas, name)
			used[name] = true
		}
	})
	for name := range schemas {
		require.True(t, used[name], "nothing uses the schema %s", name)
	}
}

// Every field that a caller writes is explained, with an example.
func TestTheDocumentExplainsWhatIsWritten(t *testing.T) {
	t.Parallel()
	schemas := newHouse(t).apiDoc()["components"].(object)["schemas"].(object)
	for _, name := range []string{"TaskSpec", "ScheduleSpec", "TargetSpec", "PolicySpec", "RetrySpec", "TriggerRequest", "LetterEdit", "Reason", "Pause", "Receipt", "CalendarNew", "CalendarEdit", "CalendarDays", "CalendarImport", "Day", "Note", "RuleSpec", "ChannelSpec", "SubscriptionSpec", "SilenceSpec", "Problem", "ProblemField"} {
		schema := schemas[name].(object)
		require.Equal(t, false, schema["additionalProperties"], name)
		for field, p := range schema["properties"].(object) {
			if p.(object)["$ref"] == nil {
				require.NotEmpty(t, p.(object)["description"], "%s.%s", name, field)
			}
		}
	}
	require.Equal(t, []any{"cron", "interval", "once", "delay", "manual"}, schemas["ScheduleSpec"].(object)["properties"].(object)["kind"].(object)["enum"])
}

func objects(v any) (out []object) {
	items, _ := v.([]any)
	for _, it := range items {
		out = append(out, it.(object))
	}
	return out
}

// walk goes over all values of a document.
func walk(v any, f func(key string, value any)) {
	switch v := v.(type) {
	case object:
		for k, inner := range v {
			f(k, inner)
			walk(inner, f)
		}
	case []any:
		for _, inner := range v {
			walk(inner, f)
		}
	}
}

func TestTheYAMLIsTheSameDocument(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	got := h.browser().get("/api/openapi.yaml")
	require.Equal(t, 200, got.status)
	require.Equal(t, "application/yaml", got.header.Get("Content-Type"))
	var fromYAML any
	require.NoError(t, yaml.Unmarshal([]byte(got.body), &fromYAML))
	raw, err := json.Marshal(fromYAML)
	require.NoError(t, err)
	want, err := json.Marshal(h.apiDoc())
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(raw))
}

// What ax answers has the shape that the document promises.
func TestAnswersHaveTheShapeOfTheDocument(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.calendar("orders.send")
	h.broker()
	l := h.letter("orders.send", "o-1", "no luck")
	h.trigger("orders.send", "o-2")
	told := h.told(l.InstanceID)
	doc := h.apiDoc()
	c := h.api(access.Owner)
	seen := 0
	operations(doc, func(method, path string, op object) {
		if method != "GET" || strings.Contains(path, "/export.") {
			return
		}
		real := strings.NewReplacer("{code}", "orders.send", "/incidents/{id}", "/incidents/"+told.incident, "/rules/{id}", "/rules/"+told.rule, "/channels/{id}", "/channels/"+told.channel, "/deliveries/{id}", "/deliveries/"+told.delivery).Replace(path)
		real = strings.Replace(real, "/instances/{id}", "/instances/"+l.InstanceID, 1)
		real = strings.Replace(real, "/dead-letters/{id}", letterPath(l)[len(v1):], 1)
		if strings.HasSuffix(real, "/preview") {
			real += "?cron=@daily&timezone=UTC"
		}
		got := c.get(v1 + real)
		require.Equal(t, 200, got.status, "%s: %s", real, got.body)
		schema := op["responses"].(object)["200"].(object)["content"].(object)["application/json"].(object)["schema"].(object)
		fits(t, doc, schema, got.fieldsOf(), path)
		seen++
	})
	require.Equal(t, 28, seen)
	got := c.json("POST", v1+"/tasks", "{}")
	fits(t, doc, object{"$ref": "#/components/schemas/Problem"}, got.fieldsOf(), "a problem")
	got = c.json("POST", v1+"/tasks/orders.send/trigger", "{}")
	fits(t, doc, object{"$ref": "#/components/schemas/Trigger"}, got.fieldsOf(), "a trigger")
}

// fits holds a value against a schema: type, properties, enum and format.
func fits(t *testing.T, doc, schema object, v any, at string) {
	t.Helper()
	if ref, ok := schema["$ref"].(string); ok {
		schema = doc["components"].(object)["schemas"].(object)[strings.TrimPrefix(ref, "#/components/schemas/")].(object)
	}
	kinds := fmt.Sprint(schema["type"])
	switch v := v.(type) {
	case nil:
		require.Contains(t, kinds, "null", at)
	case bool:
		require.Contains(t, kinds, "boolean", at)
	case float64:
		require.Regexp(t, "integer|number", kinds, at)
	case string:
		require.Contains(t, kinds, "string", at)
		if schema["format"] == "date-time" {
			require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|[+-]\d\d:\d\d)$`, v, at)
		}
		if enum, ok := schema["enum"].([]any); ok {
			require.Contains(t, enum, v, at)
		}
	case []any:
		require.Contains(t, kinds, "array", at)
		for _, it := range v {
			fits(t, doc, schema["items"].(object), it, at+"[]")
		}
	case object:
		if schema["type"] == nil {
			return // any JSON
		}
		require.Contains(t, kinds, "object", at)
		properties, _ := schema["properties"].(object)
		for _, name := range texts(schema["required"]) {
			require.Contains(t, v, name, at)
		}
		for name, inner := range v {
			if p, ok := properties[name]; ok {
				fits(t, doc, p.(object), inner, at+"."+name)
				continue
			}
			more, ok := schema["additionalProperties"].(object)
			require.True(t, ok, "%s.%s is not in the document", at, name)
			fits(t, doc, more, inner, at+"."+name)
		}
	}
}

func texts(v any) (out []string) {
	items, _ := v.([]any)
	for _, it := range items {
		out = append(out, it.(string))
	}
	return out
}
