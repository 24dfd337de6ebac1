//go:build failpoint

package db_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fail"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// These tests arm places of the whole process: they run one after another.

// eachAlone is each, but nothing runs beside it.
func eachAlone(t *testing.T, f func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { f(t, dbtest.SQLite(t)) })
	t.Run("mariadb", func(t *testing.T) { f(t, dbtest.MariaDB(t)) })
}

func arm(t *testing.T, spec string) (disarm func()) {
	t.Helper()
	disarm, err := fail.Set(spec)
	require.NoError(t, err)
	t.Cleanup(disarm)
	return disarm
}

// everyRow reads the whole ledger.
func everyRow(t *testing.T, d *db.DB) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, table := range d.Tables() {
		var rows []map[string]any
		require.NoError(t, d.View(t.Context()).Raw("SELECT * FROM "+table).Scan(&rows).Error)
		for _, r := range rows {
			out[table] = append(out[table], fmt.Sprint(r))
		}
		slices.Sort(out[table])
	}
	return out
}

// Nothing of a change that fails in its middle stands, and it can be made
// again. A process that dies there leaves the same to the database's rollback.
func TestAChangeThatFailsInItsMiddleLeavesNothingAndCanBeMadeAgain(t *testing.T) {
	for name, prepare := range halves() {
		t.Run(name, func(t *testing.T) {
			place, _, _ := strings.Cut(name, ",")
			eachAlone(t, func(t *testing.T, d *db.DB) {
				change := prepare(t, d)
				before := everyRow(t, d)
				disarm := arm(t, place+"=error")
				require.ErrorContains(t, change(), "failpoint "+place)
				require.Equal(t, before, everyRow(t, d))
				disarm()
				require.NoError(t, change())
				require.NotEqual(t, before, everyRow(t, d), "the change does nothing: this proves nothing")
				clean(t, d)
			})
		})
	}
}

// The comment of a name says whether it stands in a transaction.
func TestEachPlaceInATransactionIsTried(t *testing.T) {
	list, err := os.ReadFile("../app/fail/names.go")
	require.NoError(t, err)
	tried := map[string]bool{}
	for name := range halves() {
		place, _, _ := strings.Cut(name, ",")
		tried[place] = true
	}
	inside := regexp.MustCompile(`"([a-z._]+)",.* in a transaction`).FindAllStringSubmatch(string(list), -1)
	require.Greater(t, len(inside), 15)
	for _, m := range inside {
		require.True(t, tried[m[1]], m[1])
	}
}

// A request that shares its transaction with others fails alone.
func TestOneClaimOfABatchThatFailsInItsMiddleFailsNoOther(t *testing.T) {
	eachAlone(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		var rs []sched.ClaimRequest
		for range 3 {
			rs = append(rs, sched.ClaimRequest{InstanceID: dbtest.MakeInstance(t, d, task).ID, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0})
		}
		arm(t, "claim.taken:1=error,claim.taken:3=error") // the batch, then the second alone
		got, errs := d.ClaimAtOnce(t, rs)
		for i := range rs {
			if i == 1 {
				require.ErrorContains(t, errs[i], "failpoint claim.taken")
				require.Equal(t, sched.Pending, read(t, d, rs[i].InstanceID).State)
				continue
			}
			require.NoError(t, errs[i])
			require.Equal(t, sched.ClaimTake, got[i].Verdict.Kind)
		}
		clean(t, d)
	})
}

func TestAMigrationThatStopsBetweenTwoStepsGoesOn(t *testing.T) {
	ledgers := map[string]func(t *testing.T) *db.DB{
		"sqlite":  func(t *testing.T) *db.DB { return dbtest.Open(t, db.SQLite, t.TempDir()+"/ax.db") },
		"mariadb": func(t *testing.T) *db.DB { return dbtest.Open(t, db.MySQL, dbtest.MariaDSN(t)) },
	}
	for name, open := range ledgers {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			disarm := arm(t, "migrate.step:2=error")
			require.ErrorContains(t, d.Migrate(t.Context()), "failpoint migrate.step")
			states, err := d.MigrationStatus(t.Context())
			require.NoError(t, err)
			for i, s := range states {
				require.Equal(t, i < 2, s.Applied, s.Name)
			}
			require.ErrorIs(t, d.Check(t.Context()), db.ErrPendingMigrations)
			disarm()
			require.NoError(t, d.Migrate(t.Context()))
			requireApplied(t, d, true)
		})
	}
}

// What was committed before a place stands; who asks again is told of it.
func TestAWokenRowWhoseMessageIsLostIsLeftToTheSweep(t *testing.T) {
	eachAlone(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, dbtest.Limit(1)), dbtest.MakeNode(t, d)
		first := running(t, d, task, node)
		waits := dbtest.MakeInstance(t, d, task)
		require.Equal(t, sched.ClaimDefer, claim(t, d, waits.ID, node, t0).Verdict.Kind)
		settle(t, d, first, success(), later(1))
		arm(t, "wake.committed=error")
		_, woken, err := d.Wake(t.Context(), task.ID, later(1))
		require.ErrorContains(t, err, "failpoint wake.committed")
		require.False(t, woken)
		in := read(t, d, waits.ID)
		require.Equal(t, later(1), in.DueAt)
		require.Equal(t, later(1).Add(sched.LookAgain), in.LookAt)
		_, woken, err = d.Wake(t.Context(), task.ID, later(1))
		require.NoError(t, err)
		require.False(t, woken, "it is due already")
		clean(t, d)
	})
}

func TestACleanUpThatStopsBetweenTwoBatchesGoesOn(t *testing.T) {
	eachAlone(t, func(t *testing.T, d *db.DB) {
		for i := range 3 {
			exec(t, d, "INSERT INTO plan_log (node_id, at, from_at, to_at, tasks, instances, skipped) VALUES ('n',?,0,0,0,0,0)", db.At(later(float64(i))))
		}
		now := later(2).Add(8 * 24 * time.Hour)
		disarm := arm(t, "prune.plan_log=error")
		require.ErrorContains(t, d.PrunePlanLog(t.Context(), now), "failpoint prune.plan_log")
		require.Zero(t, count(t, d, "plan_log"), "one batch held them all")
		disarm()
		require.NoError(t, d.PrunePlanLog(t.Context(), now))

		exec(t, d, "INSERT INTO stats_hour (task_id, hour_at, state, team_id, n) VALUES (1,?,'failed',1,1)", db.At(t0))
		disarm = arm(t, "prune.stats=error")
		require.ErrorContains(t, d.PruneStats(t.Context(), now.AddDate(2, 0, 0)), "failpoint prune.stats")
		require.Zero(t, count(t, d, "stats_hour"))
		disarm()
		require.NoError(t, d.PruneStats(t.Context(), now.AddDate(2, 0, 0)))
	})
}
