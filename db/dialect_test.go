package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"ax/db"
	"ax/db/dbtest"
)

const newRange = "INSERT INTO missed_ranges (task_id, team_id, from_slot, to_slot, slots, reason, created_at) VALUES "

// rows runs one statement and returns the number of rows it reports.
func rows(t *testing.T, d *db.DB, sql string, args ...any) (n int64) {
	t.Helper()
	require.NoError(t, d.Tx(t.Context(), "run", func(tx *gorm.DB) error {
		r := tx.Exec(sql, args...)
		n = r.RowsAffected
		return r.Error
	}))
	return n
}

func TestDoNothingReportsWhoWon(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		end := d.DoNothing("missed_ranges")
		require.EqualValues(t, 1, rows(t, d, newRange+"(1,1,10,20,1,'misfire',1) "+end))
		require.EqualValues(t, 0, rows(t, d, newRange+"(1,1,10,99,9,'misfire',2) "+end))
		require.EqualValues(t, 2, rows(t, d, newRange+
			"(1,1,10,99,9,'misfire',3),(1,1,11,20,1,'misfire',3),(1,1,10,20,1,'paused',3) "+end), "of three, one is taken")
		var to int64
		require.NoError(t, d.View(t.Context()).Raw("SELECT to_slot FROM missed_ranges WHERE from_slot=10 AND reason='misfire'").Scan(&to).Error)
		require.EqualValues(t, 20, to, "the first row stands")
	})
}

// GORM's own clause too: with RETURNING on MariaDB it would report one row.
func TestGormsDoNothingReportsNoRowOnAConflict(t *testing.T) {
	type Team struct {
		ID         int64
		Code, Name string
		CreatedAt  int64 `gorm:"autoCreateTime:false"`
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, want := range []int64{1, 0} {
			require.NoError(t, d.Tx(t.Context(), "insert", func(tx *gorm.DB) error {
				r := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&Team{Code: "ops", Name: "Ops", CreatedAt: 1})
				require.Equal(t, want, r.RowsAffected)
				return r.Error
			}))
		}
	})
}

func TestDoNothingStillRefusesBadValues(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		err := d.Tx(t.Context(), "insert", func(tx *gorm.DB) error {
			return tx.Exec(newRange + "(1,1,10,NULL,1,'misfire',1) " + d.DoNothing("missed_ranges")).Error
		})
		require.Error(t, err)
	})
}

func TestUpsertTakesNewValuesAndKeepsOld(t *testing.T) {
	insert := "INSERT INTO dead_letters (task_id, team_id, biz_id, instance_id, status, outcome, error, opened_at) VALUES (1,1,'b',?,'open',?,?,?) "
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		end := d.Upsert("task_id, biz_id", "instance_id", "outcome", "error", "opens=opens+1", "replaying=NULL",
			"status=CASE WHEN status='taken' THEN 'taken' ELSE 'open' END", "closed_at="+d.NewValue("opened_at")+"+1")
		rows(t, d, insert+end, "i1", "failed", "first", 5)
		rows(t, d, "UPDATE dead_letters SET status='taken', replaying='r'")
		rows(t, d, insert+end, "i2", "lost", "second", 7)
		var l struct {
			InstanceID, Outcome, Error, Status string
			Opens                              int
			OpenedAt, ClosedAt                 int64
			Replaying                          *string
		}
		require.NoError(t, d.View(t.Context()).Raw("SELECT * FROM dead_letters").Scan(&l).Error)
		require.Equal(t, "i2/lost/second/taken", l.InstanceID+"/"+l.Outcome+"/"+l.Error+"/"+l.Status)
		require.Equal(t, 2, l.Opens)
		require.EqualValues(t, 5, l.OpenedAt)
		require.EqualValues(t, 8, l.ClosedAt)
		require.Nil(t, l.Replaying)
	})
}

func TestATakenKeyIsADuplicateHoweverItIsWritten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, "INSERT INTO settings (name, value) VALUES ('a','1')")
		exec(t, d, "INSERT INTO teams (code, name, created_at) VALUES ('ops','',1)")
		for name, sql := range map[string]string{
			"primary key": "INSERT INTO settings (name, value) VALUES ('a','2')",
			"unique key":  "INSERT INTO teams (code, name, created_at) VALUES ('ops','',1)",
		} {
			err := d.Tx(t.Context(), "insert", func(tx *gorm.DB) error { return tx.Exec(sql).Error })
			require.True(t, db.IsDuplicate(err), name)
			require.False(t, db.IsRetryable(err), name)
		}
		err := d.Tx(t.Context(), "insert", func(tx *gorm.DB) error { return tx.Exec("INSERT INTO teams (code) VALUES (NULL)").Error })
		require.Error(t, err)
		require.False(t, db.IsDuplicate(err), "another constraint")
	})
}

func TestLocksAndHintsAreTakenByBothDialects(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, "INSERT INTO settings (name, value) VALUES ('a','1')")
		require.NoError(t, d.Tx(t.Context(), "lock", func(tx *gorm.DB) error {
			for _, lock := range []string{d.ForUpdate(), d.ForUpdateSkipLocked(), d.ForShare()} {
				var v string
				require.NoError(t, tx.Raw("SELECT value FROM settings WHERE name='a'"+lock).Scan(&v).Error)
				require.Equal(t, "1", v)
			}
			r := tx.Exec("UPDATE " + d.ForcePrimary("settings") + " SET value='2' WHERE name='a'")
			require.EqualValues(t, 1, r.RowsAffected)
			return r.Error
		}))
	})
}

func TestSkipLockedLeavesOutWhatAnotherHolds(t *testing.T) {
	d := dbtest.MariaDB(t)
	exec(t, d, "INSERT INTO settings (name, value) VALUES ('a',''),('b',''),('c','')")
	claim := func(tx *gorm.DB, limit int) (names []string) {
		require.NoError(t, tx.Raw("SELECT name FROM settings ORDER BY name LIMIT ?"+d.ForUpdateSkipLocked(), limit).Scan(&names).Error)
		return names
	}
	require.NoError(t, d.Tx(t.Context(), "first", func(tx *gorm.DB) error {
		require.Equal(t, []string{"a", "b"}, claim(tx, 2))
		return d.Tx(t.Context(), "second", func(tx *gorm.DB) error {
			require.Equal(t, []string{"c"}, claim(tx, 2))
			return nil
		})
	}))
}

// An unchanged row is 0 on MySQL and 1 on SQLite: guards must change a column
// (the state) to be counted.
func TestAGuardedUpdateThatChangesNothingElseCountsItsRow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, "INSERT INTO settings (name, value) VALUES ('a','pending')")
		move := "UPDATE " + d.ForcePrimary("settings") + " SET value='queued' WHERE name='a' AND value='pending'"
		require.EqualValues(t, 1, rows(t, d, move))
		require.EqualValues(t, 0, rows(t, d, move))
	})
}
