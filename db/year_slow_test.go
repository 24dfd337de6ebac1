//go:build slow

package db_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"ax/app/calendar"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// A simulated year: tasks of every kind in twelve zones, planned by two
// planners in unequal steps, over both clock changes. What the ledger holds of
// each slot must be the oracle's list, no more and no less.

var yearZones = []string{
	"America/New_York", "Europe/London", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Shanghai", "Pacific/Chatham",
	"America/Havana", "Antarctica/Troll", "Europe/Berlin", "Asia/Gaza", "America/Sao_Paulo", "Africa/Casablanca",
}

// yearRun is one simulation.
type yearRun struct {
	seed     uint64
	from, to time.Time
	perZone  int
	grace    func(r *rand.Rand) int // seconds, of each task
	step     func(r *rand.Rand, now time.Time) time.Duration
	abreast  bool // both planners at the same time; SQLite has one writer
}

// quietSteps look often around a change of clocks, and about hourly else.
func quietSteps(r *rand.Rand, now time.Time) time.Duration {
	for _, change := range []string{"2026-03-08T07", "2026-03-29T01", "2026-04-04T15", "2026-04-23T22", "2026-10-03T15", "2026-10-25T01", "2026-11-01T06"} {
		at, err := time.Parse("2006-01-02T15", change)
		if err != nil {
			panic(err)
		}
		if away := now.Sub(at); away > -4*time.Hour && away < 4*time.Hour {
			return time.Duration(1+r.IntN(300)) * time.Second
		}
	}
	return time.Duration(20*60+r.IntN(3*3600)) * time.Second
}

// outages leave the planners away now and then, up to six days.
func outages(r *rand.Rand, _ time.Time) time.Duration {
	switch r.IntN(40) {
	case 0:
		return time.Duration(1+r.IntN(6*86400)) * time.Second
	case 1, 2, 3:
		return time.Duration(1+r.IntN(12*3600)) * time.Second
	}
	return time.Duration(1+r.IntN(5400)) * time.Second
}

func day(s string) time.Time {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t
}

func TestTheLedgerOfAYearEqualsTheOracle(t *testing.T) {
	run := yearRun{
		seed: 11, from: day("2026-01-01"), to: day("2027-01-01"), perZone: 25, step: quietSteps, abreast: true,
		grace: func(r *rand.Rand) int { return 4*3600 + r.IntN(3600) },
	}
	seen := run.simulate(t, dbtest.MariaDB(t))
	require.Zero(t, seen["misfire"], "nothing was late")
	require.Greater(t, seen[""], 100_000)
	require.Less(t, seen[""]+seen["calendar"]+seen["paused"], 200_000)
}

func anyGrace(r *rand.Rand) int { return []int{0, 300, 3600, 7200}[r.IntN(4)] }

func TestTheLedgerOfAYearWithOutagesEqualsTheOracle(t *testing.T) {
	run := yearRun{seed: 12, from: day("2026-01-01"), to: day("2027-01-01"), perZone: 25, step: outages, grace: anyGrace}
	seen := run.simulate(t, dbtest.MariaDB(t))
	require.Greater(t, seen["misfire"], 10_000)
	require.Greater(t, seen[""], 10_000)
}

func TestTheLedgerOfASpringOnSQLiteEqualsTheOracle(t *testing.T) {
	run := yearRun{seed: 13, from: day("2026-03-01"), to: day("2026-05-01"), perZone: 25, step: outages, grace: anyGrace}
	seen := run.simulate(t, dbtest.SQLite(t))
	require.Greater(t, seen[""], 1000)
}

// simulate runs it and counts the slots by what became of them.
func (y yearRun) simulate(t *testing.T, d *db.DB) map[string]int {
	t.Helper()
	t.Parallel()
	g := &yearMaker{Rand: rand.New(rand.NewPCG(y.seed, 1)), from: y.from, to: y.to, zones: yearZones, grace: y.grace}
	o := &yearOracle{from: y.from, to: y.to, clocks: map[string]wallClock{}, calendars: g.calendars()}
	for code, c := range o.calendars {
		exec(t, d, "INSERT INTO calendars (code, name, week, created_at, updated_at) VALUES (?,?,?,0,0)", code, code, int(c.week))
		for date, work := range c.listed {
			exec(t, d, "INSERT INTO calendar_days (calendar_id, day, work) SELECT id, ?, ? FROM calendars WHERE code=?", int(calendar.DayOf(day(date))), work, code)
		}
	}
	team := dbtest.MakeTeam(t, d)
	var tasks []yearTask
	ids := map[string]int64{}
	for zone := range yearZones {
		for n := range y.perZone {
			task := g.make(zone, n)
			made := dbtest.MakeTask(t, d, dbtest.Of(team), dbtest.Code(task.code), func(to *sched.Task) {
				to.Spec.Schedule, to.NextFireAt = task.schedule, y.from
			})
			if !task.paused[0].IsZero() {
				exec(t, d, "UPDATE tasks SET paused_from=?, paused_until=? WHERE id=?", db.At(task.paused[0]), db.At(task.paused[1]), made.ID)
			}
			ids[task.code] = made.ID
			tasks = append(tasks, task)
		}
	}
	began := time.Now()
	moments := y.plan(t, d, g.Rand)
	t.Logf("planned at %d moments in %s", len(moments), time.Since(began).Round(time.Second))
	require.Zero(t, countWhere(t, d, "tasks", "plan_error<>''"))
	seen := map[string]int{}
	for _, task := range tasks {
		for why, n := range heldTo(t, d, o, task, ids[task.code], moments) {
			seen[why] += n
		}
		if t.Failed() {
			return seen
		}
	}
	t.Logf("slots by what became of them: %v", seen)
	require.Equal(t, seen[""], count(t, d, "instances"), "nothing else is there")
	return seen
}

