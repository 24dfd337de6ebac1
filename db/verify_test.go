package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// world is a ledger in which everything that Verify looks at occurs.
type world struct {
	slots, plain, careful                 sched.Task
	node                                  sched.NodeInfo
	running, awaiting, retrying, finished string
	slot, lost, replayed                  string
	letter, replaying                     int64
}

func newWorld(t *testing.T, d *db.DB) world {
	t.Helper()
	team := dbtest.MakeTeam(t, d)
	w := world{
		slots: dbtest.MakeTask(t, d, dbtest.Every(time.Minute), dbtest.Of(team)),
		plain: dbtest.MakeTask(t, d, dbtest.Of(team)), careful: dbtest.MakeTask(t, d, dbtest.Unsafe(3), dbtest.Of(team)),
		node: dbtest.MakeNode(t, d),
	}
	c := running(t, d, w.plain, w.node)
	handBack(t, d, c, t0)
	w.running = take(t, d, c.Instance.ID, w.node, t0).Instance.ID
	c = running(t, d, w.plain, w.node)
	settle(t, d, c, accepted(), later(1))
	w.awaiting = c.Instance.ID
	c = running(t, d, w.plain, w.node)
	settle(t, d, c, failure(), later(1))
	w.retrying = c.Instance.ID
	c = running(t, d, w.plain, w.node)
	settle(t, d, c, failure(), later(1))
	settle(t, d, take(t, d, c.Instance.ID, w.node, later(20)), success(), later(21))
	w.finished = c.Instance.ID

	plan(t, d, later(10*60)) // eleven slots: ten recorded, the latest run
	w.slot = rowOf(t, d, "SELECT id FROM instances WHERE slot_at IS NOT NULL")
	w.sendTwice(t, d)
	w.lose(t, d)

	l, _ := dbtest.MakeLetter(t, d, w.plain)
	w.replaying, w.replayed = l.ID, replay(t, d, l.ID, later(60)).ID
	for range 3 {
		require.NoError(t, d.RecordAudit(t.Context(), entry("task.create", 1, t0)))
	}
	for {
		n, err := d.SealAudit(t.Context(), t0, 100)
		require.NoError(t, err)
		if n == 0 {
			return w
		}
	}
}

// sendTwice repeats non-idempotent work after a definite end, as an owner
// allowed.
func (w *world) sendTwice(t *testing.T, d *db.DB) {
	t.Helper()
	c := running(t, d, w.careful, w.node)
	mark(t, d, c, later(1))
	settle(t, d, c, failure(), later(2))
	c = take(t, d, c.Instance.ID, w.node, later(20))
	mark(t, d, c, later(21))
	settle(t, d, c, success(), later(22))
}

// lose loses non-idempotent work after it was sent.
func (w *world) lose(t *testing.T, d *db.DB) {
	t.Helper()
	c := running(t, d, w.careful, w.node)
	mark(t, d, c, later(1))
	lose(t, d, held(c), later(30))
	w.lost, w.letter = c.Instance.ID, letter(t, d, c.Instance.ID).ID
}

func mark(t *testing.T, d *db.DB, c sched.Claimed, now time.Time) {
	t.Helper()
	ours, err := d.MarkSent(t.Context(), dbtest.Settlement(c, sched.Result{}, now))
	require.NoError(t, err)
	require.True(t, ours)
}

func rowOf(t *testing.T, d *db.DB, q string, args ...any) (v string) {
	t.Helper()
	require.NoError(t, d.View(t.Context()).Raw(q, args...).Scan(&v).Error)
	require.NotEmpty(t, v, q)
	return v
}

