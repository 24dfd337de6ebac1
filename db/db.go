// Package db keeps the ledger: rows, queries and migrations, on MySQL 8,
// MariaDB 10.6+ and SQLite.
//
// An exported method is one transaction, named after the business act, and
// writes its audit row inside it. Every difference between the dialects stands
// in dialect.go; lock order and statement rules are those of ARCHITECTURE.md:
// READ COMMITTED, candidates by plain SELECT, changes by primary key, rows of
// one table locked by ascending key. Instants are BIGINT epoch milliseconds in
// UTC (Millis), made by the caller from the ledger's clock (Now).
//
// It must not import gin, asynq, templ, nor the packages app, jobs and views.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// Names of the dialects, as they stand in the configuration.
const (
	MySQL  = "mysql"
	SQLite = "sqlite"
)

const (
	defaultMaxConns  = 32
	defaultIdleLimit = 15 * time.Second
)

// Options say which database to open.
type Options struct {
	// Dialect is MySQL (which also means MariaDB) or SQLite.
	Dialect string
	// DSN is a go-sql-driver data source name with a database, or the path of
	// the SQLite file. What correctness depends on (character set, time zone,
	// isolation) is set here whatever the DSN says.
	DSN string
	// MaxConns bounds the connections; 0 means 32. SQLite writes through one.
	MaxConns int
	// IdleLimit is how long MySQL waits for the next statement of a connection
	// before it takes its transaction back, in whole seconds; 0 means 15 s.
	IdleLimit time.Duration
	// Log may be nil.
	Log *slog.Logger
	// Watch, if set, is told each statement, without its values: tests look
	// whether one forgets the team.
	Watch func(statement string)
}

// DB is an open ledger. It is safe for concurrent use.
type DB struct {
	targets     hostBook
	write, read *gorm.DB
	pulse       *gorm.DB // for signs of life: see pulseConns
	dialect     dialect
	log         *slog.Logger
	pools       []*sql.DB
	// migrationPool returns the pool that migrations run on and its release.
	migrationPool func() (*sql.DB, func() error, error)

	claims  group[sched.ClaimRequest, sched.Claimed]
	settles group[sched.Settlement, sched.Settled]
	looks   group[look, bool]
	seen    seenEnds
}

// Open connects and checks that the server is new enough. The schema is not
// looked at: see Migrate and Check.
func Open(ctx context.Context, o Options) (*DB, error) {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.MaxConns = cmp.Or(o.MaxConns, defaultMaxConns)
	o.IdleLimit = cmp.Or(max(o.IdleLimit, 0), defaultIdleLimit)
	o.IdleLimit = max(o.IdleLimit.Round(time.Second), 2*time.Second)
	var d *DB
	var err error
	switch o.Dialect {
	case MySQL:
		d, err = openMySQL(ctx, o)
	case SQLite:
		d, err = openSQLite(ctx, o)
	default:
		err = fmt.Errorf("open the ledger: unknown dialect %q, want %s or %s", o.Dialect, MySQL, SQLite)
	}
	if err != nil {
		return nil, err
	}
	d.gather()
	return d, nil
}

// gather lets concurrent callers share transactions.
func (d *DB) gather() {
	n := d.dialect.writers
	d.claims.writers, d.settles.writers, d.looks.writers = n, n, n
	d.claims.run, d.settles.run, d.looks.run = d.claimTogether, d.settleTogether, d.lookTogether
	d.claims.key = func(r sched.ClaimRequest) string { return r.InstanceID }
	d.settles.key = func(s sched.Settlement) string { return s.InstanceID }
}

// Close waits for the transactions that callers share, and closes all
// connections.
func (d *DB) Close() error {
	d.claims.close()
	d.settles.close()
	d.looks.close()
	var errs []error
	for _, p := range d.pools {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Ping asks every pool for a connection that answers.
func (d *DB) Ping(ctx context.Context) error {
	for _, p := range d.pools {
		if err := p.PingContext(ctx); err != nil {
			return fmt.Errorf("ping the ledger: %w", away(err))
		}
	}
	return nil
}

// Dialect is MySQL or SQLite.
func (d *DB) Dialect() string { return d.dialect.name }

// Now reads the ledger's clock in UTC, in whole milliseconds. On SQLite, which
// lives inside one process, that is the clock of the process.
func (d *DB) Now(ctx context.Context) (time.Time, error) {
	if d.dialect.clock == "" {
		return time.Now().UTC().Truncate(time.Millisecond), nil
	}
	var ms int64
	if err := d.pulse.WithContext(ctx).Raw(d.dialect.clock).Row().Scan(&ms); err != nil {
		return time.Time{}, fmt.Errorf("read the ledger's clock: %w", away(err))
	}
	return time.UnixMilli(ms).UTC(), nil
}

func gormConfig(o Options) *gorm.Config {
	withoutValues()
	return &gorm.Config{
		SkipDefaultTransaction:   true,
		TranslateError:           true,
		DisableAutomaticPing:     true,
		Logger:                   sqlLog{o.Log, o.Watch},
		DisableNestedTransaction: true,
	}
}
