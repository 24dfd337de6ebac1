package cron

import (
	"fmt"
	"strings"
	"time"
)

// maxLength bounds an expression in bytes, before anything else is looked at.
const maxLength = 256

// maxEvery bounds @every. Longer waits are dates, not rates.
const maxEvery = 87600 * time.Hour

// Error is a refused expression or zone. Format is an English text that serves
// as the key of its translation, Args are its values in order.
type Error struct {
	Format string
	Args   []any
}

// Error gives the English text.
func (e *Error) Error() string { return fmt.Sprintf(e.Format, e.Args...) }

func refuse(format string, args ...any) *Error { return &Error{Format: format, Args: args} }

// Expr is a parsed expression. It is immutable and safe for use by several
// goroutines. The zero value never fires.
type Expr struct{ r *rule }

// rule is what an expression means.
type rule struct {
	text   string
	fields []string // as written, seconds first; nil for @every
	quartz bool
	every  time.Duration

	sec, min, hour uint64 // bit n: value n
	month          uint64 // bits 1–12
	days           dayRule
	table          dayTable
	years          *yearSet // nil: every year
	lastYearEnd    int64    // Unix second at which the last of years ends in UTC
	realTime       bool     // second, minute or hour begins with *
}

// Parse reads an expression of up to 256 bytes in either dialect (see the
// package comment). The error is always an *Error that names the field, the
// bad part and what would be right there.
func Parse(expr string) (Expr, error) {
	r, err := parse(expr)
	if err != nil {
		return Expr{}, err
	}
	return Expr{r}, nil
}

// parse returns *Error, not error, so that no other kind can slip in.
func parse(expr string) (*rule, *Error) {
	if len(expr) > maxLength {
		return nil, refuse("an expression has at most %d characters, this one has %d", maxLength, len(expr))
	}
	if err := checkCharacters(expr); err != nil {
		return nil, err
	}
	words := strings.Fields(expr)
	if len(words) == 0 {
		return nil, refuse("the expression is empty; write five fields (minute hour day month weekday), such as 30 9 * * MON-FRI")
	}
	text := strings.Join(words, " ")
	if prefix := zonePrefix(words[0]); prefix != "" {
		return nil, refuse("the zone has its own field: leave %q out of the expression", prefix)
	}
	if strings.HasPrefix(text, "@") {
		return parseMacro(text, words)
	}
	return parseFields(text, words)
}

// zonePrefix returns "TZ=" or "CRON_TZ=" as written, if word begins with one.
func zonePrefix(word string) string {
	name, _, ok := strings.Cut(word, "=")
	if ok && (strings.EqualFold(name, "TZ") || strings.EqualFold(name, "CRON_TZ")) {
		return name + "="
	}
	return ""
}

func parseMacro(text string, words []string) (*rule, *Error) {
	macro := strings.ToLower(words[0])
	if macro == "@every" {
		return parseEvery(text, words[1:])
	}
	if macro == "@reboot" {
		return nil, refuse("@reboot has no time of day; start such a task by hand or through the API")
	}
	fields := map[string]string{
		"@hourly":   "0 * * * *",
		"@daily":    "0 0 * * *",
		"@midnight": "0 0 * * *",
		"@weekly":   "0 0 * * 0",
		"@monthly":  "0 0 1 * *",
		"@yearly":   "0 0 1 1 *",
		"@annually": "0 0 1 1 *",
	}[macro]
	if fields == "" || len(words) > 1 {
		return nil, refuse("%q is not known; there are @hourly, @daily, @weekly, @monthly, @yearly and @every with a time, such as @every 90s", text)
	}
	return parseFields(text, strings.Fields(fields))
}

func parseEvery(text string, args []string) (*rule, *Error) {
	if len(args) != 1 {
		return nil, refuse("@every takes one time after it, such as @every 90s or @every 1h30m")
	}
	d, err := time.ParseDuration(args[0])
	switch {
	case err != nil:
		return nil, refuse("@every %q is not a time; write hours, minutes and seconds, such as 1h30m or 90s", args[0])
	case d < time.Second || d%time.Second != 0:
		return nil, refuse("@every %q is not a whole number of seconds of at least 1s", args[0])
	case d > maxEvery:
		return nil, refuse("@every %q is longer than ten years (87600h)", args[0])
	}
	return &rule{text: text, every: d}, nil
}

func parseFields(text string, words []string) (*rule, *Error) {
	r := &rule{text: text}
	switch n := len(words); {
	case n < 5:
		return nil, refuse("too few fields: %d; write five (minute hour day month weekday), or six or seven with the second first and the year last", n)
	case n > 7:
		return nil, refuse("too many fields: %d; write five (minute hour day month weekday), or six or seven with the second first and the year last", n)
	case n == 5:
		r.fields = append([]string{"0"}, words...)
	default:
		r.fields, r.quartz = words, true
	}
	if err := r.readClock(); err != nil {
		return nil, err
	}
	if err := r.readDate(); err != nil {
		return nil, err
	}
	if !r.canFire() {
		return nil, refuse("never fires: no date fits the day, month and year asked for")
	}
	return r, nil
}

func (r *rule) readClock() (err *Error) {
	if r.sec, err = secondField.bits(r.fields[0]); err != nil {
		return err
	}
	if r.min, err = minuteField.bits(r.fields[1]); err != nil {
		return err
	}
	if r.hour, err = hourField.bits(r.fields[2]); err != nil {
		return err
	}
	for _, f := range r.fields[:3] {
		r.realTime = r.realTime || strings.HasPrefix(f, "*")
	}
	return nil
}

func (r *rule) readDate() (err *Error) {
	if r.month, err = monthField.bits(r.fields[4]); err != nil {
		return err
	}
	if r.days, err = readDays(r.fields[3], r.fields[5], r.quartz); err != nil {
		return err
	}
	r.table = r.days.table()
	if len(r.fields) < 7 {
		return nil
	}
	if r.years, err = readYears(r.fields[6]); err == nil && r.years != nil {
		r.lastYearEnd = daysBefore(r.years.last()+1, 1) * daySeconds
	}
	return err
}

// String returns the expression as it was written, with its blanks folded to
// single spaces and trimmed. Parse reads it back to the same meaning.
func (e Expr) String() string {
	if e.r == nil {
		return ""
	}
	return e.r.text
}

// Quartz says whether the expression has six or seven fields and so follows
// the Quartz rules.
func (e Expr) Quartz() bool { return e.r != nil && e.r.quartz }

// Every returns the length of an @every expression in whole seconds.
func (e Expr) Every() (time.Duration, bool) {
	if e.r == nil || e.r.every == 0 {
		return 0, false
	}
	return e.r.every, true
}
