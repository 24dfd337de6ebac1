package db_test

import (
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

// makeSubscription stores one by hand: how people make one is tested with
// subscriptions.
func makeSubscription(t *testing.T, d *db.DB, team int64, channel, events string, created time.Time) {
	t.Helper()
	exec(t, d, "INSERT INTO subscriptions (team_id, channel_id, events, zone, created_by, created_at) VALUES (?,?,?,'Asia/Shanghai','maker',?)",
		team, channel, events, db.At(created))
}

func TestListenersAreToldFromTheirFirstSubscriptionOn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, two, off, chat := makeChannel(t, d, alert.Webhook), makeChannel(t, d, alert.Webhook), makeChannel(t, d, alert.Webhook), makeChannel(t, d, alert.Feishu)
		exec(t, d, "UPDATE channels SET off_at=? WHERE id=?", db.At(later(-10)), off)
		makeSubscription(t, d, 1, one, "digest.daily", later(-9))
		makeSubscription(t, d, 1, one, "instance.finished,letter.opened", later(5))
		makeSubscription(t, d, 1, one, "instance.finished", later(3))
		makeSubscription(t, d, 0, two, "instance.finished", later(1))
		makeSubscription(t, d, 1, two, "incident.opened", later(1))
		makeSubscription(t, d, 2, off, "letter.solved", later(1))
		makeSubscription(t, d, 1, chat, "", later(1))
		list := func(from time.Time) []alert.Listener {
			all, err := d.Listeners(t.Context(), from)
			require.NoError(t, err)
			return all
		}
		first := alert.Listener{ChannelID: one, TeamID: 1, Since: map[alert.EventType]time.Time{alert.InstanceFinished: later(3), alert.LetterOpened: later(5)}}
		second := alert.Listener{ChannelID: off, TeamID: 2, Since: map[alert.EventType]time.Time{alert.LetterSolved: later(1)}}
		require.Equal(t, []alert.Listener{first}, list(later(-9)))
		require.ElementsMatch(t, []alert.Listener{first, second}, list(later(-10)))
	})
}

func TestAChannelIsToldOfWhatEndedAndItWasNotToldOf(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		task, foreign := dbtest.MakeTask(t, d, dbtest.Of(team)), dbtest.MakeTask(t, d)
		var ended []sched.Instance
		for n := range 4 {
			of := task
			if n == 3 {
				of = foreign
			}
			in := dbtest.MakeInstance(t, d, of)
			exec(t, d, "UPDATE instances SET state='failed', attempt=2, error=?, started_at=?, finished_at=? WHERE id=?", emoji, db.At(later(float64(n))), db.At(later(float64(10-n))), in.ID)
			ended = append(ended, in)
		}
		dbtest.MakeInstance(t, d, task) // not ended
		ch := makeChannel(t, d, alert.Webhook)
		l := alert.Listener{ChannelID: ch, TeamID: team.ID}
		look := func(since time.Time, most int) (out []string) {
			all, err := d.UntoldInstances(t.Context(), l, since, most)
			require.NoError(t, err)
			for _, f := range all {
				out = append(out, f.ID)
			}
			return out
		}
		require.Equal(t, []string{ended[2].ID, ended[1].ID, ended[0].ID}, look(t0, 10))
		require.Equal(t, []string{ended[1].ID}, look(later(9), 1))
		x := aDelivery(ch, ended[1].ID)
		require.NoError(t, d.InsertDeliveries(t.Context(), []alert.Delivery{x, aDelivery(makeChannel(t, d, alert.Webhook), ended[2].ID)}))
		require.Equal(t, []string{ended[2].ID, ended[0].ID}, look(t0, 10))

		all, err := d.UntoldInstances(t.Context(), l, later(10), 10)
		require.NoError(t, err)
		in := ended[0]
		in.State, in.Attempt, in.Error, in.StartedAt, in.FinishedAt = sched.Failed, 2, emoji, later(0), later(10)
		require.Equal(t, []alert.InstanceFacts{alert.FactsOfInstance(in, task.Code, team.Code)}, all)
	})
}

