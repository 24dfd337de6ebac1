package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// expression is one in both spellings: theirs counts weekdays from 0 and
// writes FRI#L for the last Friday.
type expression struct {
	quartz      bool
	fields      []string // as ax reads them
	theirFields []string
}

func (x expression) text() string { return strings.Join(x.fields, " ") }

// writer makes random expressions.
type writer struct{ *rand.Rand }

func (w writer) between(low, high int) int { return low + w.IntN(high-low+1) }

// number is a field of plain numbers.
func (w writer) number(low, high, stars int) string {
	if w.IntN(10) < stars {
		return "*"
	}
	var parts []string
	for {
		a, b := w.between(low, high-3), w.between(low, high-3)
		a, b = min(a, b), max(a, b)+3 // the library refuses a step longer than its range
		parts = append(parts, []string{
			fmt.Sprint(a), fmt.Sprint(b), fmt.Sprintf("%d-%d", a, b),
			fmt.Sprintf("%d/%d", a, w.between(1, high-a)), fmt.Sprintf("%d-%d/%d", a, b, w.between(1, b-a)),
		}[w.IntN(5)])
		if w.IntN(3) > 0 {
			return strings.Join(parts, ",")
		}
	}
}

func (w writer) day() string {
	var parts []string
	for {
		parts = append(parts, []string{
			"L", "LW", fmt.Sprintf("L-%d", w.between(1, 30)), fmt.Sprintf("%dW", w.between(1, 31)), fmt.Sprint(w.between(1, 31)), w.number(1, 31, 0),
		}[w.IntN(6)])
		if w.IntN(4) > 0 {
			return strings.Join(parts, ",")
		}
	}
}

var names = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}

// weekday is a field in our spelling, with numbers from base, and in theirs.
func (w writer) weekday(base int) (ours, theirs string) {
	var a, b []string
	for {
		d, e := w.IntN(7), w.IntN(7)
		d, e = min(d, e), max(d, e)
		say := func(d int) string { return []string{names[d], fmt.Sprint(d + base)}[w.IntN(2)] }
		n := w.between(1, 5)
		switch w.IntN(4) {
		case 0:
			a, b = append(a, say(d)), append(b, fmt.Sprint(d))
		case 1:
			a, b = append(a, say(d)+"-"+say(e)), append(b, fmt.Sprintf("%d-%d", d, e))
		case 2:
			a, b = append(a, fmt.Sprintf("%s#%d", say(d), n)), append(b, fmt.Sprintf("%d#%d", d, n))
		case 3:
			a, b = append(a, say(d)+"L"), append(b, fmt.Sprintf("%d#L", d))
		}
		if w.IntN(3) > 0 {
			return strings.Join(a, ","), strings.Join(b, ",")
		}
	}
}

func (w writer) expression() expression {
	minute, hour, month := w.number(0, 59, 2), w.number(0, 23, 3), w.number(1, 12, 5)
	dom, dow, theirDow := "*", "*", "*"
	quartz := w.IntN(3) > 0
	base := 0
	if quartz {
		base = 1
	}
	kind := w.IntN(3)
	if kind != 0 {
		dom = w.day()
	}
	if kind == 0 || kind == 2 && !quartz {
		dow, theirDow = w.weekday(base)
	}
	x := expression{quartz: quartz, fields: []string{minute, hour, dom, month, dow}, theirFields: []string{"0", minute, hour, dom, month, theirDow}}
	if quartz {
		second := w.number(0, 59, 1)
		x.fields = append([]string{second}, x.fields...)
		x.theirFields[0] = second
		if kind == 0 {
			x.fields[3] = "?"
		} else {
			x.fields[5] = "?"
		}
		if w.IntN(3) == 0 {
			year := fmt.Sprint(w.between(2000, 2060))
			if w.IntN(2) == 0 {
				year = fmt.Sprintf("%s-%d", year, w.between(2061, 2090))
			}
			x.fields, x.theirFields = append(x.fields, year), append(x.theirFields, year)
		}
	}
	return x
}
