package db_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func hooksTelling(hooks ...sched.AfterHook) func(*sched.Task) {
	return func(t *sched.Task) { t.Spec.Hooks = &sched.Hooks{After: hooks} }
}

// teamChannel is a channel of the team.
func teamChannel(t *testing.T, d *db.DB, team int64) string {
	t.Helper()
	id := makeChannel(t, d, alert.Webhook)
	exec(t, d, "UPDATE channels SET team_id=? WHERE id=?", team, id)
	return id
}

// end makes an instance of the task that ended so at the second; without an
// attempt when a hook failed it.
func end(t *testing.T, d *db.DB, task sched.Task, s sched.State, second float64) string {
	t.Helper()
	in := dbtest.MakeInstance(t, d, task, dbtest.Due(later(second-1)))
	exec(t, d, "UPDATE instances SET state=?, attempt=1, error=?, started_at=?, finished_at=? WHERE id=?", string(s), emoji, db.At(later(second-1)), db.At(later(second)), in.ID)
	exec(t, d, "INSERT INTO attempts (instance_id, no, task_id, team_id, task_version, node_id, claim_id, executor, started_at, ended_at, outcome, error) VALUES (?,1,?,?,1,'n','c','http',?,?,?,'')",
		in.ID, task.ID, task.TeamID, db.At(later(second-1)), db.At(later(second)), string(s))
	return in.ID
}

func unready(t *testing.T, d *db.DB, task sched.Task, second float64) string {
	t.Helper()
	in := dbtest.MakeInstance(t, d, task, dbtest.Due(later(second-1)))
	exec(t, d, "UPDATE instances SET state='failed', finished_at=? WHERE id=?", db.At(later(second)), in.ID)
	return in.ID
}

func TestHooksTellOfTheEndsThatTheyName(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(team))
		dbtest.MakeTask(t, d, dbtest.Of(team))
		good, bad, turn, foreign := teamChannel(t, d, team.ID), teamChannel(t, d, team.ID), teamChannel(t, d, team.ID), teamChannel(t, d, 999)
		early := end(t, d, task, sched.Failed, 1)
		hooked, err := d.Hooked(t.Context())
		require.NoError(t, err)
		require.False(t, hooked)
		task = change(t, d, sched.TaskChange{Code: task.Code, Now: later(5), Version: true}, hooksTelling(
			sched.AfterHook{On: sched.OnSuccess, Channel: good}, sched.AfterHook{On: sched.OnFailure, Channel: bad}, sched.AfterHook{On: sched.OnChange, Channel: turn},
			sched.AfterHook{On: sched.OnFailure, Channel: foreign}, sched.AfterHook{On: sched.OnFailure, Channel: "removed"}))
		hooked, err = d.Hooked(t.Context())
		require.NoError(t, err)
		require.True(t, hooked)

		ids := []string{
			end(t, d, task, sched.Failed, 10), end(t, d, task, sched.Succeeded, 11), end(t, d, task, sched.Succeeded, 12),
			unready(t, d, task, 13), end(t, d, task, sched.Lost, 14), end(t, d, task, sched.Succeeded, 15),
		}
		end(t, d, task, sched.Canceled, 16)
		names := map[string]string{early: "early"}
		for i, id := range ids {
			names[id] = string(rune('a' + i))
		}
		look := func(since time.Time, most int) (out []string) {
			all, err := d.UntoldEnds(t.Context(), since, most)
			require.NoError(t, err)
			for _, h := range all {
				require.Equal(t, map[sched.HookOn]string{sched.OnSuccess: good, sched.OnFailure: bad, sched.OnChange: turn}[h.Run.On], h.ChannelID)
				require.Equal(t, []any{task.ID, team.ID, team.Name, task.Code, task.Name}, []any{h.TaskID, h.TeamID, h.Team, h.Run.Task, h.Run.Name})
				out = append(out, names[h.Run.InstanceID]+" "+string(h.Run.On))
			}
			return out
		}
		want := []string{"a failure", "b change", "b success", "c success", "d change", "d failure", "e failure", "f change", "f success"}
		require.ElementsMatch(t, want, look(t0, 100), "nothing of before the hooks")
		require.ElementsMatch(t, want[6:], look(later(14), 100), "the end before decides, also one that was looked at before")
		require.Len(t, look(t0, 2), 2)

		all, err := d.UntoldEnds(t.Context(), t0, 100)
		require.NoError(t, err)
		for _, h := range all[:7] {
			require.NoError(t, d.InsertDeliveries(t.Context(), []alert.Delivery{aDelivery(h.ChannelID, h.Dedupe())}))
		}
		require.Len(t, look(t0, 100), 2, "each is told once")

		other := dbtest.MakeTeam(t, d)
		exec(t, d, "UPDATE tasks SET team_id=? WHERE id=?", other.ID, task.ID)
		left, err := d.UntoldEnds(t.Context(), t0, 100)
		require.NoError(t, err)
		require.Empty(t, left, "the channels are of another team now")
	})
}

// A hook that stays keeps its moment; what was named anew is told of what ends
// from then on.
func TestAnEditOfHooksTellsNothingTwiceAndNothingOfBefore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		one, two := teamChannel(t, d, team.ID), teamChannel(t, d, team.ID)
		task := dbtest.MakeTask(t, d, dbtest.Of(team), hooksTelling(sched.AfterHook{On: sched.OnFailure, Channel: one}))
		end(t, d, task, sched.Failed, 3)
		task = change(t, d, sched.TaskChange{Code: task.Code, Now: later(4), Version: true}, hooksTelling(sched.AfterHook{On: sched.OnFailure, Channel: two}, sched.AfterHook{On: sched.OnFailure, Channel: one}))
		end(t, d, task, sched.Failed, 5)
		all, err := d.UntoldEnds(t.Context(), t0, 100)
		require.NoError(t, err)
		n := map[string]int{}
		for _, h := range all {
			n[h.ChannelID]++
		}
		require.Equal(t, map[string]int{one: 2, two: 1}, n)
		change(t, d, sched.TaskChange{Code: task.Code, Now: later(6), Version: true}, func(t *sched.Task) { t.Spec.Hooks = nil })
		require.Zero(t, count(t, d, "task_hooks"))
	})
}

func TestAChannelThatAHookNamesIsNotRemoved(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		ch := teamChannel(t, d, team.ID)
		task := dbtest.MakeTask(t, d, dbtest.Of(team), hooksTelling(sched.AfterHook{On: sched.OnFailure, Channel: ch}, sched.AfterHook{On: sched.OnSuccess, Channel: ch}))
		list, err := d.HookChannels(t.Context(), team.ID)
		require.NoError(t, err)
		require.Equal(t, []sched.HookChannel{{ID: ch, Name: "ch " + ch, Kind: "webhook"}}, list)
		remove := func() error {
			return d.DeleteChannel(t.Context(), ch, func(alert.Channel, int) (access.Entry, error) { return ask("channel.delete"), nil })
		}
		err = remove()
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.ErrorContains(t, err, "named by the hooks of "+task.Code+";")
		change(t, d, sched.TaskChange{Code: task.Code, Now: later(6), Version: true}, func(t *sched.Task) { t.ArchivedAt = later(6) })
		require.NoError(t, remove(), "an archived task keeps nobody")
	})
}
