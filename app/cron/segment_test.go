package cron

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ruleZone makes a zone that has nothing but a POSIX rule, as the embedded
// zone data has for all years to come. Zone files of a system often carry
// tables until 2037 and would hide what the rule does.
func ruleZone(t *testing.T, rule string, offset int) *time.Location {
	t.Helper()
	header := "TZif2" + strings.Repeat("\x00", 15)
	for _, count := range []uint32{0, 0, 0, 0, 1, 4} { // one local time type, four letters
		header += string(binary.BigEndian.AppendUint32(nil, count))
	}
	body := string(binary.BigEndian.AppendUint32(nil, uint32(int32(offset)))) + "\x00\x00" + "STD\x00"
	loc, err := time.LoadLocationFromTZData(rule, []byte(header+body+header+body+"\n"+rule+"\n"))
	require.NoError(t, err)
	return loc
}

var posixRules = map[string]struct {
	rule   string
	offset int
}{
	"New York":  {"EST5EDT,M3.2.0,M11.1.0", -5 * 3600},
	"London":    {"GMT0BST,M3.5.0/1,M10.5.0", 0},
	"Lord Howe": {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 10*3600 + 1800},
	"Troll":     {"<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", 0},
	"Chatham":   {"<+1245>-12:45<+1345>,M9.5.0/2:45,M4.1.0/3:45", 12*3600 + 2700},
	"Cairo":     {"EET-2EEST,M4.5.5/0,M10.5.4/24", 2 * 3600},
}

func TestASearchEndsOnTheLastDayOfALeapYear(t *testing.T) {
	for name, c := range posixRules {
		t.Run(name, func(t *testing.T) {
			loc := ruleZone(t, c.rule, c.offset)
			for _, day := range []string{"2028-12-30T12:00:00Z", "2028-12-31T00:00:00Z", "2028-12-31T23:59:59Z"} {
				from := at(t, day)
				next, ok := parsed(t, "0 0 0 29 2 ? 2032").Next(from, loc)
				require.True(t, ok)
				require.Equal(t, "2032-02-29 00:00", next.In(loc).Format("2006-01-02 15:04"))
				prev, ok := parsed(t, "0 0 0 29 2 ? 2024").Prev(from.AddDate(4, 0, 0), loc)
				require.True(t, ok)
				require.Equal(t, "2024-02-29 00:00", prev.In(loc).Format("2006-01-02 15:04"))
				require.NotPanics(t, func() { parsed(t, "30 2 * * *").Warnings(from, loc) })
			}
		})
	}
}

func TestSlotsOfZonesGivenByARuleEqualTheOracle(t *testing.T) {
	for name, c := range posixRules {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loc, w := ruleZone(t, c.rule, c.offset), writer{rand.New(rand.NewPCG(8, uint64(c.offset)))}
			moments := transitions(loc, 2024, 2037)
			require.Len(t, moments, 2*13)
			for year := 2024; year < 2037; year++ {
				moments = append(moments, time.Date(year, 12, 31, 0, 0, 0, 0, time.UTC).Unix())
			}
			for _, u := range moments {
				from, to := u-12*3600, u+36*3600
				stretch := walk(from-3*3600, to+3*3600, 60, loc)
				for range 3 {
					expr := w.clock() + " * * *"
					agree(t, parsed(t, expr), name, loc, from, to, stretch.slots(newOracle(expr), from, to))
				}
			}
		})
	}
}
