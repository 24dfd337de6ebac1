package db_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

// atProvider is somebody at the provider, and the key of that.
func atProvider(subject string) (access.ProviderID, string) {
	return access.ProviderID{Issuer: "https://id.example.com", Subject: subject}, fmt.Sprintf("%064x", []byte(subject))
}

// provide makes of the identity what change says.
func provide(t *testing.T, d *db.DB, subject string, change func(access.Provided) (access.ProvidedChange, error)) (access.Person, error) {
	t.Helper()
	id, key := atProvider(subject)
	return d.ApplyProvided(t.Context(), id, key, change)
}

// joins is a change that makes the person, or leaves them, with a role in the
// team.
func joins(login string, team int64, role access.Role) func(access.Provided) (access.ProvidedChange, error) {
	return func(was access.Provided) (access.ProvidedChange, error) {
		p := was.Person
		if p.ID == 0 {
			p = access.Person{Login: login, CreatedAt: time.UnixMilli(1)}
		}
		e := access.Entry{At: time.UnixMilli(2), Actor: access.Actor{Kind: access.User, Name: login}, Action: "user.create", Object: access.Object{Kind: "user", Name: login}}
		return access.ProvidedChange{Person: p, Admin: true, Roles: map[int64]access.Role{team: role}, Entries: []access.Entry{e}}, nil
	}
}

// seen reads what there is, and changes nothing.
func seen(t *testing.T, d *db.DB, subject string) access.Provided {
	t.Helper()
	var out access.Provided
	stop := errors.New("only looked")
	_, err := provide(t, d, subject, func(was access.Provided) (access.ProvidedChange, error) {
		out = was
		return access.ProvidedChange{}, stop
	})
	require.ErrorIs(t, err, stop)
	return out
}

func insertTeam(t *testing.T, d *db.DB, code string) int64 {
	t.Helper()
	id, err := d.InsertTeam(t.Context(), access.Team{Code: code, Name: code, CreatedAt: time.UnixMilli(1)}, access.Entry{At: time.UnixMilli(1), Action: "team.create"})
	require.NoError(t, err)
	return id
}

func TestWhatTheProviderGaveIsMarked(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team, other := insertTeam(t, d, "one"), insertTeam(t, d, "two")
		require.Zero(t, seen(t, d, "s-1").Person.ID)
		p, err := provide(t, d, "s-1", joins("lin", team, access.Editor))
		require.NoError(t, err)
		byHand := func(team int64, role access.Role) {
			require.NoError(t, d.ChangeMember(t.Context(), team, p.ID, func(access.Role) (access.Role, access.Entry, error) {
				return role, access.Entry{At: time.UnixMilli(3), Action: "team.member"}, nil
			}))
		}
		byHand(other, access.Viewer)
		was := seen(t, d, "s-1")
		require.Equal(t, p.ID, was.Person.ID)
		require.True(t, was.Admin)
		require.False(t, was.Auditor)
		require.Equal(t, map[int64]access.Role{team: access.Editor, other: access.Viewer}, was.Roles)
		require.Equal(t, map[int64]bool{team: true, other: false}, was.FromProvider)
		require.Len(t, was.Teams, 2)

		members, err := d.Members(t.Context(), team)
		require.NoError(t, err)
		require.True(t, members[0].Provided)
		members, err = d.Members(t.Context(), other)
		require.NoError(t, err)
		require.False(t, members[0].Provided)

		byHand(team, access.Editor) // the same role, but now it is ax's
		require.False(t, seen(t, d, "s-1").FromProvider[team])
		_, err = provide(t, d, "s-1", joins("lin", team, access.Owner))
		require.NoError(t, err)
		require.True(t, seen(t, d, "s-1").FromProvider[team])
		_, err = provide(t, d, "s-1", joins("lin", team, ""))
		require.NoError(t, err)
		require.Equal(t, map[int64]access.Role{other: access.Viewer}, seen(t, d, "s-1").Roles)

		_, err = d.ChangeUser(t.Context(), p.ID, func(was access.Person) (access.Person, access.Entry, error) {
			was.Admin = true
			return was, access.Entry{At: time.UnixMilli(4), Action: "user.rights"}, nil
		})
		require.NoError(t, err)
		require.False(t, seen(t, d, "s-1").Admin, "given by hand")
		people, err := d.Standings(t.Context())
		require.NoError(t, err)
		id, _ := atProvider("s-1")
		require.Equal(t, id, people[0].Bound)
	})
}

