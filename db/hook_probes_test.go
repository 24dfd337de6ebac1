package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// waitHook asks each ten seconds for a minute.
func waitHook() sched.BeforeHook {
	return sched.BeforeHook{URL: "http://127.0.0.1:9/ready", TimeoutSeconds: 5, NotReady: sched.NotReadyWait, EverySeconds: 10, LimitSeconds: 60, Then: sched.ThenFail}
}

func skipHook() sched.BeforeHook {
	return sched.BeforeHook{URL: "http://127.0.0.1:9/ready", TimeoutSeconds: 5, NotReady: sched.NotReadySkip}
}

func hookedBy(h sched.BeforeHook) dbtest.TaskOption {
	return func(t *sched.Task) { t.Spec.Hooks = &sched.Hooks{Before: &h} }
}

// probed is what a hook answers at now.
func probed(t *testing.T, d *db.DB, id string, h sched.BeforeHook, ready bool, now time.Time) sched.ProbeEnd {
	t.Helper()
	end, err := d.Probed(t.Context(), sched.Probed{
		InstanceID: id, Hook: h, Ready: ready, Now: now, Answer: sched.ProbeAnswer{At: now, Status: 503, Said: "answered 503: " + emoji, Took: time.Second},
	})
	require.NoError(t, err)
	return end
}

func claimReady(t *testing.T, d *db.DB, id string, node sched.NodeInfo, version int, now time.Time) sched.Claimed {
	t.Helper()
	got, err := d.Claim(t.Context(), sched.ClaimRequest{InstanceID: id, NodeID: node.ID, ClaimID: dbtest.ID(), Now: now, Ready: version})
	require.NoError(t, err)
	return got
}

func TestWhoIsAskedForIsNotClaimedBeforeItsHookIsReady(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task, node := dbtest.MakeTask(t, d, hookedBy(waitHook()), dbtest.Limit(1)), dbtest.MakeNode(t, d)
		first, second := dbtest.MakeInstance(t, d, task), dbtest.MakeInstance(t, d, task)
		exec(t, d, "UPDATE instances SET defers=3 WHERE id=?", first.ID)
		require.Equal(t, sched.ClaimAsk, claim(t, d, first.ID, node, t0).Verdict.Kind)
		in := read(t, d, first.ID)
		require.Equal(t, sched.Pending, in.State)
		require.Zero(t, in.Attempt)
		require.Equal(t, later(5+10), in.LookAt, "the sweep leaves it alone while it is asked")

		require.Equal(t, sched.ProbeEnd{Due: later(10)}, probed(t, d, first.ID, waitHook(), false, t0))
		in = read(t, d, first.ID)
		require.Equal(t, later(10), in.DueAt)
		require.Equal(t, later(20), in.LookAt)
		require.Equal(t, t0, in.WantedAt)
		require.Zero(t, in.Attempt+in.Retries+in.Defers)
		_, woken := wake(t, d, task, later(1))
		require.False(t, woken, "a free place is nothing to it")
		require.Equal(t, sched.ClaimBack, claim(t, d, first.ID, node, later(5)).Verdict.Kind)
		require.Equal(t, sched.ClaimTake, claimReady(t, d, second.ID, node, 1, later(5)).Verdict.Kind, "who waits holds no place")
		require.Equal(t, sched.ClaimDefer, claim(t, d, first.ID, node, later(10)).Verdict.Kind, "who finds none isn't asked")
		exec(t, d, "UPDATE instances SET state='succeeded', finished_at=? WHERE id=?", db.At(later(11)), second.ID)
		exec(t, d, "UPDATE attempts SET ended_at=?, outcome='succeeded'", db.At(later(11)))

		require.Equal(t, sched.ProbeEnd{Due: later(30)}, probed(t, d, first.ID, waitHook(), false, later(20)))
		require.Equal(t, sched.ClaimAsk, claimReady(t, d, first.ID, node, 2, later(30)).Verdict.Kind, "ready by another version is not ready")
		require.Equal(t, sched.ProbeEnd{Ready: true}, probed(t, d, first.ID, waitHook(), true, later(30)))
		require.Equal(t, 1, claimReady(t, d, first.ID, node, 1, later(30)).Instance.Attempt)

		p, err := d.Probing(t.Context(), first.ID)
		require.NoError(t, err)
		require.Equal(t, 3, p.Asked)
		require.Equal(t, []time.Time{t0, later(30), {}, later(60)}, []time.Time{p.FirstAt, p.ReadyAt, p.NextAt, later(60)})
		require.Len(t, p.Answers, 3)
		require.Equal(t, sched.ProbeAnswer{At: later(20), Status: 503, Said: "answered 503: " + emoji, Took: time.Second}, p.Answers[1])
		clean(t, d)
	})
}

