package app_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
	"ax/app/access"
	"ax/app/cron"
	"ax/app/settings"
)

// setHouse is a house with four settings.
func setHouse(t *testing.T, options ...func(*app.Options)) *house {
	t.Helper()
	return newHouse(t, append(options, func(o *app.Options) {
		o.Settings = []settings.Entry{
			{Key: "secret", Value: settings.Mask, Changed: true, From: "AX_SECRET"},
			{Key: "http.addr", Value: "0.0.0.0:80", Default: "127.0.0.1:8080", Changed: true, From: "ax.yaml:3"},
			{Key: "http.trusted_proxies"},
			{Key: "worker.slots", Value: "0", Default: "0", From: "ax.yaml:9"},
		}
	})...)
}

func keys(a *answer) []string { return a.texts("[data-test=setting] > td:first-child") }

func TestTheSettingsShowWhatIsInForceAndWhoSetIt(t *testing.T) {
	t.Parallel()
	h := setHouse(t)
	page := h.as("admin").get("/settings")
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, []string{"secret", "http.addr", "http.trusted_proxies", "worker.slots"}, keys(page))
	row := cells(page, `[data-key="http.addr"]`)
	require.Equal(t, "0.0.0.0:80 built in: 127.0.0.1:8080", row[1])
	require.Equal(t, "Where the console and the API listen.", row[2])
	require.Equal(t, "ax.yaml:3", row[3])
	require.Equal(t, []string{"empty", "built in"}, []string{cells(page, `[data-key="http.trusted_proxies"]`)[1], cells(page, `[data-key="http.trusted_proxies"]`)[3]})
	require.Equal(t, []string{"0", "ax.yaml:9"}, []string{cells(page, `[data-key="worker.slots"]`)[1], cells(page, `[data-key="worker.slots"]`)[3]})

	require.Equal(t, "Time zones: release "+cron.EmbeddedZoneData+", built in.", page.text("[data-test=zones]"))
	name, _, err := h.ledger.Server(t.Context())
	require.NoError(t, err)
	require.Contains(t, page.text("[data-test=ledger]"), name+" · schema ")
	require.Equal(t, "Redis 7.0.15", page.text("[data-test=carrier]"))
	require.Contains(t, page.text("[data-test=build]"), "1.2.3 · ")
}

func TestTheSettingsAreFoundByTheirWords(t *testing.T) {
	t.Parallel()
	h := setHouse(t)
	for query, want := range map[string][]string{
		"show=changed":         {"secret", "http.addr"},
		"q=HTTP":               {"http.addr", "http.trusted_proxies"},
		"q=http+80":            {"http.addr"},
		"q=ax.yaml":            {"http.addr", "worker.slots"},
		"q=pretend":            {"http.trusted_proxies"}, // of the reason
		"q=http&show=changed":  {"http.addr"},
		"q=nothing":            nil,
		"show=of+another+kind": {"secret", "http.addr", "http.trusted_proxies", "worker.slots"},
	} {
		page := h.as("admin").get("/settings?" + query)
		require.Equal(t, want, keys(page), query)
		require.Equal(t, want == nil, strings.Contains(page.body, "No parameter is like that"), query)
	}
}

func TestOnlyAdministratorsSeeTheSettings(t *testing.T) {
	t.Parallel()
	h := setHouse(t)
	for _, role := range access.Roles() {
		who := h.as(string(role))
		require.Equal(t, http.StatusForbidden, who.get("/settings").status, role)
		require.Empty(t, who.get("/tasks").texts(`.side-link[href="/settings"]`), role)
	}
	require.Len(t, h.as("admin").get("/tasks").texts(`.side-link[href="/settings"]`), 1)
}

func TestTheSettingsAreShownWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	h := setHouse(t, func(o *app.Options) {
		o.Carrier = func(context.Context) (string, error) { return "", errors.New("connection refused") }
	})
	page := h.as("admin").get("/settings")
	require.Equal(t, http.StatusOK, page.status)
	require.Equal(t, "does not answer", page.text("[data-test=carrier]"))
	require.NotEqual(t, "does not answer", page.text("[data-test=ledger]"))
	require.Len(t, keys(page), 4)
}
