package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Lengths of the sped-up units in minutes.
const (
	minutesOfDay   = 24
	minutesOfWeek  = 7
	minutesOfMonth = 10
)

// schedule is a schedule as the API takes it.
type schedule struct {
	Kind         string `json:"kind"`
	Cron         string `json:"cron,omitempty"`
	EverySeconds int    `json:"every_seconds,omitempty"`
	Anchor       string `json:"anchor,omitempty"`
	RunAt        string `json:"run_at,omitempty"`
	DelaySeconds int    `json:"delay_seconds,omitempty"`
	Timezone     string `json:"timezone,omitempty"`
}

// speedUp turns a job's schedule into that of a task; boot is the moment that
// stands for the start of the machine.
func speedUp(j job, zone string, boot time.Time) (schedule, error) {
	at := func(d time.Duration) string { return boot.Add(d).UTC().Format(time.RFC3339) }
	switch j.kind {
	case "reboot":
		return schedule{Kind: "once", RunAt: at(0)}, nil
	case "after":
		d, err := span(j.schedule)
		return schedule{Kind: "once", RunAt: at(d)}, err
	case "every":
		first, every, _ := strings.Cut(j.schedule, " ")
		d, err := span(every)
		if err != nil {
			return schedule{}, err
		}
		start := time.Duration(0)
		if first != "-" {
			if start, err = span(first); err != nil {
				return schedule{}, err
			}
		}
		return schedule{Kind: "interval", EverySeconds: int(shrink(d) / time.Second), Anchor: at(shrink(start))}, nil
	case "cron", "calendar":
		read := crontab
		if j.kind == "calendar" {
			read = calendar
		}
		f, err := read(j.schedule)
		if err != nil {
			return schedule{}, err
		}
		expr, err := f.speedUp()
		return schedule{Kind: "cron", Cron: expr, Timezone: zone}, err
	}
	return schedule{}, fmt.Errorf("jobs of the kind %q are not known", j.kind)
}

// shrink makes a minute of a day, and of less its 60th; a second at least.
func shrink(d time.Duration) time.Duration {
	if d >= 24*time.Hour {
		return max(d/(24*60), time.Second).Truncate(time.Second)
	}
	return max(d/60, time.Second).Truncate(time.Second)
}

// span reads one number and unit of systemd.time(7); seconds without one.
func span(s string) (time.Duration, error) {
	units := map[string]time.Duration{
		"": time.Second, "s": time.Second, "sec": time.Second, "m": time.Minute, "min": time.Minute,
		"h": time.Hour, "hr": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour, "w": 7 * 24 * time.Hour, "week": 7 * 24 * time.Hour,
	}
	digits := strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.Atoi(digits)
	unit, ok := units[s[len(digits):]]
	if err != nil || !ok {
		return 0, fmt.Errorf("the time span %q can't be read", s)
	}
	return time.Duration(n) * unit, nil
}

// fields are a schedule of the day-to-day world, in the notation of crontab(5).
type fields struct {
	minute, hour, day, month, weekday string
	both                              bool // both day fields must match (timers)
}

var macros = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
	"hourly": "0 * * * *", "daily": "0 0 * * *", "weekly": "0 0 * * 1", "monthly": "0 0 1 * *", "yearly": "0 0 1 1 *",
}

// crontab reads the time of a crontab line.
func crontab(s string) (fields, error) {
	if m, ok := macros[s]; ok {
		s = m
	}
	f := strings.Fields(s)
	if len(f) != 5 {
		return fields{}, fmt.Errorf("%q has not five fields", s)
	}
	return fields{minute: f[0], hour: f[1], day: f[2], month: f[3], weekday: f[4]}, nil
}

// calendar reads OnCalendar: [weekdays] [date] time, whose seconds are 0.
func calendar(s string) (fields, error) {
	if m, ok := macros[s]; ok {
		return crontab(m)
	}
	f := fields{day: "*", month: "*", weekday: "*", both: true}
	for _, word := range strings.Fields(strings.ReplaceAll(s, "..", "~")) {
		word = strings.ReplaceAll(word, "~", "\x00") // a range; the date has hyphens of its own
		switch {
		case strings.Contains(word, ":"):
			t := strings.Split(word, ":")
			if len(t) == 3 && strings.Trim(t[2], "0") != "" || len(t) > 3 {
				return fields{}, fmt.Errorf("OnCalendar=%s: only whole minutes are known", s)
			}
			f.hour, f.minute = t[0], t[1]
		case strings.Contains(word, "-"):
			d := strings.Split(word, "-")
			if len(d) != 3 || d[0] != "*" {
				return fields{}, fmt.Errorf("OnCalendar=%s: only dates of every year are known", s)
			}
			f.month, f.day = d[1], d[2]
		default:
			f.weekday = word
		}
	}
	if f.hour == "" {
		return fields{}, fmt.Errorf("OnCalendar=%s has no time", s)
	}
	for _, p := range []*string{&f.minute, &f.hour, &f.day, &f.month, &f.weekday} {
		*p = strings.ReplaceAll(*p, "\x00", "-")
	}
	return f, nil
}

