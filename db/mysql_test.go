package db

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestServersWithoutSkipLockedAreTooOld(t *testing.T) {
	for version, want := range map[string]bool{
		"8.0.36":                     true,
		"8.4.0-commercial":           true,
		"9.1.0":                      true,
		"5.7.44-log":                 false,
		"10.11.19-MariaDB-0+deb12u1": true,
		"10.6.0-MariaDB":             true,
		"11.4.2-MariaDB-ubu2404":     true,
		"10.5.29-MariaDB":            false,
		"5.5.5-10.11.6-MariaDB-1:10.11.6+maria~deb12": true,
		"5.5.5-10.3.39-MariaDB":                       false,
		"a fork of something":                         true,
	} {
		require.Equal(t, want, newEnough(version), version)
	}
}

func TestWhatCorrectnessNeedsOverridesTheDSN(t *testing.T) {
	c, err := mysqlConfig(Options{
		DSN: "u:p@tcp(db:3306)/ax?clientFoundRows=true&multiStatements=true&loc=Local&charset=latin1" +
			"&time_zone=%27SYSTEM%27&sql_mode=%27%27&timeout=2s&innodb_lock_wait_timeout=3&wait_timeout=28800",
		IdleLimit: 15 * time.Second, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	require.False(t, c.ClientFoundRows)
	require.False(t, c.MultiStatements)
	require.True(t, c.InterpolateParams)
	require.Equal(t, time.UTC, c.Loc)
	require.Equal(t, "'+00:00'", c.Params["time_zone"])
	require.Contains(t, c.Params["sql_mode"], "STRICT_ALL_TABLES")
	require.Equal(t, 2*time.Second, c.Timeout, "a wait is the operator's choice")
	require.Equal(t, "3", c.Params["innodb_lock_wait_timeout"])
	require.Equal(t, "15", c.Params["wait_timeout"], "a frozen process must not hold its locks for eight hours")
	require.Contains(t, c.FormatDSN(), "charset=utf8mb4")
	require.NotContains(t, c.FormatDSN(), "latin1")
}

func TestABadDataSourceNameIsRefusedWithoutItsPassword(t *testing.T) {
	for name, dsn := range map[string]string{
		"no database":   "u:secret@tcp(db:3306)/",
		"no slash":      "u:secret@tcp(db:3306)",
		"not a setting": "u:secret@tcp(db:3306)/ax?timeout=soon",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := mysqlConfig(Options{DSN: dsn, Log: slog.New(slog.DiscardHandler)})
			require.Error(t, err)
			require.NotContains(t, err.Error(), "secret")
		})
	}
}
