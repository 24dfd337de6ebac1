package jobs

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLine is the longest one-line error, in characters.
const maxLine = 500

// readable makes text of what a target sent: valid UTF-8, line ends as \n,
// and control characters, line separators and direction marks as visible
// signs, so that they can neither break a column, a log line nor the page.
func readable(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < 0x20:
			b.WriteRune(0x2400 + r) // control pictures: ESC is ␛, NUL is ␀
		case r == 0x7f:
			b.WriteRune('␡')
		case r == utf8.RuneError:
			b.WriteRune(utf8.RuneError)
		case r == '\u200c' || r == '\u200d' || !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			b.WriteRune(r) // U+200C and U+200D join letters and emoji
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// oneLine makes a line of at most 500 characters for lists and messages.
func oneLine(s string) string {
	return firstRunes(strings.Join(strings.Fields(readable(s)), " "), maxLine)
}

// firstRunes cuts after n characters and shows it.
func firstRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// firstBytes cuts valid UTF-8 to at most n bytes without splitting a
// character.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
