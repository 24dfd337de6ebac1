package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	gosql "github.com/go-sql-driver/mysql"

	"ax/db"
)

// migrate brings a database up with the real migrations.
func migrate(dialect, dsn string) error {
	ctx := context.Background()
	d, err := db.Open(ctx, db.Options{Dialect: dialect, DSN: dsn})
	if err != nil {
		return err
	}
	return errors.Join(d.Migrate(ctx), d.Close())
}

// template returns statements that build what the migrations build, in one
// round trip instead of many: read once from a migrated database.
func (m *mariadb) template() (string, error) {
	name, err := m.create()
	if err != nil {
		return "", err
	}
	defer m.drop(name)
	if err := migrate(db.MySQL, m.dsn(name)); err != nil {
		return "", err
	}
	pool, err := sql.Open("mysql", m.dsn(name))
	if err != nil {
		return "", err
	}
	defer pool.Close()
	tables, err := tableNames(pool)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, t := range tables {
		var ddl string
		if err := pool.QueryRow("SHOW CREATE TABLE "+t).Scan(&t, &ddl); err != nil {
			return "", fmt.Errorf("read table %s: %w", t, err)
		}
		b.WriteString(ddl + ";\n")
	}
	fmt.Fprintf(&b, "INSERT INTO goose_db_version SELECT * FROM %s.goose_db_version", keeper)
	return b.String(), keep(pool)
}

// keeper is a database that holds the template's list of applied migrations.
const keeper = "ax_keeper"

func keep(pool *sql.DB) error {
	for _, s := range []string{
		"CREATE DATABASE " + keeper,
		"CREATE TABLE " + keeper + ".goose_db_version AS SELECT * FROM goose_db_version",
	} {
		if _, err := pool.Exec(s); err != nil {
			return fmt.Errorf("keep the list of migrations: %w", err)
		}
	}
	return nil
}

func tableNames(pool *sql.DB) ([]string, error) {
	rows, err := pool.Query("SHOW TABLES")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var n string
		if err := rows.Scan(&n); err != nil {
			return nil, err
		}
		names = append(names, n)
	}
	return names, rows.Err()
}

// fill builds the ledger's tables in an empty database.
func (m *mariadb) fill(dsn string) error {
	ddl, err := m.tables()
	if err != nil {
		return err
	}
	c, err := gosql.ParseDSN(dsn)
	if err != nil {
		return err
	}
	c.MultiStatements = true
	connector, err := gosql.NewConnector(c)
	if err != nil {
		return err
	}
	pool := sql.OpenDB(connector)
	defer pool.Close()
	_, err = pool.Exec(ddl)
	return err
}
