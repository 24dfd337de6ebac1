package app

import (
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"ax/app/fault"
	"ax/app/sched"
)

// instantForm is RFC 3339 with milliseconds.
const instantForm = "2006-01-02T15:04:05.000Z07:00"

// instant is a moment as the API says it: RFC 3339 in UTC with milliseconds,
// or null.
type instant time.Time

// MarshalJSON implements json.Marshaler.
func (i instant) MarshalJSON() ([]byte, error) {
	if time.Time(i).IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + time.Time(i).UTC().Format(instantForm) + `"`), nil
}

// IsZero lets a field be left out by omitzero.
func (i instant) IsZero() bool { return time.Time(i).IsZero() }

// Schema implements huma.SchemaProvider.
func (instant) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time", Nullable: true, Examples: []any{"2026-12-02T07:02:07.000Z"}}
}

// list makes a nil list an empty one: JSON tells them apart.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// page is what the list's parameters ask for.
func (in ListIn) page() sched.PageRequest {
	return sched.PageRequest{After: in.Cursor, Limit: in.Limit}
}

// checkCursor refuses what no page of the list gave.
func checkCursor(cursor string, is func(string) bool) error {
	if cursor != "" && !is(cursor) {
		return fault.Invalid(fault.Field("cursor", "This is not the next_cursor of a page"))
	}
	return nil
}

// isID tells whether s is an id as instances have it: a UUID in lower case.
func isID(s string) bool {
	u, err := uuid.Parse(s)
	return err == nil && u.String() == s
}

// isNumber tells whether s is an id as dead letters have it.
func isNumber(s string) bool {
	_, err := rowNumber(s)
	return err == nil
}

// between checks a span of time of a list.
func between(since, until time.Time) error {
	var bad []fault.FieldError
	odd := func(t time.Time) bool { return !t.IsZero() && (t.Year() < 1970 || t.Year() > 9999) }
	if odd(since) {
		bad = append(bad, fault.Field("since", "A year between 1970 and 9999 is needed"))
	}
	if odd(until) {
		bad = append(bad, fault.Field("until", "A year between 1970 and 9999 is needed"))
	}
	return fault.Invalid(bad...)
}

// checkBizID refuses what can't begin a biz_id: a database may refuse to
// compare it.
func checkBizID(s string) error {
	if s != "" && !isCode(s) {
		return fault.Invalid(fault.Field("biz_id", "Printable ASCII without blanks only"))
	}
	return nil
}

// together is Invalid with the fields of all the errors, or nil.
func together(errs ...error) error {
	var bad []fault.FieldError
	for _, err := range errs {
		bad = append(bad, fault.Fields(err)...)
	}
	return fault.Invalid(bad...)
}
