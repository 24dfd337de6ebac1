package calendar

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/fault"
)

// vcalendar puts events into a file, with the line ends of the standard.
func vcalendar(events ...string) string {
	lines := []string{"BEGIN:VCALENDAR", "VERSION:2.0"}
	for _, e := range events {
		lines = append(lines, "BEGIN:VEVENT")
		lines = append(lines, strings.Split(e, "\n")...)
		lines = append(lines, "END:VEVENT")
	}
	return strings.Join(append(lines, "END:VCALENDAR", ""), "\r\n")
}

func TestEventsAreRead(t *testing.T) {
	one := func(day string, e Entry) map[Day]Entry { return map[Day]Entry{d(day): e} }
	newYear := Entry{Name: "New Year"}
	for name, c := range map[string]struct {
		text string
		want map[Day]Entry
	}{
		"a day":              {vcalendar("DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270102\nSUMMARY:New Year"), one("2027-01-01", newYear)},
		"no end":             {vcalendar("DTSTART;VALUE=DATE:20270101\nSUMMARY:New Year"), one("2027-01-01", newYear)},
		"an end on its day":  {vcalendar("DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270101\nSUMMARY:New Year"), one("2027-01-01", newYear)},
		"the end exclusive":  {vcalendar("DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270103\nSUMMARY:New Year"), map[Day]Entry{d("2027-01-01"): newYear, d("2027-01-02"): newYear}},
		"over a year's end":  {vcalendar("DTSTART:20261231\nDTEND:20270102\nSUMMARY:New Year"), map[Day]Entry{d("2026-12-31"): newYear, d("2027-01-01"): newYear}},
		"a duration":         {vcalendar("DTSTART;VALUE=DATE:20270101\nDURATION:P2D\nSUMMARY:New Year"), map[Day]Entry{d("2027-01-01"): newYear, d("2027-01-02"): newYear}},
		"times":              {vcalendar("DTSTART;TZID=Asia/Shanghai:20270101T090000\nDTEND;TZID=Asia/Shanghai:20270101T170000\nSUMMARY:New Year"), one("2027-01-01", newYear)},
		"times to midnight":  {vcalendar("DTSTART:20270101T000000Z\nDTEND:20270102T000000Z\nSUMMARY:New Year"), one("2027-01-01", newYear)},
		"a folded line":      {vcalendar("DTSTART;VALUE=DATE:20270101\nSUMMARY:New\n  Year"), one("2027-01-01", newYear)},
		"folded by a tab":    {vcalendar("DTSTART;VALUE=DATE:20270101\nSUMMARY:New Ye\n\tar"), one("2027-01-01", newYear)},
		"escaped text":       {vcalendar(`DTSTART;VALUE=DATE:20270101` + "\n" + `SUMMARY:a\, b\; c\\ d\ne`), one("2027-01-01", Entry{Name: `a, b; c\ d e`})},
		"worked 班":           {vcalendar("DTSTART;VALUE=DATE:20270103\nSUMMARY:元旦补班"), one("2027-01-03", Entry{Work: true, Name: "元旦补班"})},
		"worked by mark":     {vcalendar("DTSTART;VALUE=DATE:20270103\nSUMMARY:元旦（班）"), one("2027-01-03", Entry{Work: true, Name: "元旦"})},
		"worked in English":  {vcalendar("DTSTART;VALUE=DATE:20270103\nSUMMARY:Extra Workday"), one("2027-01-03", Entry{Work: true, Name: "Extra Workday"})},
		"off by mark":        {vcalendar("DTSTART;VALUE=DATE:20270103\nSUMMARY:加班节（休）"), one("2027-01-03", Entry{Name: "加班节"})},
		"lower case":         {"begin:vcalendar\nbegin:vevent\ndtstart;value=date:20270101\nsummary:New Year\nend:vevent\nend:vcalendar", one("2027-01-01", newYear)},
		"a BOM":              {"\ufeff" + vcalendar("DTSTART;VALUE=DATE:20270101\nSUMMARY:New Year"), one("2027-01-01", newYear)},
		"X-properties":       {vcalendar("X-APPLE-SPECIAL-DAY:WORK-HOLIDAY\nX-A;B=\"c:d\":e\nDTSTART;VALUE=DATE:20270101\nSUMMARY;LANGUAGE=en:New Year"), one("2027-01-01", newYear)},
		"an alarm within":    {vcalendar("DTSTART;VALUE=DATE:20270101\nBEGIN:VALARM\nDURATION:PT5M\nSUMMARY:Ring\nEND:VALARM\nSUMMARY:New Year"), one("2027-01-01", newYear)},
		"a canceled event":   {vcalendar("DTSTART;VALUE=DATE:20270101\nSTATUS:CANCELLED\nSUMMARY:New Year"), map[Day]Entry{}},
		"two of a kind":      {vcalendar("DTSTART;VALUE=DATE:20270101\nSUMMARY:New Year", "DTSTART;VALUE=DATE:20270101\nSUMMARY:Other"), one("2027-01-01", newYear)},
		"a time zone beside": {"BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nBEGIN:STANDARD\nDTSTART:19700101T000000\nRRULE:FREQ=YEARLY\nEND:STANDARD\nEND:VTIMEZONE\nEND:VCALENDAR", map[Day]Entry{}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Read(c.text)
			require.NoError(t, err)
			require.Empty(t, told(r))
			require.Equal(t, c.want, r.Days)
		})
	}
}

