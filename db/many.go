package db

import (
	"strings"

	"gorm.io/gorm"
)

// manyRows is one UPDATE of several rows by their key. A column with the same
// value in all of them is set as it is, any other by a CASE over the key.
type manyRows struct {
	key  string
	keys []string
	set  strings.Builder
	args []any
}

func updateOf[R any](key string, rows []R, keyOf func(R) string) *manyRows {
	u := &manyRows{key: key, keys: make([]string, len(rows))}
	for i, r := range rows {
		u.keys[i] = keyOf(r)
	}
	return u
}

// all sets columns alike in all rows, as they stand in an UPDATE.
func (u *manyRows) all(assignments string, args ...any) {
	if u.set.Len() > 0 {
		u.set.WriteString(", ")
	}
	u.set.WriteString(assignments)
	u.args = append(u.args, args...)
}

// each sets a column to the value of each row. Values are strings, numbers or
// Millis.
func (u *manyRows) each(column string, value func(i int) any) {
	first, same := value(0), true
	for i := 1; i < len(u.keys) && same; i++ {
		same = value(i) == first
	}
	if same {
		u.all(column+"=?", first)
		return
	}
	args := make([]any, 0, 2*len(u.keys))
	for i, k := range u.keys {
		args = append(args, k, value(i))
	}
	u.all(column+"=CASE "+u.key+strings.Repeat(" WHEN ? THEN ?", len(u.keys))+" END", args...)
}

// exec runs the update on a table, with the guard that all rows must pass, and
// tells how many did.
func (u *manyRows) exec(tx *gorm.DB, table, guard string, args ...any) (int64, error) {
	all := append(append(u.args, u.keys), args...)
	res := tx.Exec("UPDATE "+table+" SET "+u.set.String()+" WHERE "+u.key+" IN ? AND "+guard, all...)
	return res.RowsAffected, res.Error
}

// alike splits rows by what their statements have in common; the rows of each
// part and the parts stay in their order.
func alike[R any, K comparable](rows []R, kind func(R) K) [][]R {
	var parts [][]R
	at := map[K]int{}
	for _, r := range rows {
		k := kind(r)
		i, ok := at[k]
		if !ok {
			i = len(parts)
			at[k] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], r)
	}
	return parts
}
