package sched

import (
	"unicode"
	"unicode/utf8"
)

// FindWords gives where words stand in a text, whatever the case of letters,
// as pairs of bytes from and to; at most most of them, 0: all.
func FindWords(text, words string, most int) [][2]int {
	var want []rune
	for _, r := range words {
		want = append(want, fold(r))
	}
	if len(want) == 0 {
		return nil
	}
	var out [][2]int
	for at := 0; at < len(text); {
		if end, ok := matchAt(text[at:], want); ok {
			out = append(out, [2]int{at, at + end})
			if len(out) == most {
				return out
			}
			at += end
			continue
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return out
}

// matchAt tells whether the text begins with the folded runes, and in how many
// bytes.
func matchAt(text string, want []rune) (int, bool) {
	at := 0
	for _, w := range want {
		if at >= len(text) {
			return 0, false
		}
		r, size := utf8.DecodeRuneInString(text[at:])
		if r != w && fold(r) != w {
			return 0, false
		}
		at += size
	}
	return at, true
}

// fold is one rune for all that differ by case only.
func fold(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}
