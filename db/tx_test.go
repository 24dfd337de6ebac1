package db_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gosql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

func count(t *testing.T, d *db.DB, table string) (n int) {
	t.Helper()
	require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*) FROM "+table).Scan(&n).Error)
	return n
}

func put(tx *gorm.DB, name string) error {
	return tx.Exec("INSERT INTO settings (name, value) VALUES (?,'')", name).Error
}

func TestAnErrorRollsBackAndKeepsItsKind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		err := d.Tx(t.Context(), "enable the task", func(tx *gorm.DB) error {
			require.NoError(t, put(tx, "a"))
			return fault.Conflict("it was changed meanwhile")
		})
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.ErrorContains(t, err, "enable the task: ")
		require.Zero(t, count(t, d, "settings"))
	})
}

func TestAPanicRollsBackAndGoesOn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		require.PanicsWithValue(t, "bug", func() {
			_ = d.Tx(t.Context(), "run", func(tx *gorm.DB) error {
				require.NoError(t, put(tx, "a"))
				panic("bug")
			})
		})
		require.Zero(t, count(t, d, "settings"))
		require.NoError(t, d.Tx(t.Context(), "run", func(tx *gorm.DB) error { return put(tx, "b") }), "the connection is free again")
	})
}

func TestACanceledTransactionLeavesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx, cancel := context.WithCancel(t.Context())
		err := d.Tx(ctx, "run", func(tx *gorm.DB) error {
			err := put(tx, "a")
			cancel()
			return err
		})
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, db.ErrCommitUnknown)
		require.Zero(t, count(t, d, "settings"))
		require.NoError(t, d.Tx(t.Context(), "run", func(tx *gorm.DB) error { return put(tx, "b") }))
	})
}

// Two transactions that lock a and b in opposite order: the server kills one,
// which runs again as a whole.
func TestADeadlockIsRunAgain(t *testing.T) {
	d := dbtest.MariaDB(t)
	exec(t, d, "INSERT INTO settings (name, value) VALUES ('a',''),('b','')")
	var bothHold sync.WaitGroup
	bothHold.Add(2)
	var runs atomic.Int32
	cross := func(first, second string) func() error {
		met := false
		return func() error {
			return d.Tx(t.Context(), "cross", func(tx *gorm.DB) error {
				runs.Add(1)
				add := "UPDATE settings SET value=CONCAT(value,'x') WHERE name=?"
				if err := tx.Exec(add, first).Error; err != nil {
					return err
				}
				if !met {
					met = true
					bothHold.Done()
					bothHold.Wait()
				}
				return tx.Exec(add, second).Error
			})
		}
	}
	var g errgroup.Group
	g.Go(cross("a", "b"))
	g.Go(cross("b", "a"))
	require.NoError(t, g.Wait())
	require.EqualValues(t, 3, runs.Load(), "one of the two ran twice")
	var values []string
	require.NoError(t, d.View(t.Context()).Raw("SELECT value FROM settings").Scan(&values).Error)
	require.Equal(t, []string{"xx", "xx"}, values)
}

func TestFiveRetriesThenTheDeadlockIsReturned(t *testing.T) {
	deadlock := &gosql.MySQLError{Number: 1213, Message: "Deadlock found"}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		runs := 0
		err := d.Tx(t.Context(), "run", func(*gorm.DB) error { runs++; return deadlock })
		require.ErrorIs(t, err, deadlock)
		require.Equal(t, 6, runs)
		runs = 0
		other := errors.New("other")
		require.ErrorIs(t, d.Tx(t.Context(), "run", func(*gorm.DB) error { runs++; return other }), other)
		require.Equal(t, 1, runs)
	})
}

// A lock wait that times out is run again too: 1205 rolls back the statement
// only, so going on would commit half a transaction.
func TestALockWaitIsRunAgain(t *testing.T) {
	dsn := dbtest.MariaDSN(t)
	d := dbtest.Open(t, db.MySQL, dsn+"?innodb_lock_wait_timeout=1")
	require.NoError(t, d.Migrate(t.Context()))
	exec(t, d, "INSERT INTO settings (name, value) VALUES ('a','')")
	held, release := make(chan struct{}), make(chan struct{})
	var g errgroup.Group
	g.Go(func() error {
		return d.Tx(t.Context(), "hold", func(tx *gorm.DB) error {
			err := tx.Exec("UPDATE settings SET value='y' WHERE name='a'").Error
			close(held)
			<-release
			return err
		})
	})
	<-held
	runs := 0
	err := d.Tx(t.Context(), "wait", func(tx *gorm.DB) error {
		if runs++; runs == 2 {
			close(release)
		}
		if err := put(tx, "b"); err != nil {
			return err
		}
		return tx.Exec("UPDATE settings SET value='z' WHERE name='a'").Error
	})
	require.NoError(t, err)
	require.NoError(t, g.Wait())
	require.GreaterOrEqual(t, runs, 2)
	require.Equal(t, 2, count(t, d, "settings"))
}

const writers = 50

// DB-03: with deferred transactions each of these would fail at once with
// SQLITE_BUSY, because it reads before it writes.
func TestFiftyParallelWritersSeeNoBusyDatabase(t *testing.T) {
	d := dbtest.SQLite(t)
	second := dbtest.Open(t, db.SQLite, sqlitePath(t, d)) // as another process would
	exec(t, d, "INSERT INTO settings (name, value) VALUES ('n','0')")
	until := time.Now().Add(2 * time.Second)
	var done atomic.Int64
	var g errgroup.Group
	for i := range writers {
		node := []*db.DB{d, second}[i%2]
		g.Go(func() error {
			for time.Now().Before(until) {
				err := node.Tx(t.Context(), "count", func(tx *gorm.DB) error {
					var n int64
					if err := tx.Raw("SELECT CAST(value AS INTEGER) FROM settings WHERE name='n'").Scan(&n).Error; err != nil {
						return err
					}
					return tx.Exec("UPDATE settings SET value=? WHERE name='n'", n+1).Error
				})
				if err != nil {
					return err
				}
				done.Add(1)
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	var n int64
	require.NoError(t, d.View(t.Context()).Raw("SELECT CAST(value AS INTEGER) FROM settings").Scan(&n).Error)
	require.Equal(t, done.Load(), n, "no update is lost")
	require.Greater(t, n, int64(writers))
}

func sqlitePath(t *testing.T, d *db.DB) (path string) {
	t.Helper()
	require.NoError(t, d.View(t.Context()).Raw("SELECT file FROM pragma_database_list WHERE name='main'").Scan(&path).Error)
	return path
}
