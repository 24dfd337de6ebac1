package app_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

type previewJSON struct {
	Words    map[string]string
	Warnings []string
	Next     []struct{ UTC, Local string }
}

func (h *house) preview(params ...string) *answer {
	h.t.Helper()
	q := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	return h.api(access.Viewer).get(v1 + "/schedules/preview?" + q.Encode())
}

func TestAPreviewTellsWordsAndNextRuns(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var p previewJSON
	h.preview("cron", "30 2 * * 1-5", "timezone", "Asia/Shanghai").into(&p)
	require.Equal(t, map[string]string{"en": "At 2:30 on Monday to Friday", "zh-CN": "周一至周五 2:30"}, p.Words)
	require.NotNil(t, p.Warnings)
	require.Len(t, p.Next, 5)
	require.Equal(t, "2026-12-02T18:30:00.000Z", p.Next[0].UTC)
	require.Equal(t, "2026-12-03T02:30:00.000+08:00", p.Next[0].Local)

	// The gap in March and the warning about it.
	h.preview("cron", "30 2 * * *", "timezone", "Europe/Berlin", "from", "2027-03-27T12:00:00Z", "count", "2").into(&p)
	require.Equal(t, []struct{ UTC, Local string }{
		{"2027-03-28T01:00:00.000Z", "2027-03-28T03:00:00.000+02:00"}, {"2027-03-29T00:30:00.000Z", "2027-03-29T02:30:00.000+02:00"},
	}, p.Next)
	require.NotEmpty(t, p.Warnings)

	h.preview("cron", "0 0 0 1 1 ? 2027", "timezone", "UTC", "count", "50").into(&p)
	require.Len(t, p.Next, 1, "there are no more")
	require.Equal(t, "2027-01-01T00:00:00.000Z", p.Next[0].Local)
	h.preview("cron", "@every 90s", "timezone", "UTC").into(&p)
	require.Len(t, p.Next, 5)
}

func TestABadPreviewIsRefusedAtItsParameter(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, row := range map[string]struct {
		params []string
		fields []string
	}{
		"nothing":          {nil, []string{"timezone", "cron"}},
		"no zone":          {[]string{"cron", "@daily"}, []string{"timezone"}},
		"an unknown zone":  {[]string{"cron", "@daily", "timezone", "Mars/Base"}, []string{"timezone"}},
		"CRON-01":          {[]string{"cron", "TZ=0", "timezone", "UTC"}, []string{"cron"}},
		"CRON-01 again":    {[]string{"cron", "CRON_TZ=Asia/Shanghai", "timezone", "UTC"}, []string{"cron"}},
		"CRON-05":          {[]string{"cron", "0 0 31 2 *", "timezone", "UTC"}, []string{"cron"}},
		"CRON-05 quartz":   {[]string{"cron", "0 0 0 31 4 ?", "timezone", "UTC"}, []string{"cron"}},
		"both":             {[]string{"cron", "x", "timezone", "y"}, []string{"cron", "timezone"}},
		"too many runs":    {[]string{"cron", "@daily", "timezone", "UTC", "count", "51"}, []string{"count"}},
		"no runs":          {[]string{"cron", "@daily", "timezone", "UTC", "count", "0"}, []string{"count"}},
		"a day":            {[]string{"cron", "@daily", "timezone", "UTC", "from", "2026-12-01"}, []string{"from"}},
		"before all times": {[]string{"cron", "@daily", "timezone", "UTC", "from", "0001-01-02T00:00:00Z"}, []string{"from"}},
		"another field":    {[]string{"cron", "@daily", "timezone", "UTC", "jiter_seconds", "5"}, []string{"jiter_seconds"}},
		"no calendar":      {[]string{"cron", "@daily", "timezone", "UTC", "calendar", "none"}, []string{"calendar"}},
		"another kind":     {[]string{"kind", "interval", "cron", "@daily"}, []string{"every_seconds", "cron"}},
		"an unknown move":  {[]string{"cron", "@daily", "timezone", "UTC", "calendar_move", "up"}, []string{"calendar_move"}},
	} {
		got := h.preview(row.params...)
		require.Equal(t, 422, got.status, "%s: %s", name, got.body)
		require.Equal(t, row.fields, got.fields(), name)
	}
}

func TestAPreviewOfAnIntervalAndAWindow(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	var p previewJSON
	h.preview("kind", "interval", "every_seconds", "3600", "anchor", "2026-12-02T00:00:00Z", "end_at", "2026-12-02T09:00:00Z", "jitter_seconds", "30").into(&p)
	require.Len(t, p.Next, 3, "to the end of the window")
	require.Equal(t, "2026-12-02T07:00:00.000Z", p.Next[0].UTC)
	require.Empty(t, p.Warnings)
	h.preview("kind", "interval", "every_seconds", "10", "jitter_seconds", "30").into(&p)
	require.Equal(t, []string{"The jitter of 30 s is longer than the 10 s between two slots: a run may begin after the slot that follows it"}, p.Warnings)
	h.preview("kind", "manual").into(&p)
	require.Empty(t, p.Next)
}
