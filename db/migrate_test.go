package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/db"
	"ax/db/dbtest"
)

func TestMigrating_a_migrated_ledger_changes_nothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		require.NoError(t, d.Migrate(t.Context()))
		states, err := d.MigrationStatus(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, states)
		for _, s := range states {
			require.True(t, s.Applied, s.Name)
			require.False(t, s.AppliedAt.IsZero(), s.Name)
		}
	})
}
