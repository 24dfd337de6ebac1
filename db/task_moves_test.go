package db_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// moveAs moves a task at now as the use case does.
func moveAs(ctx context.Context, d *db.DB, code string, to access.Team, now time.Time) (sched.Task, error) {
	task, _, err := d.ChangeTask(ctx, sched.TaskChange{
		Code: code, Now: now, By: person, Version: true, Owed: true,
		Apply: func(old sched.Task) (sched.Task, access.Entry, error) {
			old.TeamID = to.ID
			e := ask("task.move")
			e.TeamID = to.ID
			return old, e, nil
		},
	})
	return task, err
}

func move(t *testing.T, d *db.DB, task sched.Task, to access.Team, now time.Time) sched.Task {
	t.Helper()
	task, err := moveAs(t.Context(), d, task.Code, to, now)
	require.NoError(t, err)
	return task
}

// follow brings rows after their tasks until nothing more is to be done now.
func follow(t *testing.T, d *db.DB, now time.Time) (turns int) {
	t.Helper()
	for more := true; more; turns++ {
		var err error
		more, err = d.FollowMoves(t.Context(), now)
		require.NoError(t, err)
		require.Less(t, turns, 1000, "it never ends")
	}
	return turns
}

// rowsOf counts rows that belong to a task by table and team.
func rowsOf(t *testing.T, d *db.DB, task sched.Task) map[string]map[int64]int {
	t.Helper()
	out := map[string]map[int64]int{}
	for _, table := range []string{"instances", "attempts", "dead_letters", "missed_ranges", "stats_minute"} {
		var rows []struct {
			TeamID int64
			N      int
		}
		require.NoError(t, d.View(t.Context()).Raw("SELECT team_id, COUNT(*) AS n FROM "+table+" WHERE task_id=? GROUP BY team_id", task.ID).Scan(&rows).Error)
		out[table] = map[int64]int{}
		for _, r := range rows {
			out[table][r.TeamID] = r.N
		}
	}
	return out
}

// found is what the members of a team find of a task's rows in lists and sums.
func found(t *testing.T, d *db.DB, team access.Team) string {
	t.Helper()
	s := access.Scope{Teams: []int64{team.ID}}
	ins, err := d.Instances(t.Context(), sched.InstanceFilter{Scope: s}, sched.PageRequest{})
	require.NoError(t, err)
	letters, err := d.Letters(t.Context(), sched.LetterFilter{Scope: s}, sched.PageRequest{})
	require.NoError(t, err)
	counts, err := d.StateCounts(t.Context(), s, 0, t0)
	require.NoError(t, err)
	page, err := d.Dashboard(t.Context(), s, later(60))
	require.NoError(t, err)
	tasks, err := d.Tasks(t.Context(), sched.TaskFilter{Scope: s}, sched.PageRequest{})
	require.NoError(t, err)
	return fmt.Sprintf("%d tasks, %d instances, %d letters, %d failed, %d pending; first page: %d letters, %d bad", len(tasks.Items),
		len(ins.Items), len(letters.Items), counts[sched.Failed], counts[sched.Pending], page.OpenLetters, page.Hour.Bad)
}

// From the moment of the move the new team has the task with all that belongs
// to it, and the old one has nothing of it, whether the rows were rewritten or
// not.
func TestAMovedTaskTakesItsHistoryAlong(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		from, to := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(from), dbtest.Every(time.Minute), func(task *sched.Task) { task.Spec.Schedule.Misfire = sched.SkipAll })
		l, in := dbtest.MakeLetter(t, d, task)
		plan(t, d, later(600)) // slots that were missed
		exec(t, d, "UPDATE tasks SET enabled=0, next_fire_at=NULL WHERE id=?", task.ID)
		exec(t, d, "DELETE FROM instances WHERE state='pending'")
		dbtest.MakeLetter(t, d, dbtest.MakeTask(t, d, dbtest.Of(to))) // one of the other team's own
		dbtest.MakeTask(t, d, dbtest.Of(from))
		for more := true; more; {
			var err error
			more, err = d.RollUp(t.Context(), later(60))
			require.NoError(t, err)
		}

		require.Equal(t, "2 tasks, 1 instances, 1 letters, 1 failed, 0 pending; first page: 1 letters, 1 bad", found(t, d, from))
		moved := move(t, d, task, to, later(601))
		require.Equal(t, task.Version+1, moved.Version)
		const nothing, both = "1 tasks, 0 instances, 0 letters, 0 failed, 0 pending; first page: 0 letters, 0 bad", "2 tasks, 2 instances, 2 letters, 2 failed, 0 pending; first page: 2 letters, 2 bad"
		require.Equal(t, nothing, found(t, d, from))
		require.Equal(t, both, found(t, d, to))
		require.Equal(t, to.ID, reload(t, d, task).TeamID)
		require.Equal(t, to.ID, read(t, d, in.ID).TeamID, "rights are judged by it")
		require.Equal(t, to.ID, letter(t, d, in.ID).TeamID)
		require.Equal(t, map[int64]int{from.ID: 1}, rowsOf(t, d, task)["dead_letters"])
		clean(t, d)

		follow(t, d, later(602))
		for table, teams := range rowsOf(t, d, task) {
			require.Len(t, teams, 1, table)
			require.NotZero(t, teams[to.ID], "%s: %v", table, teams)
		}
		require.Equal(t, nothing, found(t, d, from))
		require.Equal(t, both, found(t, d, to))
		require.Equal(t, l.ID, letter(t, d, in.ID).ID)
		versions, err := d.TaskVersions(t.Context(), task.ID, 10)
		require.NoError(t, err)
		require.Len(t, versions, 2)
	})
}

