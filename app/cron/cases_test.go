package cron

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// These tests carry the numbers of the project's list of known faults.

const quick = 5 * time.Millisecond

// refusedQuickly fails when a refusal takes long. The best of a few tries
// counts, so that a busy machine doesn't fail the test.
func refusedQuickly(t *testing.T, expr string) string {
	t.Helper()
	best, text := time.Hour, ""
	for range 3 {
		start := time.Now()
		text = refusal(t, expr)
		best = min(best, time.Since(start))
	}
	require.Less(t, best, quick, expr)
	return text
}

func TestCRON01AZonePrefixIsRefusedAndNeverPanics(t *testing.T) {
	for _, expr := range []string{"TZ=0", "TZ=", "CRON_TZ=Asia/Shanghai", "CRON_TZ=Asia/Shanghai 0 9 * * *", "cron_tz=UTC @daily"} {
		require.Contains(t, refusal(t, expr), "the zone has its own field")
	}
}

func TestCRON03AStepOfZeroIsRefusedQuickly(t *testing.T) {
	for _, expr := range []string{"*/0 * * * *", "1-5/0 * * * *"} {
		require.Equal(t, `the step "0" of the minute is not a number from 1 to 59`, refusedQuickly(t, expr))
	}
}

func TestCRON05ADateThatCanNeverComeIsRefused(t *testing.T) {
	for _, expr := range []string{
		"0 0 31 2 *", "0 0 0 31 4 *", "0 0 30,31 2 *", "0 0 31 2,4,6,9,11 *", "0 0 31W 4 *", "0 0 L-30 6 *",
		"0 0 L-29 2 *", "0 0 0 29 2 ? 2025-2027", "0 0 0 29 2 ? 2025/4", "0 0 0 ? 2 MON#5 2029-2031",
	} {
		require.Contains(t, refusedQuickly(t, expr), "never fires", expr)
	}
	for _, expr := range []string{
		"0 0 29 2 *", "0 0 L-28 2 *", "0 0 0 ? 2 MON#5", "0 0 31 2 MON", "0 0 L-30 1 *", "0 0 */31 2 *",
	} {
		parsed(t, expr)
	}
}

func TestCRON07FromOneLeapDayToTheNext(t *testing.T) {
	e := parsed(t, "0 9 29 2 *")
	require.Equal(t, []string{"2020-02-29T09:00:00Z"}, slots(e, at(t, "2016-02-29T09:00:00Z"), time.UTC, 1))
	require.Equal(t, []string{"2104-02-29T09:00:00Z"}, slots(e, at(t, "2097-01-01T00:00:00Z"), time.UTC, 1))
	// The rarest of all: the fifth Monday of a February, across 2100.
	rare := parsed(t, "0 0 0 ? 2 MON#5")
	require.Equal(t, []string{"2072-02-29T00:00:00Z", "2112-02-29T00:00:00Z"}, slots(rare, at(t, "2045-01-01T00:00:00Z"), time.UTC, 2))
}

func TestCRON09AWeekdayRuleOnALeapDay(t *testing.T) {
	require.Equal(t, []string{"2016-02-29T12:00:00Z"}, slots(parsed(t, "0 * * * 1-5"), at(t, "2016-02-29T11:00:00Z"), time.UTC, 1))
}

func TestCRON11SevenIsSunday(t *testing.T) {
	from := at(t, "2026-01-01T00:00:00Z")
	want := slots(parsed(t, "0 0 * * 0"), from, time.UTC, 10)
	for _, weekday := range []string{"7", "SUN", "sun", "0,7", "7-7", "7/2", "0-7/7"} {
		require.Equal(t, want, slots(parsed(t, "0 0 * * "+weekday), from, time.UTC, 10), weekday)
	}
	_, ok := parsed(t, "0 0 0 1 1 ? 2020").Next(from, time.UTC)
	require.False(t, ok, "a past year has no next time, not a zero one")
}

// weekdaysOf returns the weekdays on which an expression runs.
func weekdaysOf(t *testing.T, expr string) map[time.Weekday]bool {
	days := map[time.Weekday]bool{}
	after, e := at(t, "2026-01-01T00:00:00Z"), parsed(t, expr)
	for range 14 {
		after, _ = e.Next(after, time.UTC)
		days[after.Weekday()] = true
	}
	return days
}

