package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/db"
	"ax/db/dbtest"
)

func TestTheLedgerSaysWhatItIs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		name, schema, err := d.Server(t.Context())
		require.NoError(t, err)
		require.Regexp(t, `^(SQLite 3|MariaDB \d+|MySQL \d+)\.\d+\.\d+$`, name)
		require.Equal(t, d.Dialect() == db.SQLite, name[:6] == "SQLite")
		states, err := d.MigrationStatus(t.Context())
		require.NoError(t, err)
		require.Equal(t, states[len(states)-1].Version, schema)
	})
}
