package cron

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The oracle says by brute force when an expression fires. It shares no code
// with the package: it reads the text anew for each question and walks every
// instant of a stretch of time, looking at the wall clock only.

type oracle struct {
	fields           [7]string // second … year
	quartz, realTime bool
	days             map[[3]int]bool // answers already found
	clock            [3]map[int]bool
}

func newOracle(expr string) *oracle {
	words := strings.Fields(expr)
	o := &oracle{quartz: len(words) > 5, days: map[[3]int]bool{}}
	if !o.quartz {
		words = append([]string{"0"}, words...)
	}
	words = append(words, "*")
	copy(o.fields[:], words)
	for i := range 3 {
		o.realTime = o.realTime || o.fields[i][0] == '*'
		o.clock[i] = map[int]bool{}
		for v := range 60 {
			o.clock[i][v] = inList(o.fields[i], v, 0, []int{59, 59, 23}[i], nil)
		}
	}
	return o
}

var oraclePart = regexp.MustCompile(`^(\*|\w+)(?:-(\w+))?(?:/(\d+))?$`)

// inList says whether v is among the values that text lists.
func inList(text string, v, low, high int, name func(string) (int, bool)) bool {
	read := func(s string) int {
		if name != nil {
			if n, ok := name(strings.ToUpper(s)); ok {
				return n
			}
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			panic(s + " in " + text)
		}
		return n
	}
	for _, part := range strings.Split(text, ",") {
		m := oraclePart.FindStringSubmatch(part)
		if m == nil {
			panic(part)
		}
		a, b, step := low, high, 1
		if m[1] != "*" {
			a = read(m[1])
			if m[3] == "" {
				b = a
			}
		}
		if m[2] != "" {
			b = read(m[2])
		}
		if m[3] != "" {
			step, _ = strconv.Atoi(m[3])
		}
		for x, i := a, 0; ; i++ {
			if i%step == 0 && x == v {
				return true
			}
			if x == b {
				break
			}
			if x++; x > high {
				x = low
			}
		}
	}
	return false
}

func nameIn(list string, from int) func(string) (int, bool) {
	return func(s string) (int, bool) {
		i := strings.Index(list, s)
		return i/4 + from, len(s) == 3 && i >= 0
	}
}

var (
	oracleMonth = nameIn("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", 1)
	oracleDay   = nameIn("SUN MON TUE WED THU FRI SAT", 0)
)

func (o *oracle) matches(civil time.Time) bool {
	if !o.clock[0][civil.Second()] || !o.clock[1][civil.Minute()] || !o.clock[2][civil.Hour()] {
		return false
	}
	y, m, d := civil.Date()
	key := [3]int{y, int(m), d}
	hit, known := o.days[key]
	if !known {
		hit = o.matchesDay(civil)
		o.days[key] = hit
	}
	return hit
}

func (o *oracle) matchesDay(t time.Time) bool {
	y, m, _ := t.Date()
	if !inList(o.fields[4], int(m), 1, 12, oracleMonth) || o.fields[6] != "*" && !inList(o.fields[6], y, 1970, 2099, nil) {
		return false
	}
	dom, dow := o.fields[3], o.fields[5]
	inDom, inDow := o.domHit(dom, t), o.dowHit(dow, t)
	if open := "*?"; strings.Contains(open, dom[:1]) || strings.Contains(open, dow[:1]) {
		return inDom && inDow
	}
	return inDom || inDow
}

func monthOf(t time.Time) (days []time.Time) {
	y, m, _ := t.Date()
	for d := time.Date(y, m, 1, 0, 0, 0, 0, time.UTC); d.Month() == m; d = d.AddDate(0, 0, 1) {
		days = append(days, d)
	}
	return days
}

var oracleSpecial = regexp.MustCompile(`^(?i)(L(?:-(\d+))?|\d+)(W?)$`)

func (o *oracle) domHit(text string, t time.Time) bool {
	if text == "?" {
		return true
	}
	month := monthOf(t)
	for _, part := range strings.Split(text, ",") {
		m := oracleSpecial.FindStringSubmatch(part)
		if m == nil || m[3] == "" && m[1][0] != 'L' && m[1][0] != 'l' {
			if inList(part, t.Day(), 1, 31, nil) {
				return true
			}
			continue
		}
		target, err := strconv.Atoi(m[1])
		if err != nil {
			back, _ := strconv.Atoi("0" + m[2])
			target = len(month) - back
		}
		if target < 1 || target > len(month) {
			continue
		}
		if m[3] != "" {
			target = nearestWorkday(month, target)
		}
		if t.Day() == target {
			return true
		}
	}
	return false
}

