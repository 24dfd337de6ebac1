package cron

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writer makes random valid expressions.
type writer struct{ *rand.Rand }

func (w writer) between(low, high int) int { return low + w.IntN(high-low+1) }

func (w writer) part(low, high int, names []string) string {
	value := func() string {
		v := w.between(low, high)
		if names != nil && w.IntN(3) == 0 {
			name := names[w.IntN(len(names))]
			return []string{name, strings.ToLower(name)}[w.IntN(2)]
		}
		return fmt.Sprint(v)
	}
	step := w.between(1, max(2, (high-low)/2))
	switch w.IntN(6) {
	case 0:
		return fmt.Sprintf("*/%d", step)
	case 1:
		return fmt.Sprintf("%s/%d", value(), step)
	case 2:
		return value() + "-" + value()
	case 3:
		return fmt.Sprintf("%s-%s/%d", value(), value(), step)
	}
	return value()
}

func (w writer) field(low, high int, names []string, stars int) string {
	if w.IntN(10) < stars {
		return "*"
	}
	parts := []string{w.part(low, high, names)}
	for w.IntN(3) == 0 {
		parts = append(parts, w.part(low, high, names))
	}
	return strings.Join(parts, ",")
}

func (w writer) dom(stars int) string {
	if w.IntN(10) < stars || w.IntN(2) == 0 {
		return w.field(1, 31, nil, stars)
	}
	var parts []string
	for {
		parts = append(parts, []string{
			"L", "LW", "lw", fmt.Sprintf("L-%d", w.IntN(31)), fmt.Sprintf("L-%dW", w.IntN(31)), fmt.Sprintf("%dW", w.between(1, 31)), w.part(1, 31, nil),
		}[w.IntN(7)])
		if w.IntN(3) > 0 {
			return strings.Join(parts, ",")
		}
	}
}

func (w writer) dow(low, stars int) string {
	if w.IntN(10) < stars || w.IntN(2) == 0 {
		return w.field(low, 7, weekdayNames, stars)
	}
	var parts []string
	for {
		day := []string{fmt.Sprint(w.between(low, 7)), weekdayNames[w.IntN(7)], "fri"}[w.IntN(3)]
		parts = append(parts, []string{day + "L", fmt.Sprintf("%s#%d", day, w.between(1, 5)), w.part(low, 7, weekdayNames)}[w.IntN(3)])
		if w.IntN(3) > 0 {
			return strings.Join(parts, ",")
		}
	}
}

func (w writer) clock() string { return w.field(0, 59, nil, 2) + " " + w.field(0, 23, nil, 3) }

// date writes day, month and weekday; stars of ten fields stay open.
func (w writer) date(quartz bool, stars int) string {
	if !quartz {
		return w.dom(stars) + " " + w.field(1, 12, monthNames, stars) + " " + w.dow(0, stars)
	}
	month := w.field(1, 12, monthNames, stars)
	open := []string{"?", "*"}[w.IntN(2)]
	if w.IntN(2) == 0 {
		return w.dom(stars) + " " + month + " " + open
	}
	return open + " " + month + " " + w.dow(1, stars)
}

var oracleZones = []string{
	"America/New_York", "Europe/London", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Shanghai", "America/Sao_Paulo",
	"Asia/Kathmandu", "Pacific/Apia", "Africa/Casablanca", "America/Havana", "Asia/Tehran", "Pacific/Chatham",
	"Antarctica/Troll", "Asia/Gaza", "America/Caracas", "Europe/Dublin", "Asia/Pyongyang", "Australia/Sydney",
	"America/Scoresbysund", "Pacific/Kwajalein",
}

// transitions finds the hours in which the clocks of a zone change.
func transitions(loc *time.Location, from, to int) []int64 {
	var out []int64
	end := time.Date(to, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	u := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	_, offset := time.Unix(u, 0).In(loc).Zone()
	for ; u < end; u += 3600 {
		if _, now := time.Unix(u, 0).In(loc).Zone(); now != offset {
			out, offset = append(out, u), now
		}
	}
	return out
}

// agree walks the slots forwards and back and holds them to want, which are
// all slots of [from, to).
func agree(t *testing.T, e Expr, zone string, loc *time.Location, from, to int64, want []int64) {
	t.Helper()
	fail := func(what string, at, got int64, wanted string) {
		t.Fatalf("%s in %s: %s of %s is %s, want %s", e, zone, what, stamp(at), stamp(got), wanted)
	}
	at := from - 1
	for _, w := range want {
		got, ok := e.Next(time.Unix(at, 0), loc)
		if !ok || got.Unix() != w {
			fail("next", at, got.Unix(), stamp(w))
		}
		at = w
	}
	if got, ok := e.Next(time.Unix(at, 0), loc); ok && got.Unix() < to {
		fail("next", at, got.Unix(), "none")
	}
	at = to
	for i := len(want) - 1; i >= 0; i-- {
		got, ok := e.Prev(time.Unix(at, 0), loc)
		if !ok || got.Unix() != want[i] {
			fail("previous", at, got.Unix(), stamp(want[i]))
		}
		at = want[i]
	}
	if got, ok := e.Prev(time.Unix(at, 0), loc); ok && got.Unix() >= from {
		fail("previous", at, got.Unix(), "none")
	}
}

func stamp(u int64) string { return time.Unix(u, 0).UTC().Format(time.RFC3339) }

func TestSlotsAroundClockChangesEqualTheOracle(t *testing.T) {
	for _, name := range oracleZones {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc, w := zone(t, name), writer{rand.New(rand.NewPCG(5, uint64(len(name))))}
			for _, change := range transitions(loc, 1975, 2040) {
				minutesAround(t, w, name, loc, change, 3)
			}
		})
	}
}

