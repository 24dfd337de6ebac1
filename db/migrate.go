package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"ax/app/fail"
)

//go:embed migrations/mysql/*.sql migrations/sqlite/*.sql
var migrationFiles embed.FS

const migrationTable = "goose_db_version"

// MigrationState is one migration of this program and whether the ledger has it.
type MigrationState struct {
	Version   int64
	Name      string
	Applied   bool
	AppliedAt time.Time // zero while pending
}

// Migrate brings the schema up to this program's. Several nodes may call it at
// once: one migrates, the others wait. It is safe to call again after a crash.
// Errors: ErrNewerSchema, ErrCharset.
func (d *DB) Migrate(ctx context.Context) error {
	if err := d.refuseNewer(ctx); err != nil {
		return err
	}
	err := d.withProvider(func(p *goose.Provider) error {
		for {
			r, err := p.UpByOne(ctx)
			if errors.Is(err, goose.ErrNoNextVersion) {
				return nil
			}
			if err != nil {
				return err
			}
			d.log.InfoContext(ctx, "schema migrated", "version", r.Source.Version, "took", r.Duration)
			if err := fail.At("migrate.step"); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return fmt.Errorf("migrate the ledger: %w", err)
	}
	return d.Check(ctx)
}

// Check tells whether this program can work with the ledger's schema.
// Errors: ErrNewerSchema, ErrPendingMigrations, ErrCharset.
func (d *DB) Check(ctx context.Context) error {
	if err := d.refuseNewer(ctx); err != nil {
		return err
	}
	has, newest, err := d.versions(ctx)
	if err != nil {
		return err
	}
	if has < newest {
		return fmt.Errorf("%w (has %d, needs %d)", ErrPendingMigrations, has, newest)
	}
	return d.checkCharset(ctx)
}

// MigrationStatus lists this program's migrations, oldest first.
func (d *DB) MigrationStatus(ctx context.Context) ([]MigrationState, error) {
	var states []MigrationState
	err := d.withProvider(func(p *goose.Provider) error {
		list, err := p.Status(ctx)
		for _, s := range list {
			states = append(states, MigrationState{
				Version: s.Source.Version, Name: s.Source.Path,
				Applied: s.State == goose.StateApplied, AppliedAt: s.AppliedAt,
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the state of the migrations: %w", err)
	}
	return states, nil
}

func (d *DB) withProvider(use func(*goose.Provider) error) error {
	files, err := fs.Sub(migrationFiles, "migrations/"+d.dialect.name)
	if err != nil {
		return err
	}
	pool, release, err := d.migrationPool()
	if err != nil {
		return err
	}
	p, err := d.provider(pool, files)
	if err == nil {
		err = use(p)
	}
	if releaseErr := release(); err == nil {
		err = releaseErr
	}
	return err
}

func (d *DB) provider(pool *sql.DB, files fs.FS) (*goose.Provider, error) {
	options := []goose.ProviderOption{goose.WithTableName(migrationTable), goose.WithSlog(d.log), goose.WithDisableGlobalRegistry(true)}
	if d.dialect.name == SQLite {
		return goose.NewProvider(goose.DialectSQLite3, pool, files, options...)
	}
	// A table, not GET_LOCK, which Galera doesn't have. Ten minutes, then give up.
	locker, err := lock.NewMySQLTableLocker(lock.WithTableLockTimeout(500*time.Millisecond, 1200), lock.WithTableLogger(d.log))
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectMySQL, pool, files, append(options, goose.WithLocker(locker))...)
}

// versions returns the newest migration of the ledger (0: none) and of this
// program.
func (d *DB) versions(ctx context.Context) (has, newest int64, err error) {
	names, err := fs.Glob(migrationFiles, "migrations/"+d.dialect.name+"/*.sql")
	if err != nil {
		return 0, 0, err
	}
	for _, n := range names {
		v, err := goose.NumericComponent(n)
		if err != nil {
			return 0, 0, err
		}
		newest = max(newest, v)
	}
	var tables int64
	if err := d.view(ctx).Raw(d.dialect.hasTable, migrationTable).Scan(&tables).Error; err != nil {
		return 0, 0, fmt.Errorf("read the schema's version: %w", away(err))
	}
	if tables > 0 {
		err = d.view(ctx).Raw("SELECT COALESCE(MAX(version_id),0) FROM " + migrationTable).Scan(&has).Error
	}
	if err != nil {
		return 0, 0, fmt.Errorf("read the schema's version: %w", away(err))
	}
	return has, newest, nil
}

func (d *DB) refuseNewer(ctx context.Context) error {
	has, newest, err := d.versions(ctx)
	if err != nil {
		return err
	}
	if has > newest {
		return fmt.Errorf("%w (has %d, knows %d): start the newer version, or restore a backup", ErrNewerSchema, has, newest)
	}
	return nil
}

// checkCharset refuses a table of ours with a column that can't hold every
// character, or a code that isn't compared byte by byte, as an old dump or an
// ALTER TABLE … CONVERT TO leaves behind.
func (d *DB) checkCharset(ctx context.Context) error {
	if d.dialect.badCharsets == "" {
		return nil
	}
	var bad []struct{ TableName, ColumnName, CollationName string }
	if err := d.view(ctx).Raw(d.dialect.badCharsets).Scan(&bad).Error; err != nil {
		return fmt.Errorf("check the character sets: %w", away(err))
	}
	ours := d.tables()
	for _, b := range bad {
		if slices.Contains(ours, b.TableName) {
			return fmt.Errorf("%w: column %s.%s has collation %s; copy the rows into a database that ax migrated",
				ErrCharset, b.TableName, b.ColumnName, b.CollationName)
		}
	}
	return nil
}

// tables lists the ledger's tables as the migrations create them.
func (d *DB) tables() []string {
	create := regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\w+)`)
	var names []string
	_ = fs.WalkDir(migrationFiles, "migrations/"+d.dialect.name, func(path string, _ fs.DirEntry, _ error) error {
		text, _ := migrationFiles.ReadFile(path) // embedded: can't fail but for folders
		for _, m := range create.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
		return nil
	})
	return names
}
