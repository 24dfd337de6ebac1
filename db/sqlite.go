package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/libtnb/sqlite"
	"gorm.io/gorm"
)

// sqliteReaders bounds the connections that read beside the one that writes.
const sqliteReaders = 8

// openSQLite opens one connection that writes, in immediate transactions, and
// a second pool that reads: a transaction that reads first and writes later
// would fail at once with SQLITE_BUSY, whatever the busy timeout.
func openSQLite(ctx context.Context, o Options) (*DB, error) {
	if o.DSN == "" {
		return nil, errors.New("open the ledger: no path of the SQLite file")
	}
	if err := os.MkdirAll(filepath.Dir(o.DSN), 0o700); err != nil {
		return nil, fmt.Errorf("make the ledger's folder: %w", err)
	}
	// 16 MB of pages: with SQLite's 2 MB a planning transaction wrote out and
	// read back what it had just changed.
	write, err := sqlitePool(ctx, o.DSN, url.Values{"_txlock": {"immediate"}, "_pragma": {"cache_size(-16000)"}}, 1)
	if err != nil {
		return nil, err
	}
	read, err := sqlitePool(ctx, o.DSN, url.Values{"_pragma": {"query_only(1)"}}, min(o.MaxConns, sqliteReaders))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	d := &DB{
		dialect: sqliteDialect(), log: o.Log, pools: []*sql.DB{write, read},
		migrationPool: func() (*sql.DB, func() error, error) { return write, func() error { return nil }, nil },
	}
	if d.write, err = gorm.Open(marking{sqlite.New(sqlite.Config{Conn: write})}, gormConfig(o)); err == nil {
		d.pulse = d.write // nobody else could declare this process dead
		d.read, err = gorm.Open(marking{sqlite.New(sqlite.Config{Conn: read})}, gormConfig(o))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the ledger: %w", err), d.Close())
	}
	return d, nil
}

func sqlitePool(ctx context.Context, path string, extra url.Values, conns int) (*sql.DB, error) {
	dsn, err := sqliteDSN(path, extra)
	if err != nil {
		return nil, err
	}
	pool, err := sql.Open(sqlite.DriverName, dsn)
	if err != nil {
		return nil, fmt.Errorf("open the ledger %s: %w", path, err)
	}
	pool.SetMaxOpenConns(conns)
	pool.SetMaxIdleConns(conns)
	if err := pool.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open the ledger %s: %w", path, err), pool.Close())
	}
	return pool, nil
}

// sqliteDSN makes an absolute file: address, so that no character of the path
// can be read as an option.
func sqliteDSN(path string, extra url.Values) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("open the ledger %s: %w", path, err)
	}
	q := url.Values{
		"_pragma":      {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"},
		"_texttotime":  {"1"}, // for goose's own table; ours hold integers
		"_time_format": {"sqlite"},
	}
	for k, v := range extra {
		q[k] = append(q[k], v...)
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: q.Encode()}).String(), nil
}
