package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/app/sched"
	"ax/db"
	"ax/db/dbtest"
)

func replayEntry() access.Entry {
	return access.Entry{At: t0, Actor: dbtest.Maker(), Action: "delivery.replay", Object: access.Object{Kind: "delivery", ID: "1"}, TeamID: 1}
}

func TestMessagesAreListedByTeamAndTheLatestFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch, other := makeChannel(t, d, alert.Webhook), makeChannel(t, d, alert.Feishu)
		all := []alert.Delivery{aDelivery(ch, "1"), aDelivery(other, "2"), aDelivery(ch, "3"), aDelivery(ch, "4")}
		all[3].TeamID = 2
		require.NoError(t, d.InsertDeliveries(t.Context(), all))
		list := func(f alert.DeliveryFilter, p sched.PageRequest) (dedupes []string, next string) {
			page, err := d.Deliveries(t.Context(), f, p)
			require.NoError(t, err)
			for _, x := range page.Items {
				dedupes = append(dedupes, x.Dedupe)
			}
			return dedupes, page.Next
		}
		mine := access.Scope{Teams: []int64{1}}
		got, _ := list(alert.DeliveryFilter{Scope: access.Scope{All: true}}, sched.PageRequest{})
		require.Equal(t, []string{"4", "3", "2", "1"}, got)
		got, next := list(alert.DeliveryFilter{Scope: mine}, sched.PageRequest{Limit: 2})
		require.Equal(t, []string{"3", "2"}, got)
		got, _ = list(alert.DeliveryFilter{Scope: mine}, sched.PageRequest{Limit: 2, After: next})
		require.Equal(t, []string{"1"}, got)
		got, _ = list(alert.DeliveryFilter{Scope: mine, Channel: other}, sched.PageRequest{})
		require.Equal(t, []string{"2"}, got)
		got, _ = list(alert.DeliveryFilter{Scope: mine, State: alert.Delivered}, sched.PageRequest{})
		require.Empty(t, got)
		got, _ = list(alert.DeliveryFilter{}, sched.PageRequest{})
		require.Empty(t, got, "an empty scope sees nothing")
	})
}

func TestAMessageOfAPersonIsStoredWithItsAuditAndEndsOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.Webhook)
		x := aDelivery(ch, "replay/1")
		x.ReplayOf = dbtest.ID()
		require.NoError(t, d.AddDelivery(t.Context(), x, replayEntry()))
		require.Equal(t, 1, count(t, d, "audit_log WHERE action='delivery.replay'"))
		got, err := d.Delivery(t.Context(), x.ID)
		require.NoError(t, err)
		require.Equal(t, x, got)

		x.State, x.SentAt, x.EndedAt, x.Tries, x.Answer = alert.Refused, later(1), later(2), 1, alert.Answer{Verdict: alert.Again, Status: 503, Body: "busy"}
		require.NoError(t, d.EndDelivery(t.Context(), x))
		late := x
		late.State = alert.Delivered
		require.NoError(t, d.EndDelivery(t.Context(), late))
		got, err = d.Delivery(t.Context(), x.ID)
		require.NoError(t, err)
		require.Equal(t, x, got)

		gone := aDelivery("00000000000000000000000000000000", "replay/2")
		require.Equal(t, fault.KindConflict, fault.KindOf(d.AddDelivery(t.Context(), gone, replayEntry())))
		require.Equal(t, 1, count(t, d, "audit_log WHERE action='delivery.replay'"))
		_, err = d.Delivery(t.Context(), gone.ID)
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}

func TestAChannelIsNamedWithItsTeam(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := dbtest.MakeTeam(t, d)
		ch := makeChannel(t, d, alert.Slack)
		exec(t, d, "UPDATE channels SET team_id=? WHERE id=?", team.ID, ch)
		c, name, err := d.ChannelHead(t.Context(), ch)
		require.NoError(t, err)
		require.Equal(t, alert.Channel{ID: ch, TeamID: team.ID, Kind: alert.Slack, Name: "ch " + ch}, c)
		require.Equal(t, team.Name, name)
		exec(t, d, "UPDATE channels SET team_id=0 WHERE id=?", ch)
		_, name, err = d.ChannelHead(t.Context(), ch)
		require.NoError(t, err)
		require.Empty(t, name)
		_, _, err = d.ChannelHead(t.Context(), "x")
		require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	})
}
