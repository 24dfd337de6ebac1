package calendar

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/access"
)

// Seed is a calendar of the installation that ax itself makes once, and gives
// each year that it comes to know later.
type Seed struct {
	Code, Name string
	Week       Week
	Years      map[int]map[Day]Entry // by the year of the notice, which may reach into the year before
}

// Since is the seed without the years before the first.
func (s Seed) Since(first int) Seed {
	years := map[int]map[Day]Entry{}
	for y, days := range s.Years {
		if y >= first {
			years[y] = days
		}
	}
	s.Years = years
	return s
}

// Setting is the name of the setting that remembers which years were given.
func (s Seed) Setting() string { return "calendar_seed." + s.Code }

// Make gives the calendar as it begins.
func (s Seed) Make(now time.Time) *Calendar {
	c := &Calendar{Code: s.Code, Name: s.Name, Week: s.Week, Listed: map[Day]Entry{}, Version: 1, UpdatedAt: now, UpdatedBy: seeder.Name}
	s.add(c, nil)
	return c
}

// Extend gives the calendar the years that it was never given and has no day
// of: what people wrote, or took out, stays.
func (s Seed) Extend(c *Calendar, given []int) { s.add(c, given) }

func (s Seed) add(c *Calendar, given []int) {
	covered := map[int]bool{}
	for d := range c.Listed {
		covered[d.Year()] = true
	}
	for year, days := range s.Years {
		if covered[year] || slices.Contains(given, year) {
			continue
		}
		for d, e := range days {
			if _, listed := c.Listed[d]; !listed {
				c.Listed[d] = e
			}
		}
	}
}

// Given reads the setting.
func (s Seed) Given(setting string) []int {
	var out []int
	for y := range strings.SplitSeq(setting, ",") {
		if n, err := strconv.Atoi(y); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// Remember is the setting when all years of the seed are given.
func (s Seed) Remember(given []int) string {
	years := slices.Clone(given)
	for y := range s.Years {
		years = append(years, y)
	}
	slices.Sort(years)
	words := []string{}
	for _, y := range slices.Compact(years) {
		words = append(words, strconv.Itoa(y))
	}
	return strings.Join(words, ",")
}

// seeder is who seeds, in the audit.
var seeder = access.Actor{Kind: access.System, Name: "ax"}

// Entry is the audit row of the seed; its action tells whether it made the
// calendar or gave it years.
func (s Seed) Entry(was, is *Calendar, now time.Time) access.Entry {
	action := "calendar.days"
	if was == nil {
		action, was = "calendar.create", &Calendar{Code: s.Code}
	}
	return entryOf(seeder, now, action, "the years that this version of ax knows", was, is)
}
