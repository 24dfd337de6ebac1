package db_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/db"
	"ax/db/dbtest"
)

func TestReadersGoOnWhileATransactionWrites(t *testing.T) {
	d := dbtest.SQLite(t)
	require.NoError(t, d.Tx(t.Context(), "write", func(tx *gorm.DB) error {
		require.NoError(t, put(tx, "a"))
		require.Zero(t, count(t, d, "settings"), "not committed yet")
		return nil
	}))
	require.Equal(t, 1, count(t, d, "settings"))
}

func TestReadersCantWrite(t *testing.T) {
	d := dbtest.SQLite(t)
	require.ErrorContains(t, put(d.View(t.Context()), "a"), "readonly")
}

func TestTheFileIsSetUpForOneWriterAndManyReaders(t *testing.T) {
	d := dbtest.SQLite(t)
	pragma := func(tx *gorm.DB, name string) (v string) {
		require.NoError(t, tx.Raw("PRAGMA "+name).Scan(&v).Error)
		return v
	}
	require.NoError(t, d.Tx(t.Context(), "look", func(tx *gorm.DB) error {
		require.Equal(t, "wal", pragma(tx, "journal_mode"))
		require.Equal(t, "5000", pragma(tx, "busy_timeout"))
		require.Equal(t, "2", pragma(tx, "synchronous"), "what is committed survives a power cut")
		require.Equal(t, "1", pragma(tx, "foreign_keys"))
		return nil
	}))
	require.Equal(t, "1", pragma(d.View(t.Context()), "query_only"))
}

func TestAnyPathIsAPath(t *testing.T) {
	for _, name := range []string{"a b.db", "50%.db", "who?.db", "no#1.db", "账本.db", "a&mode=memory.db"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			d := dbtest.Open(t, db.SQLite, path)
			require.NoError(t, d.Migrate(t.Context()))
			require.FileExists(t, path)
		})
	}
}

func TestAMissingFolderIsMade(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "yet", "ax.db")
	require.NoError(t, dbtest.Open(t, db.SQLite, path).Migrate(t.Context()))
	require.FileExists(t, path)
}

func TestAPathThatCantBeOneIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, path := range []string{"", filepath.Join(file, "ax.db"), filepath.Dir(file)} {
		_, err := db.Open(t.Context(), db.Options{Dialect: db.SQLite, DSN: path})
		require.ErrorContains(t, err, "ledger", "%q", path)
	}
}
