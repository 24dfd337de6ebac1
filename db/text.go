package db

import (
	"database/sql/driver"
	"fmt"
	"strings"

	"ax/app/access"
)

// maybe is a text column in which the empty text is NULL.
type maybe string

// Value implements driver.Valuer.
func (m maybe) Value() (driver.Value, error) {
	if m == "" {
		return nil, nil
	}
	return string(m), nil
}

// Scan implements sql.Scanner.
func (m *maybe) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*m = ""
	case string:
		*m = maybe(v)
	case []byte:
		*m = maybe(v)
	default:
		return fmt.Errorf("read a text from %T", src)
	}
	return nil
}

// clip cuts s to at most n characters and mends what is no UTF-8, so that a
// text never makes a change of state fail.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// maxBody is what a TEXT column holds, in bytes.
const maxBody = 65_535

// body is text of a target as a TEXT column can hold it: what a target sends
// must never keep a run from ending.
func body(s string) maybe {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxBody {
		s = strings.ToValidUTF8(s[:maxBody], "") // not half a character
	}
	return maybe(s)
}

// likePrefix is the LIKE pattern of texts that begin with s, with % and _
// taken literally; the query says ESCAPE '!'.
func likePrefix(s string) string { return likeEscaper.Replace(s) + "%" }

// likePart is the LIKE pattern of texts that hold s.
func likePart(s string) string { return "%" + likeEscaper.Replace(s) + "%" }

var likeEscaper = strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")

// where gathers the conditions of a query and their arguments.
type where struct {
	parts []string
	args  []any
}

func (w *where) and(cond string, args ...any) {
	w.parts = append(w.parts, cond)
	w.args = append(w.args, args...)
}

// begins limits the query to biz_ids that begin with s, byte by byte: LIKE
// would not tell a from A on SQLite, and finds no key there. They are of
// printable ASCII, so \x7f is beyond all of them.
func (w *where) begins(column, s string) { w.and(column+">=? AND "+column+"<?", s, s+"\x7f") }

// scope limits the query to the teams that the actor may read; an empty scope
// finds nothing.
func (w *where) scope(column string, s access.Scope) {
	switch {
	case s.All:
	case len(s.Teams) == 0:
		w.and("1=0")
	default:
		w.and(column+" IN ?", s.Teams)
	}
}

// shared is scope for what the installation (team 0) shares with its teams.
func (w *where) shared(column string, s access.Scope) {
	switch {
	case s.All:
	case len(s.Teams) == 0:
		w.and(column + "=0")
	default:
		w.and("("+column+"=0 OR "+column+" IN ?)", s.Teams)
	}
}

// sql is the WHERE clause with a leading blank.
func (w *where) sql() string {
	if len(w.parts) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.parts, " AND ")
}
