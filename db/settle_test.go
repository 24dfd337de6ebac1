package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// settled is what a result makes of an instance that runs since t0 and is
// settled a second later.
type settled struct {
	task     []dbtest.TaskOption
	result   sched.Result
	want     sched.State
	outcome  sched.Outcome // of the attempt; empty: it stays open
	error    string
	retries  int
	due      time.Time // of the retry
	deadline time.Time // of the receipt
}

func TestAResultSettlesInstanceAttemptAndLetter(t *testing.T) {
	t.Parallel()
	once := []dbtest.TaskOption{dbtest.NonIdempotent()}
	unsafe := []dbtest.TaskOption{dbtest.Unsafe(2)}
	never := []dbtest.TaskOption{dbtest.Retries(0)}
	for name, c := range map[string]settled{
		"success":                          {nil, success(), sched.Succeeded, sched.OutcomeSucceeded, "", 0, time.Time{}, time.Time{}},
		"accepted":                         {nil, accepted(), sched.Awaiting, "", "", 0, time.Time{}, later(1).Add(sched.ReceiptTimeout)},
		"a failure with a retry left":      {nil, failure(), sched.Retrying, sched.OutcomeFailed, "HTTP 500", 1, later(11), time.Time{}},
		"silence with a retry left":        {nil, silence(), sched.Retrying, sched.OutcomeTimedOut, "no answer within 30 s", 1, later(11), time.Time{}},
		"a failure without a retry":        {never, failure(), sched.Failed, sched.OutcomeFailed, "HTTP 500", 0, time.Time{}, time.Time{}},
		"silence without a retry":          {never, silence(), sched.TimedOut, sched.OutcomeTimedOut, "no answer within 30 s", 0, time.Time{}, time.Time{}},
		"a failure of work to do once":     {once, failure(), sched.Failed, sched.OutcomeFailed, "HTTP 500", 0, time.Time{}, time.Time{}},
		"a definite failure of unsafe":     {unsafe, failure(), sched.Retrying, sched.OutcomeFailed, "HTTP 500", 1, later(11), time.Time{}},
		"silence ends unsafe work":         {unsafe, silence(), sched.TimedOut, sched.OutcomeTimedOut, "no answer within 30 s", 0, time.Time{}, time.Time{}},
		"success of work to be done once":  {once, success(), sched.Succeeded, sched.OutcomeSucceeded, "", 0, time.Time{}, time.Time{}},
		"accepted work that is done once":  {once, accepted(), sched.Awaiting, "", "", 0, time.Time{}, later(1).Add(sched.ReceiptTimeout)},
		"cut off by nobody's wish is a no": {never, cutOff(), sched.Failed, sched.OutcomeCanceled, "canceled", 0, time.Time{}, time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d, c.task...), dbtest.MakeNode(t, d))
				got := settle(t, d, run, c.result, later(1))
				require.False(t, got.Refused)
				require.Equal(t, c.want, got.Ending.To)
				v := look(t, d, run.Instance.ID)
				requireSettled(t, c, v)
				require.Empty(t, v.Events)
				require.Equal(t, c.want.Bad(), v.Letter != 0)
			})
		})
	}
}

func requireSettled(t *testing.T, c settled, v sched.InstanceView) {
	t.Helper()
	require.Equal(t, c.want, v.State)
	require.Equal(t, c.error, v.Error)
	require.Equal(t, c.retries, v.Retries)
	require.Equal(t, c.deadline, v.ReceiptDeadline)
	require.Equal(t, c.want.Final(), !v.FinishedAt.IsZero())
	if !c.due.IsZero() {
		require.Equal(t, c.due, v.DueAt)
		require.Equal(t, c.due.Add(sched.LookAgain), v.LookAt)
	} else {
		require.True(t, v.LookAt.IsZero())
	}
	a := v.Attempts[0]
	require.Equal(t, c.outcome, a.Outcome)
	require.Equal(t, c.outcome == "", a.EndedAt.IsZero())
	require.Equal(t, c.result.StatusCode, a.StatusCode)
	require.Equal(t, c.result.Request, a.Request)
	require.Equal(t, c.result.Response, a.Response)
	require.Equal(t, c.result.ResponseBytes, a.ResponseBytes)
	require.Equal(t, c.error, a.Error)
}

func TestRetriesComeInTheirStepsAndEndInALetter(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d), dbtest.MakeNode(t, d)
		in := dbtest.MakeInstance(t, d, task)
		now := t0
		for no, wait := range []time.Duration{10 * time.Second, 30 * time.Second, 120 * time.Second, 0} {
			c := take(t, d, in.ID, node, now)
			require.Equal(t, no+1, c.Instance.Attempt)
			got := settle(t, d, c, failure(), now)
			if wait == 0 {
				require.Equal(t, sched.Failed, got.Ending.To)
				break
			}
			require.Equal(t, now.Add(wait), got.Ending.DueAt)
			now = now.Add(wait)
		}
		v := look(t, d, in.ID)
		require.Equal(t, sched.Failed, v.State)
		require.Equal(t, 3, v.Retries)
		require.Len(t, v.Attempts, 4)
		l := letter(t, d, in.ID)
		require.Equal(t, sched.LetterOpen, l.Status)
		require.Equal(t, in.ID, l.InstanceID)
		require.Equal(t, sched.OutcomeFailed, l.Outcome)
		require.Equal(t, "HTTP 500", l.Error)
		require.Equal(t, 1, l.Opens)
		require.Equal(t, now, l.OpenedAt)
		require.Equal(t, task.TeamID, l.TeamID)
	})
}

func TestAWishCancelsWhateverEndsWithoutSuccess(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result  sched.Result
		want    sched.State
		outcome sched.Outcome
	}{
		"cut off":   {cutOff(), sched.Canceled, sched.OutcomeCanceled},
		"failed":    {failure(), sched.Canceled, sched.OutcomeFailed},
		"timed out": {silence(), sched.Canceled, sched.OutcomeTimedOut},
		"accepted":  {accepted(), sched.Canceled, sched.OutcomeCanceled},
		"succeeded": {success(), sched.Succeeded, sched.OutcomeSucceeded},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
				require.True(t, cancel(t, d, run.Instance.ID, later(1)).Wish)
				settle(t, d, run, c.result, later(2))
				v := look(t, d, run.Instance.ID)
				require.Equal(t, c.want, v.State)
				require.Equal(t, []sched.Outcome{c.outcome}, outcomes(v))
				require.Zero(t, v.Letter)
			})
		})
	}
}

// DUP-07, promise 3: a late result changes nothing and is told.
func TestDUP07AResultThatIsNotOursIsRefusedAndRecorded(t *testing.T) {
	t.Parallel()
	for name, breaking := range notOurs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				run := running(t, d, dbtest.MakeTask(t, d), dbtest.MakeNode(t, d))
				exec(t, d, breaking)
				exec(t, d, "UPDATE attempts SET ended_at=1, outcome='lost'")
				before := dump(t, d, "instances", "attempts", "dead_letters")
				got := settle(t, d, run, failure(), later(1))
				require.True(t, got.Refused)
				require.Equal(t, before, dump(t, d, "instances", "attempts", "dead_letters"))
				v := look(t, d, run.Instance.ID)
				require.Equal(t, []sched.EventKind{sched.EvRefusedResult}, kinds(v))
				require.Equal(t, "failed: HTTP 500", v.Events[0].Detail)
				require.Equal(t, run.Instance.NodeID, v.Events[0].NodeID)
			})
		})
	}
}
