package db

import (
	"context"
	"fmt"
	"strings"
)

// Server names the product that the ledger lies in, such as "MariaDB 10.11.6",
// and its schema: the newest migration that was applied.
func (d *DB) Server(ctx context.Context) (name string, schema int64, err error) {
	var version string
	if err := d.view(ctx).Raw(d.dialect.version).Row().Scan(&version); err != nil {
		return "", 0, fmt.Errorf("read the database's version: %w", away(err))
	}
	schema, _, err = d.versions(ctx)
	return product(d.dialect.name, version), schema, err
}

// product is the name and the number of a version such as
// "10.11.6-MariaDB-0+deb12u1".
func product(dialect, version string) string {
	number, _, _ := strings.Cut(version, "-")
	switch {
	case dialect == SQLite:
		return "SQLite " + number
	case strings.Contains(version, "MariaDB"):
		return "MariaDB " + number
	}
	return "MySQL " + number
}
