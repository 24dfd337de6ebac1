package db_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/db"
)

// A failed statement is in the log as it was asked, without what it was asked
// with.
func TestALoggedStatementHasNoValues(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	d, err := db.Open(t.Context(), db.Options{
		Dialect: db.SQLite, DSN: filepath.Join(t.TempDir(), "ax.db"),
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	require.NoError(t, err)
	defer d.Close()
	// There are no tables yet.
	_, err = d.Task(t.Context(), "secret-4711")
	require.Error(t, err)
	_, err = d.Calendars(t.Context(), access.Scope{Teams: []int64{4711}})
	require.Error(t, err)
	require.Contains(t, log.String(), "FROM tasks")
	require.Contains(t, log.String(), "FROM calendars")
	require.NotContains(t, log.String(), "4711")
}
