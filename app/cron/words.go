package cron

import (
	"fmt"
	"slices"
	"strings"
)

// Words says what the expression means, in Chinese for a language that begins
// with "zh" and in English otherwise. It is made from the parsed form, so it
// is right for whatever was accepted. The zone is for the caller to add.
func (e Expr) Words(lang string) string {
	if e.r == nil {
		return ""
	}
	if strings.HasPrefix(strings.ToLower(lang), "zh") {
		return e.r.wordsZh()
	}
	return e.r.wordsEn()
}

// ofMonth says that a part of the plan counts within the month.
func (p datePlan) ofMonth() bool {
	if p.hasDom || len(p.lastDow) > 0 {
		return true
	}
	for _, days := range p.nth {
		if len(days) > 0 {
			return true
		}
	}
	return false
}

// clockPlan is how to say the times of a day: either as times, or as a pace
// or points with the bounds that they keep to.
type clockPlan struct {
	times []int // seconds of the day; nothing else is set then

	unit   unit
	step   int   // "every step units"; 0: at the points
	points []int // minutes of the hour
	past   int   // hourly paces: the minute of the hour, -1: not to be said

	first, last int    // the pace keeps to these minutes (seconds) of each hour (minute); -1: to all
	window      window // of the day
	minutes     *shape // for seconds: the minutes they keep to; nil: all
	hours       *shape // the hours they keep to; nil: all or said by window
	seconds     []int  // of the minute, where they are points other than 0
}

type unit uint8

const (
	second unit = iota
	minute
	hour
)

// window is a part of the day in seconds. set is false where there is none.
type window struct {
	from, to int
	set      bool
	seconds  bool // to be shown with seconds
}

// everyDay says that no field leaves out a day. Only then may hours be said
// over midnight: "22:00 to 2:00 on Monday" would end on a Tuesday.
func (r *rule) everyDay() bool {
	return !r.days.domCounts() && !r.days.dowCounts() && r.month == allMonths && r.years == nil
}

func (r *rule) clockPlan() clockPlan {
	s := shapeOf(r.sec, 0, 59, false)
	m := shapeOf(r.min, 0, 59, false)
	h := shapeOf(r.hour, 0, 23, r.everyDay())
	if times := timesOfDay(s, m, h); times != nil {
		return clockPlan{times: times}
	}
	if s.repeats() {
		return secondPlan(s, m, h)
	}
	p := minutePlan(m, h)
	if s.kind != single || s.first() != 0 {
		p.seconds = s.vals
	}
	return p
}

// timesOfDay lists the times where they are few, or where the hours have no
// other form.
func timesOfDay(s, m, h shape) []int {
	limit := 5
	if h.kind == list && m.kind == single && s.kind == single {
		limit = 12
	}
	if h.kind == all || len(s.vals)*len(m.vals)*len(h.vals) > limit {
		return nil
	}
	var times []int
	for _, hour := range h.vals {
		for _, minute := range m.vals {
			for _, second := range s.vals {
				times = append(times, hour*3600+minute*60+second)
			}
		}
	}
	return times
}

// minutePlan is for one run a minute at most.
func minutePlan(m, h shape) clockPlan {
	p := clockPlan{unit: minute, past: -1, first: -1, last: -1}
	switch {
	case m.kind == single && h.kind != list && h.kind != single:
		return hourPlan(m.first(), h)
	case !m.repeats():
		p.points, p.hours = m.vals, &h
		return p
	}
	p.step = m.step
	switch {
	case h.kind == single || h.kind == span && m.even:
		p.window = window{from: h.first()*3600 + m.first()*60, to: h.last()*3600 + m.last()*60, set: true}
		if m.whole {
			p.window.to = h.last()*3600 + 59*60
		}
		return p
	case !m.whole:
		p.first, p.last = m.first(), m.last()
		p.hours = &h
	case h.kind != all:
		p.hours = &h
	}
	return p
}

// hourPlan is for one run an hour at most, at the given minute.
func hourPlan(at int, h shape) clockPlan {
	p := clockPlan{unit: hour, step: h.step, past: -1, first: -1, last: -1}
	if h.whole && h.step == 1 || h.whole && at == 0 {
		if at != 0 {
			p.past = at
		}
		return p
	}
	p.window = window{from: h.first()*3600 + at*60, to: h.last()*3600 + at*60, set: true}
	return p
}

