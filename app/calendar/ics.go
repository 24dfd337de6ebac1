package calendar

import (
	"strconv"
	"strings"
	"time"

	"ax/app/fault"
)

// The marks of a summary that say what the day is, whatever its name.
const (
	workMark = "（班）"
	offMark  = "（休）"
)

// ReadICS reads the events of an iCalendar file: all-day events, of one day or
// more; of an event with times, its dates. One whose summary has 班 or workday
// is worked, the others are off. Repeated events are refused by line. Faults:
// TooLarge, Malformed.
func ReadICS(text string) (Reading, error) {
	r := icsReader{Reading: Reading{Days: map[Day]Entry{}}, seen: map[Day]int{}}
	text, err := readable(text)
	if err != nil {
		return r.Reading, err
	}
	if FormatOf(text) != ICS {
		return r.Reading, fault.Malformed("This is no iCalendar file: it doesn't begin with BEGIN:VCALENDAR")
	}
	unfold(text, r.line)
	if len(r.open) > 0 {
		r.bad(r.last, "END", "The file ends early: %s is not closed", r.open[len(r.open)-1])
	}
	return r.Reading, nil
}

// unfold gives the content lines with the number of their first line.
func unfold(text string, see func(number int, line string)) {
	var b strings.Builder
	number, first := 0, 1
	flush := func() {
		if line := b.String(); strings.TrimSpace(line) != "" {
			see(first, line)
		}
		b.Reset()
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		number++
		if b.Len() > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
			b.WriteString(line[1:])
			continue
		}
		flush()
		first = number
		b.WriteString(line)
	}
	flush()
}

// icsReader goes through the content lines.
type icsReader struct {
	Reading
	open  []string    // components that have begun
	event *icsEvent   // the one that is being read
	seen  map[Day]int // the line of each day
	last  int
}

// icsEvent is an event as far as it is read.
type icsEvent struct {
	line             int
	from, to         Day // to is the day after the last
	days             int // of DURATION
	hasFrom, hasTo   bool
	refused, skipped bool
	summary          string
}

// maxDepth bounds components within components.
const maxDepth = 8

func (r *icsReader) line(number int, line string) {
	r.last = number
	name, value, ok := property(line)
	if !ok {
		r.bad(number, line, "This is no line of an iCalendar file")
		return
	}
	switch {
	case name == "BEGIN":
		r.begin(number, strings.ToUpper(strings.TrimSpace(value)))
	case name == "END":
		r.end(number, line, strings.ToUpper(strings.TrimSpace(value)))
	case r.event != nil && r.open[len(r.open)-1] == "VEVENT":
		r.of(number, line, name, value)
	}
}

func (r *icsReader) begin(number int, what string) {
	if len(r.open) == maxDepth {
		r.bad(number, what, "Components lie too deep in each other")
		return
	}
	if r.open = append(r.open, what); what == "VEVENT" {
		r.event = &icsEvent{line: number}
	}
}

func (r *icsReader) end(number int, line, what string) {
	n := len(r.open) - 1
	if n < 0 || r.open[n] != what {
		r.bad(number, line, "Nothing of this name is open here")
		return
	}
	r.open = r.open[:n]
	if what == "VEVENT" && r.event != nil {
		r.add(r.event)
		r.event = nil
	}
}

// of reads a property of an event; what it doesn't know it leaves out.
func (r *icsReader) of(number int, line, name, value string) {
	e := r.event
	switch name {
	case "DTSTART", "DTEND":
		d, exact, ok := icsDate(value)
		switch {
		case !ok:
			r.bad(number, line, "%q is not a date; write it as 20261001", quoted(value))
			e.refused = true
		case name == "DTSTART":
			e.from, e.hasFrom = d, true
		default:
			e.to, e.hasTo = d, true
			if !exact { // it ends within that day
				e.to++
			}
		}
	case "DURATION":
		if e.days = icsDays(value); e.days == 0 {
			r.bad(number, line, "Only durations of whole days and weeks are read")
			e.refused = true
		}
	case "RRULE", "RDATE":
		r.bad(number, line, "Repeated events are not read: export each day, or each year, as an event of its own")
		e.refused = true
	case "STATUS":
		e.skipped = e.skipped || strings.EqualFold(strings.TrimSpace(value), "CANCELLED")
	case "SUMMARY":
		e.summary = unescape(value)
	}
}

// add takes over the days of an event.
func (r *icsReader) add(e *icsEvent) {
	if e.refused || e.skipped {
		return
	}
	if !e.hasFrom {
		r.bad(e.line, "BEGIN:VEVENT", "The event has no DTSTART")
		return
	}
	end := e.to
	switch {
	case e.days > 0:
		end = e.from + Day(e.days)
	case !e.hasTo || e.to == e.from:
		end = e.from + 1
	}
	switch {
	case end < e.from:
		r.bad(e.line, e.summary, "The event ends before it begins")
		return
	case end-e.from > maxSpan:
		r.bad(e.line, e.summary, "The event is longer than %d days", maxSpan)
		return
	case !inRange(e.from.Year()) || !inRange((end - 1).Year()):
		r.bad(e.line, e.summary, "%q lies outside the years 1970 to 2199", e.from.String())
		return
	}
	entry := ofSummary(e.summary)
	for d := e.from; d < end; d++ {
		if !r.put(e, d, entry) {
			return
		}
	}
}

