package views

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var noon = time.Date(2026, 12, 2, 6, 32, 7, 0, time.UTC) // 14:32:07 in Shanghai

func shanghai(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Asia/Shanghai")
	require.NoError(t, err)
	return zone
}

func TestAClockIsShortAndExactInTheViewersZone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at     time.Time
		en, zh string
	}{
		"today":                         {noon, "14:32:07", "14:32:07"},
		"today there, yesterday in UTC": {time.Date(2026, 12, 1, 16, 30, 0, 0, time.UTC), "00:30:00", "00:30:00"},
		"another day":                   {time.Date(2026, 12, 1, 7, 30, 0, 0, time.UTC), "1 Dec 15:30", "12-01 15:30"},
		"tomorrow":                      {time.Date(2026, 12, 3, 1, 5, 0, 0, time.UTC), "3 Dec 09:05", "12-03 09:05"},
		"another year":                  {time.Date(2025, 12, 2, 6, 32, 7, 0, time.UTC), "2 Dec 2025 14:32", "2025-12-02 14:32"},
		"none":                          {time.Time{}, "–", "–"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Viewer{Zone: shanghai(t), Now: noon}
			require.Equal(t, c.en, v.Clock(c.at))
			v.Lang = Chinese
			require.Equal(t, c.zh, v.Clock(c.at))
		})
	}
}

func TestRelativeSaysHowFarFromNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		off    time.Duration
		en, zh string
	}{
		"now":           {300 * time.Millisecond, "now", "现在"},
		"just before":   {-999 * time.Millisecond, "now", "现在"},
		"seconds":       {23 * time.Second, "in 23 s", "23 秒后"},
		"minutes ago":   {-12 * time.Minute, "12 min ago", "12 分钟前"},
		"a few minutes": {2*time.Minute + 53*time.Second, "in 2 min 53 s", "2 分 53 秒后"},
		"whole minutes": {3 * time.Minute, "in 3 min", "3 分钟后"},
		"many minutes":  {57*time.Minute + 53*time.Second, "in 57 min", "57 分钟后"},
		"hours":         {-92 * time.Minute, "1 h 32 min ago", "1 小时 32 分前"},
		"whole hours":   {5 * time.Hour, "in 5 h", "5 小时后"},
		"a day":         {24 * time.Hour, "in 1 d", "1 天后"},
		"days, hours":   {42 * time.Hour, "in 1 d 18 h", "1 天 18 小时后"},
		"days":          {29*24*time.Hour + time.Hour, "in 29 d", "29 天后"},
		"years":         {-4000 * 24 * time.Hour, "4,000 d ago", "4,000 天前"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := Viewer{Now: noon}
			require.Equal(t, c.en, v.Relative(noon.Add(c.off)))
			v.Lang = Chinese
			require.Equal(t, c.zh, v.Relative(noon.Add(c.off)))
		})
	}
	require.Equal(t, "–", Viewer{Now: noon}.Relative(time.Time{}))
}

func TestDurationsHaveTheirUnit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		d      time.Duration
		en, zh string
	}{
		"nothing":                 {0, "0 ms", "0 毫秒"},
		"below zero":              {-time.Second, "0 ms", "0 毫秒"},
		"microseconds":            {400 * time.Microsecond, "0 ms", "0 毫秒"},
		"milliseconds":            {184 * time.Millisecond, "184 ms", "184 毫秒"},
		"almost a second":         {999700 * time.Microsecond, "1 s", "1 秒"},
		"seconds":                 {43600 * time.Millisecond, "43.6 s", "43.6 秒"},
		"whole seconds":           {30 * time.Second, "30 s", "30 秒"},
		"almost a minute":         {59970 * time.Millisecond, "1 min", "1 分钟"},
		"minutes and seconds":     {171 * time.Second, "2 min 51 s", "2 分 51 秒"},
		"seconds with two digits": {68 * time.Second, "1 min 08 s", "1 分 08 秒"},
		"whole minutes":           {2 * time.Minute, "2 min", "2 分钟"},
		"hours":                   {65 * time.Minute, "1 h 05 min", "1 小时 05 分"},
		"whole hours":             {2 * time.Hour, "2 h", "2 小时"},
		"days":                    {50 * time.Hour, "2 d 2 h", "2 天 2 小时"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.en, Viewer{}.Duration(c.d))
			require.Equal(t, c.zh, Viewer{Lang: Chinese}.Duration(c.d))
		})
	}
}

func TestTheTitleOfATimeIsExact(t *testing.T) {
	t.Parallel()
	v := Viewer{Zone: shanghai(t), Now: noon}
	require.Equal(t, "2026-12-02T06:32:07.000Z · 2026-12-02 14:32:07 +08:00 Asia/Shanghai", v.Title(noon))
	require.Empty(t, v.Title(time.Time{}))
	require.Equal(t, "14:32:07.000", v.ClockMilli(noon))
	require.Equal(t, "–", v.ClockMilli(time.Time{}))
	require.Equal(t, "Wed 2 Dec 2026", v.Day(noon))
	v.Lang = Chinese
	require.Equal(t, "2026 年 12 月 2 日 周三", v.Day(noon))
}

func TestNumbersAreReadable(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1284: "1,284", 82164: "82,164", 1000000: "1,000,000", -1284: "-1,284"} {
		require.Equal(t, want, number(n))
	}
	for n, want := range map[int64]string{0: "0", 500: "500", 1000: "1k", 1500: "1.5k", 12000: "12k", 2000000: "2M"} {
		require.Equal(t, want, short(n))
	}
	for n, want := range map[int64]string{61: "61 B", 1023: "1,023 B", 1536: "1.5 KB", 1 << 20: "1 MB"} {
		require.Equal(t, want, bytesText(n))
	}
}

func TestAPercentNeverHidesAFailure(t *testing.T) {
	t.Parallel()
	require.Equal(t, "97.84 %", percent(9784, 10000))
	require.Equal(t, "100.00 %", percent(5, 5))
	require.Equal(t, "99.99 %", percent(999_999, 1_000_000))
	require.Equal(t, "0.00 %", percent(0, 3))
	require.Equal(t, "–", percent(0, 0))
}

func TestInitialsAreTwoLetters(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"ops-lead": "OL", "Ada Lovelace King": "AL", "root": "RO", "李雷": "李雷", "x": "X", "": "", "a@b.example": "AB"} {
		require.Equal(t, want, initials(name), name)
	}
}
