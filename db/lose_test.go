package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func orphans(t *testing.T, d *db.DB) []sched.Held {
	t.Helper()
	h, err := d.Orphans(t.Context(), 100)
	require.NoError(t, err)
	return h
}

// protocol.md (flaw 17): they are looked for at every tick, not once.
func TestWhatRunsOnGoneNodesIsListed(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		living, dead, closed := dbtest.MakeNode(t, d), dbtest.MakeNode(t, d), dbtest.MakeNode(t, d)
		running(t, d, task, living)
		a, b := running(t, d, task, dead), running(t, d, task, closed)
		settle(t, d, running(t, d, task, dead), success(), later(1))
		settle(t, d, running(t, d, task, dead), accepted(), later(1))
		require.Empty(t, orphans(t, d))
		exec(t, d, "UPDATE nodes SET dead_at=1 WHERE id=?", dead.ID)
		require.NoError(t, d.CloseNode(t.Context(), closed.ID, later(1)))
		want := []sched.Held{held(a), held(b)}
		want[1].Graceful = true
		require.Equal(t, want, orphans(t, d), "awaiting ones wait for their receipt, not for the node")
		one, err := d.Orphans(t.Context(), 1)
		require.NoError(t, err)
		require.Len(t, one, 1)
		mine, err := d.Holding(t.Context(), living.ID)
		require.NoError(t, err)
		require.Len(t, mine, 1)
	})
}

// lost is what becomes of a claim whose node is gone.
type lost struct {
	task     []dbtest.TaskOption
	before   func(t *testing.T, d *db.DB, c sched.Claimed)
	graceful bool
	want     sched.State
	deaths   int
}

// protocol.md (flaw 7), (flaw 8): a wish is seen, and what was surely not sent
// is not lost.
func TestALostClaim(t *testing.T) {
	t.Parallel()
	nothing := func(*testing.T, *db.DB, sched.Claimed) {}
	sent := func(t *testing.T, d *db.DB, c sched.Claimed) { mark(t, d, c, later(1)) }
	wish := func(t *testing.T, d *db.DB, c sched.Claimed) { cancel(t, d, c.Instance.ID, later(1)) }
	once := []dbtest.TaskOption{dbtest.NonIdempotent()}
	for name, c := range map[string]lost{
		"of idempotent work is queued again":                            {nil, nothing, false, sched.Queued, 1},
		"of a node that stopped is nobody's death":                      {nil, nothing, true, sched.Queued, 0},
		"RETRY-03: of work to do once, unsent, is queued again":         {once, nothing, false, sched.Queued, 1},
		"RETRY-03: of work to do once, sent, is lost":                   {once, sent, false, sched.Lost, 1},
		"of work to do once, sent by a node that stopped, is lost":      {once, sent, true, sched.Lost, 0},
		"of unsafe work that was sent is lost: silence is not definite": {[]dbtest.TaskOption{dbtest.Unsafe(3)}, sent, false, sched.Lost, 1},
		"with a wish and certainly unsent is canceled":                  {once, wish, false, sched.Canceled, 0},
		"with a wish and perhaps sent is lost":                          {nil, wish, false, sched.Lost, 0},
		"with a wish and sent is lost":                                  {once, func(t *testing.T, d *db.DB, c sched.Claimed) { sent(t, d, c); wish(t, d, c) }, false, sched.Lost, 0},
		"RETRY-05: of the third node in a row is lost": {nil, func(t *testing.T, d *db.DB, c sched.Claimed) {
			exec(t, d, "UPDATE instances SET deaths=2")
		}, false, sched.Lost, 3},
		"of a node that stopped after two deaths is queued again": {nil, func(t *testing.T, d *db.DB, c sched.Claimed) {
			exec(t, d, "UPDATE instances SET deaths=2")
		}, true, sched.Queued, 2},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d, c.task...), dbtest.MakeNode(t, d))
				c.before(t, d, run)
				h := held(run)
				h.Graceful = c.graceful
				m, again := lose(t, d, h, later(30))
				requireLost(t, d, c, run, m, again)
				before := dump(t, d, "instances", "attempts", "dead_letters", "instance_events")
				_, again = lose(t, d, h, later(31))
				require.False(t, again, "once only")
				require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters", "instance_events"))
			})
		})
	}
}

func requireLost(t *testing.T, d *db.DB, c lost, run sched.Claimed, m sched.Message, again bool) {
	t.Helper()
	v := look(t, d, run.Instance.ID)
	require.Equal(t, c.want, v.State)
	require.Equal(t, c.deaths, v.Deaths)
	require.Zero(t, v.Retries)
	require.Equal(t, []sched.Outcome{sched.OutcomeLost}, outcomes(v))
	require.Equal(t, sched.EvLost, v.Events[len(v.Events)-1].Kind)
	require.Equal(t, c.want == sched.Queued, again)
	require.Equal(t, c.want == sched.Lost, v.Letter != 0)
	if again {
		require.Equal(t, sched.Message{InstanceID: v.ID, Dispatch: 1, Queue: "default", DueAt: later(30)}, m)
		require.Equal(t, 1, v.Dispatch)
		require.Equal(t, later(40), v.LookAt)
		require.Empty(t, v.NodeID+v.ClaimID)
		require.Equal(t, 2, take(t, d, v.ID, dbtest.MakeNode(t, d), later(31)).Instance.Attempt)
		return
	}
	require.False(t, v.FinishedAt.IsZero())
	require.NotEmpty(t, v.Error)
}