// put lists a day. Of two events on one day the first holds, which is told
// when they don't say the same of it.
func (r *icsReader) put(e *icsEvent, d Day, entry Entry) bool {
	old, there := r.Days[d]
	switch {
	case there && old.Work != entry.Work:
		r.bad(e.line, e.summary, "%s stands on line %d already", d.String(), r.seen[d])
	case there:
	case len(r.Days) == MaxDays:
		r.bad(e.line, e.summary, "A calendar lists at most %d days", MaxDays)
		return false
	default:
		r.Days[d], r.seen[d] = entry, e.line
	}
	return true
}

// ofSummary tells what an event is by its summary.
func ofSummary(s string) Entry {
	s = oneLine(s)
	if name, ok := strings.CutSuffix(s, offMark); ok {
		return Entry{Name: strings.TrimSpace(name)}
	}
	if name, ok := strings.CutSuffix(s, workMark); ok {
		return Entry{Work: true, Name: strings.TrimSpace(name)}
	}
	return Entry{Work: tellsOfWork(s), Name: s}
}

func tellsOfWork(name string) bool {
	return strings.Contains(name, "班") || strings.Contains(strings.ToLower(name), "workday")
}

// summary is a name as ofSummary reads it back.
func (e Entry) summary() string {
	switch {
	case e.Work:
		return e.Name + workMark
	case e.Name == "" || tellsOfWork(e.Name) || strings.HasSuffix(e.Name, offMark):
		return e.Name + offMark
	}
	return e.Name
}

// property splits a content line. Parameters are left out: dates are read by
// how they are written, whatever VALUE and TZID say.
func property(line string) (name, value string, ok bool) {
	quoted := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case c == ':' && !quoted:
			name, _, _ = strings.Cut(line[:i], ";")
			return strings.ToUpper(strings.TrimSpace(name)), line[i+1:], i > 0
		}
	}
	return "", "", false
}

// icsDate reads 20270101 and 20270101T083000Z; exact tells that it is the very
// begin of the day.
func icsDate(value string) (d Day, exact, ok bool) {
	value = strings.TrimSpace(value)
	date, clock, timed := strings.Cut(value, "T")
	t, err := time.Parse("20060102", date)
	if err != nil {
		return 0, false, false
	}
	if !timed {
		return DayOf(t), true, true
	}
	clock = strings.TrimSuffix(clock, "Z")
	if _, err := time.Parse("150405", clock); err != nil {
		return 0, false, false
	}
	return DayOf(t), clock == "000000", true
}

// icsDays reads P3D and P2W; 0 is anything else.
func icsDays(value string) int {
	value = strings.TrimPrefix(strings.TrimSpace(value), "+")
	rest, ok := strings.CutPrefix(value, "P")
	if !ok || len(rest) < 2 || len(rest) > 5 {
		return 0
	}
	n, err := strconv.Atoi(rest[:len(rest)-1])
	switch unit := rest[len(rest)-1]; {
	case err != nil || n < 0:
		return 0
	case unit == 'D':
		return n
	case unit == 'W':
		return 7 * n
	}
	return 0
}

// unescape gives the text of an escaped value.
func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\,`, `,`, `\;`, `;`, `\n`, "\n", `\N`, "\n").Replace(s)
}

func escape(s string) string {
	return strings.NewReplacer(`\`, `\\`, `,`, `\,`, `;`, `\;`).Replace(s)
}

// WriteICS gives the days as an iCalendar file, an event for each stretch of
// days that are alike. now stamps the events.
func WriteICS(code, name string, days map[Day]Entry, now time.Time) string {
	var b strings.Builder
	put := func(line string) { fold(&b, line) }
	put(beginCalendar)
	put("VERSION:2.0")
	put("PRODID:-//ax//calendar//EN")
	put("CALSCALE:GREGORIAN")
	put("X-WR-CALNAME:" + escape(squeeze(name)))
	stamp := now.UTC().Format("20060102T150405Z")
	for _, s := range Spans(Diff(nil, days)) {
		put("BEGIN:VEVENT")
		put("UID:" + compact(s.From) + "-" + code + "@ax")
		put("DTSTAMP:" + stamp)
		put("DTSTART;VALUE=DATE:" + compact(s.From))
		put("DTEND;VALUE=DATE:" + compact(s.To+1))
		put("SUMMARY:" + escape(s.Now.summary()))
		put("TRANSP:TRANSPARENT")
		put("END:VEVENT")
	}
	put("END:VCALENDAR")
	return b.String()
}

func compact(d Day) string { return d.Time().Format("20060102") }

// maxOctets is the length of a line without its end.
const maxOctets = 75

// fold writes a content line in pieces of at most 75 octets, never within a
// character.
func fold(b *strings.Builder, line string) {
	room := maxOctets
	for len(line) > room {
		cut := room
		for line[cut]&0xC0 == 0x80 { // not the begin of a character
			cut--
		}
		b.WriteString(line[:cut] + "\r\n ")
		line, room = line[cut:], maxOctets-1 // the space counts
	}
	b.WriteString(line + "\r\n")
}