// Each fault, planted by another hand, turns exactly its check red.
func TestEachPlantedFaultTurnsItsCheckRed(t *testing.T) {
	t.Parallel()
	type plant struct {
		sql  string
		args func(w world) []any
	}
	id := func(f func(w world) any) func(w world) []any { return func(w world) []any { return []any{f(w)} } }
	onRunning := id(func(w world) any { return w.running })
	onAwaiting := id(func(w world) any { return w.awaiting })
	onFinished := id(func(w world) any { return w.finished })
	onSlot := id(func(w world) any { return w.slot })
	onLost := id(func(w world) any { return w.lost })
	onLetter := id(func(w world) any { return w.letter })
	onReplayed := id(func(w world) any { return w.replayed })
	slots := id(func(w world) any { return w.slots.ID })
	plain := id(func(w world) any { return w.plain.ID })
	none := func(world) []any { return nil }
	plants := map[string]struct {
		want string
		plant
	}{
		"an unknown state":                      {"state", plant{"UPDATE instances SET state='paused' WHERE id=?", id(func(w world) any { return w.replayed })}},
		"an end without its time":               {"finished-at", plant{"UPDATE instances SET finished_at=NULL WHERE id=?", onFinished}},
		"an open row with an end":               {"finished-at", plant{"UPDATE instances SET finished_at=1 WHERE id=?", onAwaiting}},
		"a retry that nobody looks at":          {"look-at", plant{"UPDATE instances SET look_at=NULL WHERE id=?", id(func(w world) any { return w.retrying })}},
		"a queued row that nobody looks at":     {"look-at", plant{"UPDATE instances SET state='queued' WHERE id=?", onSlot}},
		"a receipt awaited for ever":            {"receipt-deadline", plant{"UPDATE instances SET receipt_deadline=NULL WHERE id=?", onAwaiting}},
		"a run without a deadline":              {"claim", plant{"UPDATE instances SET deadline_at=NULL WHERE id=?", onRunning}},
		"more retries than attempts":            {"retries", plant{"UPDATE instances SET retries=3 WHERE id=?", onFinished}},
		"a start before its time":               {"early", plant{"UPDATE instances SET started_at=wanted_at-1 WHERE id=?", onFinished}},
		"a slot under another name":             {"slot-name", plant{"UPDATE instances SET slot_at=slot_at+1000 WHERE id=?", onSlot}},
		"a slot without its instant":            {"slot-name", plant{"UPDATE instances SET slot_at=NULL WHERE id=?", onSlot}},
		"a request that took a slot's name":     {"slot-name", plant{"UPDATE instances SET biz_id='@2026-12-01T00:00:00Z' WHERE id=?", onFinished}},
		"an instance of another team":           {"team", plant{"UPDATE instances SET team_id=team_id+1 WHERE id=?", onFinished}},
		"an instance without a task":            {"task", plant{"UPDATE instances SET task_id=999 WHERE id=?", onFinished}},
		"a missing attempt":                     {"attempt-numbers", plant{"DELETE FROM attempts WHERE instance_id=? AND no=1", onFinished}},
		"an attempt too many":                   {"attempt-numbers", plant{"UPDATE instances SET attempt=3 WHERE id=?", onFinished}},
		"an ended instance with an open try":    {"attempt-left-open", plant{"UPDATE attempts SET ended_at=NULL, outcome=NULL WHERE instance_id=? AND no=2", onFinished}},
		"an attempt of another claim":           {"attempt-owner", plant{"UPDATE attempts SET claim_id='x' WHERE instance_id=?", onRunning}},
		"an attempt of another node":            {"attempt-owner", plant{"UPDATE attempts SET node_id=NULL WHERE instance_id=?", onRunning}},
		"a run whose attempt has ended":         {"attempt-owner", plant{"UPDATE attempts SET ended_at=1, outcome='failed' WHERE instance_id=?", onRunning}},
		"an awaiting one whose attempt ended":   {"attempt-owner", plant{"UPDATE attempts SET ended_at=1, outcome='failed' WHERE instance_id=?", onAwaiting}},
		"an end without an outcome":             {"attempt-outcome", plant{"UPDATE attempts SET outcome=NULL WHERE instance_id=? AND no=2", onFinished}},
		"an attempt of an unknown version":      {"attempt-version", plant{"UPDATE attempts SET task_version=9 WHERE instance_id=? AND no=2", onFinished}},
		"a success without a 2xx answer":        {"no-proof", plant{"UPDATE attempts SET status_code=302 WHERE instance_id=? AND no=2", onFinished}},
		"a bad end without a letter":            {"letter-missing", plant{"DELETE FROM dead_letters WHERE instance_id=?", onLost}},
		"a letter of an instance that is gone":  {"letter-instance", plant{"UPDATE dead_letters SET instance_id='x' WHERE id=?", onLetter}},
		"a letter of an instance that goes on":  {"letter-instance", plant{"UPDATE dead_letters SET instance_id=(SELECT id FROM instances WHERE state='running') WHERE id=?", onLetter}},
		"a letter of another business action":   {"letter-instance", plant{"UPDATE dead_letters SET instance_id=(SELECT i.id FROM instances i WHERE i.state='failed') WHERE id=?", onLetter}},
		"a letter whose replay is gone":         {"letter-replaying", plant{"UPDATE dead_letters SET replaying='x' WHERE id=?", onLetter}},
		"a letter whose replay is another's":    {"letter-replaying", plant{"UPDATE dead_letters SET replaying=(SELECT id FROM instances WHERE state='running') WHERE id=?", onLetter}},
		"a replay that no letter names":         {"replay-unknown", plant{"UPDATE dead_letters SET replaying=NULL WHERE replaying=?", onReplayed}},
		"a solved letter without its time":      {"letter-closed", plant{"UPDATE dead_letters SET status='solved' WHERE id=?", onLetter}},
		"a task without a gate":                 {"task-gate", plant{"DELETE FROM task_gates WHERE task_id=?", slots}},
		"a task without its version":            {"task-version", plant{"UPDATE tasks SET version=2 WHERE id=?", plain}},
		"a task that plans nothing more":        {"task-next", plant{"UPDATE tasks SET next_fire_at=NULL WHERE id=?", slots}},
		"an empty missed range":                 {"missed-count", plant{"UPDATE missed_ranges SET slots=0", none}},
		"a missed range that counts one":        {"missed-count", plant{"UPDATE missed_ranges SET slots=1", none}},
		"a missed slot that ran":                {"missed-ran", plant{"UPDATE missed_ranges SET to_slot=to_slot+60000", none}},
		"slots missed twice":                    {"missed-twice", plant{"INSERT INTO missed_ranges (task_id, team_id, from_slot, to_slot, slots, reason, created_at) SELECT task_id, team_id, to_slot, to_slot, 1, 'paused', 1 FROM missed_ranges", none}},
		"two attempts open":                     {"attempts-open", plant{"UPDATE attempts SET ended_at=NULL, outcome=NULL WHERE instance_id=? AND no=1", onRunning}},
		"work that goes on told to stop":        {"cancel-call", plant{"INSERT INTO cancel_calls (instance_id, attempt, task_id, task_version, noted_at, asked_at, due_at) SELECT id, 1, task_id, 1, 1, 1, 1 FROM instances WHERE id=?", onRunning}},
		"a word to stop that nobody sends":      {"cancel-call", plant{"INSERT INTO cancel_calls (instance_id, attempt, task_id, task_version, noted_at, asked_at, due_at) SELECT id, 1, task_id, 1, 1, 1, NULL FROM instances WHERE id=?", onLost}},
		"an attempt without an instance":        {"attempt-stray", plant{"DELETE FROM instances WHERE id=?", onFinished}},
		"a spec that nobody can read":           {"task-spec", plant{"UPDATE tasks SET next_fire_at=NULL, spec='{' WHERE id=?", slots}},
		"an audit row that was changed":         {"audit", plant{"UPDATE audit_log SET actor_name='nobody' WHERE id=2", none}},
		"non-idempotent work sent twice":        {"sent-again", plant{"UPDATE task_versions SET spec=REPLACE(spec, '\"unsafe\":true', '\"unsafe\":false') WHERE task_id=?", id(func(w world) any { return w.careful.ID })}},
		"non-idempotent work sent into silence": {"sent-again", plant{"UPDATE attempts SET outcome='timed_out' WHERE task_id=? AND no=1 AND outcome='failed'", id(func(w world) any { return w.careful.ID })}},
	}
	planted := map[string]bool{"biz-twice": true} // below
	for name, c := range plants {
		planted[c.want] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				w := newWorld(t, d)
				clean(t, d)
				exec(t, d, c.sql, c.args(w)...)
				requireOnly(t, d, c.want)
			})
		})
	}
	for _, name := range db.CheckNames() {
		require.True(t, planted[name], "nobody has seen the check %s red", name)
	}
}

