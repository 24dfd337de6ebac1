//go:build slow

package db_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"ax/app/calendar"
	"ax/app/sched"
)

// The tasks of the simulated year. Each is made twice side by side: as the text
// that ax reads, and as plain sets and conditions for the oracle, which never
// sees the text.

// yearTask is a task with what the oracle knows of it.
type yearTask struct {
	code     string
	schedule sched.Schedule
	clock    *clockRule // cron; nil: interval or once
	paused   [2]time.Time
}

// clockRule is a cron expression in plain sets.
type clockRule struct {
	second, minute, hour field
	day                  func(time.Time) bool // of a date, in UTC
	seconds              bool                 // to be walked by the second
	realTime             bool
}

// field is the text of one field and the values that it has.
type field struct {
	text string
	has  [60]bool
}

func values(text string, list ...int) field {
	f := field{text: text}
	for _, v := range list {
		f.has[v] = true
	}
	return f
}

func just(list ...int) field {
	slices.Sort(list)
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(v)
	}
	return values(strings.Join(texts, ","), list...)
}

// paced is text/step from a value on.
func paced(text string, from, end, step int) field {
	f := field{text: fmt.Sprintf("%s/%d", text, step)}
	for v := from; v < end; v += step {
		f.has[v] = true
	}
	return f
}

func every(end int) field { f := paced("*", 0, end, 1); f.text = "*"; return f }

// ring is a range that may run over the end.
func ring(from, to, end int) field {
	f := field{text: fmt.Sprintf("%d-%d", from, to)}
	for v := from; ; v = (v + 1) % end {
		f.has[v] = true
		if v == to {
			return f
		}
	}
}

// dayRule is both day fields with their meaning.
type dayRule struct {
	dom, dow string
	fits     func(time.Time) bool
}

var weekdays = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}

