package calendar

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/fault"
)

func d(s string) Day {
	day, err := ParseDay(s)
	if err != nil {
		panic(err)
	}
	return day
}

// told gives what is said of the bad lines, in English.
func told(r Reading) []string {
	var out []string
	for _, b := range r.Bad {
		out = append(out, b.Words().String())
	}
	return out
}

func TestLinesOfDaysAreRead(t *testing.T) {
	off, work := Entry{Name: "元旦"}, Entry{Work: true, Name: "元旦调休"}
	for name, c := range map[string]struct {
		text string
		want map[Day]Entry
	}{
		"plain":           {"2027-01-01,off,元旦", map[Day]Entry{d("2027-01-01"): off}},
		"worked":          {"2027-01-03,workday,元旦调休", map[Day]Entry{d("2027-01-03"): work}},
		"work":            {"2027-01-03,Work,元旦调休", map[Day]Entry{d("2027-01-03"): work}},
		"worked day":      {"2027-01-03,WORKED,元旦调休", map[Day]Entry{d("2027-01-03"): work}},
		"Chinese":         {"日期，类型，名称\n2027年1月1日，休，元旦\n2027/1/3，班，元旦调休", map[Day]Entry{d("2027-01-01"): off, d("2027-01-03"): work}},
		"BOM and CRLF":    {"\ufeffdate,kind,name\r\n2027-01-01,off,元旦\r\n", map[Day]Entry{d("2027-01-01"): off}},
		"comments":        {"# State Council\n\n  # more\n2027-01-01,off,元旦", map[Day]Entry{d("2027-01-01"): off}},
		"tabs":            {"2027-01-01\toff\t元旦", map[Day]Entry{d("2027-01-01"): off}},
		"no name":         {"2027-01-01,off", map[Day]Entry{d("2027-01-01"): {}}},
		"empty fields":    {"2027-01-01,off,元旦,,,", map[Day]Entry{d("2027-01-01"): off}},
		"quotation marks": {`"2027-01-01" , "off" , "New Year, ""元旦"""`, map[Day]Entry{d("2027-01-01"): {Name: `New Year, "元旦"`}}},
		"eight digits":    {"20270101,holiday,元旦", map[Day]Entry{d("2027-01-01"): off}},
		"no formula":      {"2027-01-01,off,'=1+1", map[Day]Entry{d("2027-01-01"): {Name: "=1+1"}}},
		"nothing":         {"", map[Day]Entry{}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadCSV(c.text)
			require.NoError(t, err)
			require.Empty(t, told(r))
			require.Equal(t, c.want, r.Days)
		})
	}
}

// A bad line is told with number, text and reason; the others are read.
func TestABadLineKeepsNoOtherFromBeingRead(t *testing.T) {
	r, err := ReadCSV("2027-01-01,off,元旦\n2027-02-30,off,春节\n\n2027-02-06,maybe,春节\n2027-02-07\n2027-01-01,off,again\nhello\n" +
		"1969-12-31,off\n2200-01-01,off\n2027-03-01,off,a,b\n\"2027-03-02,off\n\"2027-03-03\"x,off\n" +
		"2027-03-04,off," + strings.Repeat("节", 101) + "\ndate,kind\n2027-12-31,班,年底")
	require.NoError(t, err)
	require.Equal(t, map[Day]Entry{d("2027-01-01"): {Name: "元旦"}, d("2027-12-31"): {Work: true, Name: "年底"}}, r.Days)
	require.Equal(t, []string{
		`Line 2, "2027-02-30,off,春节": "2027-02-30" is not a date; write it as 2026-10-01`,
		`Line 4, "2027-02-06,maybe,春节": "maybe" is neither off nor workday`,
		`Line 5, "2027-02-07": Off or workday is needed after the date`,
		`Line 6, "2027-01-01,off,again": 2027-01-01 stands on line 1 already`,
		`Line 7, "hello": "hello" is not a date; write it as 2026-10-01`,
		`Line 8, "1969-12-31,off": "1969-12-31" lies outside the years 1970 to 2199`,
		`Line 9, "2200-01-01,off": "2200-01-01" lies outside the years 1970 to 2199`,
		`Line 10, "2027-03-01,off,a,b": There are 4 fields; a name with a comma needs quotation marks`,
		`Line 11, "\"2027-03-02,off": A quotation mark is not closed`,
		`Line 12, "\"2027-03-03\"x,off": A comma is needed after a closing quotation mark`,
		`Line 13, "` + quoted("2027-03-04,off,"+strings.Repeat("节", 101)) + `": A day's name has at most 100 characters on one line`,
		`Line 14, "date,kind": "date" is not a date; write it as 2026-10-01`,
	}, told(r))
}