// What somebody wrote who had read the task before it was moved comes along
// later; then the note goes.
func TestAStrayRowComesAlongLater(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		from, to := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(from))
		dbtest.MakeLetter(t, d, task)
		move(t, d, task, to, later(60))
		follow(t, d, later(61))
		require.Equal(t, 1, count(t, d, "task_moves"))
		dbtest.MakeLetter(t, d, reload(t, d, task), dbtest.Due(later(62)))
		for _, table := range []string{"instances", "attempts", "dead_letters"} {
			exec(t, d, "UPDATE "+table+" SET team_id=? WHERE task_id=?", from.ID, task.ID)
		}
		exec(t, d, "UPDATE instances SET team_id=? WHERE task_id=? AND wanted_at<?", to.ID, task.ID, later(62).UnixMilli())
		exec(t, d, "UPDATE attempts SET team_id=? WHERE started_at<?", to.ID, later(62).UnixMilli())
		require.Equal(t, 1, follow(t, d, later(150)), "it waits")
		require.Equal(t, map[int64]int{from.ID: 1, to.ID: 1}, rowsOf(t, d, task)["instances"])
		follow(t, d, later(60+120))
		require.Zero(t, count(t, d, "task_moves"))
		for _, table := range []string{"instances", "attempts", "dead_letters"} {
			require.Equal(t, map[int64]int{to.ID: 2}, rowsOf(t, d, task)[table], table)
		}
	})
}

// A run that goes on while its task moves ends as it would have, and its letter
// is the new team's: before the rows were brought over, and after.
func TestARunGoesOnWhileItsTaskMoves(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		from, to := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		task, node := dbtest.MakeTask(t, d, dbtest.Of(from), dbtest.Retries(0), dbtest.Limit(2)), dbtest.MakeNode(t, d)
		first, second := running(t, d, task, node), running(t, d, task, node)
		later3 := dbtest.MakeInstance(t, d, task)
		move(t, d, task, to, later(1))
		require.Equal(t, sched.Failed, settle(t, d, first, failure(), later(2)).Ending.To)
		require.Equal(t, to.ID, letter(t, d, first.Instance.ID).TeamID)
		again := replay(t, d, letter(t, d, first.Instance.ID).ID, later(3))
		require.Equal(t, map[int64]int{from.ID: 3, to.ID: 1}, rowsOf(t, d, task)["instances"], "made by the task's team now")
		follow(t, d, later(4))
		require.Equal(t, sched.Failed, settle(t, d, second, failure(), later(5)).Ending.To)
		settle(t, d, take(t, d, later3.ID, node, later(6)), success(), later(7))
		settle(t, d, take(t, d, again.ID, node, later(8)), success(), later(9))
		require.Equal(t, sched.LetterSolved, letter(t, d, first.Instance.ID).Status)
		for table, n := range map[string]int{"instances": 4, "attempts": 4, "dead_letters": 2} {
			require.Equal(t, map[int64]int{to.ID: n}, rowsOf(t, d, task)[table], table)
		}
	})
}

func TestAMoveIsInTheAuditOfBothTeams(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		from, to := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		move(t, d, dbtest.MakeTask(t, d, dbtest.Of(from)), to, later(1))
		for _, team := range []access.Team{from, to} {
			rows, err := d.Audit(t.Context(), access.Scope{Teams: []int64{team.ID}}, access.AuditFilter{}, 0, 1)
			require.NoError(t, err)
			require.Equal(t, []any{"task.move", team.ID, "测试"}, []any{rows[0].Action, rows[0].TeamID, rows[0].Reason})
		}
	})
}

