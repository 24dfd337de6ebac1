// Command grammar parses SQL with a MySQL 8 grammar, because the tests can
// only run MariaDB, which takes statements that MySQL 8 refuses (RETURNING, a
// column called lag). It is a module of its own, so that its parser stays out
// of the program's dependencies. From this folder:
//
//	AX_SQL_LOG=/tmp/ax.sql go -C ../.. test -count=1 ./db/... ./app/sched/...
//	go run . ../migrations/mysql/*.sql /tmp/ax.sql
//
// A file with NUL bytes is what dbtest recorded; any other is a migration. It
// exits with 1 if a statement is refused, or if there is none.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"vitess.io/vitess/go/vt/sqlparser"
)

const server = "8.0.40"

func main() {
	parser, err := sqlparser.New(sqlparser.Options{MySQLServerVersion: server})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	read, refused := 0, 0
	for _, name := range os.Args[1:] {
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		for _, statement := range statements(parser, text) {
			read++
			if _, err := parser.ParseStrictDDL(statement); err != nil {
				refused++
				fmt.Printf("%s: %v\n\t%s\n", name, err, statement)
			}
		}
	}
	fmt.Printf("%d statements read as MySQL %s, %d refused\n", read, server, refused)
	if refused > 0 || read == 0 {
		os.Exit(1)
	}
}

// statements splits a recording at its NUL bytes and a migration at its
// semicolons.
func statements(parser *sqlparser.Parser, text []byte) []string {
	var pieces []string
	if bytes.ContainsRune(text, 0) {
		pieces = strings.Split(string(text), "\x00")
	} else {
		pieces, _ = parser.SplitStatementToPieces(string(text))
	}
	var out []string
	for _, p := range pieces {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}
