package app_test

import (
	"database/sql"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// statements are what a request asked the ledger.
type statements struct {
	mu    sync.Mutex
	asked []string
}

func (s *statements) watch(statement string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, statement)
}

// take gives what was asked since it was asked last.
func (s *statements) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.asked
	s.asked = nil
	return out
}

// bounded is a condition that names teams, or the one object of a team: of an
// object, who may see it is decided when it has been read.
var bounded = regexp.MustCompile(`(?i)\b(team_id|id|code|task_id|instance_id|incident_id|channel_id|rule_id|user_id|hash) ?(= ?(\?|0)|in ?\(\?)|1 ?= ?0`)

// numbers are statements that give nobody the rows that they look at.
var numbers = map[string]bool{
	// The teams themselves, whose list every page narrows to its reader's.
	"SELECT id, code, name, created_at, EXISTS (SELECT 1 FROM command_teams c WHERE c.team_id=teams.id) AS commands FROM teams ORDER BY code": true,
	"SELECT task_id, team_id FROM task_moves": true, // which tasks go by another team than their rows say
	// How fast queues move, which are of all teams.
	"SELECT t.queue, s.state, SUM(s.n) AS n FROM stats_minute s JOIN tasks t ON t.id=s.task_id WHERE s.minute_at>=? GROUP BY t.queue, s.state":                                                        true,
	"SELECT t.queue, s.state, SUM(s.n) AS n FROM stats_minute s JOIN tasks t ON t.id=s.task_id WHERE s.minute_at>=? AND s.minute_at<? GROUP BY t.queue, s.state":                                      true,
	"SELECT id, team_id, code, name, group_name, owner, tags, queue, SUBSTR(spec, INSTR(spec, ?), 24) AS level, archived_at IS NOT NULL AS archived FROM tasks WHERE archived_at IS NULL ORDER BY id": true, // what rules measure: a task is named to who sees its team
	"SELECT COUNT(*) FROM calendars":                                        true, // an installation has a bound of them
	"SELECT id FROM audit_log WHERE at<? ORDER BY at DESC, id DESC LIMIT 1": true, // where the time asked for begins
	"SELECT COUNT(*) FROM (SELECT id FROM audit_log WHERE id>? LIMIT ?) w":  true, // whether counting by team is worth it
}

// teamTables matches a read of a table whose rows belong to teams: one that
// has the column, and what hangs on such rows.
func teamTables(t *testing.T, conn *sql.DB) *regexp.Regexp {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), `SELECT DISTINCT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
		WHERE m.type='table' AND c.name IN ('team_id', 'task_id', 'instance_id', 'calendar') ORDER BY 1`)
	require.NoError(t, err)
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	require.Contains(t, names, "tasks")
	require.Contains(t, names, "dead_letters")
	return regexp.MustCompile(`(?i)\b(from|join) [` + "`" + `"]?(` + strings.Join(names, "|") + `)\b`)
}

// teamless are the statements that read rows of all teams.
func teamless(tables *regexp.Regexp, asked []string) (out []string) {
	for _, s := range asked {
		if tables.MatchString(s) && !bounded.MatchString(s) && !numbers[s] {
			out = append(out, s)
		}
	}
	return out
}
