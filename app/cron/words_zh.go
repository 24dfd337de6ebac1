package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func (r *rule) wordsZh() string {
	if r.every > 0 {
		return "每" + everyZh(r.every)
	}
	clock := r.clockPlan()
	pace := clockZh(clock)
	bare := clock.times == nil && !clock.window.set // no time of day in front
	days := r.daysZh(r.datePlan())
	switch {
	case days == "" && bare:
		return pace
	case days == "":
		return "每天 " + pace
	case bare:
		return days + "，" + pace
	case strings.HasSuffix(days, "）"):
		return days + pace
	}
	return days + " " + pace
}

func everyZh(d time.Duration) string {
	var parts []string
	for _, u := range []struct {
		name string
		n    int
	}{{"小时", int(d.Hours())}, {"分钟", int(d.Minutes()) % 60}, {"秒", int(d.Seconds()) % 60}} {
		if u.n > 0 {
			parts = append(parts, strconv.Itoa(u.n)+" "+u.name)
		}
	}
	switch text := strings.Join(parts, " "); text {
	case "1 小时", "1 分钟", "1 秒":
		return strings.TrimPrefix(text, "1 ")
	default:
		return " " + text
	}
}

func clockZh(p clockPlan) string {
	if p.times != nil {
		return strings.Join(clocks(p.times), "、")
	}
	var text string
	if p.step == 0 {
		text = hoursZh(*p.hours) + "第 " + numbersZh(p.points) + " 分"
	} else {
		text = paceZh(p)
	}
	if p.seconds != nil {
		text += "，第 " + numbersZh(p.seconds) + " 秒"
	}
	return text
}

func paceZh(p clockPlan) string {
	pace := "每" + []string{"秒", "分钟", "小时"}[p.unit]
	if p.step > 1 {
		pace = fmt.Sprintf("每 %d %s", p.step, []string{"秒", "分钟", "小时"}[p.unit])
	}
	if p.past >= 0 {
		pace += "第 " + strconv.Itoa(p.past) + " 分"
	}
	if p.window.set {
		to := " 至 "
		if p.window.to < p.window.from {
			to = " 至次日 "
		}
		return p.window.start() + to + p.window.end() + "，" + pace
	}
	return boundsZh(p) + pace
}

// boundsZh says what a pace keeps to, with a comma behind it if anything.
func boundsZh(p clockPlan) string {
	var bounds string
	if p.hours != nil {
		bounds = hoursZh(*p.hours)
	}
	if p.minutes != nil {
		bounds += minutesZh(*p.minutes)
	}
	switch {
	case p.first >= 0 && p.unit == second:
		if bounds != "" {
			bounds += "，"
		}
		bounds += fmt.Sprintf("每分钟第 %d 至 %d 秒", p.first, p.last)
	case p.first >= 0:
		bounds += fmt.Sprintf("第 %d 至 %d 分", p.first, p.last)
	}
	if bounds == "" {
		return ""
	}
	return bounds + "，"
}

func minutesZh(s shape) string {
	if s.kind == steps && len(s.vals) > 6 {
		return fmt.Sprintf("第 %d 至 %d 分中每 %d 分钟", s.first(), s.last(), s.step)
	}
	return "第 " + numbersZh(s.vals) + " 分"
}

func hoursZh(s shape) string {
	switch {
	case s.kind == all:
		return "每小时"
	case s.kind == span && len(s.vals) > 2:
		if s.last() < s.first() {
			return fmt.Sprintf("%d 点至次日 %d 点", s.first(), s.last())
		}
		return fmt.Sprintf("%d 至 %d 点", s.first(), s.last())
	}
	return numbersZh(s.vals) + " 点"
}

