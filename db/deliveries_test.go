package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/alert"
	"ax/db"
	"ax/db/dbtest"
)

// makeChannel stores a channel by hand: how people make one is tested with
// channels.
func makeChannel(t *testing.T, d *db.DB, kind alert.ChannelKind) string {
	t.Helper()
	id := strings.ReplaceAll(dbtest.ID(), "-", "")
	exec(t, d, "INSERT INTO channels (id, team_id, kind, name, language, mention, sealed, created_by, created_at, changed_by, changed_at)"+
		" VALUES (?,1,?,?,'en','owner','','maker',0,'maker',0)", id, string(kind), "ch "+id)
	return id
}

func aDelivery(channel, dedupe string) alert.Delivery {
	id := dbtest.ID()
	return alert.Delivery{
		ID: id, TeamID: 1, ChannelID: channel, Object: "incident/1", Dedupe: dedupe, Kind: alert.Opened, State: alert.Waiting,
		Message: alert.Message{ID: id, Kind: alert.Opened, At: t0, Rule: emoji}, CreatedAt: t0, DueAt: t0,
	}
}

// tell stores messages as an incident's.
func tell(t *testing.T, d *db.DB, all ...alert.Delivery) {
	t.Helper()
	require.True(t, record(t, d, alert.IncidentChange{Is: anIncident(dbtest.ID(), "a"), Deliveries: all}))
}

func takeOut(t *testing.T, d *db.DB, channel, claim string, now time.Time) ([]alert.Delivery, bool) {
	t.Helper()
	_, got, ok, err := d.TakeDeliveries(t.Context(), alert.Taking{Channel: channel, Claim: claim, Now: now, Until: now.Add(alert.Lease), Most: 20})
	require.NoError(t, err)
	return got, ok
}

func TestAMessageIsReadAsItWasStoredAndOnceOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.Feishu)
		x := aDelivery(ch, "one")
		tell(t, d, x, aDelivery(ch, "one"))
		got, ok := takeOut(t, d, ch, dbtest.ID(), later(1))
		require.True(t, ok)
		x.Tries = 1
		require.Equal(t, []alert.Delivery{x}, got)
	})
}

func TestAChannelIsHeldByOneClaim(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.Webhook)
		tell(t, d, aDelivery(ch, "one"))
		mine, theirs := dbtest.ID(), dbtest.ID()
		got, ok := takeOut(t, d, ch, mine, t0)
		require.True(t, ok)
		_, ok = takeOut(t, d, ch, theirs, later(59))
		require.False(t, ok)
		due, err := d.DueChannels(t.Context(), later(59), 10)
		require.NoError(t, err)
		require.Empty(t, due)
		again, ok := takeOut(t, d, ch, theirs, later(60))
		require.True(t, ok, "the lease is over")
		require.Equal(t, 2, again[0].Tries)

		got[0].State, got[0].EndedAt = alert.Refused, later(61)
		require.NoError(t, d.SettleDeliveries(t.Context(), alert.Settling{Channel: ch, Claim: mine, Now: later(61), Done: got, OffWhy: "late"}))
		require.Equal(t, 1, count(t, d, "deliveries WHERE state='waiting'"), "the late one changes nothing")
		again[0].State, again[0].EndedAt = alert.Delivered, later(62)
		require.NoError(t, d.SettleDeliveries(t.Context(), alert.Settling{Channel: ch, Claim: theirs, Now: later(62), Done: again, FreeAt: later(70)}))
		require.Equal(t, 1, count(t, d, "deliveries WHERE state='delivered'"))
		require.Equal(t, 1, count(t, d, "channels WHERE claim IS NULL AND off_at IS NULL"))
		tell(t, d, aDelivery(ch, "two"))
		_, ok = takeOut(t, d, ch, mine, later(69))
		require.False(t, ok, "it rests")
		_, ok = takeOut(t, d, ch, mine, later(70))
		require.True(t, ok)
	})
}

func TestMessagesOfOneObjectGoInOrder(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.Webhook)
		first, second, other := aDelivery(ch, "1"), aDelivery(ch, "2"), aDelivery(ch, "3")
		first.DueAt = later(30) // it was tried, and waits
		other.Object = "incident/2"
		tell(t, d, first, second, other)
		got, _ := takeOut(t, d, ch, dbtest.ID(), later(1))
		require.Len(t, got, 1)
		require.Equal(t, other.ID, got[0].ID)
		got, ok := takeOut(t, d, ch, dbtest.ID(), later(90))
		require.True(t, ok)
		require.Equal(t, []string{first.ID, second.ID, other.ID}, []string{got[0].ID, got[1].ID, got[2].ID})
	})
}

func TestNothingIsTakenOfAChannelThatIsOff(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.DingTalk)
		tell(t, d, aDelivery(ch, "one"))
		claim := dbtest.ID()
		got, _ := takeOut(t, d, ch, claim, t0)
		require.NoError(t, d.SettleDeliveries(t.Context(), alert.Settling{Channel: ch, Claim: claim, Now: t0, Done: got, OffWhy: "310000 sign not match"}))
		require.Equal(t, 1, count(t, d, "channels WHERE off_why='310000 sign not match'"))
		_, ok := takeOut(t, d, ch, claim, later(100))
		require.False(t, ok)
		require.NoError(t, d.ExpireDeliveries(t.Context(), later(-1), later(100)))
		require.Equal(t, 1, count(t, d, "deliveries WHERE state='waiting'"), "it can still be mended")
		require.NoError(t, d.ExpireDeliveries(t.Context(), later(1), later(100)))
		require.Equal(t, 1, count(t, d, "deliveries WHERE state='refused'"))
	})
}

func TestOldMessagesAndIncidentsGo(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.Webhook)
		x := aDelivery(ch, "old")
		tell(t, d, x, aDelivery(ch, "waits"))
		exec(t, d, "UPDATE deliveries SET state='delivered', ended_at=? WHERE id=?", db.At(t0), x.ID)
		require.NoError(t, d.PruneDeliveries(t.Context(), t0.Add(29*24*time.Hour)))
		require.Equal(t, 2, count(t, d, "deliveries"))
		require.NoError(t, d.PruneDeliveries(t.Context(), t0.Add(31*24*time.Hour)))
		require.Equal(t, 1, count(t, d, "deliveries"))

		over := openIncidents(t, d)[0]
		over.State, over.EndedAt = alert.Over, t0
		require.True(t, record(t, d, alert.IncidentChange{Is: over}))
		require.NoError(t, d.PruneIncidents(t.Context(), t0.AddDate(2, 0, 0)))
		require.Zero(t, count(t, d, "incidents"))
		require.Zero(t, count(t, d, "incident_members"))
	})
}