func monthLength(d time.Time) int {
	return time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func works(d time.Time) bool { return d.Weekday() != time.Saturday && d.Weekday() != time.Sunday }

// nearestTo tells whether d is the Monday to Friday nearest to a day of its
// month, within the month.
func nearestTo(d time.Time, day int) bool {
	for _, away := range []int{0, -1, 1, -2, 2} {
		n := day + away
		if n < 1 || n > monthLength(d) {
			continue
		}
		if c := time.Date(d.Year(), d.Month(), n, 0, 0, 0, 0, time.UTC); works(c) {
			return c.Day() == d.Day()
		}
	}
	return false
}

// yearMaker draws the tasks.
type yearMaker struct {
	*rand.Rand
	from, to time.Time // the simulated time
	zones    []string
	grace    func(r *rand.Rand) int
}

func (g *yearMaker) between(low, high int) int { return low + g.IntN(high-low+1) }

// anyDay draws a rule of any kind; both fields only in five fields.
func (g *yearMaker) anyDay(quartz bool) dayRule {
	w, n := g.IntN(7), g.between(1, 28)
	name := weekdays[w]
	isDay := func(d time.Time) bool { return int(d.Weekday()) == w }
	kinds := []dayRule{
		{fmt.Sprintf("%d,%d", n, n/2+1), "?", func(d time.Time) bool { return d.Day() == n || d.Day() == n/2+1 }},
		{"?", name + "," + strings.ToLower(weekdays[(w+2)%7]), func(d time.Time) bool { return isDay(d) || int(d.Weekday()) == (w+2)%7 }},
		{"?", "FRI-MON", func(d time.Time) bool { return d.Weekday() >= time.Friday || d.Weekday() <= time.Monday }},
		{"L", "?", func(d time.Time) bool { return d.AddDate(0, 0, 1).Day() == 1 }},
		{"L-2", "?", func(d time.Time) bool { return d.Day() == monthLength(d)-2 }},
		{"LW", "?", func(d time.Time) bool { return nearestTo(d, monthLength(d)) }},
		{fmt.Sprintf("%dW,%d", n, n/2+1), "?", func(d time.Time) bool { return nearestTo(d, n) || d.Day() == n/2+1 }},
		{"?", fmt.Sprintf("%s#2,%s#4", name, name), func(d time.Time) bool { return isDay(d) && ((d.Day()-1)/7 == 1 || (d.Day()-1)/7 == 3) }},
		{"?", name + "L", func(d time.Time) bool { return isDay(d) && d.Day()+7 > monthLength(d) }},
		{"?", fmt.Sprint(w + 1), isDay},
	}
	if !quartz {
		kinds[9] = dayRule{"*", fmt.Sprint(w), isDay}
		kinds = append(
			kinds,
			dayRule{fmt.Sprint(n), name, func(d time.Time) bool { return d.Day() == n || isDay(d) }},
			dayRule{"*/2", name, func(d time.Time) bool { return d.Day()%2 == 1 && isDay(d) }},
			dayRule{"*", "5-7", func(d time.Time) bool { return d.Weekday() >= time.Friday || d.Weekday() == time.Sunday }},
		)
	}
	return kinds[g.IntN(len(kinds))]
}

func daily(quartz bool) dayRule {
	return dayRule{"*", map[bool]string{true: "?", false: "*"}[quartz], func(time.Time) bool { return true }}
}

func workdays() dayRule { return dayRule{"?", "MON-FRI", works} }

// cron makes the text and the sets of an expression. Six fields when there is a
// second, seven with a year.
func (y *yearTask) cron(second *field, minute, hour field, day dayRule, year string) {
	r := &clockRule{minute: minute, hour: hour, day: day.fits, second: values("0", 0)}
	text := fmt.Sprintf("%s %s %s * %s", minute.text, hour.text, day.dom, day.dow)
	r.realTime = minute.text[0] == '*' || hour.text[0] == '*'
	if second != nil {
		r.second, text = *second, second.text+" "+text
		r.seconds = second.text != "0"
		r.realTime = r.realTime || second.text[0] == '*'
	}
	y.clock = r
	y.schedule.Kind, y.schedule.Cron = sched.KindCron, strings.TrimSpace(text+" "+year)
}

// night is an hour at which clocks change somewhere.
func (g *yearMaker) night() field { return just(g.IntN(4)) }

// make draws task number n of a zone.
func (g *yearMaker) make(zone, n int) yearTask {
	y := yearTask{code: fmt.Sprintf("year-%d-%d", zone, n)}
	s := &y.schedule
	s.Timezone, s.Misfire = g.zones[zone], []sched.Misfire{sched.FireOnce, sched.SkipAll, sched.FireAll}[g.IntN(3)]
	s.MisfireGraceSeconds = g.grace(g.Rand)
	if s.Misfire == sched.FireAll {
		s.MisfireCap = g.between(0, 6)
	}
	zero, minute := values("0", 0), g.between(0, 59)
	switch n {
	case 0, 1, 2:
		y.cron(nil, just(minute), g.night(), daily(false), "")
	case 3:
		y.cron(nil, just(0, 30), just(2, 3), daily(false), "")
	case 4:
		y.cron(nil, just(minute), just(1, 2, 13), g.anyDay(false), "")
	case 5, 6:
		y.cron(nil, just(minute), g.night(), g.anyDay(false), "")
	case 7:
		y.cron(nil, just(minute), paced("*", 0, 24, g.between(3, 6)), daily(false), "")
	case 8:
		y.cron(nil, paced("*", 0, 60, 15), ring(1, 3, 24), g.anyDay(false), "")
	case 9:
		y.cron(nil, just(minute), ring(22, 2, 24), g.anyDay(false), "")
	case 10:
		y.cron(&zero, just(minute), g.night(), workdays(), "")
	case 11, 12:
		y.cron(&zero, just(minute, 0), g.night(), g.anyDay(true), "")
	case 13:
		y.cron(&zero, paced("0", 0, 60, 30), ring(0, 3, 24), g.anyDay(true), fmt.Sprintf("%d-%d", g.from.Year(), g.from.Year()+1))
	case 14:
		at := g.between(1, 59)
		second := just(at)
		y.cron(&second, just(minute), ring(1, 2, 24), daily(true), "")
		g.aroundAChange(s, 5*24*time.Hour)
	case 15:
		second := paced("*", 0, 60, 20)
		y.cron(&second, every(60), ring(1, 2, 24), daily(true), "")
		g.aroundAChange(s, 30*time.Hour)
	case 16:
		y.cron(nil, every(60), every(24), daily(false), "")
		g.aroundAChange(s, 20*time.Hour)
	case 17, 18:
		s.Kind, s.EverySeconds = sched.KindInterval, g.between(5*3600, 20*3600)
		s.Anchor = g.from.Add(-time.Duration(g.IntN(10*24*3600)) * time.Second)
	case 19:
		s.Kind, s.RunAt = sched.KindOnce, g.from.Add(time.Duration(g.Int64N(int64(g.to.Sub(g.from)/time.Second)))*time.Second)
		return y
	case 20:
		s.Kind, s.EverySeconds = sched.KindInterval, 8*3600
		s.Anchor = g.from.Add(-time.Duration(g.IntN(24*3600)) * time.Second)
		g.calendar(s)
	case 21:
		y.cron(&zero, just(minute), g.night(), g.anyDay(true), "")
		g.calendar(s)
	case 22:
		y.cron(nil, just(minute), just(2, 9), daily(false), "")
		g.calendar(s)
	default:
		y.cron(nil, just(minute), g.night(), g.anyDay(false), "")
		g.calendar(s)
	}
	if g.IntN(4) == 0 {
		s.JitterSeconds = g.between(1, 900)
	}
	if s.StartAt.IsZero() && g.IntN(5) == 0 {
		span := g.to.Sub(g.from)
		s.StartAt = g.from.Add(time.Duration(g.Int64N(int64(span / 2)))).Truncate(time.Minute)
		s.EndAt = s.StartAt.Add(time.Duration(g.Int64N(int64(span)))).Truncate(time.Minute)
	}
	if g.IntN(10) == 0 {
		from := g.from.Add(time.Duration(g.Int64N(int64(g.to.Sub(g.from))))).Truncate(time.Millisecond)
		y.paused = [2]time.Time{from, from.Add(time.Duration(g.between(1, 20*24)) * time.Hour)}
	}
	return y
}

// aroundAChange bounds a dense schedule to a while around a change of its
// zone's clocks, or around a summer's day where there is none.
func (g *yearMaker) aroundAChange(s *sched.Schedule, length time.Duration) {
	loc, err := time.LoadLocation(s.Timezone)
	if err != nil {
		panic(err)
	}
	at := g.from.Add(g.to.Sub(g.from) / 2)
	var changes []time.Time
	for t := g.from.Add(time.Hour); t.Before(g.to); t = t.Add(time.Hour) {
		_, before := t.Add(-time.Hour).In(loc).Zone()
		if _, after := t.In(loc).Zone(); after != before {
			changes = append(changes, t)
		}
	}
	if len(changes) > 0 {
		at = changes[g.IntN(len(changes))]
	}
	s.StartAt = at.Add(-length / 2).Truncate(time.Minute)
	s.EndAt = s.StartAt.Add(length)
}

func (g *yearMaker) calendar(s *sched.Schedule) {
	s.Calendar = []string{"cn", "club"}[g.IntN(2)]
	s.CalendarMode = []sched.CalendarMode{sched.OnWorkdays, sched.SkipDaysOff}[g.IntN(2)]
	s.CalendarMove = []sched.CalendarMove{sched.MoveDrop, sched.MoveNext, sched.MovePrevious}[g.IntN(3)]
}

// yearCalendar is a calendar as the oracle reads it: listed dates, true when
// worked.
type yearCalendar struct {
	week   calendar.Week
	listed map[string]bool
}

// calendars of the simulated year: long holidays with make-up workdays, and a
// club that works from Wednesday to Saturday and is away at random.
func (g *yearMaker) calendars() map[string]yearCalendar {
	cn := yearCalendar{calendar.MondayToFriday, map[string]bool{}}
	for _, span := range [][2]string{{"2026-01-01", "2026-01-03"}, {"2026-02-15", "2026-02-23"}, {"2026-04-04", "2026-04-06"}, {"2026-05-01", "2026-05-05"}, {"2026-10-01", "2026-10-07"}} {
		from, _ := time.Parse(time.DateOnly, span[0])
		for ; from.Format(time.DateOnly) <= span[1]; from = from.AddDate(0, 0, 1) {
			cn.listed[from.Format(time.DateOnly)] = false
		}
	}
	for _, day := range []string{"2026-01-04", "2026-02-14", "2026-02-28", "2026-05-09", "2026-09-20", "2026-10-10"} {
		cn.listed[day] = true
	}
	club := yearCalendar{0b1111000, map[string]bool{}}
	for d := g.from.AddDate(0, -2, 0); d.Before(g.to.AddDate(0, 2, 0)); d = d.AddDate(0, 0, 1) {
		if g.IntN(6) == 0 {
			club.listed[d.Format(time.DateOnly)] = g.IntN(3) == 0
		}
	}
	// Longer than a slot is moved at most: what falls into it is dropped.
	for d, n := g.from.AddDate(0, 0, 20), 0; n < 40; d, n = d.AddDate(0, 0, 1), n+1 {
		club.listed[d.Format(time.DateOnly)] = false
	}
	return map[string]yearCalendar{"cn": cn, "club": club}
}