// daysZh is empty when every day is wanted.
func (r *rule) daysZh(p datePlan) string {
	years, months := r.yearsZh(), r.monthsZh()
	if !p.hasDom && !p.hasDow {
		if years+months == "" {
			return ""
		}
		return joinZh(years, months) + "每天"
	}
	month := months // what a day of the month is counted in
	if month == "" {
		month = "每月"
	}
	dom, dow := p.domZh(), p.dowZh()
	var text string
	switch {
	case p.hasDom && p.hasDow && !r.days.either:
		text = month + dom + "且为" + dow
	case p.hasDom && p.hasDow && months != "":
		text = months + "的" + dom + "或" + dow
	case p.hasDom && p.hasDow:
		text = month + dom + "或" + dow
	case p.hasDom:
		text = month + dom
	case len(p.dow) == 0:
		text = month + dow
	case months != "":
		text = months + "的" + dow
	default:
		text = dow
	}
	return joinZh(years, text)
}

// joinZh puts the year in front, with a blank before a number only.
func joinZh(years, text string) string {
	if years != "" && text != "" && text[0] >= '0' && text[0] <= '9' {
		return years + " " + text
	}
	return years + text
}

// domZh begins with a blank where a number follows the month.
func (p datePlan) domZh() string {
	if !p.hasDom {
		return ""
	}
	fromEnd := func(n int) string {
		if n == 0 {
			return "最后一天"
		}
		return fmt.Sprintf("倒数第 %d 天", n+1)
	}
	var parts []string
	switch {
	case p.domSteps.step > 1:
		s := p.domSteps
		parts = append(parts, fmt.Sprintf(" %d 日起每 %d 天（至 %d 日）", s.first(), s.step, s.last()))
	case len(p.dom) > 0:
		parts = append(parts, " "+numbersZh(p.dom)+" 日")
	}
	for _, n := range p.nearest {
		parts = append(parts, fmt.Sprintf("离 %d 日最近的工作日（周一至周五）", n))
	}
	for _, n := range p.last {
		parts = append(parts, fromEnd(n))
	}
	for _, n := range p.lastNear {
		if n == 0 {
			parts = append(parts, "最后一个工作日（周一至周五）")
		} else {
			parts = append(parts, "离"+fromEnd(n)+"最近的工作日（周一至周五）")
		}
	}
	return strings.Join(parts, "和")
}

func (p datePlan) dowZh() string {
	var parts []string
	if len(p.dow) > 0 {
		names := namesZh(p.dow)
		if p.dowSpan {
			parts = append(parts, names[0]+"至"+names[len(names)-1])
		} else {
			parts = append(parts, strings.Join(names, "、"))
		}
	}
	within := "" // a plain weekday in front hides that these count by the month
	if len(parts) > 0 || p.hasDom {
		within = "当月"
	}
	for n, days := range p.nth {
		for _, name := range namesZh(days) {
			parts = append(parts, within+"第"+[]string{"", "一", "二", "三", "四", "五"}[n]+"个"+name)
		}
	}
	for _, name := range namesZh(p.lastDow) {
		parts = append(parts, within+"最后一个"+name)
	}
	return strings.Join(parts, "和")
}

func namesZh(days []int) []string {
	var names []string
	for _, d := range days {
		names = append(names, []string{"周日", "周一", "周二", "周三", "周四", "周五", "周六"}[d])
	}
	return names
}

// monthsZh is empty when every month is wanted.
func (r *rule) monthsZh() string {
	if r.month == allMonths {
		return ""
	}
	s := shapeOf(r.month, 1, 12, r.years == nil)
	if s.kind == span && len(s.vals) > 2 && s.last() < s.first() {
		return fmt.Sprintf("%d 月至次年 %d 月", s.first(), s.last())
	}
	return numbersZh(s.vals) + " 月"
}

func (r *rule) yearsZh() string {
	if r.years == nil {
		return ""
	}
	years := r.years.list()
	if step, ok := evenSteps(years); ok {
		return fmt.Sprintf("%d 至 %d 年每 %d 年", years[0], years[len(years)-1], step)
	}
	return numbersZh(years) + " 年"
}

func numbersZh(vals []int) string {
	return strings.Join(rangesOf(vals, " 至 ", strconv.Itoa), "、")
}