// plan lets two planners plan, at moments at which something is due.
func (y yearRun) plan(t *testing.T, d *db.DB, r *rand.Rand) (moments []time.Time) {
	t.Helper()
	for now := y.from; now.Before(y.to); {
		var due *int64
		require.NoError(t, d.View(t.Context()).Raw("SELECT MIN(next_fire_at) FROM tasks WHERE enabled=1").Scan(&due).Error)
		if due == nil {
			break
		}
		if at := time.UnixMilli(*due).UTC().Add(-sched.PlanHorizon); at.After(now) {
			now = at
		}
		now = now.Add(time.Duration(r.IntN(1000)) * time.Millisecond)
		limit, budget := 20+r.IntN(300), 1+r.IntN(sched.PlanBudget)
		both := make([]func() error, 2)
		for i := range both {
			both[i] = func() error {
				for {
					report, err := d.Plan(t.Context(), sched.PlanRequest{
						Now: now, Until: now.Add(sched.PlanHorizon), Limit: limit, Budget: budget, NodeID: fmt.Sprint("planner-", i),
					})
					if err != nil || report.Tasks == 0 {
						return err
					}
				}
			}
		}
		if y.abreast {
			var g errgroup.Group
			g.Go(both[0])
			g.Go(both[1])
			require.NoError(t, g.Wait())
		}
		require.NoError(t, both[r.IntN(2)]())
		moments = append(moments, now)
		now = now.Add(y.step(r, now))
	}
	return moments
}

// heldTo compares all that the ledger holds of a task's slots with the oracle.
func heldTo(t *testing.T, d *db.DB, o *yearOracle, task yearTask, id int64, moments []time.Time) map[string]int {
	t.Helper()
	about := fmt.Sprintf("%s %+v", task.code, task.schedule)
	var rows []struct {
		SlotAt, DueAt db.Millis
		Origin        string
	}
	require.NoError(t, d.View(t.Context()).Raw("SELECT slot_at, due_at, origin FROM instances WHERE task_id=? ORDER BY slot_at", id).Scan(&rows).Error)
	var offset time.Duration
	ran := map[int64]bool{}
	for i, row := range rows {
		if i == 0 {
			offset = row.DueAt.Sub(row.SlotAt.Time)
			require.True(t, offset >= 0 && offset <= time.Duration(task.schedule.JitterSeconds)*time.Second, "%s: offset %s", about, offset)
		}
		require.Equal(t, offset, row.DueAt.Sub(row.SlotAt.Time), about)
		require.False(t, ran[row.SlotAt.Unix()], "%s twice: %s", row.SlotAt, about)
		ran[row.SlotAt.Unix()] = true
	}
	slots := o.slots(task)
	want := fates(task, slots, offset, moments)
	counts := map[string]int{}
	for slot, f := range want {
		counts[f.reason]++
		require.Equal(t, f.reason == "", ran[slot], "slot %s is to be %q: %s", time.Unix(slot, 0).UTC(), f.reason, about)
		delete(ran, slot)
	}
	require.Empty(t, ran, "slots that nobody asked for: %s", about)
	rangesHeldTo(t, d, id, slots, want, about)
	return counts
}

// rangesHeldTo requires that the missed ranges hold each slot that didn't run
// once, with its reason, honest counts and the run that makes up for it.
func rangesHeldTo(t *testing.T, d *db.DB, id int64, slots []yearSlot, want map[int64]fate, about string) {
	t.Helper()
	ranges, err := d.Missed(t.Context(), id, 100_000)
	require.NoError(t, err)
	recorded := map[int64]bool{}
	for _, r := range ranges {
		n := 0
		for _, s := range slots {
			if s.at < r.From.Unix() || s.at > r.To.Unix() {
				continue
			}
			f := want[s.at]
			require.Equal(t, string(r.Reason), f.reason, "slot %s in %s – %s: %s", time.Unix(s.at, 0).UTC(), r.From, r.To, about)
			require.False(t, recorded[s.at], "%s is in two ranges: %s", time.Unix(s.at, 0).UTC(), about)
			recorded[s.at] = true
			n++
			if f.makeUp != 0 {
				require.Equal(t, f.makeUp, read(t, d, r.InstanceID).SlotAt.Unix(), "what makes up for %s – %s: %s", r.From, r.To, about)
			}
		}
		require.Equal(t, n, r.Slots, "the count of %s – %s: %s", r.From, r.To, about)
	}
	for slot, f := range want {
		require.Equal(t, f.reason != "", recorded[slot], "slot %s is to be %q: %s", time.Unix(slot, 0).UTC(), f.reason, about)
	}
}