func TestWhatAHookEndsIsFinalWithItsReason(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, hookedBy(skipHook()))
		slot, request, late := dbtest.MakeInstance(t, d, task, dbtest.Slot(t0)), dbtest.MakeInstance(t, d, task), dbtest.MakeInstance(t, d, task)
		for _, in := range []sched.Instance{slot, request} {
			require.Equal(t, sched.Skipped, probed(t, d, in.ID, skipHook(), false, later(2)).To)
			row := read(t, d, in.ID)
			require.Equal(t, sched.Skipped, row.State)
			require.Equal(t, "hook not ready: http://127.0.0.1:9/ready answered 503: "+emoji, row.Reason)
			require.Equal(t, later(2), row.FinishedAt)
			require.True(t, row.LookAt.IsZero())
			require.Zero(t, look(t, d, in.ID).Letter)
		}
		probed(t, d, late.ID, waitHook(), false, t0)
		require.Equal(t, sched.Failed, probed(t, d, late.ID, waitHook(), false, later(60)).To)
		row := read(t, d, late.ID)
		require.Equal(t, sched.Failed, row.State)
		require.Contains(t, row.Error, "asked 2 times within 1m0s")
		require.Zero(t, row.Attempt)
		l := letter(t, d, late.ID)
		require.Equal(t, sched.LetterOpen, l.Status)
		require.Equal(t, row.Error, l.Error)
		require.Equal(t, sched.ProbeEnd{}, probed(t, d, late.ID, waitHook(), false, later(61)), "final stays final")

		again := replay(t, d, l.ID, later(70))
		require.Equal(t, sched.Skipped, probed(t, d, again.ID, skipHook(), false, later(71)).To)
		require.Empty(t, letter(t, d, late.ID).Replaying, "the letter can be replayed again")
		again = replay(t, d, l.ID, later(80))
		probed(t, d, again.ID, waitHook(), false, later(81))
		require.Equal(t, sched.Failed, probed(t, d, again.ID, waitHook(), false, later(200)).To)
		l = letter(t, d, late.ID)
		require.Equal(t, []any{"", again.ID, 2}, []any{l.Replaying, l.InstanceID, l.Opens})
		clean(t, d)
	})
}

// An answer that comes late changes nothing of what has begun or ended.
func TestALateAnswerChangesNothing(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]string{
		"of what is canceled":      "state='canceled', finished_at=1",
		"of what runs":             "state='running', attempt=1",
		"of what retries":          "state='retrying', attempt=1",
		"of what a dead node left": "state='queued', attempt=1",
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				in := dbtest.MakeInstance(t, d, dbtest.MakeTask(t, d, hookedBy(skipHook())))
				exec(t, d, "UPDATE instances SET "+set+" WHERE id=?", in.ID)
				before := read(t, d, in.ID)
				require.Equal(t, sched.ProbeEnd{}, probed(t, d, in.ID, skipHook(), false, later(1)))
				require.Equal(t, sched.ProbeEnd{}, probed(t, d, in.ID, waitHook(), true, later(1)))
				require.Equal(t, before, read(t, d, in.ID))
				require.Zero(t, count(t, d, "hook_probes"))
			})
		})
	}
}

func TestOldAnswersOfHooksAreForgotten(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d, hookedBy(waitHook()))
		old, young := dbtest.MakeInstance(t, d, task), dbtest.MakeInstance(t, d, task)
		probed(t, d, old.ID, waitHook(), false, t0)
		probed(t, d, young.ID, waitHook(), false, later(1))
		require.NoError(t, d.PruneProbes(t.Context(), t0.Add(30*24*time.Hour+time.Millisecond)))
		p, err := d.Probing(t.Context(), old.ID)
		require.NoError(t, err)
		require.Nil(t, p)
		require.Equal(t, 1, count(t, d, "hook_probes"))
	})
}
