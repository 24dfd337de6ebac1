package cron

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryListedZoneLoads(t *testing.T) {
	names := Zones()
	require.Greater(t, len(names), 400)
	require.True(t, slices.IsSorted(names))
	for _, name := range append(names, "Asia/Calcutta", "US/Eastern", "Etc/GMT-8", "EST5EDT") {
		require.Equal(t, name, zone(t, name).String())
	}
	for _, name := range []string{"UTC", "Asia/Shanghai", "America/New_York", "Europe/Berlin"} {
		require.Contains(t, names, name)
	}
}

func TestARefusedZoneSaysWhatWouldBeRight(t *testing.T) {
	for name, want := range map[string]string{
		"":                       "choose a zone, such as Asia/Shanghai or UTC",
		"Local":                  `"Local" is the zone of whichever machine runs ax; choose a named zone, such as Asia/Shanghai or UTC`,
		"local":                  `"local" is the zone of whichever machine runs ax; choose a named zone, such as Asia/Shanghai or UTC`,
		"localtime":              `"localtime" is the zone of whichever machine runs ax; choose a named zone, such as Asia/Shanghai or UTC`,
		"Asia/Shangai":           `zone "Asia/Shangai" is not known; near names: Asia/Shanghai`,
		"asia/shanghai":          `zone "asia/shanghai" is not known; near names: Asia/Shanghai`,
		"Shanghai":               `zone "Shanghai" is not known; near names: Asia/Shanghai`,
		"Asia/Beijing":           `zone "Asia/Beijing" is not known; near names: Asia/Shanghai`,
		"New York":               `zone "New York" is not known; near names: America/New_York`,
		"Europe/Berln":           `zone "Europe/Berln" is not known; near names: Europe/Berlin`,
		"utc":                    `zone "utc" is not known; near names: UTC`,
		"right/UTC":              `zone "right/UTC" is not known; near names: UTC`,
		"Mars/Base":              `zone "Mars/Base" is not known; choose a name of the IANA database, such as Asia/Shanghai`,
		"../etc/passwd":          `zone "../etc/passwd" is not known; choose a name of the IANA database, such as Asia/Shanghai`,
		"Europe\x00":             `zone "Europe\x00" is not known; choose a name of the IANA database, such as Asia/Shanghai`,
		"UTC+8":                  `"UTC+8" is an offset, not a zone; choose a place that has it, such as Asia/Shanghai for UTC+8`,
		"+08:00":                 `"+08:00" is an offset, not a zone; choose a place that has it, such as Asia/Shanghai for UTC+8`,
		string(make([]byte, 65)): "a zone name has at most 64 characters, this one has 65",
	} {
		_, err := LoadZone(name)
		require.IsType(t, &Error{}, err, "%q", name)
		require.Equal(t, want, err.Error())
	}
}