// Many rows go in many transactions, and a task that is moved again begins anew.
func TestALongHistoryComesInBatches(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		from, to, back := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(from))
		for i := range 430 {
			dbtest.MakeInstance(t, d, task, dbtest.Due(later(float64(i))))
		}
		move(t, d, task, to, later(500))
		more, err := d.FollowMoves(t.Context(), later(501))
		require.NoError(t, err)
		require.True(t, more)
		require.Equal(t, map[int64]int{from.ID: 230, to.ID: 200}, rowsOf(t, d, task)["instances"])
		clean(t, d)
		move(t, d, task, back, later(502))
		follow(t, d, later(503))
		require.Equal(t, map[int64]int{back.ID: 430}, rowsOf(t, d, task)["instances"])
		follow(t, d, later(502+120))
		require.Zero(t, count(t, d, "task_moves"))
	})
}

// A request that was let in by the old team's right is not taken.
func TestARequestIsNotTakenForATaskThatWasMoved(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		move(t, d, task, dbtest.MakeTeam(t, d), later(1))
		_, _, err := d.Trigger(t.Context(), request(task, "order-1"), ask("task.trigger"))
		require.Equal(t, fault.KindConflict, fault.KindOf(err), "%v", err)
		require.Zero(t, count(t, d, "instances"))
	})
}

// anywhere may be called by everybody.
type anywhere struct{}

func (anywhere) MayCall(context.Context, int64, netip.Addr) (bool, error) { return true, nil }

// Of an edit and a move that began from one version, one is told to look again.
func TestOfAnEditAndAMoveAtOnceOneIsAConflict(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		from, to := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		tasks := sched.NewTasks(d, noHand{}, anywhere{}, sched.NewClock(func() time.Time { return later(1) }), dbtest.ID, sched.Defaults{Queues: []string{"default"}})
		for range 5 {
			task := dbtest.MakeTask(t, d, dbtest.Of(from))
			w := task.Written("")
			w.Name = "another"
			errs := make([]error, 2)
			var g errgroup.Group
			g.Go(func() error { _, errs[0] = tasks.Update(t.Context(), person, task.Code, w); return nil })
			g.Go(func() error {
				_, errs[1] = tasks.Move(t.Context(), person, task.Code, sched.TeamMove{Team: to.Code, Read: 1})
				return nil
			})
			require.NoError(t, g.Wait())
			lost := 0
			for _, err := range errs {
				if err != nil {
					require.Equal(t, fault.KindConflict, fault.KindOf(err), "%v", err)
					lost++
				}
			}
			require.Equal(t, 1, lost)
			require.Equal(t, 2, reload(t, d, task).Version)
		}
	})
}

// Runs begin and end while the task goes from team to team and its rows after
// it: no run is harmed, and in the end every row is the team's.
func TestRunsAndMovesDoNotDisturbEachOther(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		teams := []access.Team{dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)}
		task, node := dbtest.MakeTask(t, d, dbtest.Of(teams[0]), dbtest.Retries(0)), dbtest.MakeNode(t, d)
		const workers, each = 3, 12
		ids := make([][]string, workers)
		for w := range workers {
			for range each {
				ids[w] = append(ids[w], dbtest.MakeInstance(t, d, task).ID)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		var work, moves errgroup.Group
		for w := range workers {
			work.Go(func() error {
				for i, id := range ids[w] {
					c, err := d.Claim(ctx, sched.ClaimRequest{InstanceID: id, NodeID: node.ID, ClaimID: dbtest.ID(), Now: t0})
					if err != nil {
						return err
					}
					r := success()
					if i%2 == 0 {
						r = failure()
					}
					if _, err := d.Settle(ctx, dbtest.Settlement(c, r, later(1))); err != nil {
						return err
					}
				}
				return nil
			})
		}
		at := 0
		moves.Go(func() error {
			for at = 1; ctx.Err() == nil; at++ {
				if _, err := moveAs(t.Context(), d, task.Code, teams[at%2], later(1)); err != nil {
					return err
				}
				for range 3 {
					if _, err := d.FollowMoves(t.Context(), later(1)); err != nil {
						return err
					}
				}
			}
			return nil
		})
		require.NoError(t, work.Wait())
		stop()
		require.NoError(t, moves.Wait())
		follow(t, d, later(1))
		follow(t, d, later(200))
		team := reload(t, d, task).TeamID
		require.Equal(t, teams[(at-1)%2].ID, team)
		for table, n := range map[string]int{"instances": workers * each, "attempts": workers * each, "dead_letters": workers * each / 2} {
			require.Equal(t, map[int64]int{team: n}, rowsOf(t, d, task)[table], table)
		}
	})
}