func nearestWorkday(month []time.Time, target int) int {
	best, away := 0, 99
	for _, d := range month {
		gap := max(d.Day()-target, target-d.Day())
		if d.Weekday() != time.Saturday && d.Weekday() != time.Sunday && gap < away {
			best, away = d.Day(), gap
		}
	}
	return best
}

var oracleWeekday = regexp.MustCompile(`^(\w+?)(?:#(\d)|[Ll])$`)

func (o *oracle) dowHit(text string, t time.Time) bool {
	if text == "?" {
		return true
	}
	for _, part := range strings.Split(text, ",") {
		if m := oracleWeekday.FindStringSubmatch(part); m != nil {
			if o.isWeekday(m[1], t) && o.isNth(m[2], t) {
				return true
			}
			continue
		}
		if o.quartz {
			name := func(s string) (int, bool) { n, ok := oracleDay(s); return n + 1, ok }
			if inList(part, int(t.Weekday())+1, 1, 7, name) {
				return true
			}
			continue
		}
		if o.vixieRange(part, int(t.Weekday())) {
			return true
		}
	}
	return false
}

// vixieRange walks a week in which 7 follows 6 and is Sunday again.
func (o *oracle) vixieRange(part string, weekday int) bool {
	m := oraclePart.FindStringSubmatch(part)
	read := func(s string) int {
		if n, ok := oracleDay(strings.ToUpper(s)); ok {
			return n
		}
		n, _ := strconv.Atoi(s)
		return n
	}
	a, b, step := 0, 7, 1
	if m[1] != "*" {
		a = read(m[1])
		if m[3] == "" {
			b = a
		}
	}
	if m[2] != "" {
		b = read(m[2])
	}
	if m[3] != "" {
		step, _ = strconv.Atoi(m[3])
	}
	if b < a {
		b += 7
	}
	for x := a; x <= b; x += step {
		if x%7 == weekday {
			return true
		}
	}
	return false
}

func (o *oracle) isWeekday(s string, t time.Time) bool {
	if n, ok := oracleDay(strings.ToUpper(s)); ok {
		return n == int(t.Weekday())
	}
	n, _ := strconv.Atoi(s)
	if o.quartz {
		n--
	}
	return n%7 == int(t.Weekday())
}

// isNth counts the weekdays of the month; no number stands for the last.
func (o *oracle) isNth(number string, t time.Time) bool {
	seen, total := 0, 0
	for _, d := range monthOf(t) {
		if d.Weekday() == t.Weekday() {
			total++
			if d.Day() <= t.Day() {
				seen++
			}
		}
	}
	want := total
	if number != "" {
		want, _ = strconv.Atoi(number)
	}
	return seen == want
}

// stretchOfTime is every instant of a stretch with what the wall clock shows.
type stretchOfTime struct {
	instants []int64
	civil    []time.Time
	repeated []bool              // shown before by an earlier instant
	missing  map[int][]time.Time // by the instant that ends a gap: what no instant shows
}

func walk(from, to, step int64, loc *time.Location) *stretchOfTime {
	w := &stretchOfTime{missing: map[int][]time.Time{}}
	shown := map[int64]bool{}
	for u := from; u < to; u += step {
		t := time.Unix(u, 0).In(loc)
		y, m, d := t.Date()
		h, mi, s := t.Clock()
		civil := time.Date(y, m, d, h, mi, s, 0, time.UTC) // a label, not an instant
		w.instants, w.civil = append(w.instants, u), append(w.civil, civil)
		w.repeated = append(w.repeated, shown[civil.Unix()])
		shown[civil.Unix()] = true
	}
	latest := w.civil[0]
	for i, c := range w.civil {
		for x := latest.Add(time.Duration(step) * time.Second); x.Before(c); x = x.Add(time.Duration(step) * time.Second) {
			if !shown[x.Unix()] {
				w.missing[i] = append(w.missing[i], x)
			}
		}
		if c.After(latest) {
			latest = c
		}
	}
	return w
}

// slots lists when the expression fires within [from, to).
func (w *stretchOfTime) slots(o *oracle, from, to int64) []int64 {
	var out []int64
	for i, u := range w.instants {
		if u < from || u >= to {
			continue
		}
		fires := o.matches(w.civil[i]) && (o.realTime || !w.repeated[i])
		if !o.realTime {
			for _, c := range w.missing[i] {
				fires = fires || o.matches(c)
			}
		}
		if fires {
			out = append(out, u)
		}
	}
	return out
}