func TestABusinessActionThatIsThereTwiceIsFound(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		w := newWorld(t, d)
		drop := map[string]string{db.MySQL: "ALTER TABLE instances DROP INDEX instances_biz", db.SQLite: "DROP INDEX instances_biz"}
		exec(t, d, drop[d.Dialect()])
		exec(t, d, "UPDATE instances SET biz_id='same' WHERE id IN (?,?)", w.finished, w.retrying)
		requireOnly(t, d, "biz-twice")
	})
}

// requireOnly requires at least one problem, and none of another check.
func requireOnly(t *testing.T, d *db.DB, want string) {
	t.Helper()
	problems, err := d.VerifyAt(t.Context(), later(3600))
	require.NoError(t, err)
	require.NotEmpty(t, problems)
	for _, p := range problems {
		require.Equal(t, want, p.Check, "%s", p)
		require.NotEmpty(t, p.Object)
		require.NotEmpty(t, p.Detail)
	}
}

// The ledger's own clock is used outside of tests.
func TestAnEmptyLedgerVerifies(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		problems, err := d.Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, problems)
		require.NoError(t, d.Close())
		_, err = d.Verify(t.Context())
		require.Error(t, err)
	})
}

// A live ledger moves on between the checks; what they read must not.
func TestVerifyReadsOneUnchangingView(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		exec(t, d, "INSERT INTO settings (name, value) VALUES ('a','old')")
		require.NoError(t, d.Snapshot(t.Context(), func(tx *gorm.DB) error {
			for range 2 {
				var values []string
				require.NoError(t, tx.Raw("SELECT value FROM settings").Scan(&values).Error)
				require.Equal(t, []string{"old"}, values)
				exec(t, d, "UPDATE settings SET value='new'") // it waits for nobody
			}
			return nil
		}))
		require.Equal(t, "new", rowOf(t, d, "SELECT value FROM settings"))
		require.NoError(t, d.Tx(t.Context(), "look", func(tx *gorm.DB) error { return nil }), "the connection is as it was")
	})
}