func TestABadEventKeepsNoOtherFromBeingRead(t *testing.T) {
	r, err := Read(vcalendar(
		"DTSTART;VALUE=DATE:20270101\nRRULE:FREQ=YEARLY\nSUMMARY:New Year", // lines 3 to 7
		"SUMMARY:no begin",                                    // 8 to 10
		"DTSTART:20270230\nSUMMARY:x",                         // 11 to 14
		"DTSTART:20270301T25:00:00\nx",                        // 15 to 18
		"DTSTART:20270105\nDTEND:20270101\nSUMMARY:backwards", // 19 to 23
		"DTSTART:20270101\nDTEND:20290101\nSUMMARY:long",      // 24 to 28
		"DTSTART:20270101\nDURATION:PT8H\nSUMMARY:hours",      // 29 to 33
		"DTSTART:19691231\nSUMMARY:old",                       // 34 to 37
		"DTSTART;VALUE=DATE:20270501\nSUMMARY:Labour Day",     // 38 to 41
		"DTSTART;VALUE=DATE:20270501\nSUMMARY:Labour Day（班）",  // 42 to 45
	) + "END:VCALENDAR\r\nBEGIN:VTODO\r\n")
	require.NoError(t, err)
	require.Equal(t, map[Day]Entry{d("2027-05-01"): {Name: "Labour Day"}}, r.Days)
	require.Equal(t, []string{
		`Line 5, "RRULE:FREQ=YEARLY": Repeated events are not read: export each day, or each year, as an event of its own`,
		`Line 8, "BEGIN:VEVENT": The event has no DTSTART`,
		`Line 12, "DTSTART:20270230": "20270230" is not a date; write it as 20261001`,
		`Line 16, "DTSTART:20270301T25:00:00": "20270301T25:00:00" is not a date; write it as 20261001`,
		`Line 17, "x": This is no line of an iCalendar file`,
		`Line 19, "backwards": The event ends before it begins`,
		`Line 24, "long": The event is longer than 366 days`,
		`Line 31, "DURATION:PT8H": Only durations of whole days and weeks are read`,
		`Line 34, "old": "1969-12-31" lies outside the years 1970 to 2199`,
		`Line 42, "Labour Day（班）": 2027-05-01 stands on line 38 already`,
		`Line 47, "END:VCALENDAR": Nothing of this name is open here`,
		`Line 48, "END": The file ends early: VTODO is not closed`,
	}, told(r))
}

func TestWhatIsNoICalendarFileIsRefused(t *testing.T) {
	_, err := ReadICS("2027-01-01,off")
	require.Equal(t, fault.KindMalformed, fault.KindOf(err))
}

func TestEventsAreWrittenAsTheStandardSays(t *testing.T) {
	got := WriteICS("cn", "China, 中国", map[Day]Entry{
		d("2027-01-01"): {Name: "元旦"}, d("2027-01-02"): {Name: "元旦"}, d("2027-01-03"): {Work: true, Name: "元旦"},
	}, d("2026-12-02").Time())
	require.Equal(t, strings.ReplaceAll(`BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//ax//calendar//EN
CALSCALE:GREGORIAN
X-WR-CALNAME:China\, 中国
BEGIN:VEVENT
UID:20270101-cn@ax
DTSTAMP:20261202T000000Z
DTSTART;VALUE=DATE:20270101
DTEND;VALUE=DATE:20270103
SUMMARY:元旦
TRANSP:TRANSPARENT
END:VEVENT
BEGIN:VEVENT
UID:20270103-cn@ax
DTSTAMP:20261202T000000Z
DTSTART;VALUE=DATE:20270103
DTEND;VALUE=DATE:20270104
SUMMARY:元旦（班）
TRANSP:TRANSPARENT
END:VEVENT
END:VCALENDAR
`, "\n", "\r\n"), got)
}

func TestWhatIsWrittenAsEventsIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := someDays(t)
		text := WriteICS("cn", rapid.StringN(0, 60, -1).Draw(t, "name"), days, d("2026-12-02").Time())
		for line := range strings.SplitSeq(text, "\r\n") {
			require.LessOrEqual(t, len(line), 75)
			require.NotContains(t, line, "\n\n")
		}
		r, err := Read(text)
		require.NoError(t, err)
		require.Empty(t, told(r))
		require.Equal(t, days, r.Days)
	})
}

func FuzzEvents(f *testing.F) {
	f.Add(vcalendar("DTSTART;VALUE=DATE:20270101\nDTEND;VALUE=DATE:20270104\nSUMMARY:a\\, b（班）\n c", "DTSTART:20270101T000000Z\nDURATION:P1W"))
	f.Fuzz(func(t *testing.T, text string) {
		checkReading(t, text, ReadICS)
		checkReading(t, "BEGIN:VCALENDAR\nBEGIN:VEVENT\n"+text+"\nEND:VEVENT\nEND:VCALENDAR", ReadICS)
	})
}
