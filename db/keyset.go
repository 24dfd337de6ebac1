package db

import (
	"slices"

	"ax/app/sched"
)

// keyset reads one page of a list by its key. asc: the list shows small keys
// first. read runs the query that begins after "SELECT … FROM table". One row
// more than a page tells whether there is another page.
func keyset[R any](p sched.PageRequest, w *where, key string, asc bool, read func(q string, args []any) ([]R, error), keyOf func(R) string) ([]R, sched.PageOf[R], error) {
	p = p.Bounded()
	forward := p.Before == ""
	rising := asc == forward
	op, order := " < ?", " DESC"
	if rising {
		op, order = " > ?", ""
	}
	if from := p.After + p.Before; from != "" {
		w.and(key+op, from)
	}
	rows, err := read(w.sql()+" ORDER BY "+key+order+" LIMIT ?", append(w.args, p.Limit+1))
	if err != nil {
		return nil, sched.PageOf[R]{}, err
	}
	more := len(rows) > p.Limit
	if more {
		rows = rows[:p.Limit]
	}
	if !forward {
		slices.Reverse(rows)
	}
	var page sched.PageOf[R]
	if n := len(rows); n > 0 {
		if more || !forward {
			page.Next = keyOf(rows[n-1])
		}
		if more && !forward || p.After != "" {
			page.Prev = keyOf(rows[0])
		}
	}
	return rows, page, nil
}