// minutesAround holds a few expressions to the oracle on the minutes around a
// change, from half a day before it to a day after.
func minutesAround(t *testing.T, w writer, name string, loc *time.Location, change int64, expressions int) {
	t.Helper()
	from, to := change-12*3600, change+26*3600
	_, before := time.Unix(from, 0).In(loc).Zone()
	_, after := time.Unix(to, 0).In(loc).Zone()
	room := int64(max(before-after, after-before) + 3600) // for the change itself
	stretch := walk(from-room, to+room, 60, loc)
	for range expressions {
		expr := w.clock() + " * * *"
		if quartz := w.IntN(2) == 0; w.IntN(3) == 0 {
			expr = w.clock() + " " + w.date(quartz, 6)
			if quartz {
				expr = "0 " + expr
			}
		}
		e, err := Parse(expr)
		if err != nil {
			require.Contains(t, err.Error(), "never fires", expr)
			continue
		}
		agree(t, e, name, loc, from, to, stretch.slots(newOracle(expr), from, to))
	}
}

// The slow tests do the same for every change of 60 years.
func TestSecondsAroundClockChangesEqualTheOracle(t *testing.T) {
	for _, name := range append([]string{"Africa/Monrovia"}, oracleZones...) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc, w := zone(t, name), writer{rand.New(rand.NewPCG(6, uint64(len(name))))}
			for _, change := range append(transitions(loc, 1971, 1973), transitions(loc, 2025, 2027)...) {
				secondsAround(t, w, name, loc, change, 6)
			}
		})
	}
}

func secondsAround(t *testing.T, w writer, name string, loc *time.Location, change int64, expressions int) {
	t.Helper()
	from, to := change-3600, change+2*3600
	stretch := walk(from-2*3600, to+2*3600, 1, loc)
	for range expressions {
		expr := w.field(0, 59, nil, 2) + " " + w.clock() + " * * ?"
		agree(t, parsed(t, expr), name, loc, from, to, stretch.slots(newOracle(expr), from, to))
	}
}

func TestDaysOfFourYearsEqualTheOracle(t *testing.T) {
	t.Parallel()
	w := writer{rand.New(rand.NewPCG(7, 7))}
	accepted := 0
	for range 400 {
		quartz := w.IntN(2) == 0
		expr := "0 0 " + w.date(quartz, 3)
		if quartz {
			expr = "0 " + expr
			if w.IntN(3) == 0 {
				expr += " " + w.field(1970, 2099, nil, 3)
			}
		}
		e, err := Parse(expr)
		if err != nil {
			reason := err.Error()
			if !strings.Contains(reason, "backwards") {
				require.Contains(t, reason, "never fires", expr)
				neverFires(t, expr)
			}
			continue
		}
		accepted++
		from := time.Date(w.between(1990, 2102), time.Month(w.between(1, 12)), 1, 0, 0, 0, 0, time.UTC)
		o, to := newOracle(expr), from.AddDate(4, 0, 0)
		var want []int64
		for d := from; d.Before(to); d = d.AddDate(0, 0, 1) {
			if o.matches(d) {
				want = append(want, d.Unix())
			}
		}
		agree(t, e, "UTC", time.UTC, from.Unix(), to.Unix(), want)
	}
	require.Greater(t, accepted, 250, "too few expressions were looked at")
}

// neverFires looks at each day of 28 years, in which every kind of month
// occurs, or of all the years that the year field can name.
func neverFires(t *testing.T, expr string) {
	t.Helper()
	o := newOracle(expr)
	first, last := 2001, 2028
	if o.fields[6] != "*" {
		first, last = firstYear, lastYear
	}
	for d := time.Date(first, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() <= last; d = d.AddDate(0, 0, 1) {
		require.False(t, o.matchesDay(d), "%s was refused but fires on %s", expr, d)
	}
}
