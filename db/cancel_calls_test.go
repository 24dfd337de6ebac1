package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

const stopURL = "https://orders.internal/stop"

// tells gives a task a target that can be told to stop.
func tells(t *sched.Task) { t.Spec.Target.HTTP = &sched.HTTPRules{CancelURL: stopURL} }

// byName gives a task an executor in place of an address.
func byName(t *sched.Task) {
	t.Spec.Target = sched.Target{Kind: sched.TargetHTTP, Executor: "billing", Type: "close-day", Route: sched.RoundRobin}
}

func unsentInTime() sched.Result {
	return sched.Result{Outcome: sched.OutcomeTimedOut, Definite: true, Error: "no connection in time"}
}

// Which ends of an instance tell its target, and what.
func TestATargetIsToldToStopWhenItMayStillWorkOnWhatIsOver(t *testing.T) {
	t.Parallel()
	wish := func(t *testing.T, d *db.DB, c sched.Claimed) { cancel(t, d, c.Instance.ID, later(2)) }
	none := func(*testing.T, *db.DB, sched.Claimed) {}
	takes := func(r sched.Result) func(*testing.T, *db.DB, sched.Claimed) {
		return func(t *testing.T, d *db.DB, c sched.Claimed) { settle(t, d, c, r, later(3)) }
	}
	missed := func(t *testing.T, d *db.DB, c sched.Claimed) {
		require.NoError(t, d.EndAwaiting(t.Context(), held(c), later(90_000)))
	}
	dies := func(t *testing.T, d *db.DB, c sched.Claimed) { lose(t, d, held(c), later(20)) }
	overdue := func(t *testing.T, d *db.DB, c sched.Claimed) {
		require.NoError(t, d.EndOverdue(t.Context(), held(c), later(200)))
	}
	for name, c := range map[string]struct {
		before, ends func(*testing.T, *db.DB, sched.Claimed)
		opts         []dbtest.TaskOption
		state        sched.State
		want         sched.CancelReason // "": it is not told
	}{
		"accepted work is canceled":                    {takes(accepted()), wish, nil, sched.Canceled, sched.BecauseCanceled},
		"accepted work is over in time":                {takes(accepted()), missed, nil, sched.TimedOut, sched.BecauseTimedOut},
		"accepted work is tried again":                 {takes(accepted()), missed, []dbtest.TaskOption{dbtest.Retries(1)}, sched.Retrying, ""},
		"a call is cut off by a wish":                  {wish, takes(cutOff()), nil, sched.Canceled, sched.BecauseCanceled},
		"a call is accepted in spite of a wish":        {wish, takes(accepted()), nil, sched.Canceled, sched.BecauseCanceled},
		"a call succeeds in spite of a wish":           {wish, takes(success()), nil, sched.Succeeded, ""},
		"a call fails after a wish":                    {wish, takes(failure()), nil, sched.Canceled, ""},
		"a call is not answered in time":               {none, takes(silence()), nil, sched.TimedOut, sched.BecauseTimedOut},
		"a call was not sent in time":                  {none, takes(unsentInTime()), nil, sched.TimedOut, ""},
		"a call fails":                                 {none, takes(failure()), nil, sched.Failed, ""},
		"the handler of a call is stuck":               {none, overdue, nil, sched.TimedOut, sched.BecauseTimedOut},
		"the node of a call that is not wanted dies":   {wish, dies, nil, sched.Lost, sched.BecauseCanceled},
		"the same before anything was sent":            {wish, dies, []dbtest.TaskOption{dbtest.NonIdempotent()}, sched.Canceled, ""},
		"the node of a call that is wanted dies":       {none, dies, nil, sched.Queued, ""},
		"an instance that waits for its retry is over": {takes(failure()), wish, []dbtest.TaskOption{dbtest.Retries(1)}, sched.Canceled, ""},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				opts := append([]dbtest.TaskOption{dbtest.Retries(0), tells}, c.opts...)
				run := running(t, d, dbtest.MakeTask(t, d, opts...), dbtest.MakeNode(t, d))
				c.before(t, d, run)
				c.ends(t, d, run)
				v := look(t, d, run.Instance.ID)
				require.Equal(t, c.state, v.State)
				if c.want == "" {
					require.Nil(t, v.Told)
					require.Zero(t, count(t, d, "cancel_calls"))
					return
				}
				require.NotNil(t, v.Told)
				require.Equal(t, c.want, v.Told.Reason)
				require.Equal(t, 1, v.Told.Attempt)
				require.Equal(t, v.Told.AskedAt, v.Told.DueAt, "it is due at once")
				require.Equal(t, c.want == sched.BecauseCanceled, v.Told.By == "lin")
			})
		})
	}
}

