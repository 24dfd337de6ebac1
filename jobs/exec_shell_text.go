package jobs

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes are the sequences by which a terminal is told what to do: colours,
// moves, titles.
var escapes = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-~])`)

// plainOutput makes text of what a command printed: valid UTF-8 without the
// words for a terminal, control characters and what changes the direction of
// writing. A line that was written over stays as several.
func plainOutput(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.ContainsRune(s, '\x1b') {
		s = escapes.ReplaceAllString(s, "")
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r' || r == '\v' || r == '\f' || r == '\u2028' || r == '\u2029':
			return '\n'
		case r == '\u200c' || r == '\u200d': // they join letters and emoji
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return -1
		}
		return r
	}, s)
}
