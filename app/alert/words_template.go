package alert

import (
	"slices"
	"strings"
	"unicode/utf8"

	"ax/app/fault"
)

// MaxTemplate is how long a channel's own text may be, in characters.
const MaxTemplate = 2000

// TemplateNames are what a channel's own text may name, as {{name}}.
func TemplateNames() []string {
	return []string{"level", "rule", "scope", "value", "threshold", "since", "lasted", "owner", "count", "link"}
}

// CheckTemplate tells what is wrong with a channel's own text, of the named
// field.
func CheckTemplate(field, text string) []fault.FieldError {
	if utf8.RuneCountInString(text) > MaxTemplate {
		return []fault.FieldError{fault.Field(field, "at most %d characters", MaxTemplate)}
	}
	if !utf8.ValidString(text) {
		return []fault.FieldError{fault.Field(field, "this is no text that can be read")}
	}
	var out []fault.FieldError
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "{{")
		if !ok {
			return out
		}
		name, next, ok := strings.Cut(after, "}}")
		if !ok || strings.Contains(name, "\n") {
			return append(out, fault.Field(field, "a {{ is not closed by }}"))
		}
		if !slices.Contains(TemplateNames(), strings.TrimSpace(name)) {
			out = append(out, fault.Field(field, "there is no {{%s}}; there are %s", oneLine(name, 40), strings.Join(TemplateNames(), ", ")))
		}
		rest = next
	}
}

// fill writes the message by the channel's own text: its first line is the
// title, each other one a line. What is put in is text and nothing else: a name
// with {{link}} in it stays as it is.
func (m Message) fill(lang string, w Where, template string) (string, []Line) {
	values := m.values(lang, w)
	var filled []string
	for l := range strings.Lines(firstBytes(template, MaxTemplate*utf8.UTFMax)) {
		if l = oneLine(fillLine(l, values), maxValue); l != "" {
			filled = append(filled, l)
		}
	}
	if len(filled) == 0 {
		return m.title(lang), m.lines(lang, w)
	}
	var lines []Line
	for _, l := range filled[1:min(len(filled), maxLines)] {
		lines = append(lines, Line{Value: l})
	}
	return oneLine(filled[0], maxTitle), lines
}

// fillLine replaces the names of one line, each once from left to right.
func fillLine(line string, values map[string]string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(line, "{{")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		name, rest, closed := strings.Cut(after, "}}")
		value, known := values[strings.TrimSpace(name)]
		if !closed || !known {
			b.WriteString("{{")
			line = after
			continue
		}
		b.WriteString(value)
		line = rest
	}
}

// values of the names. Of a test without a rule they are examples.
func (m Message) values(lang string, w Where) map[string]string {
	if m.Rule == "" && m.Kind == Test {
		m.Rule, m.Metric, m.Level, m.Value, m.Threshold, m.Count = wordTest.in(lang), InARow, P2, 3, 3, 1
	}
	value := m.Value
	if m.Kind == Closed {
		value = m.Worst
	}
	since := ""
	if !m.Since.IsZero() {
		since = clock(m.Since, w.Zone)
	}
	out := map[string]string{
		"level": strings.ToUpper(string(m.Level)), "rule": RuleName(lang, m.Rule), "scope": m.Scope.words(lang),
		"value": Show(lang, m.unit(), value), "threshold": Show(lang, m.unit(), m.Threshold), "since": since,
		"lasted": m.lasted(lang, w), "owner": w.owners(lang, m.Mention), "count": number(float64(m.count())),
		"link": w.link(m.Path),
	}
	for name, v := range out {
		out[name] = oneLine(v, maxTitle)
	}
	return out
}
