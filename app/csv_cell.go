package app

import "strings"

// formulaStart are the characters with which a spreadsheet takes a cell for a
// formula, their full-width forms included: some locales read those alike.
const formulaStart = "=+-@\t\r\n＝＋－＠"

// csvCell is text as a cell of a file that people open in a spreadsheet: what
// would be a formula there begins with an apostrophe and stays text. Quotes
// and commas are encoding/csv's.
func csvCell(s string) string {
	first := strings.TrimLeft(s, " \u00a0\u3000\ufeff")
	if first != "" && strings.ContainsRune(formulaStart, []rune(first)[0]) {
		return "'" + s
	}
	return s
}
