package settings

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// Mask stands for a secret.
const Mask = "•••"

// Entry is a setting in force, as one would write it. Secrets are masked.
type Entry struct {
	Key     string // such as "http.addr"
	Value   string
	Default string
	Changed bool   // Value isn't the default
	From    string // "AX_HTTP_ADDR" or "config.yaml:31"; "" is built in
}

// List tells what the struct that into points at holds, in the order of its
// fields. Those with a tag are masked: mask:"whole", and mask:"password" for
// what stands between the first ":" and the "@" of a data source name.
func (s Source) List(into any, from Origin) ([]Entry, error) {
	plain := reflect.New(reflect.TypeOf(into).Elem())
	if err := yaml.UnmarshalWithOptions(s.Defaults, plain.Interface(), yaml.Strict()); err != nil {
		return nil, fmt.Errorf("the embedded defaults: %w", err)
	}
	builtIn := Fields(plain.Interface())
	var out []Entry
	walk(reflect.ValueOf(into).Elem(), "", func(key string, field reflect.Value, tag reflect.StructTag) {
		now, was := written(field.Interface()), written(builtIn[key].Interface())
		e := Entry{Key: key, Value: masked(now, tag.Get("mask")), Default: masked(was, tag.Get("mask")), Changed: now != was}
		variable, line := from.place(key)
		if e.From = variable; line > 0 {
			e.From = fmt.Sprintf("%s:%d", from.name, line)
		}
		out = append(out, e)
	})
	return out, nil
}

// written is a value as it stands in AX_* variables.
func written(v any) string {
	switch v := v.(type) {
	case time.Duration:
		text := v.String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	case []string:
		return strings.Join(v, ", ")
	case []int:
		return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(v)), ", "), "[]")
	case map[string]int:
		var parts []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, fmt.Sprintf("%s:%d", name, v[name]))
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

// masked takes the secret out of a value.
func masked(value, how string) string {
	switch {
	case value == "" || how == "":
		return value
	case how == "password":
		return maskedDSN(value)
	}
	return Mask
}

// maskedDSN finds the parts as the driver does: the address ends at the last
// "/", who signs in at the last "@" before it.
func maskedDSN(dsn string) string {
	slash := strings.LastIndex(dsn, "/")
	if slash < 0 {
		return Mask
	}
	at := strings.LastIndex(dsn[:slash], "@")
	if at < 0 {
		return dsn
	}
	user, _, has := strings.Cut(dsn[:at], ":")
	if !has {
		return dsn
	}
	return user + ":" + Mask + dsn[at:]
}
