// Package settings reads a configuration struct from YAML and the environment,
// strictly: an unknown key or a value of the wrong type is an error that says
// where it stands. Which settings there are, and their bounds, is main's.
//
// It imports the standard library and a YAML parser only.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Source says where settings come from, weakest first: Defaults is a whole
// document, Path a file over it ("": config.yaml in the working folder, if
// there is one), Env lines of the environment over both.
type Source struct {
	Defaults []byte
	Path     string
	Env      []string
}

// Read fills the struct that into points at, whose fields carry yaml tags. The
// setting http.addr is the variable AX_HTTP_ADDR. Every error names the key and
// where its value came from; none quotes the lines around, for they may hold
// secrets.
func (s Source) Read(into any) (Origin, error) {
	if err := yaml.UnmarshalWithOptions(s.Defaults, into, yaml.Strict()); err != nil {
		return Origin{}, fmt.Errorf("the embedded defaults: %w", err)
	}
	fields := Fields(into)
	raw, name, err := file(s.Path)
	if err != nil {
		return Origin{}, err
	}
	if raw != nil {
		if err := readFile(raw, into, fields); err != nil {
			return Origin{}, fmt.Errorf("%s%w", name, err)
		}
	}
	from, err := overlay(s.Env, fields)
	return Origin{file: raw, name: name, env: from}, err
}

func file(path string) (raw []byte, name string, err error) {
	if path == "" {
		path = "config.yaml"
		raw, err = os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil, "", nil
		}
	} else {
		raw, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, path, fmt.Errorf("read configuration: %w", err)
	}
	return raw, path, nil
}

// readFile lays a document over the struct. Its errors begin with where in the file: " line 3:
// key: " or ": [3:1] ". They don't quote the lines around, for these may hold
// secrets.
func readFile(raw []byte, into any, fields map[string]reflect.Value) error {
	plain := func(err error) error { return errors.New(": " + yaml.FormatError(err, false, false)) }
	file, err := parser.ParseBytes(raw, 0)
	if err != nil {
		return plain(err)
	}
	if len(file.Docs) > 1 {
		return errors.New(": it holds more than one document")
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil // empty, or comments only
	}
	for key, field := range fields {
		node := valueAt(file, key)
		if err := checkType(node, key, field.Interface()); err != nil {
			return err
		}
		if node != nil && field.Kind() == reflect.Map {
			field.SetZero() // a written map replaces the default, it doesn't add to it
		}
	}
	if err := yaml.UnmarshalWithOptions(raw, into, yaml.Strict()); err != nil {
		return plain(err)
	}
	return nil
}

// valueAt finds what the file says of a setting; nil: nothing.
func valueAt(file *ast.File, key string) ast.Node {
	path, err := yaml.PathString("$." + key)
	if err != nil {
		return nil
	}
	node, err := path.FilterFile(file)
	if err != nil {
		return nil
	}
	return node
}

// checkType refuses what the decoder would cut (3.7 as 3) or refuse without
// its place (durations).
func checkType(node ast.Node, key string, setting any) error {
	if node == nil {
		return nil
	}
	line, text := node.GetToken().Position.Line, node.GetToken().Value
	switch setting.(type) {
	case int:
		if node.Type() == ast.FloatType {
			return fmt.Errorf(" line %d: %s: %q is not a whole number", line, key, text)
		}
	case time.Duration:
		if _, err := time.ParseDuration(text); err != nil {
			return fmt.Errorf(" line %d: %s: %q is not a duration such as 30s", line, key, text)
		}
	}
	return nil
}

// overlay sets every field whose AX_* variable is there and tells their keys.
// A variable that names no key is refused: a typing error must not be silent.
func overlay(env []string, fields map[string]reflect.Value) (map[string]string, error) {
	from := map[string]string{}
	for _, line := range env {
		name, value, _ := strings.Cut(line, "=")
		if !strings.HasPrefix(name, "AX_") || strings.HasPrefix(name, "AX_TEST_") || name == "AX_FAILPOINT" {
			continue
		}
		for key, field := range fields {
			if name != Variable(key) {
				continue
			}
			if err := setField(field, value); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, key, err)
			}
			from[key] = name
		}
		if !slices.Contains(slices.Collect(maps.Values(from)), name) {
			return nil, fmt.Errorf("%s: there is no such setting", name)
		}
	}
	return from, nil
}

// Variable is the name of a setting in the environment.
func Variable(key string) string { return "AX_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) }

// Fields gives all settings of the struct that into points at, by key.
func Fields(into any) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	walk(reflect.ValueOf(into).Elem(), "", func(key string, field reflect.Value, _ reflect.StructTag) { out[key] = field })
	return out
}

// walk visits all settings in their order; a field tagged "-" is none.
func walk(v reflect.Value, prefix string, visit func(key string, field reflect.Value, tag reflect.StructTag)) {
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		if !v.Type().Field(i).IsExported() || tag.Get("yaml") == "-" {
			continue
		}
		key := prefix + tag.Get("yaml")
		if v.Field(i).Kind() == reflect.Struct {
			walk(v.Field(i), key+".", visit)
			continue
		}
		visit(key, v.Field(i), tag)
	}
}

// setField reads a setting from text. Lists are separated by commas; queues
// are "name:weight,name:weight".
func setField(f reflect.Value, s string) error {
	doc := s
	switch f.Interface().(type) {
	case string:
		f.SetString(s)
		return nil
	case []string:
		f.Set(reflect.ValueOf(splitList(s)))
		return nil
	case int: // the decoder would take 3.7 as 3
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", s)
		}
		f.SetInt(int64(n))
		return nil
	case []int:
		doc = "[" + s + "]"
	case map[string]int:
		doc = "{" + strings.ReplaceAll(s, ":", ": ") + "}"
		f.SetZero()
	}
	if err := yaml.Unmarshal([]byte(doc), f.Addr().Interface()); err != nil {
		return fmt.Errorf("%q is not a %s", s, f.Type())
	}
	return nil
}

func splitList(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// Origin tells where each setting came from.
type Origin struct {
	file []byte
	name string
	env  map[string]string
}

// Of names the place of a setting's value: a variable, a line of the file, or
// default.
func (o Origin) Of(key string) string {
	switch variable, line := o.place(key); {
	case variable != "":
		return variable
	case line > 0:
		return o.name + " line " + strconv.Itoa(line)
	}
	return "default"
}

// place is the variable or the line of the file that set it; neither: nobody
// did.
func (o Origin) place(key string) (variable string, line int) {
	if v := o.env[key]; v != "" || o.file == nil {
		return v, 0
	}
	if file, err := parser.ParseBytes(o.file, 0); err == nil {
		if node := valueAt(file, key); node != nil {
			return "", node.GetToken().Position.Line
		}
	}
	return "", 0
}
