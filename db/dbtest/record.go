package dbtest

import (
	"errors"
	"os"
	"regexp"
	"strings"
)

// recordTo is the file that gets the statements the tests ran on MariaDB, for
// db/grammar; empty means none are recorded.
func recordTo() string { return os.Getenv("AX_SQL_LOG") }

// recordOptions make the server keep what it is asked.
func recordOptions() []string {
	if recordTo() == "" {
		return nil
	}
	return []string{"--general-log=1", "--log-output=TABLE"}
}

// record appends one statement of each shape, ended by a NUL byte.
func (m *mariadb) record() error {
	if recordTo() == "" || m.admin == nil {
		return nil
	}
	if _, err := m.admin.Exec("SET GLOBAL general_log=0"); err != nil {
		return err
	}
	f, err := os.OpenFile(recordTo(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := m.admin.Query("SELECT argument FROM mysql.general_log WHERE command_type='Query'")
	if err != nil {
		return err
	}
	defer rows.Close()
	seen := map[string]bool{}
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return err
		}
		if k := shape(s); !seen[k] && ofTheLedger(s) {
			seen[k] = true
			if _, err := f.WriteString(s + "\x00"); err != nil {
				return err
			}
		}
	}
	return errors.Join(rows.Err(), f.Close())
}

// ofTheLedger leaves out what dbtest and the migrations send.
func ofTheLedger(statement string) bool {
	verb, _, _ := strings.Cut(strings.TrimSpace(statement), " ")
	switch strings.ToUpper(verb) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH":
		return !strings.Contains(statement, keeper)
	}
	return false
}

var literals = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'|\b\d+\b|NULL`)

var manyRows = regexp.MustCompile(`(\([?, ]*\))(?:,\s*\([?, ]*\))+`)

// shape is a statement without its values.
func shape(statement string) string {
	return manyRows.ReplaceAllString(literals.ReplaceAllString(statement, "?"), "$1")
}
