package cron

import (
	"strconv"
	"strings"
)

// field is the grammar of one field: its values, its names and its texts.
type field struct {
	low, high int
	names     []string // names[i] stands for low+i, or for i where zeroName is set
	zeroName  int      // the value of names[0]
	cycle     int      // values in one turn, for ranges that wrap; 0: they don't
	badValue  string
	badStep   string
}

// allMonths is the month set that leaves none out.
const allMonths = 1<<13 - 2

var (
	monthNames   = []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	weekdayNames = []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}

	secondField = field{low: 0, high: 59, cycle: 60,
		badValue: "second %q is not a number from 0 to 59",
		badStep:  "the step %q of the second is not a number from 1 to 59"}
	minuteField = field{low: 0, high: 59, cycle: 60,
		badValue: "minute %q is not a number from 0 to 59",
		badStep:  "the step %q of the minute is not a number from 1 to 59"}
	hourField = field{low: 0, high: 23, cycle: 24,
		badValue: "hour %q is not a number from 0 to 23",
		badStep:  "the step %q of the hour is not a number from 1 to 23"}
	dayField = field{low: 1, high: 31, cycle: 31,
		badValue: "day of month %q is not a number from 1 to 31, L, LW, L-3 or 15W",
		badStep:  "the step %q of the day of month is not a number from 1 to 31"}
	monthField = field{low: 1, high: 12, cycle: 12, names: monthNames, zeroName: 1,
		badValue: "month %q is not a number from 1 to 12 or a name from JAN to DEC",
		badStep:  "the step %q of the month is not a number from 1 to 12"}
	// The week of Vixie cron has eight values, two of them Sunday.
	vixieWeekday = field{low: 0, high: 7, cycle: 7, names: weekdayNames,
		badValue: "weekday %q is not a number from 0 to 7 (0 and 7 are Sunday), a name from SUN to SAT, FRIL or MON#2",
		badStep:  "the step %q of the weekday is not a number from 1 to 7"}
	quartzWeekday = field{low: 1, high: 7, cycle: 7, names: weekdayNames, zeroName: 1,
		badValue: "weekday %q is not a number from 1 (Sunday) to 7 (Saturday), a name from SUN to SAT, FRIL or MON#2",
		badStep:  "the step %q of the weekday is not a number from 1 to 7"}
	yearField = field{low: firstYear, high: lastYear,
		badValue: "year %q is not a number from 1970 to 2099",
		badStep:  "the step %q of the year is not a number from 1 to 129"}
)

// bits reads a whole field into a set: bit n is value n. For fields up to 63.
func (f *field) bits(text string) (uint64, *Error) {
	var set uint64
	for part := range strings.SplitSeq(text, ",") {
		err := f.span(part, text, func(v int) { set |= 1 << v })
		if err != nil {
			return 0, err
		}
	}
	return set, nil
}

// span reads one part of a list (a value, a range or a step) and adds its
// values. whole is the field, to be named when part is empty.
func (f *field) span(part, whole string, add func(int)) *Error {
	base, stepText, stepped := strings.Cut(part, "/")
	step := 1
	if stepped {
		n, ok := number(stepText)
		if !ok || n < 1 || n > f.longestStep() {
			return refuse(f.badStep, stepText)
		}
		step = n
	}
	from, to := f.low, f.high
	if base != "*" {
		a, b, ranged := strings.Cut(base, "-")
		var ok bool
		if from, ok = f.value(a); !ok {
			return refuse(f.badValue, firstOf(a, part, whole))
		}
		if ranged {
			if to, ok = f.value(b); !ok {
				return refuse(f.badValue, firstOf(b, part, whole))
			}
		} else if !stepped {
			to = from
		}
	}
	return f.fill(from, to, step, part, add)
}

func (f *field) fill(from, to, step int, part string, add func(int)) *Error {
	length := to - from
	if length < 0 {
		if f.cycle == 0 {
			return refuse("the years %q run backwards; write the earlier one first", part)
		}
		length += f.cycle
	}
	for i := 0; i <= length; i += step {
		v := from + i
		if v > f.high {
			v -= f.cycle
		}
		add(v)
	}
	return nil
}

func (f *field) longestStep() int {
	if f.low == firstYear {
		return lastYear - firstYear
	}
	return f.high
}

// value reads a number or a name.
func (f *field) value(s string) (int, bool) {
	if n, ok := number(s); ok {
		return n, n >= f.low && n <= f.high
	}
	for i, name := range f.names {
		if strings.EqualFold(s, name) {
			return f.zeroName + i, true
		}
	}
	return 0, false
}

// number reads plain digits: no sign, no blanks, nothing that overflows.
func number(s string) (int, bool) {
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.Atoi(s)
	return n, err == nil
}

func firstOf(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
