package cron

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheMomentOfALocalTime(t *testing.T) {
	for name, c := range map[string]struct {
		zone   string
		day    string
		second int
		want   string
	}{
		"UTC":                     {"UTC", "2026-03-29", 3600, "2026-03-29T01:00:00Z"},
		"no clock change":         {"Asia/Shanghai", "2026-03-29", 9 * 3600, "2026-03-29T01:00:00Z"},
		"left out":                {"Europe/Berlin", "2026-03-29", 2*3600 + 1800, "2026-03-29T01:00:00Z"},
		"after the gap":           {"Europe/Berlin", "2026-03-29", 3 * 3600, "2026-03-29T01:00:00Z"},
		"twice":                   {"Europe/Berlin", "2026-10-25", 2*3600 + 1800, "2026-10-25T00:30:00Z"},
		"after both passes":       {"Europe/Berlin", "2026-10-25", 3 * 3600, "2026-10-25T02:00:00Z"},
		"a day without midnight":  {"Africa/Cairo", "2026-04-24", 0, "2026-04-23T22:00:00Z"},
		"a day that was left out": {"Pacific/Apia", "2011-12-30", 12 * 3600, "2011-12-30T10:00:00Z"},
		"far ahead of UTC":        {"Pacific/Kiritimati", "2026-01-01", 0, "2025-12-31T10:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			loc, err := LoadZone(c.zone)
			require.NoError(t, err)
			day, err := time.Parse(time.DateOnly, c.day)
			require.NoError(t, err)
			require.Equal(t, c.want, Instant(day.Unix()/daySeconds, c.second, loc).Format(time.RFC3339))
		})
	}
}
