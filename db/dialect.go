package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"net"
	"strings"

	gosql "github.com/go-sql-driver/mysql"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// dialect holds every difference between the SQL of MySQL (and MariaDB) and of
// SQLite. Queries join these pieces and never ask which dialect it is.
type dialect struct {
	name string
	// forUpdate, forUpdateSkipLocked and forShare end a SELECT. They begin with
	// a space. SQLite needs none: its transactions are immediate, one at a time.
	forUpdate, forUpdateSkipLocked, forShare string
	// clock is the SELECT of the ledger's time in epoch milliseconds; empty
	// means the clock of the process.
	clock string
	// version is the SELECT of the server's version.
	version string
	// hasTable counts the tables of a name.
	hasTable string
	// badCharsets lists text columns that are neither utf8mb4 nor ascii, and
	// codes that aren't compared byte by byte; empty where neither can be.
	badCharsets string
	// snapshot opens a transaction that sees the ledger as it is at its first
	// read.
	snapshot sql.TxOptions
	// writers is how many transactions of one kind that callers share run at
	// once.
	writers int
	// pools names the pools of connections, in their order.
	pools [2]string
	// Pieces of the methods below.
	primaryHint, onConflict, newValueOpen, newValueClose string
	indexHintOpen, indexHintClose                        string
	slotNameOpen, slotNameClose                          string
	conflictTarget                                       bool
	doNothingSQL                                         func(table string) string
}

func mysqlDialect() dialect {
	return dialect{
		name:                MySQL,
		pools:               [2]string{"work", "beats"},
		forUpdate:           " FOR UPDATE",
		forUpdateSkipLocked: " FOR UPDATE SKIP LOCKED",
		forShare:            " LOCK IN SHARE MODE", // MariaDB has no FOR SHARE
		clock:               "SELECT CAST(UNIX_TIMESTAMP(NOW(3))*1000 AS SIGNED)",
		version:             "SELECT VERSION()",
		hasTable:            "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema=DATABASE() AND table_name=?",
		badCharsets: "SELECT table_name AS table_name, column_name AS column_name, collation_name AS collation_name" +
			" FROM information_schema.columns WHERE table_schema=DATABASE() AND character_set_name IS NOT NULL" +
			" AND (character_set_name NOT IN ('utf8mb4','ascii')" +
			" OR column_name IN ('code','biz_id','login','state') AND collation_name NOT IN ('utf8mb4_bin','ascii_bin'))" +
			" ORDER BY table_name, ordinal_position",
		primaryHint:   " FORCE INDEX (PRIMARY)",
		indexHintOpen: " FORCE INDEX (", indexHintClose: ")",
		onConflict:    "ON DUPLICATE KEY UPDATE ",
		newValueOpen:  "VALUES(",
		newValueClose: ")",
		writers:       2,
		snapshot:      sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		// Not FROM_UNIXTIME: on MariaDB it ends in January 2038.
		slotNameOpen:  "CONCAT('@', DATE_FORMAT(DATE_ADD('1970-01-01 00:00:00', INTERVAL ",
		slotNameClose: " DIV 1000 SECOND), '%Y-%m-%dT%H:%i:%sZ'))",
		// Not INSERT IGNORE: that also hides bad values.
		doNothingSQL: func(table string) string { return "ON DUPLICATE KEY UPDATE id=" + table + ".id" },
	}
}

func sqliteDialect() dialect {
	return dialect{
		name:           SQLite,
		pools:          [2]string{"write", "read"},
		writers:        1,
		version:        "SELECT sqlite_version()",
		hasTable:       "SELECT COUNT(*) FROM sqlite_master WHERE type='table' AND name=?",
		onConflict:     "ON CONFLICT",
		conflictTarget: true,
		newValueOpen:   "excluded.",
		indexHintOpen:  " INDEXED BY ",
		slotNameOpen:   "'@' || strftime('%Y-%m-%dT%H:%M:%SZ', ",
		slotNameClose:  " / 1000, 'unixepoch')",
		doNothingSQL:   func(string) string { return "ON CONFLICT DO NOTHING" },
	}
}

// forcePrimary names a table in an UPDATE so that it is locked by its primary
// key: for WHERE id=? AND state=? MariaDB may choose the index on state, lock
// that first and deadlock with a writer that comes from the row.
func (d dialect) forcePrimary(table string) string { return table + d.primaryHint }

// byIndex names a table in a SELECT so that it is read by one index. Where many
// keys begin with the state, the optimizer of MySQL looks into each of them for
// every value of an IN list, which costs more than the read; and SQLite holds a
// list of states for rarer than a range of times.
func (d dialect) byIndex(table, index string) string {
	return table + d.indexHintOpen + index + d.indexHintClose
}

