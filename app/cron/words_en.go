package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func (r *rule) wordsEn() string {
	if r.every > 0 {
		return "Every " + everyEn(r.every)
	}
	clock, date := r.clockPlan(), r.datePlan()
	text := clockEn(clock)
	if days := r.daysEn(date); days != "" {
		return text + " " + days
	}
	if clock.times != nil || clock.window.set {
		text += " every day"
	}
	return text + r.monthsEn(" in ") + r.yearsEn()
}

func everyEn(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		name string
		n    int
	}{{"hour", int(d.Hours())}, {"minute", int(d.Minutes()) % 60}, {"second", int(d.Seconds()) % 60}} {
		if u.n > 0 {
			parts = append(parts, countEn(u.n, u.name))
		}
	}
	if len(parts) == 1 {
		return strings.TrimPrefix(parts[0], "1 ")
	}
	return andEn(parts)
}

func clockEn(p clockPlan) string {
	if p.times != nil {
		return "At " + andEn(clocks(p.times))
	}
	var text string
	if p.step == 0 {
		text = "At " + pluralEn("minute", p.points) + " of " + hoursEn(*p.hours)
	} else {
		text = paceEn(p)
	}
	if p.seconds != nil {
		text += ", at " + pluralEn("second", p.seconds)
	}
	return text
}

// paceEn is "Every 5 minutes" with the bounds it keeps to.
func paceEn(p clockPlan) string {
	name := []string{"second", "minute", "hour"}[p.unit]
	text := "Every " + strings.TrimPrefix(countEn(p.step, name), "1 ")
	if p.past >= 0 {
		text += " at minute " + strconv.Itoa(p.past)
	}
	if p.window.set {
		return text + " from " + p.window.start() + " to " + p.window.end()
	}
	inside := " in "
	if p.first >= 0 {
		text += fmt.Sprintf(" from %s %d to %d", name, p.first, p.last)
		inside = " of "
	}
	switch {
	case p.unit == second && p.first >= 0 && p.minutes == nil:
		text, inside = text+" of every minute", " in "
	case p.minutes != nil:
		text, inside = text+" in "+minutesEn(*p.minutes), " of "
	}
	if p.hours != nil {
		text += inside + hoursEn(*p.hours)
	}
	return text
}

func minutesEn(s shape) string {
	if s.kind == steps && len(s.vals) > 6 {
		return fmt.Sprintf("every %s minute from %d to %d", ordinalEn(s.step), s.first(), s.last())
	}
	return pluralEn("minute", s.vals)
}

func hoursEn(s shape) string {
	switch {
	case s.kind == all:
		return "every hour"
	case s.kind == single:
		return "hour " + strconv.Itoa(s.first())
	case s.kind == span && len(s.vals) > 2:
		return fmt.Sprintf("the hours %d to %d", s.first(), s.last())
	case s.kind == steps && len(s.vals) > 6:
		return fmt.Sprintf("every %s hour from %d to %d", ordinalEn(s.step), s.first(), s.last())
	}
	return "the hours " + numbersEn(s.vals)
}

// daysEn is empty when the day fields leave no day out.
func (r *rule) daysEn(p datePlan) string {
	if !p.hasDom && !p.hasDow {
		return ""
	}
	month, rest := " of the month", r.monthsEn(" in ")
	if rest != "" && p.ofMonth() && len(p.dow) == 0 {
		month, rest = r.monthsEn(" of "), ""
	}
	text := ""
	dom, dow := p.domEn(month), p.dowEn(month)
	switch {
	case !p.hasDow:
		text = dom
	case !p.hasDom:
		text = dow
	case r.days.either:
		text = dom + " or " + dow
	default:
		text = dow + ", but only " + dom
	}
	if p.hasDom && p.hasDow && rest != "" {
		rest = "," + rest
	}
	return text + rest + r.yearsEn()
}

func (p datePlan) domEn(month string) string {
	if !p.hasDom {
		return ""
	}
	const weekday = "the weekday (Monday to Friday) nearest to "
	var parts []string
	switch {
	case p.domSteps.step > 1:
		s := p.domSteps
		parts = append(parts, fmt.Sprintf("on every %s day from day %d to %d", ordinalEn(s.step), s.first(), s.last()))
	case len(p.dom) > 0:
		parts = append(parts, "on "+pluralEn("day", p.dom))
	}
	for _, n := range p.nearest {
		parts = append(parts, "on "+weekday+"day "+strconv.Itoa(n))
	}
	for _, n := range p.last {
		if n == 0 {
			parts = append(parts, "on the last day")
		} else {
			parts = append(parts, "on the day "+countEn(n, "day")+" before the last day")
		}
	}
	for _, n := range p.lastNear {
		if n == 0 {
			parts = append(parts, "on the last weekday (Monday to Friday)")
		} else {
			parts = append(parts, "on "+weekday+"the day "+countEn(n, "day")+" before the last day")
		}
	}
	return andEn(parts) + month
}

func (p datePlan) dowEn(month string) string {
	var parts []string
	if len(p.dow) > 0 {
		names := namesEn(p.dow)
		if p.dowSpan {
			parts = append(parts, "on "+names[0]+" to "+names[len(names)-1])
		} else {
			parts = append(parts, "on "+andEn(names))
		}
	}
	var counted []string
	for n, days := range p.nth {
		for _, name := range namesEn(days) {
			counted = append(counted, "the "+[]string{"", "first", "second", "third", "fourth", "fifth"}[n]+" "+name)
		}
	}
	for _, name := range namesEn(p.lastDow) {
		counted = append(counted, "the last "+name)
	}
	if len(counted) > 0 {
		parts = append(parts, "on "+andEn(counted)+month)
	}
	return andEn(parts)
}

func namesEn(days []int) []string {
	var names []string
	for _, d := range days {
		names = append(names, time.Weekday(d).String())
	}
	return names
}

// monthsEn is empty when every month is wanted.
func (r *rule) monthsEn(before string) string {
	if r.month == allMonths {
		return ""
	}
	name := func(m int) string { return time.Month(m).String() }
	// Over New Year only without years: "November to February in 2026" is two stretches.
	s := shapeOf(r.month, 1, 12, r.years == nil)
	if s.kind == span && len(s.vals) > 2 {
		return before + name(s.first()) + " to " + name(s.last())
	}
	return before + andEn(rangesOf(s.vals, " to ", name))
}

func (r *rule) yearsEn() string {
	if r.years == nil {
		return ""
	}
	years := r.years.list()
	if step, ok := evenSteps(years); ok {
		return fmt.Sprintf(" every %s from %d to %d", countEn(step, "year"), years[0], years[len(years)-1])
	}
	return " in " + andEn(rangesOf(years, " to ", strconv.Itoa))
}

func countEn(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func pluralEn(noun string, vals []int) string {
	if len(vals) > 1 {
		noun += "s"
	}
	return noun + " " + numbersEn(vals)
}

func numbersEn(vals []int) string { return andEn(rangesOf(vals, " to ", strconv.Itoa)) }

func ordinalEn(n int) string {
	suffix := "th"
	switch {
	case n/10 == 1:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return strconv.Itoa(n) + suffix
}

func andEn(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	last := len(parts) - 1
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
