package sched

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxBody is the length of a body as written, in bytes.
const maxBody = 64 << 10

// bodyNames are the values that a body can name, besides payload and what is
// in it.
func bodyNames() []string {
	return []string{"instance_id", "task", "biz_id", "key", "attempt", "replay", "scheduled_at", "payload"}
}

var payloadPath = regexp.MustCompile(`^payload(\.[A-Za-z0-9_-]+)+$`)

// bodyPart is a piece of a body: text as it stands, or a named value. Inside
// quotes a value becomes part of the text there.
type bodyPart struct {
	text   string
	name   string
	quoted bool
}

// unknownName is what a body names and isn't there; empty: braces that are
// never closed.
type unknownName string

func (n unknownName) Error() string { return fmt.Sprintf("{{%s}} names nothing", string(n)) }

// bodyParts reads a body as written. An error is an unknownName.
func bodyParts(text string) ([]bodyPart, error) {
	var parts []bodyPart
	quoted, begin := false, 0
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"':
			quoted = !quoted
		case strings.HasPrefix(text[i:], "{{"):
			end := strings.Index(text[i:], "}}")
			if end < 0 || strings.ContainsAny(text[i:i+end], "\"\n") {
				if quoted {
					return nil, unknownName("")
				}
				continue // an object in an object
			}
			name := strings.TrimSpace(text[i+2 : i+end])
			if !slices.Contains(bodyNames(), name) && !payloadPath.MatchString(name) {
				return nil, unknownName(name)
			}
			parts = append(parts, bodyPart{text: text[begin:i]}, bodyPart{name: name, quoted: quoted})
			i += end + 1
			begin = i + 1
		}
	}
	return append(parts, bodyPart{text: text[begin:]}), nil
}

// FillBody is the body of a call by the rules' own words. An error means that
// it can't be JSON with the values of this call.
func (r *HTTPRules) FillBody(call Call) ([]byte, error) {
	parts, err := bodyParts(r.Body)
	if err != nil {
		return nil, err
	}
	values, err := bodyValues(call)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, p := range parts {
		out.WriteString(p.text)
		if p.name == "" {
			continue
		}
		value, _ := at(values, strings.Split(p.name, ".")) // what isn't there is null
		writeValue(&out, value, p.quoted)
	}
	if !json.Valid(out.Bytes()) {
		return nil, fmt.Errorf("the body is not JSON with the values of this call")
	}
	return out.Bytes(), nil
}

func bodyValues(call Call) (map[string]any, error) {
	var payload any
	if len(call.Payload) > 0 {
		d := json.NewDecoder(bytes.NewReader(call.Payload))
		d.UseNumber()
		if err := d.Decode(&payload); err != nil {
			return nil, fmt.Errorf("the payload is not JSON: %w", err)
		}
	}
	return map[string]any{
		"instance_id": call.InstanceID, "task": call.TaskCode, "biz_id": call.BizID, "key": call.Key,
		"attempt": json.Number(strconv.Itoa(call.Attempt)), "replay": json.Number(strconv.Itoa(call.Replay)),
		"scheduled_at": call.ScheduledAt.UTC().Format("2006-01-02T15:04:05.000Z"), "payload": payload,
	}, nil
}

// writeValue writes a value as JSON, or as part of a text in quotes.
func writeValue(out *bytes.Buffer, value any, quoted bool) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if !quoted {
		_ = e.Encode(value) // came from JSON
		out.Write(bytes.TrimSpace(b.Bytes()))
		return
	}
	if value == nil {
		return
	}
	_ = e.Encode(plain(value))
	text := bytes.TrimSpace(b.Bytes())
	out.Write(text[1 : len(text)-1])
}
