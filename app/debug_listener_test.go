package app_test

import (
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app"
)

func TestTheDebugListenerServesProfilesAndNothingElse(t *testing.T) {
	t.Parallel()
	l, err := app.ListenDebug("127.0.0.1:0", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	ask := func(method, path, host string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+l.Addr()+path, http.NoBody)
		require.NoError(t, err)
		req.Host = host
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(body)
	}
	status, body := ask("GET", "/debug/pprof/goroutine?debug=1", l.Addr())
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "goroutine profile")
	status, _ = ask("GET", "/debug/pprof/profile?seconds=1", "localhost")
	require.Equal(t, http.StatusOK, status)
	for _, path := range []string{"/", "/metrics", "/tasks", "/api/v1/tasks", "/healthz", "/debug/vars", "/debug/pprof/cmdline"} {
		status, _ = ask("GET", path, l.Addr())
		require.Equal(t, http.StatusNotFound, status, path)
	}
	status, _ = ask("POST", "/debug/pprof/", l.Addr())
	require.Equal(t, http.StatusMethodNotAllowed, status)
	for _, host := range []string{"evil.example", "evil.example:6060", ""} {
		if status, _ = ask("GET", "/debug/pprof/heap", host); host != "" {
			require.Equal(t, http.StatusMisdirectedRequest, status, "a name that leads here")
		}
	}
	_, err = app.ListenDebug(l.Addr(), slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "listen on debug.addr")
}

func TestTheConsoleServesNeitherProfilesNorMetrics(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(o *app.Options) { o.Dev = true })
	for _, r := range h.app.Engine().Routes() {
		require.NotContains(t, r.Path, "debug", r.Path)
		require.NotContains(t, r.Path, "metrics", r.Path)
	}
	admin := h.as("admin")
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/vars", "/metrics", "/api/v1/metrics"} {
		require.Equal(t, http.StatusNotFound, admin.get(path).status, path)
	}
}

// pprof puts itself into net/http's default mux, so that one is never served.
func TestNothingServesTheDefaultMux(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"..", ".", "../jobs", "../db"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, use := range []string{"http.ListenAndServe", "http.Serve(", "http.Handle(", "http.HandleFunc("} {
				require.False(t, strings.Contains(string(text), use) && !strings.HasSuffix(file, "_test.go"), "%s: %s", file, use)
			}
		}
	}
}
