package alert

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

var unitWords = map[Unit]pair{
	Percent: {"%s %%", "%s%%"},
	Seconds: {"%s s", "%s 秒"},
	Minutes: {"%s min", "%s 分钟"},
	Hours:   {"%s h", "%s 小时"},
	Days:    {"%s days", "%s 天"},
	Factor:  {"%s×", "%s 倍"},
}

var yesNo = map[bool]pair{true: {"yes", "是"}, false: {"no", "否"}}

// Show words a value in its unit: "10,000", "94.99 %", "3.2×", "yes".
func Show(lang string, u Unit, v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "–"
	}
	if u == Yes {
		return yesNo[v != 0].in(lang)
	}
	p, ok := unitWords[u]
	if !ok {
		return number(v)
	}
	if u == Days && number(v) == "1" {
		p.en = "%s day"
	}
	return p.fill(lang, number(v))
}

// number has separators of thousands and at most two decimals, the rest cut
// off: 94.996 of a threshold of 95 must not read as 95.
func number(v float64) string {
	v = math.Floor(v*100+1e-6) / 100
	text := strconv.FormatFloat(v, 'f', 2, 64)
	text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, rest, dot := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + rest
	}
	return sign + whole
}

// Lasted words a duration by its two largest parts: "1 h 12 min".
func Lasted(lang string, d time.Duration) string {
	d = max(d, 0)
	s := int64(d / time.Second)
	part := func(n int64, p pair) string { return p.fill(lang, strconv.FormatInt(n, 10)) }
	two := func(a string, n int64, p pair) string {
		if n == 0 {
			return a
		}
		return a + " " + part(n, p)
	}
	day := pair{"%s d", "%s 天"}
	switch {
	case s < 60:
		return part(s, unitWords[Seconds])
	case s < 3600:
		return part(s/60, unitWords[Minutes])
	case s < 86_400:
		return two(part(s/3600, unitWords[Hours]), s%3600/60, unitWords[Minutes])
	}
	return two(part(s/86_400, day), s%86_400/3600, unitWords[Hours])
}

// clock is a time with its offset: "2026-11-30 19:56 UTC+08:00".
func clock(at time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	return at.In(zone).Format("2006-01-02 15:04 UTC-07:00")
}

// since with how long: of what is over, how long it was.
func (m Message) sinceWords(lang string, w Where) string {
	if m.Since.IsZero() {
		return ""
	}
	lasted := m.lasted(lang, w)
	if lasted == "" {
		return clock(m.Since, w.Zone)
	}
	return wordSince.fill(lang, clock(m.Since, w.Zone), lasted)
}

func (m Message) lasted(lang string, w Where) string {
	until := w.Now
	if !m.EndedAt.IsZero() {
		until = m.EndedAt
	}
	if m.Since.IsZero() || until.IsZero() {
		return ""
	}
	return Lasted(lang, until.Sub(m.Since))
}

// oneLine makes a line of at most limit characters: valid text, without what
// moves, hides or breaks it. What is longer shows that it is cut.
func oneLine(s string, limit int) string {
	const spare = 8 // white space that is folded, marks that are dropped
	s = firstBytes(s, limit*spare*utf8.UTFMax)
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		if unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) {
			space = b.Len() > 0
			continue
		}
		// Joiners hold letters and emoji together; other format characters turn
		// the direction of text around or can't be seen.
		if unicode.Is(unicode.Cf, r) && r != '\u200c' && r != '\u200d' || unicode.Is(unicode.Co, r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			n++
		}
		if n >= limit-1 {
			return strings.TrimSuffix(b.String(), " ") + "…"
		}
		space = false
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// firstBytes cuts to at most n bytes, between characters.
func firstBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// maxLines is how many lines of its own a person's text may have.
const maxLines = 20

// cleanLines are the lines of what a person wrote, without empty ones.
func cleanLines(s string) []string {
	var out []string
	for l := range strings.Lines(firstBytes(s, 64<<10)) {
		if l = oneLine(l, maxValue); l != "" && len(out) < maxLines {
			out = append(out, l)
		}
	}
	return out
}
