package db_test

import (
	"errors"
	"fmt"
	"testing"

	gosql "github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

// F12, F13: a database that is read-only or full is no fault of ax: callers
// get a 503 and try again, not a 500.
func TestADatabaseThatRefusesIsUnavailable(t *testing.T) {
	d := dbtest.SQLite(t)
	for name, refusal := range map[string]*gosql.MySQLError{
		"read-only":              {Number: 1290, Message: "The MariaDB server is running with the --read-only option so it cannot execute this statement"},
		"read-only, MySQL":       {Number: 1836, Message: "Running in read-only mode"},
		"a full disk":            {Number: 1021, Message: "Disk full (/tmp/x); waiting for someone to free some space"},
		"a full table":           {Number: 1114, Message: "The table 'instances' is full"},
		"a full disk, by engine": {Number: 1030, Message: `Got error 28 "No space left on device" from storage engine InnoDB`},
		"too many connections":   {Number: 1040, Message: "Too many connections"},
	} {
		t.Run(name, func(t *testing.T) {
			err := d.Tx(t.Context(), "trigger", func(*gorm.DB) error { return fmt.Errorf("insert: %w", refusal) })
			require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
			require.ErrorIs(t, err, db.ErrRefused)
			require.ErrorIs(t, err, refusal)
			require.NotErrorIs(t, err, db.ErrAway, "the connection is whole")
		})
	}
	for name, other := range map[string]error{
		"a fault in a statement": &gosql.MySQLError{Number: 1064, Message: "You have an error in your SQL syntax"},
		"another engine error":   &gosql.MySQLError{Number: 1030, Message: "Got error 175 from storage engine"},
		"a row that is locked":   &gosql.MySQLError{Number: 1205, Message: "Lock wait timeout exceeded"},
		"a fault of ours":        errors.New("nil map"),
	} {
		t.Run(name, func(t *testing.T) {
			err := d.Tx(t.Context(), "trigger", func(*gorm.DB) error { return other })
			require.NotErrorIs(t, err, db.ErrRefused)
		})
	}
}

// A file that can't grow takes no more, says so, and goes on when it can.
func TestAFullFileRefusesAndGoesOn(t *testing.T) {
	d := dbtest.SQLite(t)
	grow := func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO settings (name, value) SELECT 'n'||(SELECT COUNT(*) FROM settings), hex(zeroblob(200000))").Error
	}
	err := d.Tx(t.Context(), "keep it small", func(tx *gorm.DB) error { return tx.Exec("PRAGMA max_page_count=1").Error }) // as many as there are
	require.NoError(t, err)
	err = d.Tx(t.Context(), "fill", grow)
	require.ErrorIs(t, err, db.ErrRefused)
	require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
	require.NoError(t, d.Tx(t.Context(), "give it room", func(tx *gorm.DB) error { return tx.Exec("PRAGMA max_page_count=1000000").Error }))
	require.NoError(t, d.Tx(t.Context(), "fill", grow))
}
