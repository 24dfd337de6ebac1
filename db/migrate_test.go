package db_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/db"
	"ax/db/dbtest"
)

// empty runs f with an opened ledger without a schema, on both dialects.
func empty(t *testing.T, f func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, dbtest.Open(t, db.SQLite, filepath.Join(t.TempDir(), "ax.db")))
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		f(t, dbtest.Open(t, db.MySQL, dbtest.MariaDSN(t)))
	})
}

func exec(t *testing.T, d *db.DB, sql string, args ...any) {
	t.Helper()
	require.NoError(t, d.Tx(t.Context(), "prepare the test", func(tx *gormDB) error { return tx.Exec(sql, args...).Error }))
}

func TestAnEmptyDatabaseIsMigratedAndAgainChangesNothing(t *testing.T) {
	empty(t, func(t *testing.T, d *db.DB) {
		require.ErrorIs(t, d.Check(t.Context()), db.ErrPendingMigrations)
		requireApplied(t, d, false)
		require.NoError(t, d.Migrate(t.Context()))
		before := columns(t, d)
		require.NoError(t, d.Migrate(t.Context()))
		require.Equal(t, before, columns(t, d))
		require.NoError(t, d.Check(t.Context()))
		requireApplied(t, d, true)
	})
}

func requireApplied(t *testing.T, d *db.DB, applied bool) {
	t.Helper()
	states, err := d.MigrationStatus(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, states)
	for _, s := range states {
		require.Equal(t, applied, s.Applied, s.Name)
		require.Equal(t, applied, !s.AppliedAt.IsZero(), s.Name)
	}
}

func TestAMigrationThatACrashCutShortIsFinished(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		want := columns(t, d)
		exec(t, d, "DROP TABLE dead_letters") // the last of its file; the others stand
		exec(t, d, "DELETE FROM goose_db_version WHERE version_id>=3")
		require.NoError(t, d.Migrate(t.Context()))
		require.Equal(t, want, columns(t, d))
	})
}

func TestFourNodesMigrateOneDatabaseAtOnce(t *testing.T) {
	dsn := dbtest.MariaDSN(t)
	var nodes errgroup.Group
	for range 4 {
		d := dbtest.Open(t, db.MySQL, dsn)
		nodes.Go(func() error { return d.Migrate(t.Context()) })
	}
	require.NoError(t, nodes.Wait())
	d := dbtest.Open(t, db.MySQL, dsn)
	requireApplied(t, d, true)
	var doubled int
	require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*)-COUNT(DISTINCT version_id) FROM goose_db_version").Scan(&doubled).Error)
	require.Zero(t, doubled)
}

func TestALedgerOfANewerVersionIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9001, 1)")
		for _, err := range []error{d.Migrate(t.Context()), d.Check(t.Context())} {
			require.ErrorIs(t, err, db.ErrNewerSchema)
			require.ErrorContains(t, err, "9001")
		}
	})
}

func TestUNI03ATableOfAnotherCharacterSetIsRefused(t *testing.T) {
	for name, to := range map[string]string{
		"one byte":                    "latin1",
		"three bytes":                 "utf8mb3",
		"codes compared without case": "utf8mb4 COLLATE utf8mb4_unicode_520_ci",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.MariaDB(t)
			exec(t, d, "CREATE TABLE somebody_elses (code VARCHAR(10)) DEFAULT CHARSET=latin1")
			require.NoError(t, d.Check(t.Context()), "only the ledger's tables count")
			exec(t, d, "ALTER TABLE teams CONVERT TO CHARACTER SET "+to)
			for _, err := range []error{d.Migrate(t.Context()), d.Check(t.Context())} {
				require.ErrorIs(t, err, db.ErrCharset)
				require.ErrorContains(t, err, "teams.")
			}
		})
	}
}
