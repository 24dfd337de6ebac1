package calendar

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ax/app/fault"
)

const (
	// MaxText bounds a calendar file, in bytes.
	MaxText = 512 << 10
	// maxBad is how many bad lines are told one by one.
	maxBad = 50
	// maxQuote is how much of a bad line is shown, in characters.
	maxQuote = 80
)

// Format is how days are written in a file.
type Format string

// The formats.
const (
	CSV Format = "csv"
	ICS Format = "ics"
)

// Reading is what was read of a file: what can't be read is told by line, and
// the rest is there.
type Reading struct {
	Days map[Day]Entry
	Bad  []BadLine
	More int // bad lines beyond those of Bad
}

// BadLine is a line that can't be read, counted from 1.
type BadLine struct {
	Number int
	Text   string // its beginning
	Why    fault.Text
}

// Words tells of the line by number, text and reason, as one text.
func (b BadLine) Words() fault.Text {
	return fault.Text{Format: "Line %d, %q: %s", Args: []any{b.Number, b.Text, b.Why}}
}

// Read reads a file of either format: one that has BEGIN:VCALENDAR is of
// iCalendar, whatever its name is. Faults: TooLarge, Malformed.
func Read(text string) (Reading, error) {
	if FormatOf(text) == ICS {
		return ReadICS(text)
	}
	return ReadCSV(text)
}

// FormatOf tells the format of a text by how it begins.
func FormatOf(text string) Format {
	begin := strings.TrimSpace(strings.TrimPrefix(text[:min(len(text), 200)], bom))
	if len(begin) >= len(beginCalendar) && strings.EqualFold(begin[:len(beginCalendar)], beginCalendar) {
		return ICS
	}
	return CSV
}

const (
	bom           = "\ufeff"
	beginCalendar = "BEGIN:VCALENDAR"
)

// readable refuses what is no text of a bearable length.
func readable(text string) (string, error) {
	if len(text) > MaxText {
		return "", fault.TooLarge("A calendar file has at most %d KB", MaxText>>10)
	}
	if !utf8.ValidString(text) {
		return "", fault.Malformed("The file is not in UTF-8: save it as “CSV UTF-8”")
	}
	return strings.TrimPrefix(text, bom), nil
}

func (r *Reading) bad(number int, text, format string, args ...any) {
	r.refuse(number, text, fault.Text{Format: format, Args: args})
}

func (r *Reading) refuse(number int, text string, why fault.Text) {
	if len(r.Bad) == maxBad {
		r.More++
		return
	}
	r.Bad = append(r.Bad, BadLine{Number: number, Text: quoted(text), Why: why})
}

// BadLines counts the lines that can't be read.
func (r *Reading) BadLines() int { return len(r.Bad) + r.More }

// quoted is a line as a message shows it.
func quoted(s string) string {
	if r := []rune(s); len(r) > maxQuote {
		s = string(r[:maxQuote-1]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// oneLine is a name as it is kept: with single spaces and without control
// characters, at most maxDayName characters.
func oneLine(s string) string {
	s = squeeze(s)
	if r := []rune(s); len(r) > maxDayName {
		s = strings.TrimSpace(string(r[:maxDayName-1])) + "…"
	}
	return s
}

// squeeze makes one space of each run of space and control characters.
func squeeze(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }), " ")
}

// inRange tells whether a year is one that calendars have.
func inRange(year int) bool { return year >= 1970 && year <= 2199 }
