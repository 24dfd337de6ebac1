//go:build slow

package main

import (
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// cut splits "place, remark".
func cut(name string) (place, remark string, found bool) { return strings.Cut(name, ",") }

// onceOnly takes the retries from work that must not be repeated.
func onceOnly(w map[string]any, idempotent bool) {
	if !idempotent {
		w["policy"].(map[string]any)["retry"] = map[string]any{"max": 0}
	}
}

func flush(t *testing.T, addr string) {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	defer c.Close()
	require.NoError(t, c.FlushAll(t.Context()).Err())
}

// jsonID is an id of the API as a part of a path.
func jsonID(v any) string {
	if n, ok := v.(float64); ok {
		return strconv.FormatInt(int64(n), 10)
	}
	return v.(string)
}

// sql opens the ledger beside the processes.
func (a *ax) sql() *sql.DB {
	a.t.Helper()
	i := slices.IndexFunc(a.env, func(v string) bool { return strings.HasPrefix(v, "AX_DATABASE_DSN=") })
	conn, err := sql.Open("mysql", strings.TrimPrefix(a.env[i], "AX_DATABASE_DSN="))
	require.NoError(a.t, err)
	a.t.Cleanup(func() { _ = conn.Close() })
	return conn
}
