package sched

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// HTTPRules are how an HTTP target is called and what counts as success,
// besides its address and headers. Nil: a POST of the callback's body, and any
// complete 2xx.
type HTTPRules struct {
	Method string `json:"method,omitempty" doc:"POST (default), PUT, PATCH, DELETE or GET"`
	Body   string `json:"body,omitempty" doc:"JSON that is sent instead of the callback's, with named values such as {{biz_id}} or {{payload.order}}"`

	Statuses string `json:"statuses,omitempty" doc:"Statuses of success, such as 200-299 (left out) or 200, 404"`
	Field    string `json:"field,omitempty" doc:"Path of a field of the JSON answer that decides as well, such as data.code"`
	Equals   string `json:"equals,omitempty" doc:"What the field must be"`
	Await    bool   `json:"await,omitempty" doc:"Any success is an acceptance: a receipt ends the instance. 202 always is"`

	Redirects int `json:"redirects,omitempty" doc:"How many redirects are followed, 0 to 3; idempotent work only"`

	ConnectSeconds   int `json:"connect_seconds,omitempty" doc:"Until the connection stands; left out: the whole time limit"`
	TLSSeconds       int `json:"tls_seconds,omitempty" doc:"Until its encryption stands"`
	FirstByteSeconds int `json:"first_byte_seconds,omitempty" doc:"From the connection to the first byte of the answer"`

	CA         string `json:"ca,omitempty" doc:"Certificates (PEM) that the target's is checked with, instead of the system's"`
	ClientCert string `json:"client_cert,omitempty" doc:"Secret of the team with a certificate and its key (PEM) that ax shows to the target"`

	CancelURL string `json:"cancel_url,omitempty" doc:"Address that is told by a POST when the target may still work on what was canceled or timed out"`
}

// methodOf is the method of a call.
func (r *HTTPRules) MethodOf() string {
	if r == nil || r.Method == "" {
		return "POST"
	}
	return r.Method
}

// statusRange is one of the statuses of success.
type statusRange struct{ low, high int }

// statusRanges reads "200-299, 404"; false: it can't be read.
func statusRanges(text string) ([]statusRange, bool) {
	var out []statusRange
	for word := range strings.SplitSeq(text, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(word), "-")
		low, err := strconv.Atoi(strings.TrimSpace(from))
		high := low
		if ranged && err == nil {
			high, err = strconv.Atoi(strings.TrimSpace(to))
		}
		if err != nil || low < 200 || high > 599 || high < low {
			return nil, false
		}
		out = append(out, statusRange{low, high})
	}
	return out, true
}

// Accepts tells whether the status of a complete answer is one of success.
func (r *HTTPRules) Accepts(code int) bool {
	if r == nil || r.Statuses == "" {
		return code >= 200 && code < 300
	}
	ranges, _ := statusRanges(r.Statuses) // as validated
	return slices.ContainsFunc(ranges, func(s statusRange) bool { return code >= s.low && code <= s.high })
}

// Decides tells whether a field of the answer decides besides its status, so
// that the whole answer must be kept.
func (r *HTTPRules) Decides() bool { return r != nil && r.Field != "" }

// Refuse says why an answer of a right status is no success; "": it is one.
func (r *HTTPRules) Refuse(body []byte) string {
	if !r.Decides() {
		return ""
	}
	var answer any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&answer); err != nil {
		return fmt.Sprintf("the answer is not JSON, and its field %s decides", r.Field)
	}
	value, ok := at(answer, strings.Split(r.Field, "."))
	if !ok {
		return fmt.Sprintf("the answer has no field %s, which decides", r.Field)
	}
	if is := plain(value); is != r.Equals {
		return fmt.Sprintf("the field %s is %s, not %s", r.Field, clipped(is), r.Equals)
	}
	return ""
}

// at is the value at a path; parts of a list are counted from 0.
func at(v any, path []string) (any, bool) {
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			next, ok := x[name]
			if !ok {
				return nil, false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return nil, false
			}
			v = x[i]
		default:
			return nil, false
		}
	}
	return v, true
}

// plain is a value as a person writes it: text without quotes, everything else
// as JSON.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // came from JSON
	return strings.TrimSpace(b.String())
}

func clipped(s string) string { return clippedTo(s, 100) }

func clippedTo(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