// secondPlan is for a pace of seconds.
func secondPlan(s, m, h shape) clockPlan {
	p := clockPlan{unit: second, step: s.step, past: -1, first: -1, last: -1}
	if !s.whole {
		p.first, p.last = s.first(), s.last()
	}
	hoursJoin := h.kind == single || h.kind == span
	switch {
	case m.kind == all && h.kind == all:
	case m.kind == all && hoursJoin && s.whole:
		p.window = window{from: h.first() * 3600, to: h.last()*3600 + 3599, set: true, seconds: true}
	case m.kind == all:
		p.hours = &h
	case (m.kind == single || m.kind == span) && h.kind == single && s.whole:
		p.window = window{from: h.first()*3600 + m.first()*60, to: h.first()*3600 + m.last()*60 + 59, set: true, seconds: true}
	default:
		p.minutes, p.hours = &m, &h
	}
	return p
}

// datePlan is how to say the days, the same for all languages.
type datePlan struct {
	dom      []int // days of the month, where not all
	domSteps shape // set where dom is a long row of steps
	nearest  []int // nW
	last     []int // L-n
	lastNear []int // L-nW
	dow      []int // 0 = Sunday, Monday first
	dowSpan  bool  // dow is one stretch, from its first to its last
	lastDow  []int
	nth      [6][]int
	hasDom   bool
	hasDow   bool
}

func (r *rule) datePlan() datePlan {
	d := r.days
	p := datePlan{hasDom: d.domCounts(), hasDow: d.dowCounts()}
	if p.hasDom {
		p.dom = members(uint64(d.dom), 1)
		if len(p.dom) > 6 {
			if s := shapeOf(uint64(d.dom), 1, 31, false); s.kind == steps {
				p.domSteps = s
			}
		}
		p.nearest = members(uint64(d.nearest), 1)
		p.last = members(uint64(d.last), 0)
		p.lastNear = members(uint64(d.lastNear), 0)
	}
	if p.hasDow {
		p.dow, p.dowSpan = weekdayRow(d.dow)
		p.lastDow, _ = weekdayRow(d.lastDow)
		for n := range p.nth {
			p.nth[n], _ = weekdayRow(d.nth[n])
		}
	}
	return p
}

// weekdayRow lists weekdays with Monday first, or from their first to their
// last if three or more follow one another.
func weekdayRow(set uint8) (row []int, spans bool) {
	if set == 0 {
		return nil, false
	}
	s := shapeOf(uint64(set), 0, 6, true)
	if s.kind == span && len(s.vals) > 2 {
		return s.vals, true
	}
	for _, day := range []int{1, 2, 3, 4, 5, 6, 0} {
		if set>>day&1 == 1 {
			row = append(row, day)
		}
	}
	return row, false
}

func (w window) start() string { return clockWord(w.from, w.seconds) }
func (w window) end() string   { return clockWord(w.to, w.seconds) }

// clocks writes times of the day, with seconds where any has them.
func clocks(times []int) []string {
	seconds := slices.ContainsFunc(times, func(t int) bool { return t%60 != 0 })
	var words []string
	for _, t := range times {
		words = append(words, clockWord(t, seconds))
	}
	return words
}

func clockWord(t int, seconds bool) string {
	if seconds {
		return fmt.Sprintf("%d:%02d:%02d", t/3600, t/60%60, t%60)
	}
	return fmt.Sprintf("%d:%02d", t/3600, t/60%60)
}

// rangesOf writes values, three or more neighbours as one range.
func rangesOf(vals []int, to string, word func(int) string) []string {
	var words []string
	for _, s := range stretches(vals) {
		if s.from == s.to {
			words = append(words, word(s.from))
		} else {
			words = append(words, word(s.from)+to+word(s.to))
		}
	}
	return words
}

// evenSteps says whether more than six years lie evenly apart, and how far.
func evenSteps(years []int) (int, bool) {
	if len(years) < 7 || years[1] == years[0]+1 {
		return 0, false
	}
	step := years[1] - years[0]
	for i := 2; i < len(years); i++ {
		if years[i]-years[i-1] != step {
			return 0, false
		}
	}
	return step, true
}