func TestAChannelIsToldOfLettersThatOpenedAndClosed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(team))
		for n := 1; n <= 3; n++ {
			exec(t, d, "INSERT INTO dead_letters (id, task_id, team_id, biz_id, instance_id, status, outcome, error, solution, opens, opened_at)"+
				" VALUES (?,?,?,?,'i','open','failed',?,'paid by hand',?,?)", n, task.ID, team.ID, fmt.Sprint("b", n), emoji, n, db.At(later(float64(n))))
		}
		exec(t, d, "UPDATE dead_letters SET status='solved', closed_at=?, closed_by='ann' WHERE id=2", db.At(later(9)))
		ch := makeChannel(t, d, alert.Webhook)
		l := alert.Listener{ChannelID: ch, TeamID: team.ID}
		look := func(read func() ([]alert.LetterFacts, error)) (out []int64) {
			all, err := read()
			require.NoError(t, err)
			for _, f := range all {
				require.Equal(t, []string{task.Code, team.Code, emoji, "paid by hand"}, []string{f.Task, f.Team, f.Error, f.Solution})
				out = append(out, f.ID)
			}
			return out
		}
		opened := func() ([]alert.LetterFacts, error) { return d.UntoldOpened(t.Context(), l, later(2), 10) }
		solved := func() ([]alert.LetterFacts, error) { return d.UntoldSolved(t.Context(), l, later(2), 10) }
		require.Equal(t, []int64{2, 3}, look(opened))
		require.Equal(t, []int64{2}, look(solved))
		require.NoError(t, d.InsertDeliveries(t.Context(), []alert.Delivery{
			aDelivery(ch, alert.OpenedDedupe(3, 3)), aDelivery(ch, alert.SolvedDedupe(2, later(9))),
		}))
		require.Equal(t, []int64{2}, look(opened))
		require.Empty(t, look(solved))
		exec(t, d, "UPDATE dead_letters SET opens=4 WHERE id=3")
		exec(t, d, "UPDATE dead_letters SET closed_at=? WHERE id=2", db.At(later(10)))
		require.Equal(t, []int64{2, 3}, look(opened), "again is another time")
		require.Equal(t, []int64{2}, look(solved))
	})
}

// What was told of is passed over by pages, and letters of one moment are not
// lost between them.
func TestManyLettersThatWereToldOfHideNone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		task := dbtest.MakeTask(t, d, dbtest.Of(team))
		ch := makeChannel(t, d, alert.Webhook)
		var told []alert.Delivery
		for n := 1; n <= 2500; n += 100 {
			sql := "INSERT INTO dead_letters (id, task_id, team_id, biz_id, instance_id, status, outcome, opened_at) VALUES "
			for i := n; i < n+100; i++ {
				if i > n {
					sql += ","
				}
				sql += fmt.Sprintf("(%d,%d,%d,'b%d','i','open','failed',%d)", i, task.ID, team.ID, i, t0.UnixMilli()+int64(i/700))
				if i != 1 && i != 1500 && i != 2500 {
					told = append(told, aDelivery(ch, alert.OpenedDedupe(int64(i), 1)))
				}
			}
			exec(t, d, sql)
		}
		require.NoError(t, d.InsertDeliveries(t.Context(), told))
		all, err := d.UntoldOpened(t.Context(), alert.Listener{ChannelID: ch, TeamID: team.ID}, t0, 500)
		require.NoError(t, err)
		require.Len(t, all, 3)
		require.Equal(t, []int64{1, 1500, 2500}, []int64{all[0].ID, all[1].ID, all[2].ID})
	})
}

// Many nodes that look at once store each message once.
func TestManyNodesTellOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		task := dbtest.MakeTask(t, d)
		ch := makeChannel(t, d, alert.Webhook)
		makeSubscription(t, d, task.TeamID, ch, "instance.finished", t0)
		for range 20 {
			in := dbtest.MakeInstance(t, d, task)
			exec(t, d, "UPDATE instances SET state='succeeded', finished_at=? WHERE id=?", db.At(later(1)), in.ID)
		}
		var all sync.WaitGroup
		for n := range 6 {
			e := alert.NewEvents(alert.EventsOptions{Box: d, Now: func() time.Time { return later(float64(2 + 2*n)) }, NewID: dbtest.ID, Log: slog.New(slog.DiscardHandler)})
			all.Go(func() {
				_, err := e.Tick(t.Context())
				require.NoError(t, err)
			})
		}
		all.Wait()
		require.Equal(t, 20, count(t, d, "deliveries"))
		cursor, err := d.EventCursor(t.Context())
		require.NoError(t, err)
		require.False(t, cursor.IsZero())
		require.NoError(t, d.SetEventCursor(t.Context(), later(30)))
		cursor, err = d.EventCursor(t.Context())
		require.NoError(t, err)
		require.Equal(t, later(30), cursor.UTC())
	})
}
