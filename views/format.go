package views

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// dash stands where there is no value.
const dash = "–"

// Clock is an instant in the viewer's zone, as short as it stays exact:
// "14:32:07" today, "1 Dec 15:30" this year, "1 Dec 2025 15:30" else; in
// Chinese "12-01 15:30". The zero time is a dash.
func (v Viewer) Clock(at time.Time) string {
	if at.IsZero() {
		return dash
	}
	at, now := at.In(v.zone()), v.Now.In(v.zone())
	sameYear := at.Year() == now.Year()
	switch {
	case sameYear && at.YearDay() == now.YearDay():
		return at.Format("15:04:05")
	case v.Lang == Chinese && sameYear:
		return at.Format("01-02 15:04")
	case v.Lang == Chinese:
		return at.Format("2006-01-02 15:04")
	case sameYear:
		return at.Format("2 Jan 15:04")
	}
	return at.Format("2 Jan 2006 15:04")
}

// TimeOfDay is the time of day in the viewer's zone, for lists that have the
// date beside it.
func (v Viewer) TimeOfDay(at time.Time) string { return at.In(v.zone()).Format("15:04:05") }

// ShortDate is the date without the weekday: "2 Dec", "2 Dec 2025"; in Chinese
// "12-02", "2025-12-02".
func (v Viewer) ShortDate(at time.Time) string {
	at = at.In(v.zone())
	sameYear := at.Year() == v.Now.In(v.zone()).Year()
	switch {
	case v.Lang == Chinese && sameYear:
		return at.Format("01-02")
	case v.Lang == Chinese:
		return at.Format("2006-01-02")
	case sameYear:
		return at.Format("2 Jan")
	}
	return at.Format("2 Jan 2006")
}

// ClockMilli is the time of day with milliseconds, for steps of one run.
func (v Viewer) ClockMilli(at time.Time) string {
	if at.IsZero() {
		return dash
	}
	return at.In(v.zone()).Format("15:04:05.000")
}

// Day is a date with its weekday: "Wed 2 Dec 2026", "2026 年 12 月 2 日 周三".
func (v Viewer) Day(at time.Time) string {
	at = at.In(v.zone())
	if v.Lang == Chinese {
		return at.Format("2006 年 1 月 2 日 ") + chineseDays[at.Weekday()]
	}
	return at.Format("Mon 2 Jan 2006")
}

var chineseDays = [...]string{"周日", "周一", "周二", "周三", "周四", "周五", "周六"}

// Relative is the distance of an instant from now: "in 23 s", "12 min ago".
func (v Viewer) Relative(at time.Time) string {
	if at.IsZero() {
		return dash
	}
	d := at.Sub(v.Now)
	switch {
	case d > -time.Second && d < time.Second:
		return Translate(v.Lang, "now")
	case d > 0:
		return Translate(v.Lang, "in %s", v.Span(d))
	}
	return Translate(v.Lang, "%s ago", v.Span(-d))
}

// Span is a distance between two moments, coarse as people say it: "23 s",
// "2 min 53 s", "27 min", "1 h 32 min", "29 d".
func (v Viewer) Span(d time.Duration) string {
	s, m, h := int64(d/time.Second), int64(d/time.Minute), int64(d/time.Hour)
	switch {
	case s < 60:
		return Translate(v.Lang, "%d s", s)
	case m < 10 && s%60 != 0:
		return Translate(v.Lang, "%d min %d s", m, s%60)
	case m < 60:
		return Translate(v.Lang, "%d min", m)
	case h < 24 && m%60 != 0:
		return Translate(v.Lang, "%d h %d min", h, m%60)
	case h < 24:
		return Translate(v.Lang, "%d h", h)
	case h < 72 && h%24 != 0:
		return Translate(v.Lang, "%d d %d h", h/24, h%24)
	}
	return TranslateCount(v.Lang, "%d d", h/24)
}

// Duration is how long something took or may take: "184 ms", "43.6 s",
// "2 min 51 s", "1 h 05 min". Negative ones are measuring errors: 0.
func (v Viewer) Duration(d time.Duration) string {
	d = max(d, 0)
	if d < 999500*time.Microsecond {
		return Translate(v.Lang, "%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	if tenths := d.Round(100 * time.Millisecond); tenths < time.Minute {
		return Translate(v.Lang, "%s s", trimZero(tenths.Seconds()))
	}
	s := int64(d.Round(time.Second) / time.Second)
	m, h := s/60, s/3600
	switch {
	case m < 60 && s%60 == 0:
		return Translate(v.Lang, "%d min", m)
	case m < 60:
		return Translate(v.Lang, "%d min %02d s", m, s%60)
	case m%60 == 0 && h < 48:
		return Translate(v.Lang, "%d h", h)
	case h < 48:
		return Translate(v.Lang, "%d h %02d min", h, m%60)
	}
	return Translate(v.Lang, "%d d %d h", h/24, h%24)
}

// trimZero prints one decimal, none when it is 0.
func trimZero(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}

// ISO is an instant for machines and for the title of a time: UTC with
// milliseconds.
func ISO(at time.Time) string {
	return at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// Title is what hovering over a time shows: the instant in UTC, then the
// viewer's own time and zone.
func (v Viewer) Title(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	own := at.In(v.zone())
	return ISO(at) + " · " + own.Format("2006-01-02 15:04:05 -07:00") + " " + v.zone().String()
}

func (v Viewer) zone() *time.Location {
	if v.Zone == nil {
		return time.UTC
	}
	return v.Zone
}

// number prints with thousands separators: 1,284.
func number[N int | int64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// short prints a number for an axis: 500, 1.5k, 12k, 2M.
func short(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 1_000_000:
		return trimZero(float64(n)/1000) + "k"
	}
	return trimZero(float64(n)/1_000_000) + "M"
}

// bytesText prints a size: "61 B", "1.5 KB", "1 MB"; a KB is 1,024 bytes.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return number(n) + " B"
	case n < 1<<20:
		return trimZero(float64(n)/(1<<10)) + " KB"
	case n >= 1<<30:
		return trimZero(float64(n)/(1<<30)) + " GB"
	}
	return trimZero(float64(n)/(1<<20)) + " MB"
}

// percent prints part of whole with two decimals, "97.84 %". It never rounds
// up to 100: a single failure among a million stays visible. Of nothing it
// is a dash.
func percent(part, whole int64) string {
	value, ok := percentValue(part, whole)
	if !ok {
		return dash
	}
	return value + " %"
}

func percentValue(part, whole int64) (string, bool) {
	if whole <= 0 {
		return dash, false
	}
	hundredths := part * 10_000 / whole
	return fmt.Sprintf("%d.%02d", hundredths/100, hundredths%100), true
}

// initials are the two letters of a person's mark: "ops-lead" is OL.
func initials(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '.' || r == '_' || r == '@' })
	var out []rune
	for _, w := range words {
		if len(out) == 2 {
			break
		}
		out = append(out, []rune(w)[0])
	}
	if len(words) == 1 && len([]rune(words[0])) > 1 {
		out = append(out, []rune(words[0])[1])
	}
	return strings.ToUpper(string(out))
}

// clock is Viewer.Clock for the viewer of the page.
func clock(ctx context.Context, at time.Time) string { return viewer(ctx).Clock(at) }

// relative is Viewer.Relative for the viewer of the page.
func relative(ctx context.Context, at time.Time) string { return viewer(ctx).Relative(at) }

// duration is Viewer.Duration for the viewer of the page.
func duration(ctx context.Context, d time.Duration) string { return viewer(ctx).Duration(d) }
