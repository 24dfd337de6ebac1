package db_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"gorm.io/gorm"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// MISF-07: what is caught up after a long sleep runs one by one, within the
// limit and the cap, oldest first.
func TestMISF07CaughtUpRunsWaitForEachOther(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cap, limit, want int
		policy           sched.Misfire
	}{
		"fire_once":                 {0, 1, 1, sched.FireOnce},
		"fire_all":                  {0, 1, 8, sched.FireAll},
		"fire_all, capped at three": {3, 1, 3, sched.FireAll},
		"fire_all, two at a time":   {0, 2, 8, sched.FireAll},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				task := dbtest.MakeTask(t, d, dbtest.Cron("0 * * * *"), dbtest.Limit(c.limit), with(func(s *sched.Spec) {
					s.Schedule.Misfire, s.Schedule.MisfireCap, s.Policy.Overlap = c.policy, c.cap, sched.OverlapQueue
				}))
				node, now := dbtest.MakeNode(t, d), later(7*3600+1800) // 12:00 to 19:00 fell due in the sleep
				r := plan(t, d, now)
				require.Equal(t, c.want, r.Instances)
				require.Equal(t, 8-c.want, r.Missed)
				accounted(t, d, task, t0, later(7*3600), time.Hour)

				open := instancesOf(t, d, task)
				var ran []string
				for len(ran) < c.want {
					var taken []sched.Claimed
					for _, id := range open {
						in := read(t, d, id)
						if in.State.Final() || in.DueAt.After(now) {
							continue
						}
						if got := claim(t, d, id, node, now); got.Verdict.Kind == sched.ClaimTake {
							taken = append(taken, got)
						} else {
							require.Equal(t, sched.ClaimDefer, got.Verdict.Kind, "it waits, and isn't skipped")
						}
					}
					require.LessOrEqual(t, len(taken), c.limit)
					require.Equal(t, len(taken), countWhere(t, d, "instances", "state='running'"))
					now = now.Add(10 * time.Second)
					for _, got := range taken {
						settle(t, d, got, success(), now)
						ran = append(ran, got.Instance.ID)
					}
					require.Less(t, now, later(24*3600), "%d of %d ran", len(ran), c.want)
				}
				require.ElementsMatch(t, open, ran)
				require.Equal(t, open[0], ran[0], "the oldest goes first")
				require.Equal(t, c.want, countWhere(t, d, "instances", "state='succeeded'"))
			})
		})
	}
}

func countWhere(t *testing.T, d *db.DB, table, where string) (n int) {
	t.Helper()
	require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*) FROM "+table+" WHERE "+where).Scan(&n).Error)
	return n
}

// locked is a way to keep planners from a ledger.
type locked struct{ lock, unlock string }

// MISF-05: the database is held for 50 seconds while 20 tasks fall due. None is
// dropped: each runs late, or is recorded and one run makes up for it.
func TestMISF05ALockedDatabaseMakesTasksLateAndDropsNone(t *testing.T) {
	t.Parallel()
	for name, lock := range map[string]locked{
		"the table": {"LOCK TABLES tasks WRITE", "UNLOCK TABLES"},
		"the rows":  {"SELECT id FROM tasks FOR UPDATE", "DO 0"},
		"instances": {"LOCK TABLES instances WRITE", "UNLOCK TABLES"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.MariaDB(t)
			team := dbtest.MakeTeam(t, d)
			var tasks []sched.Task
			for range 20 {
				tasks = append(tasks, dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Every(time.Hour)))
			}
			often := dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Every(10*time.Second), with(func(s *sched.Spec) { s.Schedule.MisfireGraceSeconds = 5 }))
			underLock(t, d, lock, 50)
			require.Eventually(t, func() bool { // a session that gave up may hold its rows for a moment
				plan(t, d, later(46))
				return countWhere(t, d, "tasks", fmt.Sprint("next_fire_at<=", later(48).UnixMilli())) == 0
			}, 20*time.Second, 50*time.Millisecond)
			for _, task := range tasks {
				require.Equal(t, []time.Time{t0}, slotsOf(t, d, task))
				in := read(t, d, instancesOf(t, d, task)[0])
				require.False(t, in.CreatedAt.Before(later(45)), "planned late, at %s", in.CreatedAt)
				require.Empty(t, missed(t, d, task))
			}
			require.Equal(t, []time.Time{later(40)}, slotsOf(t, d, often), "the latest, and 46 s is not yet near the next")
			require.Equal(t, 4, missed(t, d, often)[0].Slots)
			accounted(t, d, often, t0, later(40), 10*time.Second)
			clean(t, d)
		})
	}
}

// underLock holds the lock for some simulated seconds, which begin 5 s before
// t0, while a planner ticks each of them and gives up on what hangs.
func underLock(t *testing.T, d *db.DB, lock locked, seconds int) {
	t.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	var g errgroup.Group
	g.Go(func() error {
		return d.Tx(t.Context(), "hold", func(tx *gorm.DB) error {
			err := tx.Exec(lock.lock).Error
			close(held)
			<-release
			return errors.Join(err, tx.Exec(lock.unlock).Error)
		})
	})
	<-held
	for second := range seconds {
		ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		now := later(float64(second - 5))
		r, err := d.Plan(ctx, sched.PlanRequest{Now: now, Until: now.Add(sched.PlanHorizon), Limit: 500, Budget: 1000, NodeID: "planner"})
		stop()
		if err == nil {
			require.Zero(t, r.Tasks, "nothing can be planned at %d s", second)
		}
	}
	close(release)
	require.NoError(t, g.Wait())
}