// Without a way to be told, nothing is stored; of an executor it is known from
// the call that it took.
func TestATargetThatCanNotBeToldIsNot(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		node := dbtest.MakeNode(t, d)
		for name, task := range map[string]sched.Task{"an address": dbtest.MakeTask(t, d), "an executor": dbtest.MakeTask(t, d, byName)} {
			run := running(t, d, task, node)
			settle(t, d, run, accepted(), later(1))
			cancel(t, d, run.Instance.ID, later(2))
			require.Nil(t, look(t, d, run.Instance.ID).Told, name)
		}
		require.Zero(t, count(t, d, "cancel_calls"))
	})
}

func TestTheExecutorThatTookTheWorkIsTold(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, byName), dbtest.MakeNode(t, d)
		at := func(r sched.Result, host string) sched.Result {
			r.CancelURL = "http://" + host + "/ax/close-day/cancel"
			return r
		}
		urlOf := func(id string) string {
			due, err := d.DueCancels(t.Context(), later(100_000), 10)
			require.NoError(t, err)
			for _, x := range due {
				if x.InstanceID == id {
					o, ok, err := d.TakeCancel(t.Context(), x, later(100_000), later(100_030))
					require.NoError(t, err)
					require.True(t, ok)
					return o.URL
				}
			}
			return ""
		}
		// The first attempt is over, the second one is another executor's.
		run := running(t, d, task, node)
		settle(t, d, run, at(accepted(), "10.0.0.1"), later(1))
		require.Nil(t, look(t, d, run.Instance.ID).Told, "nothing is to be told yet")
		require.Empty(t, urlOf(run.Instance.ID))
		require.NoError(t, d.EndAwaiting(t.Context(), held(run), later(90_000)))
		again := take(t, d, run.Instance.ID, node, later(90_100))
		settle(t, d, again, at(accepted(), "10.0.0.2"), later(90_101))
		cancel(t, d, run.Instance.ID, later(90_102))
		require.Equal(t, "http://10.0.0.2/ax/close-day/cancel", urlOf(run.Instance.ID))

		cut := running(t, d, task, node)
		cancel(t, d, cut.Instance.ID, later(2))
		settle(t, d, cut, at(cutOff(), "10.0.0.3"), later(3))
		require.Equal(t, "http://10.0.0.3/ax/close-day/cancel", urlOf(cut.Instance.ID))

		// An attempt after one that was accepted ends with nobody known.
		lost := running(t, d, task, node)
		settle(t, d, lost, at(accepted(), "10.0.0.4"), later(1))
		require.NoError(t, d.EndAwaiting(t.Context(), held(lost), later(90_000)))
		second := take(t, d, lost.Instance.ID, node, later(90_100))
		cancel(t, d, lost.Instance.ID, later(90_101))
		lose(t, d, held(second), later(90_102))
		require.Equal(t, sched.Lost, read(t, d, lost.Instance.ID).State)
		require.Empty(t, urlOf(lost.Instance.ID), "the executor of an older attempt is not told")
	})
}

// A receipt that comes first ends the instance; the canceled one stays so.
func TestACancelCallChangesNothingOfItsInstance(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		run := running(t, d, dbtest.MakeTask(t, d, tells), dbtest.MakeNode(t, d))
		settle(t, d, run, accepted(), later(1))
		cancel(t, d, run.Instance.ID, later(2))
		before := dump(t, d, "instances", "attempts", "dead_letters", "instance_events", "receipts")
		o := takeCancel(t, d, later(2), true)
		require.Equal(t, sched.Call{
			InstanceID: run.Instance.ID, TeamID: run.Task.TeamID, TaskCode: run.Task.Code, BizID: run.Instance.BizID, Key: run.Instance.Key(run.Task.Code),
			Attempt: 1, ScheduledAt: run.Instance.WantedAt, Target: run.Task.Spec.Target,
		}, o.Call)
		takeCancel(t, d, later(3), false) // it is being sent
		o.StatusCode, o.Error, o.DueAt = 500, "answered 500", later(4)
		require.NoError(t, d.SettleCancel(t.Context(), o.CancelCall))
		second := takeCancel(t, d, later(4), true)
		require.Equal(t, 2, second.Tries)
		require.NoError(t, d.SettleCancel(t.Context(), o.CancelCall), "what the first try says too late")
		require.Equal(t, later(34), look(t, d, run.Instance.ID).Told.DueAt, "counts no more")
		second.StatusCode, second.Error, second.DueAt, second.EndedAt = 200, "", time.Time{}, later(5)
		require.NoError(t, d.SettleCancel(t.Context(), second.CancelCall))
		takeCancel(t, d, later(9999), false)
		told := look(t, d, run.Instance.ID).Told
		require.True(t, told.Told())
		require.Equal(t, 2, told.Tries)
		require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters", "instance_events", "receipts"))
	})
}

