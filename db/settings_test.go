package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/db"
	"ax/db/dbtest"
)

func TestASettingIsStoredAndReplaced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, ok, err := d.Setting(t.Context(), "a")
		require.NoError(t, err)
		require.False(t, ok)
		for _, value := range []string{"一", "", "🧾"} {
			require.NoError(t, d.SetSetting(t.Context(), "a", value, access.Entry{At: midday, Action: "setting.update"}))
			got, ok, err := d.Setting(t.Context(), "a")
			require.NoError(t, err)
			require.True(t, ok)
			require.Equal(t, value, got)
		}
		require.Equal(t, 3, count(t, d, "audit_log"))
	})
}

func TestOfManyNodesThatStoreASettingAtOnceOneWins(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		got := make([]string, 2)
		errs := both(
			func() (err error) { got[0], err = d.SetSettingIfAbsent(t.Context(), "secret", "one"); return err },
			func() (err error) { got[1], err = d.SetSettingIfAbsent(t.Context(), "secret", "two"); return err },
		)
		require.NoError(t, errs[0])
		require.NoError(t, errs[1])
		require.Equal(t, got[0], got[1])
		again, err := d.SetSettingIfAbsent(t.Context(), "secret", "three")
		require.NoError(t, err)
		require.Equal(t, got[0], again)
	})
}
