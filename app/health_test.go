package app_test

import (
	"encoding/json"
	"net/http"
	"os"
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
	zones, err := json.Marshal(cron.ZoneDataInUse(os.Getenv("ZONEINFO"), os.DirFS("/")))
	require.NoError(t, err)
	require.JSONEq(t, `{"ready":true,"checks":[{"name":"database","ok":true},{"name":"redis","ok":true}],"zones":`+string(zones)+`}`, got.body)
	h.checks = []app.Check{{Name: "database", OK: true}, {Name: "redis", Detail: "no answer"}}
	got = h.browser().get("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.JSONEq(t, `{"ready":false,"checks":[{"name":"database","ok":true},{"name":"redis","ok":false,"detail":"no answer"}],"zones":`+string(zones)+`}`, got.body)
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
