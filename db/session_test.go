package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/db"
	"ax/db/dbtest"
)

func TestEveryConnectionIsReadCommittedStrictAndInUTC(t *testing.T) {
	d := dbtest.MariaDB(t)
	// Transactions inside each other take a connection each.
	var nest func(level int) error
	nest = func(level int) error {
		return d.Tx(t.Context(), "look", func(tx *gorm.DB) error {
			var s struct{ Isolation, Zone, Mode, Charset string }
			require.NoError(t, tx.Raw("SELECT @@session.tx_isolation AS isolation, @@session.time_zone AS zone,"+
				" @@session.sql_mode AS mode, @@character_set_connection AS charset").Scan(&s).Error)
			require.Equal(t, "READ-COMMITTED", s.Isolation)
			require.Equal(t, "+00:00", s.Zone)
			require.Contains(t, s.Mode, "STRICT_ALL_TABLES")
			require.Equal(t, "utf8mb4", s.Charset)
			if level == 0 {
				return nil
			}
			return nest(level - 1)
		})
	}
	require.NoError(t, nest(7))
}

func TestATransactionSeesWhatOthersCommittedMeanwhile(t *testing.T) {
	d := dbtest.MariaDB(t)
	exec(t, d, "INSERT INTO settings (name, value) VALUES ('a','old')")
	read := func(tx *gorm.DB) (v string) {
		require.NoError(t, tx.Raw("SELECT value FROM settings WHERE name='a'").Scan(&v).Error)
		return v
	}
	require.NoError(t, d.Tx(t.Context(), "read twice", func(tx *gorm.DB) error {
		require.Equal(t, "old", read(tx))
		exec(t, d, "UPDATE settings SET value='new' WHERE name='a'")
		require.Equal(t, "new", read(tx))
		return nil
	}))
}

func TestTheLedgersClockIsUTCWhateverTheServersZone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		before := time.Now()
		now, err := d.Now(t.Context())
		require.NoError(t, err)
		require.WithinDuration(t, before, now, 2*time.Second)
		require.Equal(t, time.UTC, now.Location())
		require.Zero(t, now.Nanosecond()%int(time.Millisecond))
	})
}

func TestTheLedgersClockCountsMilliseconds(t *testing.T) {
	d := dbtest.MariaDB(t)
	first, err := d.Now(t.Context())
	require.NoError(t, err)
	next := first
	for next.Equal(first) {
		next, err = d.Now(t.Context())
		require.NoError(t, err)
	}
	require.Less(t, next.Sub(first), time.Second)
}

func TestInstantsRoundTripThroughTheLedger(t *testing.T) {
	type node struct {
		ID                          string
		StartedAt, BeatAt, SteadyAt db.Millis
		ClosedAt                    db.Millis
	}
	when := time.Date(2026, 3, 8, 2, 30, 0, 999_000_000, time.FixedZone("odd", -5*3600-1800))
	in := node{ID: "n1", StartedAt: db.At(when), BeatAt: db.At(when), SteadyAt: db.At(time.UnixMilli(0))}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		require.NoError(t, d.Tx(t.Context(), "insert", func(tx *gorm.DB) error { return tx.Create(&in).Error }))
		var out node
		require.NoError(t, d.View(t.Context()).Take(&out, "beat_at=?", db.At(when)).Error)
		require.Equal(t, when.UTC(), out.BeatAt.Time)
		require.Equal(t, int64(0), out.SteadyAt.UnixMilli())
		require.True(t, out.ClosedAt.IsZero())
		var isNull bool
		require.NoError(t, d.View(t.Context()).Raw("SELECT closed_at IS NULL FROM nodes").Scan(&isNull).Error)
		require.True(t, isNull)
	})
}

func TestAnOpenLedgerAnswersAndAClosedOneDoesNot(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		require.NoError(t, d.Ping(t.Context()))
		require.NoError(t, d.Close())
		require.Error(t, d.Ping(t.Context()))
	})
}

// One SQLite driver ran on for 52 s after its context had ended.
func TestALongQueryEndsWithItsContext(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		long := "SELECT SLEEP(20)"
		if d.Dialect() == db.SQLite {
			long = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<200000000) SELECT COUNT(*) FROM n"
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		var n int
		require.ErrorIs(t, d.View(ctx).Raw(long).Scan(&n).Error, context.DeadlineExceeded)
		require.Less(t, time.Since(begin), 5*time.Second)
		require.NoError(t, d.Ping(t.Context()))
	})
}

func TestADatabaseThatIsNotThereIsAway(t *testing.T) {
	_, err := db.Open(t.Context(), db.Options{Dialect: db.MySQL, DSN: "root@tcp(127.0.0.1:1)/ax"})
	require.ErrorIs(t, err, db.ErrAway)
}

func TestAnUnknownDialectIsRefused(t *testing.T) {
	_, err := db.Open(t.Context(), db.Options{Dialect: "oracle"})
	require.ErrorContains(t, err, `"oracle"`)
}