// The definition that the attempt began with decides, not a later one.
func TestALostClaimFollowsTheVersionItBeganWith(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, dbtest.NonIdempotent())
		run := running(t, d, task, dbtest.MakeNode(t, d))
		mark(t, d, run, later(1))
		change(t, d, sched.TaskChange{Code: task.Code, Now: later(2), Version: true}, func(task *sched.Task) { task.Spec.Policy.Idempotent = true })
		lose(t, d, held(run), later(30))
		require.Equal(t, sched.Lost, read(t, d, run.Instance.ID).State)
	})
}

// STUCK-10: whoever repeats the sweep, and whatever moved meanwhile.
func TestSTUCK10AClaimThatIsNotAsListedIsNotEnded(t *testing.T) {
	t.Parallel()
	breaks := notOurs()
	breaks["another claim of the same node and attempt"] = "UPDATE instances SET claim_id='00000000-0000-7000-8000-000000000002'"
	for name, breaking := range breaks {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
				exec(t, d, breaking)
				before := dump(t, d, "instances", "attempts", "dead_letters", "instance_events")
				_, again := lose(t, d, held(run), later(30))
				require.False(t, again)
				require.NoError(t, d.EndOverdue(t.Context(), held(run), later(200)))
				if breaking != notOurs()["it awaits a receipt"] {
					require.NoError(t, d.EndAwaiting(t.Context(), held(run), later(200)))
				}
				require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters", "instance_events"))
			})
		})
	}
}

func TestAnAttemptPastItsDeadlineEndsAsTimedOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task []dbtest.TaskOption
		sent bool
		wish bool
		want sched.State
	}{
		"idempotent: again":            {nil, false, false, sched.Retrying},
		"no retry left":                {[]dbtest.TaskOption{dbtest.Retries(0)}, false, false, sched.TimedOut},
		"to be done once, sent":        {[]dbtest.TaskOption{dbtest.NonIdempotent()}, true, false, sched.TimedOut},
		"unsafe, unsent: definite":     {[]dbtest.TaskOption{dbtest.Unsafe(1)}, false, false, sched.Retrying},
		"unsafe, sent: not definite":   {[]dbtest.TaskOption{dbtest.Unsafe(1)}, true, false, sched.TimedOut},
		"somebody wants it canceled":   {nil, false, true, sched.Canceled},
		"sent, and wanted no more":     {[]dbtest.TaskOption{dbtest.NonIdempotent()}, true, true, sched.Canceled},
		"to be done once, but not yet": {[]dbtest.TaskOption{dbtest.NonIdempotent()}, false, false, sched.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d, c.task...), dbtest.MakeNode(t, d))
				if c.sent {
					mark(t, d, run, later(1))
				}
				if c.wish {
					cancel(t, d, run.Instance.ID, later(2))
				}
				require.NoError(t, d.EndOverdue(t.Context(), held(run), later(91)))
				v := look(t, d, run.Instance.ID)
				require.Equal(t, c.want, v.State)
				require.Equal(t, []sched.Outcome{sched.OutcomeTimedOut}, outcomes(v))
				require.Equal(t, sched.EvOverdue, v.Events[len(v.Events)-1].Kind)
				require.Equal(t, c.want == sched.TimedOut, v.Letter != 0)
				require.True(t, settle(t, d, run, success(), later(92)).Refused, "the handler's late answer")
				require.Equal(t, c.want, read(t, d, run.Instance.ID).State)
			})
		})
	}
}

func TestAMissedReceiptEndsOrRepeatsTheCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		task []dbtest.TaskOption
		want sched.State
	}{
		"idempotent: again":                      {nil, sched.Retrying},
		"no retry left":                          {[]dbtest.TaskOption{dbtest.Retries(0)}, sched.TimedOut},
		"to be done once":                        {[]dbtest.TaskOption{dbtest.NonIdempotent()}, sched.TimedOut},
		"unsafe: silence after sending is final": {[]dbtest.TaskOption{dbtest.Unsafe(3)}, sched.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d, c.task...), dbtest.MakeNode(t, d))
				settle(t, d, run, accepted(), later(1))
				deadline := later(1).Add(sched.ReceiptTimeout)
				overdue := func(now time.Time) []sched.Held {
					h, err := d.Overdue(t.Context(), now, 10)
					require.NoError(t, err)
					return h
				}
				require.Empty(t, overdue(deadline.Add(-time.Millisecond)))
				all := overdue(deadline)
				require.Equal(t, []sched.Held{held(run)}, all)
				require.NoError(t, d.EndAwaiting(t.Context(), all[0], deadline))
				v := look(t, d, run.Instance.ID)
				require.Equal(t, c.want, v.State)
				require.Equal(t, []sched.Outcome{sched.OutcomeTimedOut}, outcomes(v))
				require.Equal(t, "no receipt came in time", v.Error)
				require.True(t, v.ReceiptDeadline.IsZero())
				require.Equal(t, 202, v.Attempts[0].StatusCode, "what came back is kept")
				require.Equal(t, c.want == sched.TimedOut, v.Letter != 0)
				before := dump(t, d, "instances", "attempts", "dead_letters")
				require.NoError(t, d.EndAwaiting(t.Context(), all[0], deadline.Add(time.Second)))
				require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters"), "once only")
			})
		})
	}
}