// byAlias is byIndex of a table with a name of its own in the SELECT.
func (d dialect) byAlias(table, alias, index string) string {
	return table + " AS " + alias + d.indexHintOpen + index + d.indexHintClose
}

// doNothing ends an INSERT into a table with an id: rows whose unique key is
// taken are left out. RowsAffected counts the rows that were inserted.
func (d dialect) doNothing(table string) string { return d.doNothingSQL(table) }

// upsert ends an INSERT: on a conflict over the unique key made of the columns
// in conflict ("task_id, biz_id") the sets are applied to the old row. A set is
// a column name, which takes the new value, or an assignment
// ("opens=opens+1") whose right side names old values bare and new values by
// newValue. MySQL assigns from left to right and sees earlier assignments,
// SQLite does not: an expression must not use a column assigned before it.
// RowsAffected is not portable (MySQL: 1 new, 2 changed, 0 the same).
func (d dialect) upsert(conflict string, sets ...string) string {
	assignments := make([]string, len(sets))
	for i, s := range sets {
		if !strings.Contains(s, "=") {
			s += "=" + d.newValue(s)
		}
		assignments[i] = s
	}
	head := d.onConflict
	if d.conflictTarget {
		head += " (" + conflict + ") DO UPDATE SET "
	}
	return head + strings.Join(assignments, ", ")
}

// newValue is, within upsert, the value that the INSERT brought for a column.
func (d dialect) newValue(column string) string { return d.newValueOpen + column + d.newValueClose }

// slotName is the biz_id of the slot that an expression of epoch milliseconds
// stands for: sched.SlotBizID in SQL.
func (d dialect) slotName(ms string) string { return d.slotNameOpen + ms + d.slotNameClose }

// Server error numbers of MySQL and MariaDB.
const (
	errDeadlock       = 1213
	errLockWait       = 1205
	errChangedRow     = 1020 // MariaDB: record has changed since last read
	errDuplicate      = 1062
	errShutdown       = 1053
	errCommit         = 1180
	errInterrupted    = 1317
	errKilled         = 1927 // MariaDB: connection was killed
	errIdleClosed     = 4031 // MySQL: disconnected because of inactivity
	errSessionExpired = 3168

	errWriteFile      = 3 // of the file layer: no space left
	errDiskFull       = 1021
	errWriteError     = 1026
	errEngine         = 1030 // "Got error 28 … from storage engine": no space left
	errConnections    = 1040 // too many
	errTableFull      = 1114 // the disk is
	errNoThread       = 1135
	errConnectionsOf  = 1203 // too many of this user
	errResource       = 1226 // the user has used up his share
	errOption         = 1290 // the server runs with read_only
	errReadOnlyServer = 1836
)

// isDuplicate tells that a unique key is taken.
func isDuplicate(err error) bool {
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		return true
	}
	if e, ok := errors.AsType[*gosql.MySQLError](err); ok {
		return e.Number == errDuplicate
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || e.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
	}
	return false
}

// isRetryable tells that the server rolled back or could not lock, and that
// the whole transaction may be run again.
func isRetryable(err error) bool {
	if e, ok := errors.AsType[*gosql.MySQLError](err); ok {
		return e.Number == errDeadlock || e.Number == errLockWait || e.Number == errChangedRow
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		primary := e.Code() & 0xff
		return primary == sqlite3.SQLITE_BUSY || primary == sqlite3.SQLITE_LOCKED
	}
	return false
}

// isLost tells that the connection broke or can't be made: what was sent last
// may or may not have been done.
func isLost(err error) bool {
	if e, ok := errors.AsType[*gosql.MySQLError](err); ok {
		switch e.Number {
		case errShutdown, errCommit, errInterrupted, errKilled, errIdleClosed, errSessionExpired:
			return true
		}
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return false
	}
	_, network := errors.AsType[net.Error](err)
	return network || errors.Is(err, driver.ErrBadConn) || errors.Is(err, gosql.ErrInvalidConn)
}

// isRefusal tells that the server is there and refuses for a reason of its own
// that passes: read-only, no space, no connection left.
func isRefusal(err error) bool {
	if e, ok := errors.AsType[*gosql.MySQLError](err); ok {
		switch e.Number {
		case errWriteFile, errDiskFull, errWriteError, errConnections, errTableFull, errNoThread, errConnectionsOf, errResource, errOption, errReadOnlyServer:
			return true
		}
		return e.Number == errEngine && strings.Contains(e.Message, "error 28 ")
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		switch e.Code() & 0xff {
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR:
			return true
		}
	}
	return false
}
