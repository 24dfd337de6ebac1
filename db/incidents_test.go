package db_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

func anIncident(fingerprint string, members ...string) alert.Incident {
	i := alert.Incident{
		ID: dbtest.ID(), RuleID: 7, RuleName: "Failures in a row", Metric: alert.InARow, TeamID: 1, Fingerprint: fingerprint,
		State: alert.Firing, Level: alert.P1, Host: "pay.internal", Threshold: 3, Value: 4, Worst: 5, Since: t0, OpenedAt: t0,
		TellAt: t0, Everyone: len(members),
	}
	for n, m := range members {
		i.Members = append(i.Members, alert.Member{
			Subject: alert.Subject{Kind: alert.TaskSubject, Key: m, Name: "Task " + m}, Value: float64(len(members) - n), Since: t0,
			Detail: "refused", Instance: dbtest.ID(), Owner: "ann", Level: alert.P1,
		})
	}
	return i
}

func record(t *testing.T, d *db.DB, c alert.IncidentChange) bool {
	t.Helper()
	stored, err := d.RecordIncident(t.Context(), c, t0)
	require.NoError(t, err)
	return stored
}

func openIncidents(t *testing.T, d *db.DB) []alert.Incident {
	t.Helper()
	all, err := d.OpenIncidents(t.Context())
	require.NoError(t, err)
	return all
}

func TestAnIncidentIsReadAsItWasStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		i := anIncident("f", "a", "b", "c")
		require.True(t, record(t, d, alert.IncidentChange{Is: i, Members: true}))
		i.Version = 1
		require.Equal(t, []alert.Incident{i}, openIncidents(t, d))

		i.State, i.EndedAt, i.ToldAt, i.Told, i.Escalated, i.Quiets = alert.Over, later(9), later(3), 2, time.Minute, 3
		i.Members = i.Members[1:]
		require.True(t, record(t, d, alert.IncidentChange{Is: i, Members: true}))
		require.Empty(t, openIncidents(t, d))
		got, err := d.Incident(t.Context(), i.ID)
		require.NoError(t, err)
		i.Version = 2
		require.Equal(t, i, got)
	})
}

func TestOfManyNodesOneOpensTheIncidentAndItsMessages(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.Feishu)
		var won sync.Map
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				i := anIncident("f", "a")
				stored, err := d.RecordIncident(t.Context(), alert.IncidentChange{Is: i, Members: true, Deliveries: []alert.Delivery{aDelivery(ch, "opened")}}, t0)
				if err == nil && stored {
					won.Store(n, true)
				}
			})
		}
		all.Wait()
		n := 0
		won.Range(func(any, any) bool { n++; return true })
		require.Equal(t, 1, n)
		require.Len(t, openIncidents(t, d), 1)
		require.Equal(t, 1, count(t, d, "deliveries"))
	})
}

func TestATurnThatReadAnOlderIncidentChangesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ch := makeChannel(t, d, alert.Feishu)
		record(t, d, alert.IncidentChange{Is: anIncident("f", "a"), Members: true})
		read := openIncidents(t, d)[0]
		acked := read
		acked.AckedBy, acked.AckedAt = "ann", later(1)
		entry := access.Entry{At: t0, Actor: dbtest.Maker(), Action: "incident.acknowledge", Object: access.Object{Kind: "incident", ID: read.ID}, TeamID: 1}
		require.NoError(t, d.ChangeIncident(t.Context(), acked, entry))
		require.Equal(t, fault.KindConflict, fault.KindOf(d.ChangeIncident(t.Context(), acked, entry)))

		read.Value = 9
		require.False(t, record(t, d, alert.IncidentChange{Is: read, Deliveries: []alert.Delivery{aDelivery(ch, "repeated")}}))
		require.Zero(t, count(t, d, "deliveries"))
		got, err := d.Incident(t.Context(), read.ID)
		require.NoError(t, err)
		require.Equal(t, "ann", got.AckedBy)
		require.InDelta(t, 4, got.Value, 0)
	})
}

func TestAPendingIncidentIsForgottenWhole(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		i := anIncident("f", "a")
		i.State = alert.Pending
		record(t, d, alert.IncidentChange{Is: i, Members: true})
		i.Version = 1
		require.True(t, record(t, d, alert.IncidentChange{Is: i, Drop: true}))
		require.Zero(t, count(t, d, "incidents"))
		require.Zero(t, count(t, d, "incident_members"))
	})
}

func TestAThousandMembersAreStored(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		names := make([]string, 1000)
		for n := range names {
			names[n] = fmt.Sprint("t", n)
		}
		record(t, d, alert.IncidentChange{Is: anIncident("f", names...), Members: true})
		got := openIncidents(t, d)[0]
		require.Len(t, got.Members, 1000)
		got.Members = got.Members[:10]
		record(t, d, alert.IncidentChange{Is: got, Members: true})
		require.Len(t, openIncidents(t, d)[0].Members, 10)
	})
}

func TestOneNodeHasTheTurn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		turn := func(now time.Time) int {
			got := make(chan bool, 4)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					mine, err := d.TakeTurn(t.Context(), now)
					got <- err == nil && mine
				})
			}
			all.Wait()
			close(got)
			n := 0
			for mine := range got {
				if mine {
					n++
				}
			}
			return n
		}
		require.Equal(t, 1, turn(t0))
		require.Zero(t, turn(later(4)))
		require.Equal(t, 1, turn(later(5)))
		require.Equal(t, 1, turn(later(-60)), "a clock that was set back stops nothing")
	})
}

func TestAListOfIncidentsIsOfTheTeamsAndTheInstallation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for n, team := range []int64{0, 1, 2} {
			i := anIncident(fmt.Sprint("f", n), "a")
			i.TeamID = team
			record(t, d, alert.IncidentChange{Is: i, Members: true})
		}
		list := func(f alert.IncidentFilter) (teams []int64) {
			f.Limit = 10
			all, err := d.Incidents(t.Context(), f)
			require.NoError(t, err)
			for _, i := range all {
				teams = append(teams, i.TeamID)
			}
			return teams
		}
		require.Equal(t, []int64{1, 0}, list(alert.IncidentFilter{Open: true, Scope: access.Scope{Teams: []int64{1}}}))
		require.Equal(t, []int64{2, 1, 0}, list(alert.IncidentFilter{Open: true, Scope: access.Scope{All: true}, Task: "a"}))
		require.Empty(t, list(alert.IncidentFilter{Open: true, Scope: access.Scope{All: true}, Task: "b"}))
		require.Empty(t, list(alert.IncidentFilter{Scope: access.Scope{All: true}}))
	})
}

func TestMembersThatStayAsTheyAreAreNotWrittenAgain(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		record(t, d, alert.IncidentChange{Is: anIncident("f", "a", "b", "c", "d"), Members: true})
		is := openIncidents(t, d)[0]
		exec(t, d, "UPDATE incident_members SET subject_name='left alone'") // what nobody writes again keeps it
		is.Members[1].Detail = "timed out"
		is.Members[3].Subject = alert.Subject{Kind: alert.TaskSubject, Key: "e", Name: "Task e"}
		is.Members[0].Subject.Name, is.Members[2].Subject.Name = "left alone", "left alone"
		require.True(t, record(t, d, alert.IncidentChange{Is: is, Members: true}))
		is.Version++
		require.Equal(t, is.Members, openIncidents(t, d)[0].Members)
		require.Equal(t, 2, count(t, d, "incident_members WHERE subject_name='left alone' AND gone_at IS NULL"))
		require.Equal(t, 1, count(t, d, "incident_members WHERE subject_key='d' AND gone_at IS NOT NULL"))
	})
}
