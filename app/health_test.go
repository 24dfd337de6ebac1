package app_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/cron"
)

func TestAliveAsksNobody(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.ledger.Close())
	got := h.browser().get("/healthz")
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "application/json; charset=utf-8", got.header.Get("Content-Type"))
	require.JSONEq(t, `{"status":"ok"}`, got.body)
}

func TestReadySaysWhatIsAway(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	got := h.browser().get("/readyz")
	require.Equal(t, http.StatusOK, got.status)
	const zones = `{"version":"` + cron.EmbeddedZoneData + `","source":"embedded"}`
	require.JSONEq(t, `{"ready":true,"checks":[{"name":"database","ok":true},{"name":"redis","ok":true}],"zones":`+zones+`}`, got.body)
	h.checks = []app.Check{{Name: "database", OK: true}, {Name: "redis", Detail: "no answer"}}
	got = h.browser().get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.JSONEq(t, `{"ready":false,"checks":[{"name":"database","ok":true},{"name":"redis","ok":false,"detail":"no answer"}],"zones":`+zones+`}`, got.body)
}

func TestWithoutTheDatabasePagesSaySo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	viewer := h.as("viewer")
	require.NoError(t, h.ledger.Close())
	got := viewer.get("/help")
	require.GreaterOrEqual(t, got.status, 500)
	require.True(t, got.says(got.header.Get("X-Request-Id")))
	require.Equal(t, 200, h.browser().get("/healthz").status)
}
