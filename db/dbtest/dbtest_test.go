package dbtest_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/db"
	"ax/db/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

func TestEachTestHasAMigratedLedgerOfItsOwn(t *testing.T) {
	for range 2 {
		t.Run("", func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				require.NoError(t, d.Check(t.Context()))
				states, err := d.MigrationStatus(t.Context())
				require.NoError(t, err)
				for _, s := range states {
					require.True(t, s.Applied, s.Name)
				}
			})
		})
	}
}

func TestAFreshDatabaseIsEmpty(t *testing.T) {
	d := dbtest.Open(t, db.MySQL, dbtest.MariaDSN(t))
	require.ErrorIs(t, d.Check(t.Context()), db.ErrPendingMigrations)
}

func TestALedgerIsMadeQuickly(t *testing.T) {
	dbtest.MariaDB(t) // starts the server and makes the template
	dbtest.SQLite(t)
	const n = 5
	begin := time.Now()
	for range n {
		dbtest.MariaDB(t)
	}
	maria := time.Since(begin) / n
	begin = time.Now()
	for range n {
		dbtest.SQLite(t)
	}
	sqlite := time.Since(begin) / n
	t.Logf("mariadb %v, sqlite %v", maria, sqlite)
	// Far above the usual 30 ms and 5 ms: this catches a lost template only.
	require.Less(t, maria, time.Second)
	require.Less(t, sqlite, time.Second)
}