func TestCRON14NamedRangesThatTouchSunday(t *testing.T) {
	type set = map[time.Weekday]bool
	require.Equal(t, set{0: true, 1: true, 2: true, 3: true, 5: true}, weekdaysOf(t, "0 12 * * Sun-wed,fri"))
	require.Equal(t, set{5: true, 6: true, 0: true}, weekdaysOf(t, "1 0 * * fri-sun"))
	require.Equal(t, set{5: true, 6: true, 0: true}, weekdaysOf(t, "1 0 * * 5-7"))
	require.Equal(t, set{0: true, 1: true, 2: true}, weekdaysOf(t, "1 0 * * 7-2"))
	require.Equal(t, set{6: true, 0: true, 1: true}, weekdaysOf(t, "0 1 0 ? * 7-2"), "Quartz: Saturday to Monday")
	require.Equal(t, set{5: true, 0: true}, weekdaysOf(t, "1 0 * * 5/2"), "the Vixie week ends with 7")
	require.Equal(t, set{2: true, 4: true, 6: true}, weekdaysOf(t, "0 1 0 ? * 3/2"))
	require.Equal(t, set{6: true}, weekdaysOf(t, "0 1 0 ? * L"), "a lone L is Saturday in Quartz")
}

func TestCRON15AReversedHourRangeWraps(t *testing.T) {
	e := parsed(t, "*/30 23-05 * * *")
	require.Equal(t, []string{
		"2026-01-01T05:00:00Z", "2026-01-01T05:30:00Z", "2026-01-01T23:00:00Z", "2026-01-01T23:30:00Z", "2026-01-02T00:00:00Z",
	}, slots(e, at(t, "2026-01-01T04:30:00Z"), time.UTC, 5))
	require.Equal(t, "Every 30 minutes from 23:00 to 5:59 every day", e.Words("en"))
}

func TestCRON17AStartWithAStepKeepsItsStep(t *testing.T) {
	require.Equal(t, []string{
		"2026-01-01T00:05:00Z", "2026-01-01T00:20:00Z", "2026-01-01T00:35:00Z", "2026-01-01T00:50:00Z", "2026-01-01T01:05:00Z",
	}, slots(parsed(t, "5/15 * * * *"), at(t, "2026-01-01T00:00:00Z"), time.UTC, 5))
}

func TestCRON19AStarWithAStepCountsAsUnrestricted(t *testing.T) {
	e := parsed(t, "0 0 */2 * 1")
	require.Equal(t, []string{"2025-01-13T00:00:00Z"}, slots(e, at(t, "2024-12-31T23:59:00Z"), time.UTC, 1))
	require.Contains(t, e.Warnings(at(t, "2025-01-01T00:00:00Z"), time.UTC)[0].String(), "match both")
}

func TestCRON21BothDayFieldsMeanEither(t *testing.T) {
	e := parsed(t, "30 0 1 * 1")
	require.Equal(t, []string{
		"2026-01-01T00:30:00Z", "2026-01-05T00:30:00Z", "2026-01-12T00:30:00Z", "2026-01-19T00:30:00Z", "2026-01-26T00:30:00Z", "2026-02-01T00:30:00Z",
	}, slots(e, at(t, "2025-12-31T00:00:00Z"), time.UTC, 6))
	require.Contains(t, e.Warnings(at(t, "2026-01-01T00:00:00Z"), time.UTC)[0].String(), "either")
}

func TestCRON22AQuestionMarkInADayField(t *testing.T) {
	require.Equal(t, []string{
		"2026-03-04T14:10:00Z", "2026-03-04T14:44:00Z", "2026-03-11T14:10:00Z",
	}, slots(parsed(t, "0 10,44 14 ? 3 WED"), at(t, "2026-01-01T00:00:00Z"), time.UTC, 3))
}

func TestCRON25TheNearestWeekdayStaysInItsMonth(t *testing.T) {
	first := parsed(t, "0 30 15 1W * ?")
	require.Equal(t, []string{"2025-06-02T15:30:00Z"}, slots(first, at(t, "2025-05-31T00:00:00Z"), time.UTC, 1))
	require.Equal(t, []string{"2025-11-03T15:30:00Z"}, slots(first, at(t, "2025-10-31T00:00:00Z"), time.UTC, 1))
	require.Equal(t, []string{"2025-05-05T05:00:00Z"}, slots(parsed(t, "0 0 5 4W * ?"), at(t, "2025-05-01T00:00:00Z"), time.UTC, 1))
	// The 31st of May 2026 is a Sunday: back to Friday, not on to June.
	require.Equal(t, []string{"2026-05-29T00:00:00Z"}, slots(parsed(t, "0 0 31W * *"), at(t, "2026-05-01T00:00:00Z"), time.UTC, 1))
	// L-30W is the weekday nearest to the 1st, in months of 31 days only.
	require.Equal(t, []string{"2026-08-03T00:00:00Z", "2026-10-01T00:00:00Z"}, slots(parsed(t, "0 0 L-30W * *"), at(t, "2026-07-31T00:00:00Z"), time.UTC, 2))
}