// takeCancel takes the only cancel call, if it is due.
func takeCancel(t *testing.T, d *db.DB, now time.Time, due bool) sched.CancelOrder {
	t.Helper()
	all, err := d.DueCancels(t.Context(), now, 10)
	require.NoError(t, err)
	if !due {
		require.Empty(t, all)
		return sched.CancelOrder{}
	}
	require.Len(t, all, 1)
	o, ok, err := d.TakeCancel(t.Context(), all[0], now, now.Add(30*time.Second))
	require.NoError(t, err)
	require.True(t, ok)
	return o
}

func TestOneNodeTakesACancelCall(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, tells), dbtest.MakeNode(t, d)
		for range 5 {
			run := running(t, d, task, node)
			settle(t, d, run, accepted(), later(1))
			cancel(t, d, run.Instance.ID, later(2))
		}
		all, err := d.DueCancels(t.Context(), later(2), 10)
		require.NoError(t, err)
		require.Len(t, all, 5)
		for _, x := range all {
			var won [2]bool
			take := func(i int) func() error {
				return func() (err error) {
					_, won[i], err = d.TakeCancel(t.Context(), x, later(2), later(32))
					return err
				}
			}
			require.Equal(t, [2]error{}, both(take(0), take(1)))
			require.NotEqual(t, won[0], won[1])
		}
	})
}

func TestCancelCallsAreKeptForAMonth(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		run := running(t, d, dbtest.MakeTask(t, d, tells), dbtest.MakeNode(t, d))
		settle(t, d, run, accepted(), later(1))
		cancel(t, d, run.Instance.ID, later(2))
		require.NoError(t, d.PruneCancels(t.Context(), later(2).Add(31*24*time.Hour)))
		require.Equal(t, 1, count(t, d, "cancel_calls"))
		require.NoError(t, d.PruneCancels(t.Context(), later(3).Add(31*24*time.Hour)))
		require.Zero(t, count(t, d, "cancel_calls"))
	})
}

// The next slot cancels the one before: nobody in person.
func TestWhatTheNextSlotCancelsIsNobodys(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, tells, dbtest.Every(time.Minute))
		run := running(t, d, task, dbtest.MakeNode(t, d), dbtest.Slot(t0))
		settle(t, d, run, accepted(), later(1))
		_, err := d.CancelOthers(t.Context(), task.ID, 1, dbtest.ID(), later(60))
		require.NoError(t, err)
		require.Empty(t, look(t, d, run.Instance.ID).Told.By)
	})
}

func TestAnExecutorSaysWhetherItCanBeTold(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		put := func(cancel bool) {
			e := sched.ExecutorInfo{ID: dbtest.ID(), TeamID: team.ID, Name: "billing", Address: "http://10.0.0.1", Types: []sched.TaskType{{Type: "close-day"}}, Weight: 1, RegisteredAt: t0, BeatAt: t0, Cancel: cancel}
			require.NoError(t, d.PutExecutor(t.Context(), e, 10, access.Entry{At: t0, Actor: dbtest.Maker(), Action: "executor.register", Object: e.Object(), TeamID: team.ID}))
			all, err := d.Executors(t.Context(), team.ID, "billing")
			require.NoError(t, err)
			require.Len(t, all, 1)
			require.Equal(t, cancel, all[0].Cancel)
		}
		put(true)
		put(false)
		put(true)
		require.NoError(t, d.PruneExecutors(t.Context(), later(1)))
		require.Equal(t, 1, count(t, d, "executor_cancels"), "those of replaced registrations go")
	})
}
