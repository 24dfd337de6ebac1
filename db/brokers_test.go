package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func brokerOf(team int64, name string) (access.Broker, access.Entry) {
	now := time.UnixMilli(1_796_000_000_000).UTC()
	b := access.Broker{
		ID: strings.ReplaceAll(dbtest.ID(), "-", ""), TeamID: team, Name: name, Kind: access.BrokerAMQP, Address: "amqp://rabbit.example.com:5672/店", TLS: true,
		Places: []string{"orders order.*", "orders shop.#"}, CreatedBy: "ada", CreatedAt: now, ChangedBy: "ada", ChangedAt: now,
	}
	return b, access.Entry{At: now, Actor: cli, Action: "broker.create", Object: b.Object(), TeamID: team}
}

func storeBroker(t *testing.T, d *db.DB, team int64, name, sealed string) access.Broker {
	t.Helper()
	b, e := brokerOf(team, name)
	require.NoError(t, d.InsertBroker(t.Context(), b, sealed, 3, e))
	return b
}

// posting makes a task of the team that publishes to the broker.
func posting(broker string) dbtest.TaskOption {
	return func(t *sched.Task) {
		t.Spec.Target = sched.Target{Kind: sched.TargetMQ, Broker: broker, Exchange: "orders", RoutingKey: "order.close", Done: sched.DoneReceipt}
	}
}

func TestBrokersAreTheTeamsAndKnowWhoNamesThem(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		shop, depot := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		rabbit := storeBroker(t, d, shop.ID, "rabbit", "sealed-1")
		storeBroker(t, d, shop.ID, "another", "sealed-2")
		storeBroker(t, d, depot.ID, "rabbit", "sealed-3")
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.a"), posting("rabbit"))
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.gone"), posting("rabbit"), func(t *sched.Task) { t.ArchivedAt = dbtest.Start() })
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.words"), func(t *sched.Task) { t.Spec.Payload = []byte(`{"broker":"rabbit"}`) })

		list, err := d.Brokers(ctx, shop.ID)
		require.NoError(t, err)
		require.Len(t, list, 2)
		require.Equal(t, "another", list[0].Name)
		want := rabbit
		want.Tasks = 1
		require.Equal(t, want, list[1])
		got, sealed, err := d.Broker(ctx, shop.ID, "rabbit")
		require.NoError(t, err)
		require.Equal(t, rabbit, got)
		require.Equal(t, "sealed-1", sealed)
		for _, name := range []string{"Rabbit", "none", ""} {
			_, _, err = d.Broker(ctx, shop.ID, name)
			require.Equal(t, fault.KindNotFound, fault.KindOf(err), "%q", name)
		}
		texts, err := d.SealedTexts(ctx)
		require.NoError(t, err)
		require.Contains(t, texts, access.SealedText{Place: "brokers.sealed." + rabbit.ID, Text: "sealed-1"})
	})
}

func TestABrokerIsChangedAndTakenAwayByItsTeamAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		shop, depot := dbtest.MakeTeam(t, d), dbtest.MakeTeam(t, d)
		rabbit := storeBroker(t, d, shop.ID, "rabbit", "sealed-1")
		dbtest.MakeTask(t, d, dbtest.Of(shop), dbtest.Code("pay.a"), posting("rabbit"))
		entry := func(action string) access.Entry {
			return access.Entry{At: dbtest.Start(), Actor: cli, Action: action, Object: rabbit.Object(), TeamID: shop.ID}
		}
		foreign := rabbit
		foreign.TeamID = depot.ID
		require.Equal(t, fault.KindNotFound, fault.KindOf(d.DeleteBroker(ctx, foreign, entry("broker.delete"))))
		require.Equal(t, fault.KindNotFound, fault.KindOf(d.ChangeBroker(ctx, foreign, "x", entry("broker.update"))))
		err := d.DeleteBroker(ctx, rabbit, entry("broker.delete"))
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.ErrorContains(t, err, "rabbit is named by pay.a")

		changed := rabbit
		changed.Address, changed.TLS, changed.Places, changed.ChangedBy = "amqp://other.example.com:5672", false, []string{"x #"}, "bob"
		require.NoError(t, d.ChangeBroker(ctx, changed, "", entry("broker.update")))
		got, sealed, err := d.Broker(ctx, shop.ID, "rabbit")
		require.NoError(t, err)
		require.Equal(t, changed, got)
		require.Equal(t, "sealed-1", sealed)
		require.NoError(t, d.ChangeBroker(ctx, changed, "sealed-2", entry("broker.update")))
		_, sealed, err = d.Broker(ctx, shop.ID, "rabbit")
		require.NoError(t, err)
		require.Equal(t, "sealed-2", sealed)

		b, e := brokerOf(shop.ID, "rabbit")
		require.Equal(t, fault.KindConflict, fault.KindOf(d.InsertBroker(ctx, b, "x", 3, e)))
		storeBroker(t, d, shop.ID, "second", "x")
		storeBroker(t, d, shop.ID, "third", "x")
		b, e = brokerOf(shop.ID, "fourth")
		require.ErrorContains(t, d.InsertBroker(ctx, b, "x", 3, e), "The team has 3 brokers")

		exec(t, d, "UPDATE tasks SET archived_at=1 WHERE team_id=?", shop.ID)
		require.NoError(t, d.DeleteBroker(ctx, rabbit, entry("broker.delete")))
		_, _, err = d.Broker(ctx, shop.ID, "rabbit")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}
