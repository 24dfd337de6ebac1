package cron

import (
	"unicode"
	"unicode/utf8"
)

// checkCharacters refuses everything but ASCII text and blanks and names what
// it found: a full-width digit or space looks right to the person who typed it.
func checkCharacters(s string) *Error {
	position := 0
	for i, c := range s {
		position++
		if c == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return refuse("character %d is not valid UTF-8", position)
			}
		}
		if blank := c >= '\t' && c <= '\r'; blank || c >= ' ' && c <= '~' {
			continue
		}
		return strangeCharacter(c, position)
	}
	return nil
}

func strangeCharacter(c rune, position int) *Error {
	switch {
	case c == '\u3000':
		return refuse("character %d is a full-width space (U+3000); write an ordinary space", position)
	case c >= '\uff01' && c <= '\uff5e':
		return refuse("character %d is the full-width %q (U+%04X); write %q", position, string(c), c, string(c-0xff01+'!'))
	case unicode.IsSpace(c):
		return refuse("character %d is a special space (U+%04X); write an ordinary space", position, c)
	case unicode.Is(unicode.Pd, c) || c == '\u2212':
		return refuse("character %d is the dash %q (U+%04X); write an ordinary hyphen (-)", position, string(c), c)
	case unicode.IsDigit(c):
		return refuse("character %d is the digit %q (U+%04X); write an ordinary digit 0–9", position, string(c), c)
	case !unicode.IsPrint(c):
		return refuse("character %d is invisible (U+%04X); delete it", position, c)
	}
	return refuse("character %d, %q (U+%04X), has no place in a cron expression; only ASCII characters have", position, string(c), c)
}
