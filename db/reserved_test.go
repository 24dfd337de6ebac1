package db_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/db/dbtest"
)

// Reserved in MySQL 8.0 or MariaDB 10.6+, but for those that nobody would
// choose as a name.
const reserved = ` accessible add all alter analyze and as asc asensitive before between bigint binary blob both by call
 cascade case change char character check collate column condition constraint continue convert create cross cube
 cume_dist current_date current_role current_time current_timestamp current_user cursor database databases
 day_hour day_minute day_second dec decimal declare default delayed delete dense_rank desc describe deterministic
 distinct distinctrow div double drop dual each else elseif empty enclosed escaped except exists exit explain false
 fetch first_value float for force foreign from fulltext function generated get grant group grouping groups having
 high_priority if ignore in index infile inner inout insensitive insert int integer intersect interval into
 io_after_gtids is iterate join json_table key keys kill lag last_value lateral lead leading leave left like limit
 linear lines load localtime localtimestamp lock long longblob longtext loop low_priority manual match maxvalue
 mediumblob mediumint mediumtext mod modifies natural not nth_value ntile null numeric of offset on optimize
 optimizer_costs option optionally or order out outer outfile over parallel partition percent_rank precision
 primary procedure purge qualify range rank read reads read_write real recursive references regexp release rename
 repeat replace require resignal restrict return returning revoke right rlike row row_number rows schema schemas
 select sensitive separator set show signal smallint spatial specific sql sqlexception sqlstate sqlwarning ssl
 starting stored straight_join system table tablesample terminated then tinyblob tinyint tinytext to trailing
 trigger true undo union unique unlock unsigned update usage use using utc_date utc_time utc_timestamp values
 varbinary varchar varcharacter varying virtual when where while window with write xor year_month zerofill `

func TestNoNameIsAReservedWord(t *testing.T) {
	for table, names := range columns(t, dbtest.SQLite(t)) {
		for _, n := range append(names, table) {
			require.NotContains(t, strings.Fields(reserved), strings.TrimSuffix(n, "?"), table)
		}
	}
}
