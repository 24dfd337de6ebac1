package db_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func registered(team int64, name, address string, now time.Time) (sched.ExecutorInfo, access.Entry) {
	e := sched.ExecutorInfo{
		ID: dbtest.ID(), TeamID: team, Name: name, Address: address, Weight: 100, Version: "3.8.0 测试",
		Types:   []sched.TaskType{{Type: "close-day", Description: "关账 closes the books"}, {Type: "accrue"}},
		TokenID: 7, Token: "billing 令牌", RegisteredAt: now, BeatAt: now,
	}
	return e, access.Entry{At: now, Actor: access.Actor{Kind: access.Token, ID: 7, Name: "billing"}, Action: "executor.register", Object: e.Object(), TeamID: team}
}

func putExecutor(t *testing.T, d *db.DB, e sched.ExecutorInfo, entry access.Entry) {
	t.Helper()
	require.NoError(t, d.PutExecutor(t.Context(), e, 100, entry))
}

func TestAnExecutorIsFoundByTeamAndName(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		shop, depot := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		now := time.UnixMilli(1_796_000_000_000).UTC()
		b, entry := registered(shop.ID, "billing", "http://b:80", now)
		putExecutor(t, d, b, entry)
		a, entry := registered(shop.ID, "billing", "http://a:80", now)
		putExecutor(t, d, a, entry)
		other, entry := registered(depot.ID, "billing", "http://a:80", now)
		putExecutor(t, d, other, entry)
		mail, entry := registered(shop.ID, "mail", "http://a:80", now)
		putExecutor(t, d, mail, entry)

		got, err := d.Executors(t.Context(), shop.ID, "billing")
		require.NoError(t, err)
		require.Equal(t, []sched.ExecutorInfo{a, b}, got)
		got, err = d.ExecutorsOf(t.Context(), access.Scope{Teams: []int64{shop.ID}})
		require.NoError(t, err)
		require.Equal(t, []sched.ExecutorInfo{a, b, mail}, got)
		got, err = d.ExecutorsOf(t.Context(), access.Scope{})
		require.NoError(t, err)
		require.Empty(t, got)
		require.Equal(t, 4, count(t, d, "audit_log WHERE action='executor.register' AND object_kind='executor'"))
	})
}

func TestWhoRegistersAgainTakesTheOldPlace(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		now := time.UnixMilli(1_796_000_000_000).UTC()
		old, entry := registered(team.ID, "billing", "http://a:80", now)
		putExecutor(t, d, old, entry)
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				e, entry := registered(team.ID, "billing", "http://a:80", now.Add(time.Minute))
				if err := d.PutExecutor(t.Context(), e, 1, entry); err != nil {
					t.Errorf("again: %v", err)
				}
			})
		}
		wg.Wait()
		got, err := d.Executors(t.Context(), team.ID, "billing")
		require.NoError(t, err)
		require.Len(t, got, 1)
		require.NotEqual(t, old.ID, got[0].ID)
		_, err = d.Executor(t.Context(), old.ID)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))

		more, entry := registered(team.ID, "billing", "http://b:80", now)
		require.Equal(t, fault.KindConflict, fault.KindOf(d.PutExecutor(t.Context(), more, 1, entry)))
	})
}

func TestABeatCountsUntilFifteenSecondsWithoutOne(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		now := time.UnixMilli(1_796_000_000_000).UTC()
		e, entry := registered(team.ID, "billing", "http://a:80", now)
		putExecutor(t, d, e, entry)
		beat := func(after time.Duration, running int) bool {
			t.Helper()
			ok, err := d.BeatExecutor(t.Context(), e.ID, running, now.Add(after))
			require.NoError(t, err)
			return ok
		}
		require.True(t, beat(14*time.Second, 3))
		require.True(t, beat(13*time.Second, 4), "one that was overtaken")
		got, err := d.Executor(t.Context(), e.ID)
		require.NoError(t, err)
		e.BeatAt, e.Running = now.Add(14*time.Second), 4
		require.Equal(t, e, got)
		require.False(t, beat(29*time.Second, 0))

		require.NoError(t, d.CloseExecutor(t.Context(), e.ID, now.Add(20*time.Second), entry))
		require.NoError(t, d.CloseExecutor(t.Context(), e.ID, now.Add(25*time.Second), entry))
		require.False(t, beat(21*time.Second, 0), "it left")
		got, err = d.Executor(t.Context(), e.ID)
		require.NoError(t, err)
		require.Equal(t, now.Add(20*time.Second), got.ClosedAt)
		require.Equal(t, 2, count(t, d, "audit_log WHERE action='executor.register'"), "leaving twice is told once")
		unknown, err := d.BeatExecutor(t.Context(), dbtest.ID(), 0, now)
		require.NoError(t, err)
		require.False(t, unknown)

		require.NoError(t, d.PruneExecutors(t.Context(), now.Add(14*time.Second+24*time.Hour)))
		require.Equal(t, 1, count(t, d, "executors"))
		require.NoError(t, d.PruneExecutors(t.Context(), now.Add(15*time.Second+24*time.Hour)))
		require.Equal(t, 0, count(t, d, "executors"))
	})
}

func TestTheShardsOfABroadcastAreKept(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now, id := time.UnixMilli(1_796_000_000_000).UTC(), dbtest.ID()
		var want []sched.ShardRun
		for i := range 3 {
			want = append(want, sched.ShardRun{
				Attempt: 1, Shard: sched.Shard{Index: i, Total: 3}, Executor: "billing", Address: "http://a:80", StartedAt: now,
			})
		}
		require.NoError(t, d.BeginShards(t.Context(), id, nil))
		require.NoError(t, d.BeginShards(t.Context(), id, want))
		want[1].Outcome, want[1].StatusCode, want[1].Error, want[1].EndedAt = sched.OutcomeTimedOut, 500, "出错 answered 500", now.Add(time.Second)
		require.NoError(t, d.EndShard(t.Context(), id, want[1]))
		got, err := d.Shards(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.Equal(t, time.Second, got[1].Took())
		require.Zero(t, got[0].Took())
		require.NoError(t, d.PruneExecutors(t.Context(), now.Add(31*24*time.Hour)))
		require.Equal(t, 0, count(t, d, "attempt_shards"))
	})
}

func TestATokenKeepsTheExecutorsThatItMayRegister(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		team := h.team(t, "payments")
		_, made, err := h.tokens.Create(t.Context(), cli, access.NewToken{
			TeamID: team.ID, Name: "billing", Role: access.Operator, Executors: []string{"mail", "billing", "mail"},
		})
		require.NoError(t, err)
		require.Equal(t, []string{"billing", "mail"}, made.Executors)
		list, err := h.tokens.List(t.Context(), cli, team.ID)
		require.NoError(t, err)
		require.Equal(t, []access.APIToken{made}, list)
		require.True(t, list[0].MayRegister("mail"))
		require.False(t, list[0].MayRegister("mai"))
	})
}
