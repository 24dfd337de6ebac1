package db_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/db"
	"ax/db/dbtest"
)

type gormDB = gorm.DB

// columns gives each table's columns in order, with "?" where NULL may stand.
func columns(t *testing.T, d *db.DB) map[string][]string {
	t.Helper()
	sql := "SELECT column_name AS name, is_nullable='YES' AS nullable FROM information_schema.columns" +
		" WHERE table_schema=DATABASE() AND table_name=? ORDER BY ordinal_position"
	if d.Dialect() == db.SQLite {
		sql = `SELECT name, "notnull"=0 AND pk=0 AS nullable FROM pragma_table_info(?) ORDER BY cid`
	}
	all := map[string][]string{}
	for _, table := range d.Tables() {
		var rows []struct {
			Name     string
			Nullable bool
		}
		require.NoError(t, d.View(t.Context()).Raw(sql, table).Scan(&rows).Error)
		require.NotEmpty(t, rows, table)
		for _, r := range rows {
			if r.Nullable {
				r.Name += "?"
			}
			all[table] = append(all[table], r.Name)
		}
	}
	return all
}

// keys gives each table's keys as "unique? (columns)".
func keys(t *testing.T, d *db.DB, table string) []string {
	t.Helper()
	sql := "SELECT index_name AS name, non_unique=0 AS uniq, column_name AS col FROM information_schema.statistics" +
		" WHERE table_schema=DATABASE() AND table_name=@table ORDER BY index_name, seq_in_index"
	if d.Dialect() == db.SQLite {
		// An INTEGER PRIMARY KEY is the row itself there, not a listed index.
		sql = `SELECT l.name AS name, l."unique" AS uniq, i.name AS col, i.seqno AS no
			FROM pragma_index_list(@table) l, pragma_index_info(l.name) i
			UNION ALL SELECT 'row', 1, name, 0 FROM pragma_table_info(@table) WHERE pk=1 AND type='INTEGER'
			AND (SELECT MAX(pk) FROM pragma_table_info(@table))=1 ORDER BY name, no`
	}
	var rows []struct {
		Name, Col string
		Uniq      bool
	}
	require.NoError(t, d.View(t.Context()).Raw(sql, map[string]any{"table": table}).Scan(&rows).Error)
	byName := map[string][]string{}
	uniq := map[string]bool{}
	for _, r := range rows {
		byName[r.Name] = append(byName[r.Name], r.Col)
		uniq[r.Name] = r.Uniq
	}
	var out []string
	for name, cols := range byName {
		k := "(" + strings.Join(cols, ", ") + ")"
		if uniq[name] {
			k = "unique " + k
		}
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func TestBothDialectsHaveTheSameColumns(t *testing.T) {
	require.Equal(t, columns(t, dbtest.SQLite(t)), columns(t, dbtest.MariaDB(t)))
}

func TestBothDialectsHaveTheSameKeys(t *testing.T) {
	sqlite, maria := dbtest.SQLite(t), dbtest.MariaDB(t)
	require.ElementsMatch(t, sqlite.Tables(), maria.Tables())
	for _, table := range maria.Tables() {
		require.Equal(t, keys(t, maria, table), keys(t, sqlite, table), table)
	}
}

// The keys that the engine's statements rely on.
func TestEveryKeyOfTheEngineExists(t *testing.T) {
	engine := map[string][]string{
		"tasks":         {"unique (code)", "(enabled, next_fire_at)", "(team_id, id)"},
		"task_versions": {"unique (task_id, version)"},
		"instances": {"unique (task_id, biz_id, replay)", "(state, due_at)", "(look_at)", "(task_id, state, attempt, wanted_at)",
			"(node_id, state)", "(receipt_deadline)", "(finished_at)", "(task_id, id)", "(team_id, state, id)"},
		"executors":         {"unique (team_id, name, address)", "(beat_at)"},
		"token_executors":   {"unique (token_id, name)"},
		"executor_tasks":    {"unique (task_id)", "(name, task_id)"},
		"task_lanes":        {"unique (task_id)"},
		"host_tasks":        {"unique (task_id)", "(host, task_id)"},
		"host_gates":        {"unique (host)"},
		"hook_probes":       {"unique (instance_id)", "(last_at)"},
		"task_hooks":        {"unique (task_id, channel_id, told_on)", "(channel_id, task_id)"},
		"attempt_shards":    {"unique (instance_id, attempt, shard)", "(started_at)"},
		"attempt_logs":      {"unique (instance_id, attempt, seq)", "(at)"},
		"attempt_notes":     {"unique (instance_id, attempt, source, seq)", "(at)"},
		"attempts":          {"unique (instance_id, no)", "(task_id, ended_at)", "(ended_at)", "(fingerprint, ended_at)"},
		"dead_letters":      {"unique (task_id, biz_id)", "(team_id, status, id)", "(fingerprint, id)", "(opened_at)", "(closed_at)"},
		"missed_ranges":     {"unique (task_id, reason, from_slot)", "(task_id, to_slot)"},
		"calendars":         {"unique (code)", "(team_id, id)"},
		"calendar_days":     {"unique (calendar_id, day)"},
		"calendar_tasks":    {"unique (task_id)", "(code, task_id)"},
		"calendar_replans":  {"unique (task_id)", "(code, task_id)"},
		"invitations":       {"unique (hash)", "(team_id, id)", "(user_id, id)"},
		"second_steps":      {"unique (user_id)"},
		"recovery_codes":    {"unique (user_id, code_hash)"},
		"half_sign_ins":     {"unique (id_hash)", "(expires_at)"},
		"identities":        {"unique (id_hash)", "unique (user_id)"},
		"provided_members":  {"unique (user_id, team_id)"},
		"spent_states":      {"unique (state_hash)", "(expires_at)"},
		"target_allowances": {"unique (team_id, prefix)"},
		"task_moves":        {"unique (task_id)"},
		"secrets":           {"unique (team_id, name)"},
		"brokers":           {"unique (team_id, name)"},
		"queue_samples":     {"unique (queue, at)", "(at)"},
		"sketch_minute":     {"unique (task_id, minute_at, kind)", "(minute_at)", "(team_id, minute_at)"},
		"sketch_hour":       {"unique (task_id, hour_at, kind)", "(hour_at)", "(team_id, hour_at)"},
		"sketch_team":       {"unique (team_id, minute_at, kind)", "(minute_at)"},
		"stats_hour":        {"unique (task_id, hour_at, state)", "(hour_at)", "(team_id, hour_at)"},
		"incidents":         {"unique (open_key)", "(team_id, state, id)", "(state, id)", "(rule_id, id)", "(ended_at)"},
		"incident_members":  {"unique (incident_id, subject_kind, subject_key)", "(subject_kind, subject_key, incident_id)"},
		"channels":          {"unique (team_id, name)"},
		"subscriptions":     {"(team_id, id)", "(channel_id)", "(rule_id)"},
		"deliveries": {"unique (channel_id, dedupe)", "(state, due_at)", "(channel_id, state, id)", "(channel_id, object, id)",
			"(team_id, id)", "(incident_id, id)", "(ended_at)"},
		"silences":     {"(team_id, id)", "(ended_at, ends_at)"},
		"held_tasks":   {"unique (task_id, silence_id)", "(silence_id)"},
		"chat_ids":     {"unique (user_id, kind)"},
		"task_pulse":   {"unique (task_id)", "(in_a_row)", "(tries_in_a_row)", "(expect_at)", "(norm_due)"},
		"alert_rules":  {"unique (team_id, name)"},
		"stats_minute": {"unique (task_id, minute_at, state)", "(minute_at, task_id, state, n)", "(team_id, minute_at)"},
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for table, want := range engine {
			require.Subset(t, keys(t, d, table), want, table)
		}
	})
}

// A foreign key would take a shared lock on the task's row, which the planner
// holds.
func TestThereAreNoForeignKeys(t *testing.T) {
	d := dbtest.MariaDB(t)
	var n int
	require.NoError(t, d.View(t.Context()).Raw(
		"SELECT COUNT(*) FROM information_schema.referential_constraints WHERE constraint_schema=DATABASE()").Scan(&n).Error)
	require.Zero(t, n)
}

const emoji = "晚间对账 🧾 — é"

func TestEveryCharacterIsStoredAsItIs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, "INSERT INTO teams (code, name, created_at) VALUES (?,?,?)", "ops", emoji, 1)
		exec(t, d, "INSERT INTO settings (name, value) VALUES (?,?)", "s", strings.Repeat(emoji, 1000)+"\\'\"\x1a\n%_")
		var name, value string
		require.NoError(t, d.View(t.Context()).Raw("SELECT name FROM teams WHERE name=?", emoji).Scan(&name).Error)
		require.Equal(t, emoji, name)
		require.NoError(t, d.View(t.Context()).Raw("SELECT value FROM settings").Scan(&value).Error)
		require.Equal(t, strings.Repeat(emoji, 1000)+"\\'\"\x1a\n%_", value)
	})
}

func TestTwoEmojiAreNotTheSameName(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, "INSERT INTO teams (code, name, created_at) VALUES ('ops','🍣',1)")
		var n int
		require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*) FROM teams WHERE name='🍺'").Scan(&n).Error)
		require.Zero(t, n)
	})
}

func TestCodesAndBizIdsAreComparedByteByByte(t *testing.T) {
	insert := "INSERT INTO teams (code, name, created_at) VALUES (?,'',1)"
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, insert, "ops")
		exec(t, d, insert, "OPS")
		for code, want := range map[string]int{"ops": 1, "Ops": 0, "öps": 0, "🍣": 0} {
			var n int
			require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*) FROM teams WHERE code=?", code).Scan(&n).Error, code)
			require.Equal(t, want, n, code)
		}
	})
}

// Whatever sql_mode the server has: half a value is never stored.
func TestAnOverlongValueIsRefusedNotCut(t *testing.T) {
	d := dbtest.MariaDB(t)
	err := d.Tx(t.Context(), "insert", func(tx *gormDB) error {
		return tx.Exec("INSERT INTO teams (code, name, created_at) VALUES (?,'',1)", strings.Repeat("x", 65)).Error
	})
	require.ErrorContains(t, err, "Data too long")
}
