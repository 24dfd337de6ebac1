package cron

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARefusalNamesTheFieldTheBadPartAndWhatIsRight(t *testing.T) {
	const second = " is not a number from 0 to 59"
	const day = " is not a number from 1 to 31, L, LW, L-3 or 15W"
	const month = " is not a number from 1 to 12 or a name from JAN to DEC"
	const vixie = " is not a number from 0 to 7 (0 and 7 are Sunday), a name from SUN to SAT, FRIL or MON#2"
	const quartz = " is not a number from 1 (Sunday) to 7 (Saturday), a name from SUN to SAT, FRIL or MON#2"
	for expr, want := range map[string]string{
		"":                       "the expression is empty; write five fields (minute hour day month weekday), such as 30 9 * * MON-FRI",
		" \t\n ":                 "the expression is empty; write five fields (minute hour day month weekday), such as 30 9 * * MON-FRI",
		"* * * *":                "too few fields: 4; write five (minute hour day month weekday), or six or seven with the second first and the year last",
		strings.Repeat("*", 257): "an expression has at most 256 characters, this one has 257",

		"61 * * * *":                     `minute "61"` + second,
		"? * * * *":                      `minute "?"` + second,
		"-5 * * * *":                     `minute "-5"` + second,
		"+5 * * * *":                     `minute "+5"` + second,
		"1-,2 * * * *":                   `minute "1-"` + second,
		",5 * * * *":                     `minute ",5"` + second,
		"5, * * * *":                     `minute "5,"` + second,
		"*-5 * * * *":                    `minute "*"` + second,
		"**/5 * * * *":                   `minute "**"` + second,
		"1-5-9 * * * *":                  `minute "5-9"` + second,
		"1.5 * * * *":                    `minute "1.5"` + second,
		"9999999999999999999999 * * * *": `minute "9999999999999999999999"` + second,
		"*/ * * * *":                     `the step "" of the minute is not a number from 1 to 59`,
		"*/90 * * * *":                   `the step "90" of the minute is not a number from 1 to 59`,
		"*/5/5 * * * *":                  `the step "5/5" of the minute is not a number from 1 to 59`,
		"x 0 0 * * ?":                    `second "x"` + second,
		"*/x 0 0 * * ?":                  `the step "x" of the second is not a number from 1 to 59`,
		"0 24 * * *":                     `hour "24" is not a number from 0 to 23`,
		"0 */24 * * *":                   `the step "24" of the hour is not a number from 1 to 23`,
		"0 0 0 * *":                      `day of month "0"` + day,
		"0 0 ?,5 * *":                    `day of month "?"` + day,
		"0 0 L/2 * *":                    `day of month "L/2"` + day,
		"0 0 L-31 * *":                   `day of month "L-31"` + day,
		"0 0 L3 * *":                     `day of month "L3"` + day,
		"0 0 1-5W * *":                   `day of month "1-5W"` + day,
		"0 0 32W * *":                    `day of month "32W"` + day,
		"0 0 W * *":                      `day of month "W"` + day,
		"0 0 */32 * *":                   `the step "32" of the day of month is not a number from 1 to 31`,
		"0 0 1 13 *":                     `month "13"` + month,
		"0 0 1 FOO *":                    `month "FOO"` + month,
		"0 0 1 MON *":                    `month "MON"` + month,
		"0 0 1 */13 *":                   `the step "13" of the month is not a number from 1 to 12`,
		"0 0 * * 8":                      `weekday "8"` + vixie,
		"0 0 * * MONDAY":                 `weekday "MONDAY"` + vixie,
		"0 0 * * FRIL/2":                 `weekday "FRIL/2"` + vixie,
		"0 0 * * MON-FRIL":               `weekday "MON-FRIL"` + vixie,
		"0 0 * * FOO#2":                  `weekday "FOO#2"` + vixie,
		"0 0 * * */8":                    `the step "8" of the weekday is not a number from 1 to 7`,
		"0 0 * * MON#0":                  `weekday "MON#0": after # comes a number from 1 to 5; for the last such day write L, as in FRIL`,
		"0 0 * * l":                      `weekday "L" doesn't say which day; write it before the L, such as FRIL`,
		"0 0 0 ? * 0":                    `weekday "0"` + quartz,
		"0 0 0 ? * */8":                  `the step "8" of the weekday is not a number from 1 to 7`,
		"0 0 0 1 1 ? 1969":               `year "1969" is not a number from 1970 to 2099`,
		"0 0 0 1 1 ? */130":              `the step "130" of the year is not a number from 1 to 129`,
		"0 0 0 1 1 ? 2030-2026":          `the years "2030-2026" run backwards; write the earlier one first`,
		"0 0 ? * ?":                      "only one of day of month and weekday may be ?; write * in the other",
		"0 0 0 ? * ?":                    "only one of day of month and weekday may be ?; write * in the other",
		"0 0 0 13 * FRI":                 `with six or seven fields only one of day of month "13" and weekday "FRI" may be set; write ? in the other`,
		"0 0 0 */2 * MON":                `with six or seven fields only one of day of month "*/2" and weekday "MON" may be set; write ? in the other`,
		"0 0 31 2 *":                     "never fires: no date fits the day, month and year asked for",
		"CRON_TZ=UTC 0 0 * * *":          `the zone has its own field: leave "CRON_TZ=" out of the expression`,
		"@fortnightly":                   `"@fortnightly" is not known; there are @hourly, @daily, @weekly, @monthly, @yearly and @every with a time, such as @every 90s`,
		"@daily 5":                       `"@daily 5" is not known; there are @hourly, @daily, @weekly, @monthly, @yearly and @every with a time, such as @every 90s`,
		"@reboot":                        "@reboot has no time of day; start such a task by hand or through the API",
		"@every":                         "@every takes one time after it, such as @every 90s or @every 1h30m",
		"@every 1h 30m":                  "@every takes one time after it, such as @every 90s or @every 1h30m",
		"@every 1d":                      `@every "1d" is not a time; write hours, minutes and seconds, such as 1h30m or 90s`,
		"@every 500ms":                   `@every "500ms" is not a whole number of seconds of at least 1s`,
		"@every 1.5s":                    `@every "1.5s" is not a whole number of seconds of at least 1s`,
		"@every -5s":                     `@every "-5s" is not a whole number of seconds of at least 1s`,
		"@every 0":                       `@every "0" is not a whole number of seconds of at least 1s`,
		"@every 87601h":                  `@every "87601h" is longer than ten years (87600h)`,
		"0 2 * * \uff0a":                 "character 9 is the full-width \"\uff0a\" (U+FF0A); write \"*\"",
		"0\u00a02 * * *":                 "character 2 is a special space (U+00A0); write an ordinary space",
		"0 9\u201317 * * *":              "character 4 is the dash \"\u2013\" (U+2013); write an ordinary hyphen (-)",
		"\u0663 2 * * *":                 "character 1 is the digit \"\u0663\" (U+0663); write an ordinary digit 0–9",
		"0 2 * *\u200b *":                "character 8 is invisible (U+200B); delete it",
		"0 2 * * \x00":                   "character 9 is invisible (U+0000); delete it",
		"0 2 * * \xff":                   "character 9 is not valid UTF-8",
		"0 2 * * \u5468\u4e00":           "character 9, \"\u5468\" (U+5468), has no place in a cron expression; only ASCII characters have",
		"0 2 * * \ufffd":                 "character 9, \"\ufffd\" (U+FFFD), has no place in a cron expression; only ASCII characters have",
	} {
		require.Equal(t, want, refusal(t, expr), "%q", expr)
	}
}

func TestTheTextIsKeptWithItsBlanksFolded(t *testing.T) {
	for written, kept := range map[string]string{
		"\v 0\t2  * * mon-FRI\r\n": "0 2 * * mon-FRI",
		"@Every   90s":             "@Every 90s",
		"@DAILY":                   "@DAILY",
		"0 0 0 ? * 6L":             "0 0 0 ? * 6L",
	} {
		require.Equal(t, kept, parsed(t, written).String())
	}
}

func TestTheDialectFollowsTheNumberOfFields(t *testing.T) {
	require.False(t, parsed(t, "0 0 * * *").Quartz())
	require.False(t, parsed(t, "@daily").Quartz())
	require.True(t, parsed(t, "0 0 0 * * *").Quartz())
	require.True(t, parsed(t, "0 0 0 * * ? 2026").Quartz())
}

func TestMacrosStandForTheirFields(t *testing.T) {
	from := at(t, "2026-01-14T12:34:56Z")
	for macro, fields := range map[string]string{
		"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
		"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
	} {
		require.Equal(t, slots(parsed(t, fields), from, nil, 3), slots(parsed(t, macro), from, nil, 3), macro)
	}
}
