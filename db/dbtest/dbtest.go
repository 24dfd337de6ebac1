// Package dbtest gives every test a migrated ledger of its own, on SQLite and
// on a real MariaDB that the tests start themselves.
//
// A package whose tests use MariaDB calls Main from its TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }
//
// Without an installed MariaDB those tests are skipped, unless AX_TEST_REQUIRE
// is 1. The server runs at +08:00 and its databases default to latin1, so that
// code which leans on the server's zone or character set fails here.
//
// It is for tests only and must not be imported by other code.
package dbtest

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/db"
)

// shared is the one MariaDB of this test process, started at first use.
var shared mariadb

// Main runs the tests and stops MariaDB if they started it. It returns the
// exit code.
func Main(m *testing.M) int {
	defer shared.stop()
	return m.Run()
}

// Require tells whether a missing server fails a test instead of skipping it.
func Require() bool { return os.Getenv("AX_TEST_REQUIRE") == "1" }

// Each runs f in two parallel subtests, "sqlite" and "mariadb", each with a
// fresh migrated ledger. They go on after the caller's own deferred calls; use
// t.Cleanup there.
func Each(t *testing.T, f func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, SQLite(t))
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		f(t, MariaDB(t))
	})
}

// SQLite returns a fresh migrated ledger in a file of the test's folder.
func SQLite(t *testing.T) *db.DB {
	t.Helper()
	template, err := sqliteTemplate()
	require.NoError(t, err, "make the SQLite template")
	path := filepath.Join(fastDir(t), "ax.db")
	require.NoError(t, os.WriteFile(path, template, 0o600))
	return Open(t, db.SQLite, path)
}

// MariaDB returns a fresh migrated ledger on the shared server.
func MariaDB(t *testing.T) *db.DB {
	t.Helper()
	dsn := MariaDSN(t)
	require.NoError(t, shared.fill(dsn), "make the tables")
	return Open(t, db.MySQL, dsn)
}

// MariaDSN returns the data source name (TCP) of a fresh empty database, for
// tests that start processes or several nodes.
func MariaDSN(t *testing.T) string {
	t.Helper()
	if err := shared.start(); err != nil {
		if errors.Is(err, errNotInstalled) && !Require() {
			t.Skipf("MariaDB isn't installed: %v", err)
		}
		t.Fatalf("start MariaDB: %v", err)
	}
	name, err := shared.create()
	require.NoError(t, err, "create a database")
	t.Cleanup(func() { shared.drop(name) })
	return shared.dsn(name)
}

// Open opens a ledger for the time of the test, without migrating it.
func Open(t *testing.T, dialect, dsn string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Options{Dialect: dialect, DSN: dsn, MaxConns: 16})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// sqliteTemplate migrates one file and returns its bytes.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "ax-sqlite-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ax.db")
	if err := migrate(db.SQLite, path); err != nil {
		return nil, err
	}
	return os.ReadFile(path) // closed, so nothing is left in the WAL
})