// speedUp gives the cron expression of the sped-up schedule.
func (f fields) speedUp() (string, error) {
	hours, err := values(f.hour, 0, 23)
	if err != nil {
		return "", err
	}
	free := unrestricted(f.day) && unrestricted(f.month) && unrestricted(f.weekday)
	if len(hours) > 2 && free {
		if _, err := values(f.minute, 0, 59); err != nil {
			return "", err
		}
		return write(f.minute, foldHours(f.hour, hours)), nil
	}
	minutes, err := f.days()
	return write(spell(hours), spell(minutes)), err
}

func unrestricted(field string) bool { return strings.HasPrefix(field, "*") }

// foldHours writes the hours of each 24-minute day as minutes. Steps that
// divide a day go on over its end as they are.
func foldHours(text string, hours []int) string {
	step := strings.TrimPrefix(text, "*/")
	if n, err := strconv.Atoi(step); text == "*" || err == nil && step != text && minutesOfDay%n == 0 {
		return text
	}
	var minutes []int
	for day := 0; day < 60; day += minutesOfDay {
		for _, h := range hours {
			if day+h < 60 {
				minutes = append(minutes, day+h)
			}
		}
	}
	return spell(minutes)
}

// days gives the minutes that stand for the schedule's days.
func (f fields) days() ([]int, error) {
	days, err := values(f.day, 1, 31)
	if err != nil {
		return nil, err
	}
	weekdays, err := values(f.weekday, 0, 7)
	if err != nil {
		return nil, err
	}
	ofMonth := func(m int) bool {
		if !unrestricted(f.month) {
			return slices.Contains(days, m)
		}
		return slices.ContainsFunc(days, func(d int) bool { return d%minutesOfMonth == m%minutesOfMonth })
	}
	ofWeek := func(m int) bool {
		return slices.ContainsFunc(weekdays, func(d int) bool { return d%minutesOfWeek == m%minutesOfWeek })
	}
	either := !f.both && !unrestricted(f.day) && !unrestricted(f.weekday)
	var out []int
	for m := range 60 {
		if ofMonth(m) && ofWeek(m) || either && (ofMonth(m) || ofWeek(m)) {
			out = append(out, m)
		}
	}
	return out, nil
}

var weekdayNames = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// values reads a field: lists, ranges and steps.
func values(field string, low, high int) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(strings.ToLower(field), ",") {
		base, stepText, stepped := strings.Cut(part, "/")
		from, to, step := low, high, 1
		var err error
		if stepped {
			if step, err = strconv.Atoi(stepText); err != nil || step < 1 {
				return nil, fmt.Errorf("the step of %q can't be read", field)
			}
		}
		if base != "*" {
			a, b, ranged := strings.Cut(base, "-")
			if from, err = value(a); err == nil && ranged {
				to, err = value(b)
			} else if !stepped {
				to = from
			}
		}
		if err != nil || from < low || to > high || from > to {
			return nil, fmt.Errorf("%q in %q is not within %d–%d", part, field, low, high)
		}
		for v := from; v <= to; v += step {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

func value(s string) (int, error) {
	if i := slices.Index(weekdayNames, s); i >= 0 {
		return i, nil
	}
	return strconv.Atoi(s)
}

// spell writes values of a second or minute field: as *, as steps if they are
// all one, else as runs of neighbours.
func spell(vs []int) string {
	if len(vs) == 60 {
		return "*"
	}
	if step := pace(vs); step > 1 {
		return fmt.Sprintf("%d-%d/%d", vs[0], vs[len(vs)-1], step)
	}
	var parts []string
	for i := 0; i < len(vs); {
		last := i
		for last+1 < len(vs) && vs[last+1] == vs[last]+1 {
			last++
		}
		if last-i < 2 {
			last = i
			parts = append(parts, strconv.Itoa(vs[i]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", vs[i], vs[last]))
		}
		i = last + 1
	}
	return strings.Join(parts, ",")
}

// pace is the distance between the values of a list of three or more, 0 when
// they have none.
func pace(vs []int) int {
	if len(vs) < 3 {
		return 0
	}
	step := vs[1] - vs[0]
	for i, v := range vs {
		if v != vs[0]+i*step {
			return 0
		}
	}
	return step
}

// write makes the expression: five fields where second 0 is the only one.
func write(second, minute string) string {
	if strings.Trim(second, "0") == "" {
		return minute + " * * * *"
	}
	return second + " " + minute + " * * * ?"
}
