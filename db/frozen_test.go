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

// F03/locked: a worker frozen in the middle of a claim holds the row of its
// node. Whoever declared deaths waited for it, and the sweep with him, until
// the server gave the connection up after eight hours.
func TestASweepDoesNotWaitForTheNodeOfAFrozenClaim(t *testing.T) {
	t.Parallel()
	d := dbtest.MariaDB(t)
	judge, frozen, dead := dbtest.MakeNode(t, d), dbtest.MakeNode(t, d), dbtest.MakeNode(t, d)
	require.True(t, beat(t, d, judge.ID, later(8)))
	require.True(t, beat(t, d, judge.ID, later(16)))
	err := d.Tx(t.Context(), "claim and freeze", func(tx *gorm.DB) error {
		require.NoError(t, tx.Exec("SELECT id FROM nodes WHERE id=?"+d.ForShare(), frozen.ID).Error)
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second) // a lock wait is 10 s
		defer cancel()
		declared, err := d.DeclareDead(ctx, judge.ID, pulse, later(16))
		require.NoError(t, err)
		require.Equal(t, []string{dead.ID}, declared, "the others are looked after")
		return nil
	})
	require.NoError(t, err)
	declared, err := d.DeclareDead(t.Context(), judge.ID, pulse, later(16))
	require.NoError(t, err)
	require.Equal(t, []string{frozen.ID}, declared, "it is next when it can be")
}

// The server takes the locks of a frozen process away.
func TestATransactionThatFallsSilentIsTakenBack(t *testing.T) {
	t.Parallel()
	dsn := dbtest.MariaDSN(t)
	silent, err := db.Open(t.Context(), db.Options{Dialect: db.MySQL, DSN: dsn, IdleLimit: 2 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	require.NoError(t, silent.Migrate(t.Context()))
	d := dbtest.Open(t, db.MySQL, dsn)
	n := dbtest.MakeNode(t, d)
	err = silent.Tx(t.Context(), "claim and freeze", func(tx *gorm.DB) error {
		require.NoError(t, tx.Exec("SELECT id FROM nodes WHERE id=?"+d.ForShare(), n.ID).Error)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		require.NoError(t, d.View(ctx).Exec("UPDATE nodes SET busy=1 WHERE id=?", n.ID).Error)
		return nil
	})
	require.ErrorIs(t, err, db.ErrAway, "its commit finds no transaction")
}
