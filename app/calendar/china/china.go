// Package china knows the statutory holidays of China and the weekend days
// that are worked in their place, for the years that its library knows. It is
// for filling a calendar once: what a task goes by is the calendar.
//
// The library keeps its data in variables that can be changed; this package
// only reads them, and nothing else in ax may import it.
package china

import (
	"time"

	"github.com/6tail/lunar-go/HolidayUtil"

	"ax/app/calendar"
)

// The years that are asked for. State holidays with make-up workdays began
// shortly before the first.
const (
	firstYear = 2001
	lastYear  = 2199
)

// names are the holidays in both languages, by the library's names.
var names = map[string]string{
	"元旦节": "New Year 元旦", "春节": "Spring Festival 春节", "清明节": "Qingming 清明节", "劳动节": "Labour Day 劳动节",
	"端午节": "Dragon Boat 端午节", "中秋节": "Mid-Autumn 中秋节", "国庆节": "National Day 国庆节",
	"国庆中秋": "National Day and Mid-Autumn 国庆中秋", "抗战胜利日": "Victory Day 抗战胜利日",
}

// Seed is the calendar of the statutory workdays, from the first year on.
func Seed(first int) calendar.Seed {
	seed := calendar.Seed{Code: "cn-workdays", Name: "China statutory workdays 中国法定工作日", Week: calendar.MondayToFriday, Years: Years()}
	return seed.Since(first)
}

// Years gives the days of each notice of the State Council that the library
// knows, by the notice's year. A notice may list days at the end of the year
// before. A year is known when its National Day is.
func Years() map[int]map[calendar.Day]calendar.Entry {
	out := map[int]map[calendar.Day]calendar.Entry{}
	for year := firstYear; year <= lastYear; year++ {
		list := HolidayUtil.GetHolidaysByYear(year)
		for e := list.Front(); e != nil; e = e.Next() {
			holiday, ok := e.Value.(*HolidayUtil.Holiday)
			if !ok {
				continue
			}
			day, err := calendar.ParseDay(holiday.GetDay())
			target, errOfTarget := calendar.ParseDay(holiday.GetTarget())
			if err != nil || errOfTarget != nil {
				continue
			}
			if out[target.Year()] == nil {
				out[target.Year()] = map[calendar.Day]calendar.Entry{}
			}
			out[target.Year()][day] = calendar.Entry{Work: holiday.IsWork(), Name: nameOf(holiday.GetName())}
		}
	}
	for year, days := range out {
		if e, ok := days[calendar.Date(year, time.October, 1)]; !ok || e.Work {
			delete(out, year)
		}
	}
	return out
}

func nameOf(holiday string) string {
	if name, ok := names[holiday]; ok {
		return name
	}
	return holiday
}
