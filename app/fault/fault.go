// Package fault is the one vocabulary of errors that a rule may state: what
// went wrong, of which kind, and at which field. Rules make faults; the edge
// (app) turns kinds into statuses. Messages are English formats with their
// arguments kept apart, so that a page can show them in the viewer's language.
//
// It imports the standard library only.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// Kind says what sort of fact an error states.
type Kind uint8

// The kinds, with the HTTP status that the edge gives them.
const (
	KindInternal        Kind = iota // 500: a fault of ours
	KindMalformed                   // 400: cannot be read at all
	KindUnauthenticated             // 401: nobody is signed in
	KindDenied                      // 403: may not do this
	KindNotFound                    // 404: no such object, or none that the actor may know of
	KindConflict                    // 409: the object's state does not allow it
	KindGone                        // 410: it was there, and is over for good
	KindTooLarge                    // 413: more than ax takes
	KindInvalid                     // 422: readable, but a field breaks a rule
	KindTooMany                     // 429: too often
	KindUnavailable                 // 503: database or Redis away
)

// Text is an English format and its arguments: translatable, and readable as
// it is.
type Text struct {
	Format string
	Args   []any
}

// String is the text in English.
func (t Text) String() string {
	if len(t.Args) == 0 {
		return t.Format
	}
	return fmt.Sprintf(t.Format, t.Args...)
}

// FieldError is a rule broken by one field. Name is the field's path in the
// JSON form, such as "schedule.cron".
type FieldError struct {
	Name string
	Text Text
}

// Field states a rule broken by the named field.
func Field(name, format string, args ...any) FieldError {
	return FieldError{Name: name, Text: Text{Format: format, Args: args}}
}

// Error is a fault with its kind. Cause is for the log only.
type Error struct {
	Kind   Kind
	Text   Text
	Fields []FieldError
	Cause  error
}

// Error gives the English text with all fields; never the cause's secrets:
// the cause is reached by Unwrap.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Text.String())
	for i, f := range e.Fields {
		if i == 0 {
			b.WriteString(": ")
		} else {
			b.WriteString("; ")
		}
		b.WriteString(f.Name + ": " + f.Text.String())
	}
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

func of(k Kind, format string, args []any) *Error {
	return &Error{Kind: k, Text: Text{Format: format, Args: args}}
}

// Malformed: the input cannot be read.
func Malformed(format string, args ...any) error { return of(KindMalformed, format, args) }

// Unauthenticated: nobody is signed in, or the credentials are wrong.
func Unauthenticated(format string, args ...any) error { return of(KindUnauthenticated, format, args) }

// Denied: the actor may see the object but not do this.
func Denied(format string, args ...any) error { return of(KindDenied, format, args) }

// NotFound: there is no such object for this actor.
func NotFound(format string, args ...any) error { return of(KindNotFound, format, args) }

// Conflict: the object's present state forbids it.
func Conflict(format string, args ...any) error { return of(KindConflict, format, args) }

// Gone: the object was there, and is over for good.
func Gone(format string, args ...any) error { return of(KindGone, format, args) }

// TooLarge: beyond a size limit.
func TooLarge(format string, args ...any) error { return of(KindTooLarge, format, args) }

// TooMany: beyond a rate limit.
func TooMany(format string, args ...any) error { return of(KindTooMany, format, args) }

// Unavailable: something ax needs is away; cause is logged, not shown.
func Unavailable(cause error, format string, args ...any) error {
	e := of(KindUnavailable, format, args)
	e.Cause = cause
	return e
}

// Invalid gathers broken fields: nil when there are none, so a validation can
// end with `return fault.Invalid(bad...)`.
func Invalid(fields ...FieldError) error {
	if len(fields) == 0 {
		return nil
	}
	e := of(KindInvalid, "Some fields need another value", nil)
	e.Fields = fields
	return e
}

// KindOf gives the kind of the first fault in err's chain; KindInternal for
// anything else.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return KindInternal
}

// Fields gives the field errors in err's chain.
func Fields(err error) []FieldError {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Fields
	}
	return nil
}

// TextOf gives the text to show for err; ok is false when err is no fault and
// its text must not be shown.
func TextOf(err error) (Text, bool) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Text, true
	}
	return Text{}, false
}
