package ui

import (
	"encoding/json"
	"regexp"
	"strings"
)

// Span is a piece of code with its colour: k name, s string, n number, x the
// rest that is said quietly, "" plain.
type Span struct {
	Class string
	Text  string
}

// tokens of JSON, in the order in which they are tried at each place.
var jsonToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"\s*:?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[\[\]{},]|\s+`)

// Spans colours JSON and leaves any other text as it is.
func Spans(text string) []Span {
	if !json.Valid([]byte(text)) {
		return []Span{{Text: text}}
	}
	var out []Span
	for _, token := range jsonToken.FindAllString(text, -1) {
		class := tokenClass(token)
		if n := len(out); n > 0 && out[n-1].Class == class {
			out[n-1].Text += token
			continue
		}
		if name, ok := strings.CutSuffix(token, ":"); ok && class == "k" {
			out = append(out, Span{Class: "k", Text: name}, Span{Text: ":"})
			continue
		}
		out = append(out, Span{Class: class, Text: token})
	}
	return out
}

func tokenClass(token string) string {
	switch c := token[0]; {
	case c == '"' && strings.HasSuffix(token, ":"):
		return "k"
	case c == '"':
		return "s"
	case c == '-' || c >= '0' && c <= '9':
		return "n"
	case c == 't' || c == 'f' || c == 'n' && token == "null":
		return "n"
	}
	return ""
}
