package cron

import (
	"math/bits"
	"strings"
)

// dayRule is the meaning of both day fields. Weekdays are 0 = Sunday here.
type dayRule struct {
	dom      uint32 // bits 1–31
	nearest  uint32 // bit n: nW
	last     uint32 // bit n: L-n, bit 0: L
	lastNear uint32 // bit n: L-nW, bit 0: LW

	dow     uint8    // bits 0–6
	lastDow uint8    // bits 0–6: the last such weekday of the month
	nth     [6]uint8 // nth[n]: bits 0–6, the nth such weekday of the month

	either bool // both fields restricted: a day matches when either does
}

// dayTable holds the matching days (bits 1–31) of each kind of month: by the
// weekday of its first day and by its length less 28. There are only 28 kinds,
// so the search for a date is a look-up.
type dayTable [7][4]uint32

func (d *dayRule) table() dayTable {
	var t dayTable
	for first := range t {
		for extra := range t[first] {
			t[first][extra] = d.month(first, 28+extra)
		}
	}
	return t
}

// month returns the matching days of a month that begins on the weekday first.
func (d *dayRule) month(first, length int) uint32 {
	dom, dow := d.domDays(first, length), d.dowDays(first, length)
	if d.either {
		return dom | dow
	}
	return dom & dow
}

// everyDom and everyDow say that a day field leaves no day out.
func (d *dayRule) everyDom() bool { return d.dom == 1<<32-2 }
func (d *dayRule) everyDow() bool { return d.dow == 1<<7-1 }

// domCounts and dowCounts say that the field decides on a day: it leaves days
// out, and no full field beside it lets them in again.
func (d *dayRule) domCounts() bool { return !d.everyDom() && !(d.either && d.everyDow()) }
func (d *dayRule) dowCounts() bool { return !d.everyDow() && !(d.either && d.everyDom()) }

func (d *dayRule) domDays(first, length int) uint32 {
	days := d.dom & (1<<(length+1) - 2)
	for rest := d.nearest; rest != 0; rest &= rest - 1 {
		days |= nearestWeekday(bits.TrailingZeros32(rest), first, length)
	}
	for rest := d.last; rest != 0; rest &= rest - 1 {
		if day := length - bits.TrailingZeros32(rest); day >= 1 {
			days |= 1 << day
		}
	}
	for rest := d.lastNear; rest != 0; rest &= rest - 1 {
		days |= nearestWeekday(length-bits.TrailingZeros32(rest), first, length)
	}
	return days
}

// nearestWeekday returns the bit of the Monday to Friday nearest to day that
// lies in the same month; nothing if the month has no such day.
func nearestWeekday(day, first, length int) uint32 {
	if day < 1 || day > length {
		return 0
	}
	switch weekday := (first + day - 1) % 7; {
	case weekday == 6 && day == 1:
		day = 3
	case weekday == 6:
		day--
	case weekday == 0 && day == length:
		day -= 2
	case weekday == 0:
		day++
	}
	return 1 << day
}

func (d *dayRule) dowDays(first, length int) uint32 {
	var days uint32
	for weekday := range 7 {
		day := 1 + (weekday-first+7)%7 // its first in the month
		last := day + (length-day)/7*7
		if d.dow>>weekday&1 == 1 {
			for n := day; n <= length; n += 7 {
				days |= 1 << n
			}
		}
		if d.lastDow>>weekday&1 == 1 {
			days |= 1 << last
		}
		for n := 1; n <= 5; n++ {
			if nth := day + 7*(n-1); d.nth[n]>>weekday&1 == 1 && nth <= length {
				days |= 1 << nth
			}
		}
	}
	return days
}

// canFire says whether any date fits. Every kind of month occurs in the 400
// years of the calendar, so without years the table is the whole answer.
func (r *rule) canFire() bool {
	if r.years != nil {
		for _, year := range r.years.list() {
			for month := 1; month <= 12; month++ {
				if r.month>>month&1 == 1 && r.monthDays(year, month) != 0 {
					return true
				}
			}
		}
		return false
	}
	for month := 1; month <= 12; month++ {
		if r.month>>month&1 == 0 {
			continue
		}
		for first := range 7 {
			if month == 2 && r.table[first][1] != 0 || r.table[first][daysIn(2001, month)-28] != 0 {
				return true
			}
		}
	}
	return false
}