func TestAFirstSignInThroughTheProviderIsWholeOrNotAtAll(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := insertTeam(t, d, "one")
		_, err := d.InsertUser(t.Context(), access.Person{Login: "lin", CreatedAt: time.UnixMilli(1)}, access.Entry{At: time.UnixMilli(1), Action: "user.create"})
		require.NoError(t, err)
		before := dump(t, d, ledgerTables()...)
		_, err = provide(t, d, "s-1", joins("lin", team, access.Viewer))
		require.Equal(t, fault.KindConflict, fault.KindOf(err))
		require.Equal(t, before, dump(t, d, ledgerTables()...))
		p, err := provide(t, d, "s-1", joins("lin.2", team, access.Viewer))
		require.NoError(t, err)
		var rows []struct{ ActorID, ObjectID string }
		require.NoError(t, d.View(t.Context()).Raw("SELECT actor_id, object_id FROM audit_log WHERE object_name='lin.2'").Scan(&rows).Error)
		require.Equal(t, fmt.Sprint(p.ID), rows[0].ActorID, "the new person is who did it")
		require.Equal(t, fmt.Sprint(p.ID), rows[0].ObjectID)
	})
}

func TestOfManyFirstSignInsAtOnceOneMakesThePerson(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		team := insertTeam(t, d, "one")
		var all sync.WaitGroup
		made := make([]error, 8)
		for i := range made {
			all.Go(func() {
				_, made[i] = provide(t, d, "s-1", joins("lin", team, access.Viewer))
				if fault.KindOf(made[i]) == fault.KindConflict { // as app/access does
					_, made[i] = provide(t, d, "s-1", joins("lin", team, access.Viewer))
				}
			})
		}
		all.Wait()
		require.NoError(t, errors.Join(made...))
		var n int
		require.NoError(t, d.View(t.Context()).Raw("SELECT COUNT(*) FROM users").Scan(&n).Error)
		require.Equal(t, 1, n)
	})
}

func TestAnIdentityIsOnePersons(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var users []int64
		for _, login := range []string{"lin", "wei"} {
			id, err := d.InsertUser(t.Context(), access.Person{Login: login, CreatedAt: time.UnixMilli(1)}, access.Entry{At: time.UnixMilli(1), Action: "user.create"})
			require.NoError(t, err)
			users = append(users, id)
		}
		bind := func(user int64, subject string) error {
			id, key := atProvider(subject)
			return d.BindIdentity(t.Context(), user, id, key, time.UnixMilli(5), access.Entry{At: time.UnixMilli(5), Action: "user.bind"})
		}
		require.NoError(t, bind(users[0], "s-1"))
		require.NoError(t, bind(users[0], "s-1"), "again is no harm")
		require.NoError(t, bind(users[1], "s-2"))
		require.Equal(t, fault.KindConflict, fault.KindOf(bind(users[1], "s-1")))
		require.Equal(t, users[1], seen(t, d, "s-2").Person.ID)
		require.NoError(t, bind(users[0], "s-3"))
		require.Zero(t, seen(t, d, "s-1").Person.ID, "one person has one")
		require.NoError(t, bind(users[0], ""))
		require.Zero(t, seen(t, d, "s-3").Person.ID)
		p, err := d.User(t.Context(), users[0])
		require.NoError(t, err)
		require.Equal(t, 4, p.Epoch, "each ends the sessions")
		require.Equal(t, fault.KindNotFound, fault.KindOf(bind(99, "s-9")))
	})
}

func TestAStateIsSpentOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, key := atProvider("a state")
		first, err := d.SpendState(t.Context(), key, time.UnixMilli(1000))
		require.NoError(t, err)
		require.True(t, first)
		first, err = d.SpendState(t.Context(), key, time.UnixMilli(1000))
		require.NoError(t, err)
		require.False(t, first)
		_, err = d.PruneSessions(t.Context(), time.UnixMilli(1001), time.UnixMilli(0))
		require.NoError(t, err)
		require.Zero(t, len(dump(t, d, "spent_states")))
	})
}
