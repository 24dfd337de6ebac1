package cron

import "strings"

// The years that Quartz knows.
const (
	firstYear = 1970
	lastYear  = 2099
)

// yearSet has bit n for the year firstYear+n.
type yearSet [3]uint64

func (s *yearSet) add(year int) {
	n := year - firstYear
	s[n/64] |= 1 << (n % 64)
}

// has says whether the year is wanted; a nil set wants every year.
func (s *yearSet) has(year int) bool {
	if s == nil {
		return true
	}
	n := year - firstYear
	return n >= 0 && n <= lastYear-firstYear && s[n/64]>>(n%64)&1 == 1
}

// list returns the wanted years in order.
func (s *yearSet) list() []int {
	var years []int
	for y := firstYear; y <= lastYear; y++ {
		if s.has(y) {
			years = append(years, y)
		}
	}
	return years
}

// last returns the latest wanted year.
func (s *yearSet) last() int {
	year := lastYear
	for !s.has(year) {
		year--
	}
	return year
}

func readYears(text string) (*yearSet, *Error) {
	if text == "*" {
		return nil, nil
	}
	set := new(yearSet)
	for part := range strings.SplitSeq(text, ",") {
		if err := yearField.span(part, text, set.add); err != nil {
			return nil, err
		}
	}
	return set, nil
}