// readDays reads both day fields and holds them to the rule of the dialect.
func readDays(dom, dow string, quartz bool) (dayRule, *Error) {
	var d dayRule
	if err := d.readDom(dom); err != nil {
		return d, err
	}
	if err := d.readDow(dow, quartz); err != nil {
		return d, err
	}
	if dom == "?" && dow == "?" {
		return d, refuse("only one of day of month and weekday may be ?; write * in the other")
	}
	if open := func(f string) bool { return f == "*" || f == "?" }; quartz && !open(dom) && !open(dow) {
		return d, refuse("with six or seven fields only one of day of month %q and weekday %q may be set; write ? in the other", dom, dow)
	}
	starred := func(f string) bool { return f[0] == '*' || f == "?" }
	d.either = !starred(dom) && !starred(dow)
	return d, nil
}

func (d *dayRule) readDom(text string) *Error {
	if text == "?" {
		text = "*"
	}
	for part := range strings.SplitSeq(text, ",") {
		upper := strings.ToUpper(part)
		if d.readLastOrNearest(upper) {
			continue
		}
		if strings.ContainsAny(upper, "LW") { // L/2, 1-5W: name it whole
			return refuse(dayField.badValue, part)
		}
		err := dayField.span(part, text, func(v int) { d.dom |= 1 << v })
		if err != nil {
			return err
		}
	}
	return nil
}

// readLastOrNearest takes L, LW, L-n, L-nW and nW.
func (d *dayRule) readLastOrNearest(part string) bool {
	before, near := strings.CutSuffix(part, "W")
	if after, ok := strings.CutPrefix(before, "L"); ok {
		n := 0
		if after != "" {
			digits, dash := strings.CutPrefix(after, "-")
			if n, ok = number(digits); !dash || !ok || n > 30 {
				return false
			}
		}
		if near {
			d.lastNear |= 1 << n
		} else {
			d.last |= 1 << n
		}
		return true
	}
	n, ok := number(before)
	if !near || !ok || n < 1 || n > 31 {
		return false
	}
	d.nearest |= 1 << n
	return true
}

func (d *dayRule) readDow(text string, quartz bool) *Error {
	if text == "?" {
		text = "*"
	}
	week := &vixieWeekday
	if quartz {
		week = &quartzWeekday
	}
	// Both weeks become 0 = Sunday: Quartz counts one higher, Vixie has a 7.
	add := func(set *uint8) func(int) {
		return func(v int) { *set |= 1 << ((v - week.zeroName) % 7) }
	}
	for part := range strings.SplitSeq(text, ",") {
		done, err := d.readNthOrLast(strings.ToUpper(part), week, add)
		if err == nil && !done {
			err = week.span(part, text, add(&d.dow))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readNthOrLast takes MON#2, FRIL and the lone L of Quartz.
func (d *dayRule) readNthOrLast(part string, week *field, add func(*uint8) func(int)) (bool, *Error) {
	if name, count, ok := strings.Cut(part, "#"); ok {
		weekday, ok := week.value(name)
		if !ok {
			return false, refuse(week.badValue, part)
		}
		n, ok := number(count)
		if !ok || n < 1 || n > 5 {
			return false, refuse("weekday %q: after # comes a number from 1 to 5; for the last such day write L, as in FRIL", part)
		}
		add(&d.nth[n])(weekday)
		return true, nil
	}
	name, ok := strings.CutSuffix(part, "L")
	if !ok {
		if strings.Contains(part, "L") { // FRIL/2: name it whole
			return false, refuse(week.badValue, part)
		}
		return false, nil
	}
	if name == "" {
		if week == &vixieWeekday {
			return false, refuse("weekday %q doesn't say which day; write it before the L, such as FRIL", part)
		}
		add(&d.dow)(7)
		return true, nil
	}
	weekday, ok := week.value(name)
	if !ok {
		return false, refuse(week.badValue, part)
	}
	add(&d.lastDow)(weekday)
	return true, nil
}
