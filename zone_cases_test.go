//go:build slow

package main

import (
	"archive/zip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// eastOfShanghai is zone data in which Shanghai goes by the clocks of Tokyo.
func eastOfShanghai(t *testing.T) string {
	t.Helper()
	from, err := zip.OpenReader(filepath.Join("app", "cron", "zoneinfo.zip"))
	require.NoError(t, err)
	defer from.Close()
	path := filepath.Join(t.TempDir(), "zones.zip")
	to, err := os.Create(path)
	require.NoError(t, err)
	w := zip.NewWriter(to)
	for _, name := range []string{"America/New_York", "Asia/Shanghai", "UTC"} {
		source := name
		if name == "Asia/Shanghai" {
			source = "Asia/Tokyo"
		}
		in, err := from.Open(source)
		require.NoError(t, err)
		out, err := w.Create(name)
		require.NoError(t, err)
		_, err = io.Copy(out, in)
		require.NoError(t, err)
	}
	out, err := w.Create("+VERSION")
	require.NoError(t, err)
	_, err = io.WriteString(out, "2099a\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, to.Close())
	return path
}

// F38: zone data changes between two starts. Next slots are found anew, what
// ran stays, and going back puts all as it was.
func TestF38ZoneDataChangesBetweenTwoStarts(t *testing.T) {
	t.Parallel()
	a := newAx(t, plainAx.build(t))
	s := newSink(t, nil)
	a.prepare()
	a.start()
	a.task("daily", s.URL, func(w map[string]any) {
		w["schedule"] = map[string]any{"kind": "cron", "cron": "0 9 * * *", "timezone": "Asia/Shanghai"}
	})
	a.task("seconds", s.URL, everySecond)
	hour := func() int {
		at, err := time.Parse(time.RFC3339, a.call("GET", "/tasks/daily", nil, http.StatusOK)["next_fire_at"].(string))
		require.NoError(t, err)
		return at.UTC().Hour()
	}
	zones := func() string {
		resp, err := http.Get("http://" + a.addr + "/readyz")
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(body)
	}
	require.Contains(t, zones(), `"source":"embedded"`)
	require.Equal(t, 1, hour())
	require.Eventually(t, func() bool { return a.states("seconds")["succeeded"] >= 2 }, 20*time.Second, 50*time.Millisecond, &a.log)
	a.stop()
	done := len(s.perKey())

	a.start("AX_ZONE_DATA=" + eastOfShanghai(t))
	require.Contains(t, zones(), `"version":"2099a"`)
	require.Eventually(t, func() bool { return hour() == 0 }, 20*time.Second, 50*time.Millisecond, &a.log)
	require.Eventually(t, func() bool { return a.states("seconds")["succeeded"] >= done+2 }, 20*time.Second, 50*time.Millisecond, &a.log)
	a.stop()
	a.start()
	require.Eventually(t, func() bool { return hour() == 1 }, 20*time.Second, 50*time.Millisecond, &a.log)
	a.stop()
	for key, n := range s.perKey() {
		require.Equal(t, 1, n, key)
	}
	a.verify()
}
