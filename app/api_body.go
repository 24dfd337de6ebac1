package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/fault"
)

// decode reads a JSON object into a struct by one meaning only: no unknown
// field, no field twice, names as they are written, the right types and no
// null. encoding/json would take the last of two fields and names in any
// case, and drop what it doesn't know.
// Faults: Malformed, when it is no JSON; Invalid with all fields.
func decode(body []byte, into any) error {
	if err := readableJSON(body); err != nil {
		return err
	}
	w := &bodyWalk{dec: json.NewDecoder(bytes.NewReader(body))}
	w.dec.UseNumber()
	w.value(reflect.TypeOf(into).Elem(), "")
	if err := fault.Invalid(w.bad...); err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fault.Malformed("The body can’t be read: %s", err.Error())
	}
	return nil
}

func readableJSON(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return fault.Malformed("A JSON body is needed")
	}
	if !utf8.Valid(body) {
		return fault.Malformed("The body is not UTF-8")
	}
	var whole json.RawMessage
	err := json.Unmarshal(body, &whole)
	if err == nil {
		return nil
	}
	at := len(body)
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = min(int(e.Offset), len(body))
	}
	return fault.Malformed("The body is not JSON, line %d: %s", 1+bytes.Count(body[:at], []byte("\n")), err.Error())
}

// bodyWalk goes over valid JSON along a Go type and gathers what doesn't fit.
type bodyWalk struct {
	dec *json.Decoder
	bad []fault.FieldError
}

// next is the next token; the JSON is known to be valid.
func (w *bodyWalk) next() json.Token {
	t, err := w.dec.Token()
	if err != nil {
		return nil
	}
	return t
}

func (w *bodyWalk) refuse(path, format string) {
	if path == "" {
		path = "body"
	}
	w.bad = append(w.bad, fault.FieldError{Name: path, Text: fault.Text{Format: format}})
}

// value checks one value of the type; path is where it stands.
func (w *bodyWalk) value(t reflect.Type, path string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token := w.next()
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		w.free(token, path)
	case token == nil:
		w.refuse(path, "null is no value here; leave the field out")
	case t == reflect.TypeFor[time.Time]():
		w.moment(token, path)
	default:
		w.kind(t, token, path)
	}
}

func (w *bodyWalk) kind(t reflect.Type, token json.Token, path string) {
	switch t.Kind() {
	case reflect.Struct:
		if w.fits(token == json.Delim('{'), token, path, "An object is needed here") {
			w.object(t, path)
		}
	case reflect.Slice:
		if w.fits(token == json.Delim('['), token, path, "A list is needed here") {
			w.list(t.Elem(), path)
		}
	case reflect.Map:
		if w.fits(token == json.Delim('{'), token, path, "An object is needed here") {
			w.named(t.Elem(), path)
		}
	case reflect.String:
		_, ok := token.(string)
		w.fits(ok, token, path, "A text is needed here")
	case reflect.Bool:
		_, ok := token.(bool)
		w.fits(ok, token, path, "true or false is needed here")
	case reflect.Float64:
		_, ok := token.(json.Number)
		w.fits(ok, token, path, "A number is needed here")
	case reflect.Int, reflect.Int64:
		w.fits(wholeNumber(token), token, path, "A whole number is needed here")
	default:
		panic("no rule for a field of the type " + t.String())
	}
}

// fits refuses a value that doesn't, and passes over the rest of it.
func (w *bodyWalk) fits(ok bool, token json.Token, path, format string) bool {
	if !ok {
		w.refuse(path, format)
		w.rest(token)
	}
	return ok
}

func wholeNumber(token json.Token) bool {
	n, ok := token.(json.Number)
	if !ok {
		return false
	}
	_, err := strconv.ParseInt(n.String(), 10, strconv.IntSize)
	return err == nil
}

func (w *bodyWalk) moment(token json.Token, path string) {
	s, ok := token.(string)
	if ok {
		_, err := time.Parse(time.RFC3339, s)
		ok = err == nil
	}
	w.fits(ok, token, path, "A moment such as 2026-12-24T18:00:00+08:00 is needed here")
}

func (w *bodyWalk) object(t reflect.Type, path string) {
	fields, seen := jsonFields(t), map[string]bool{}
	for w.dec.More() {
		name, _ := w.next().(string)
		at := join(path, name)
		field, known := fields[name]
		switch {
		case seen[name]:
			w.refuse(at, "This field stands here twice")
			w.rest(w.next())
		case !known:
			w.refuse(at, "ax doesn't know this field")
			w.rest(w.next())
		default:
			w.value(field, at)
		}
		seen[name] = true
	}
	w.next()
}

// named checks an object whose names are the caller's.
func (w *bodyWalk) named(t reflect.Type, path string) {
	seen := map[string]bool{}
	for w.dec.More() {
		name, _ := w.next().(string)
		if seen[name] {
			w.refuse(join(path, name), "This field stands here twice")
		}
		seen[name] = true
		w.value(t, join(path, name))
	}
	w.next()
}

func (w *bodyWalk) list(t reflect.Type, path string) {
	for i := 0; w.dec.More(); i++ {
		w.value(t, path+"["+strconv.Itoa(i)+"]")
	}
	w.next()
}

// free checks JSON that ax passes on as it is: only that no field stands
// there twice, for the next reader may take the other one.
func (w *bodyWalk) free(token json.Token, path string) {
	switch token {
	case json.Delim('{'):
		seen := map[string]bool{}
		for w.dec.More() {
			name, _ := w.next().(string)
			if seen[name] {
				w.refuse(join(path, name), "This field stands here twice")
			}
			seen[name] = true
			w.free(w.next(), join(path, name))
		}
		w.next()
	case json.Delim('['):
		for i := 0; w.dec.More(); i++ {
			w.free(w.next(), path+"["+strconv.Itoa(i)+"]")
		}
		w.next()
	}
}

// rest passes over the rest of a value that began with the token.
func (w *bodyWalk) rest(token json.Token) {
	if token != json.Delim('{') && token != json.Delim('[') {
		return
	}
	for depth := 1; depth > 0; {
		switch w.next() {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

func join(path, name string) string {
	name = clip(strings.ToValidUTF8(name, "\uFFFD"), 64)
	if path == "" {
		return name
	}
	return path + "." + name
}

// jsonFields gives the types of a struct's fields by their JSON names.
func jsonFields(t reflect.Type) map[string]reflect.Type {
	out := make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			out[name] = t.Field(i).Type
		}
	}
	return out
}
