package app

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/fault"
)

// form reads the fields of a posted form and gathers what can't be read at
// its fields; a field that it isn't asked for is ignored. The rules of the
// domain come later: here it is only about how a value is written.
type form struct {
	values url.Values
	zone   *time.Location
	bad    []fault.FieldError
}

// readForm reads the body; zone is that of the times typed. Faults:
// Malformed, TooLarge.
func readForm(c *gin.Context, zone *time.Location) (*form, error) {
	if err := c.Request.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, tooLarge()
		}
		return nil, fault.Malformed("The form can’t be read")
	}
	for name, values := range c.Request.PostForm {
		if !clean(name, 1) || !clean(strings.Join(values, ""), 1) {
			return nil, fault.Malformed("The form has characters that ax can’t read")
		}
	}
	return &form{values: c.Request.PostForm, zone: zone}, nil
}

// form reads the body with times in the person's zone.
func (a *App) form(c *gin.Context) (*form, error) { return readForm(c, a.zoneOf(c)) }

// raw gives the field as it was sent: for passwords and payloads.
func (f *form) raw(name string) string { return f.values.Get(name) }

// text gives the field without space around it.
func (f *form) text(name string) string { return strings.TrimSpace(f.raw(name)) }

// all gives every value of a field that may come more than once, without
// empty ones.
func (f *form) all(name string) []string {
	var out []string
	for _, v := range f.values[name] {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// words gives the comma-separated words of a field, such as tags.
func (f *form) words(name string) []string { return wordsOf(f.raw(name)) }

// wordsOf are the words of a list with commas between.
func wordsOf(typed string) []string {
	var out []string
	for w := range strings.SplitSeq(typed, ",") {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// has tells whether the field was sent at all; a box that isn't ticked is not.
func (f *form) has(name string) bool { return f.values.Has(name) }

// ticked tells whether the box is.
func (f *form) ticked(name string) bool {
	v := f.text(name)
	return v != "" && v != "0" && v != "false"
}

// number gives the whole number of a field; 0 when it is empty.
func (f *form) number(name string) int {
	n, _ := f.optional(name)
	return n
}

// optional is number with whether there is one.
func (f *form) optional(name string) (n int, ok bool) {
	s := f.text(name)
	if s == "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		f.refuse(name, "%q is not a whole number", clip(s, 30))
		return 0, false
	}
	return n, true
}

// numbers gives whole numbers with commas or spaces between, such as delays.
func (f *form) numbers(name string) []int {
	var out []int
	for _, s := range strings.FieldsFunc(f.raw(name), func(r rune) bool { return r == ',' || r == '，' || r == ' ' || r == '\n' || r == '\r' || r == '\t' }) {
		n, err := strconv.Atoi(s)
		if err != nil {
			f.refuse(name, "%q is not a whole number", clip(s, 30))
			return nil
		}
		out = append(out, n)
	}
	return out
}

// time gives the instant of a date and time field in the person's zone; zero
// when it is empty.
func (f *form) time(name string) time.Time {
	s := f.text(name)
	if s == "" {
		return time.Time{}
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02 15:04:05"} {
		at, err := time.ParseInLocation(layout, s, f.zone)
		if err != nil {
			continue
		}
		if at.Format(layout) != s { // the clocks go forward over it
			f.refuse(name, "There is no %s in %s on that day: the clocks change", s[11:], f.zone.String())
			return time.Time{}
		}
		return firstPass(at, layout).UTC()
	}
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at.UTC()
	}
	f.refuse(name, "%q is not a date and time such as 2026-12-01 09:30", clip(s, 30))
	return time.Time{}
}

// firstPass is the earlier of two instants with the same name: when the
// clocks go back, an hour comes twice (on Lord Howe half of one).
func firstPass(at time.Time, layout string) time.Time {
	for _, back := range []time.Duration{time.Hour, 30 * time.Minute} {
		if earlier := at.Add(-back); earlier.Format(layout) == at.Format(layout) {
			return earlier
		}
	}
	return at
}

func (f *form) refuse(name, format string, args ...any) {
	f.bad = append(f.bad, fault.Field(name, format, args...))
}

// err is Invalid with all that can't be read, or nil.
func (f *form) err() error { return fault.Invalid(f.bad...) }

// with joins what can't be read and what breaks a rule into one fault, so
// that a person sees both at once. Of a field that can't be read, only that
// is said.
func (f *form) with(err error) error {
	if len(f.bad) == 0 || (err != nil && fault.KindOf(err) != fault.KindInvalid) {
		return err
	}
	all := f.bad
	for _, e := range fault.Fields(err) {
		if !f.broken(e.Name) {
			all = append(all, e)
		}
	}
	return fault.Invalid(all...)
}

func (f *form) broken(name string) bool {
	for _, e := range f.bad {
		if e.Name == name {
			return true
		}
	}
	return false
}