func TestCRON28TheLastDayDoesNotDrift(t *testing.T) {
	require.Equal(t, []string{
		"2015-10-31T00:00:00Z", "2015-11-30T00:00:00Z", "2015-12-31T00:00:00Z", "2016-01-31T00:00:00Z", "2016-02-29T00:00:00Z",
	}, slots(parsed(t, "0 0 L * *"), at(t, "2015-09-30T00:00:00Z"), time.UTC, 5))
}

func TestCRON29ExtraFieldsAreRefused(t *testing.T) {
	require.Contains(t, refusal(t, "* * * * * * * *ASDS"), "too many fields: 8")
}

func TestCRON30AHugeRangeIsRefusedBeforeItIsExpanded(t *testing.T) {
	const expr = "0-99999999/1 * * * *"
	require.Equal(t, `minute "99999999" is not a number from 0 to 59`, refusedQuickly(t, expr))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refusal(t, expr)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestCRON33BlanksAreFoldedAndFullWidthCharactersNamed(t *testing.T) {
	require.Equal(t, "0 2 * * *", parsed(t, "  0   2 * * *\t\n").String())
	require.Equal(t, "character 2 is a full-width space (U+3000); write an ordinary space", refusal(t, "0\u30002 * * *"))
	require.Equal(t, `character 1 is the full-width "０" (U+FF10); write "0"`, refusal(t, "\uff10 2 * * *"))
}

func TestCRON37OnceAMinuteForAnHourIsPointedOut(t *testing.T) {
	e, from := parsed(t, "* 0 * * *"), at(t, "2026-01-01T00:00:00Z")
	require.Contains(t, e.Warnings(from, time.UTC)[0].String(), "60 runs a day")
	require.Len(t, slots(e, from, time.UTC, 5), 5)
}

func TestDST01AMissingTimeRunsAtTheEndOfTheGap(t *testing.T) {
	require.Equal(t, []string{"2025-03-09T10:00:00Z", "2025-03-10T09:00:00Z"},
		slots(parsed(t, "0 2 * * *"), at(t, "2025-03-08T12:00:00Z"), zone(t, "America/Los_Angeles"), 2))
}

func TestDST03AfterTheClocksGoBackTheNextTimeIsTheNextMorning(t *testing.T) {
	require.Equal(t, []string{"2023-10-29T05:00:00Z"},
		slots(parsed(t, "0,15,30,45 6-22 * * *"), at(t, "2023-10-28T20:45:00Z"), zone(t, "Europe/Brussels"), 1))
}

func TestDST05TwoHourlyFollowsRealTime(t *testing.T) {
	require.Equal(t, []string{"2023-03-12T05:00:00Z", "2023-03-12T08:00:00Z", "2023-03-12T10:00:00Z"},
		slots(parsed(t, "0 */2 * * *"), at(t, "2023-03-12T04:00:00Z"), zone(t, "America/Toronto"), 3))
}

func TestDST07AWeeklyRunOnADayOf23Hours(t *testing.T) {
	require.Equal(t, []string{"2022-03-27T10:00:00Z"},
		slots(parsed(t, "0 12 * * 0"), at(t, "2022-03-24T11:00:00Z"), zone(t, "Europe/Berlin"), 1))
}

func TestDST11AnUnknownZoneIsRefused(t *testing.T) {
	_, err := LoadZone("Mars/Base")
	require.IsType(t, &Error{}, err)
}

func TestDST16TwoMissingTimesThatMeetAnInstantAreOneSlot(t *testing.T) {
	require.Equal(t, []string{"2025-03-09T07:00:00Z", "2025-03-09T07:30:00Z", "2025-03-10T06:00:00Z"},
		slots(parsed(t, "0,30 2,3 * * *"), at(t, "2025-03-09T05:00:00Z"), zone(t, "America/New_York"), 3))
}

// Samoa left out 30 December 2011 when it crossed the date line.
func TestADayThatDoesNotExistRunsAtItsEnd(t *testing.T) {
	require.Equal(t, []string{"2011-12-29T22:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T22:00:00Z"},
		slots(parsed(t, "0 12 * * *"), at(t, "2011-12-29T00:00:00Z"), zone(t, "Pacific/Apia"), 3))
}
