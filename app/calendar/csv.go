package calendar

import (
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/fault"
)

// kindWords are what a line calls its day, in lower case: worked or off.
var kindWords = map[string]bool{
	"work": true, "workday": true, "worked": true, "working": true, "班": true, "补班": true, "上班": true, "工作日": true,
	"off": false, "holiday": false, "休": false, "休息": false, "放假": false, "节假日": false,
}

// ReadCSV reads lines such as 2027-01-01,off,元旦. Commas may be Chinese ones or
// tabs; a header, empty lines, comments after # and a byte order mark are left
// out. The first line about a day holds. Faults: TooLarge, Malformed.
func ReadCSV(text string) (Reading, error) {
	r := Reading{Days: map[Day]Entry{}}
	text, err := readable(text)
	if err != nil {
		return r, err
	}
	seen := map[Day]int{}
	begun := false
	number := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		number++
		line = strings.TrimSpace(line)
		fields, bad := splitLine(line)
		if line == "" || strings.HasPrefix(line, "#") || len(fields) == 0 {
			continue
		}
		if !begun && isHeader(fields[0]) {
			begun = true
			continue
		}
		begun = true
		d, e, why := readLine(fields, bad)
		switch {
		case why.Format != "":
			r.refuse(number, line, why)
		case seen[d] != 0:
			r.bad(number, line, "%s stands on line %d already", d.String(), seen[d])
		case len(r.Days) == MaxDays:
			r.bad(number, line, "A calendar lists at most %d days", MaxDays)
		default:
			seen[d], r.Days[d] = number, e
		}
	}
	return r, nil
}

func isHeader(field string) bool {
	switch strings.ToLower(field) {
	case "date", "day", "日期", "日":
		return true
	}
	return false
}

// readLine reads a line's fields; why is not empty when they can't be read.
func readLine(fields []string, bad fault.Text) (d Day, e Entry, why fault.Text) {
	if bad.Format != "" {
		return 0, e, bad
	}
	d, ok := readDate(fields[0])
	switch {
	case !ok:
		return 0, e, fault.Text{Format: "%q is not a date; write it as 2026-10-01", Args: []any{quoted(fields[0])}}
	case !inRange(d.Year()):
		return 0, e, fault.Text{Format: "%q lies outside the years 1970 to 2199", Args: []any{quoted(fields[0])}}
	case len(fields) < 2 || fields[1] == "":
		return 0, e, fault.Text{Format: "Off or workday is needed after the date"}
	case len(fields) > 3:
		return 0, e, fault.Text{Format: "There are %d fields; a name with a comma needs quotation marks", Args: []any{len(fields)}}
	}
	if e.Work, ok = kindWords[strings.ToLower(fields[1])]; !ok {
		return 0, e, fault.Text{Format: "%q is neither off nor workday", Args: []any{quoted(fields[1])}}
	}
	if len(fields) == 3 {
		e.Name = squeeze(unguarded(fields[2]))
	}
	if bad := checkDayName("", e.Name); bad != nil {
		return 0, e, bad[0].Text
	}
	return d, e, why
}

// readDate reads 2027-01-05, 2027-1-5, 2027/1/5, 2027.1.5, 20270105 and
// 2027年1月5日.
func readDate(s string) (Day, bool) {
	if len(s) > 20 { // 2027年12月31日 has 17
		return 0, false
	}
	s = strings.NewReplacer("/", "-", ".", "-", "年", "-", "月", "-", "日", "").Replace(s)
	for _, layout := range []string{time.DateOnly, "2006-1-2", "20060102"} {
		if t, err := time.Parse(layout, s); err == nil {
			return DayOf(t), true
		}
	}
	return 0, false
}

// splitLine gives the fields of a line without those that are empty at its
// end. A field may stand in quotation marks, doubled within.
func splitLine(line string) (fields []string, bad fault.Text) {
	for rest, more := line, true; more; {
		var field string
		rest = strings.TrimLeft(rest, " ")
		if strings.HasPrefix(rest, `"`) {
			var closed bool
			if field, rest, closed = cutQuoted(rest[1:]); !closed {
				return []string{field}, fault.Text{Format: "A quotation mark is not closed"}
			}
		} else {
			end := strings.IndexFunc(rest, isComma)
			if end < 0 {
				end = len(rest)
			}
			field, rest = rest[:end], rest[end:]
		}
		fields = append(fields, strings.TrimSpace(field))
		rest = strings.TrimLeft(rest, " ")
		r, size := utf8.DecodeRuneInString(rest)
		if more = rest != ""; more && !isComma(r) {
			return fields, fault.Text{Format: "A comma is needed after a closing quotation mark"}
		}
		rest = rest[size:]
	}
	for len(fields) > 0 && fields[len(fields)-1] == "" {
		fields = fields[:len(fields)-1]
	}
	return fields, bad
}

func isComma(r rune) bool { return r == ',' || r == '，' || r == '\t' }

// cutQuoted gives the text until the closing quotation mark, and what follows.
func cutQuoted(s string) (field, rest string, closed bool) {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '"')
		if i < 0 {
			return b.String() + s, "", false
		}
		b.WriteString(s[:i])
		if s = s[i+1:]; !strings.HasPrefix(s, `"`) {
			return b.String(), s, true
		}
		b.WriteByte('"')
		s = s[1:]
	}
}

// WriteCSV gives the days as ReadCSV reads them, with a byte order mark so that
// spreadsheets take it for UTF-8.
func WriteCSV(days map[Day]Entry) string {
	var b strings.Builder
	b.WriteString(bom + "date,kind,name\r\n")
	for _, d := range Sorted(days) {
		e := days[d]
		kind := "off"
		if e.Work {
			kind = "workday"
		}
		b.WriteString(d.String() + "," + kind + "," + field(guarded(e.Name)) + "\r\n")
	}
	return b.String()
}

// field is a name as a field, in quotation marks where it needs them.
func field(s string) string {
	if strings.ContainsFunc(s, isComma) || strings.ContainsAny(s, `"`) {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// guarded marks a name that a spreadsheet would take for a formula.
func guarded(name string) string {
	if name != "" && strings.ContainsRune("=+-@'", rune(name[0])) {
		return "'" + name
	}
	return name
}

func unguarded(name string) string {
	if len(name) > 1 && name[0] == '\'' && strings.ContainsRune("=+-@'", rune(name[1])) {
		return name[1:]
	}
	return name
}