func TestAFileOfDaysIsBounded(t *testing.T) {
	_, err := Read(strings.Repeat("#", MaxText+1))
	require.Equal(t, fault.KindTooLarge, fault.KindOf(err))
	_, err = Read("2027-01-01,off,\xd4\xaa\xb5\xa9") // 元旦 in GBK
	require.Equal(t, fault.KindMalformed, fault.KindOf(err))
	require.ErrorContains(t, err, "UTF-8")

	var b strings.Builder
	for i := range Day(MaxDays + 60) {
		b.WriteString((d("2027-01-01") + i).String() + ",off\n")
	}
	r, err := ReadCSV(b.String())
	require.NoError(t, err)
	require.Len(t, r.Days, MaxDays)
	require.Len(t, r.Bad, maxBad)
	require.Equal(t, 60, r.BadLines())
}

// someDays draws days as a calendar may have them.
func someDays(t *rapid.T) map[Day]Entry {
	name := rapid.OneOf(
		rapid.SampledFrom([]string{"", "元旦", "春节", "班", "春节（班）", "（休）", "Workday", `a,b;c\n"`, "=SUM(A1)", "'=x", "'", "-1", "\\", "，"}),
		rapid.StringN(0, 20, 100).Filter(func(s string) bool { return s == oneLine(s) && !strings.Contains(s, "\ufeff") }),
	)
	return rapid.MapOfN(
		rapid.Map(rapid.IntRange(0, 60), func(n int) Day { return d("2027-01-01") + Day(n) }),
		rapid.Custom(func(t *rapid.T) Entry { return Entry{Work: rapid.Bool().Draw(t, "work"), Name: name.Draw(t, "name")} }), 0, 40,
	).Draw(t, "days")
}

func TestWhatIsWrittenAsLinesIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := someDays(t)
		r, err := Read(WriteCSV(days))
		require.NoError(t, err)
		require.Empty(t, told(r))
		require.Equal(t, days, r.Days)
	})
}

// A name must not become a formula of the spreadsheet that opens the file.
func TestNamesAreNoFormulas(t *testing.T) {
	for _, name := range []string{"=1+1", "+1", "-1", "@x"} {
		got := WriteCSV(map[Day]Entry{d("2027-01-01"): {Name: name}})
		require.Contains(t, got, "2027-01-01,off,'"+name+"\r\n")
	}
}

func FuzzLinesOfDays(f *testing.F) {
	f.Add("\ufeff2027-01-01,off,元旦\r\n2027年1月3日，班，\"a\"\"b\"\n#x\n20270105\toff")
	f.Fuzz(func(t *testing.T, text string) { checkReading(t, text, ReadCSV) })
}

// checkReading holds for every text: what is read can be kept and written, and
// no line is told that isn't there.
func checkReading(t *testing.T, text string, read func(string) (Reading, error)) {
	t.Helper()
	r, err := read(text)
	if err != nil {
		require.NotEqual(t, fault.KindInternal, fault.KindOf(err))
		return
	}
	require.Empty(t, checkDays(r.Days))
	lines := strings.Count(text, "\n") + 1
	for _, b := range r.Bad {
		require.LessOrEqual(t, b.Number, lines)
		require.Positive(t, b.Number)
		require.NotEmpty(t, b.Words().String())
	}
	for _, again := range []string{WriteCSV(r.Days), WriteICS("x", "x", r.Days, d("2027-01-01").Time())} {
		if len(again) > MaxText {
			continue
		}
		got, err := Read(again)
		require.NoError(t, err)
		require.Empty(t, told(got))
		require.True(t, maps.Equal(r.Days, got.Days), "%v\n%v", r.Days, got.Days)
	}
}
