package access

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

func TestAGrantIsReadFromItsText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Grant{
		"ops = payments:operator":                  {Group: "ops", Team: "payments", Role: Operator},
		"ops=payments:owner":                       {Group: "ops", Team: "payments", Role: Owner},
		"ax admins = admin":                        {Group: "ax admins", Admin: true},
		"audit = auditor":                          {Group: "audit", Auditor: true},
		"cn=ops,ou=g,dc=example = payments:viewer": {Group: "cn=ops,ou=g,dc=example", Team: "payments", Role: Viewer},
		"/ops/core = payments : editor":            {Group: "/ops/core", Team: "payments", Role: Editor},
	} {
		got, err := ParseGrant(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"", "ops", "= admin", "ops = ", "ops = everything", "ops = payments", "ops = payments:admin", "ops = PAY:viewer", "ops = :viewer", "ops = Admin"} {
		_, err := ParseGrant(text)
		require.Error(t, err, "%q", text)
	}
}

func TestALoginIsMadeOfWhatTheProviderSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		said Assertion
		want string
	}{
		"its name there":        {Assertion{Login: "Lin.Wei"}, "lin.wei"},
		"an address":            {Assertion{Login: "lin@example.com"}, "lin@example.com"},
		"odd characters":        {Assertion{Login: `CORP\lin wei`}, "corp-lin-wei"},
		"no name, an address":   {Assertion{Email: "lin@example.com"}, "lin@example.com"},
		"a name that is no use": {Assertion{Login: "林", Email: "lin@example.com"}, "lin@example.com"},
		"too long":              {Assertion{Login: strings.Repeat("a", 80)}, strings.Repeat("a", 64)},
		"nothing of use":        {Assertion{Login: "林", ProviderID: ProviderID{"https://id", "s-1"}}, "user-" + ProviderID{"https://id", "s-1"}.key()[:12]},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, c.said.loginFor())
			require.Empty(t, checkLogin(c.want))
		})
	}
}

// The rule of what a sign-in makes of rights: given in ax stays, given by the
// provider follows the groups.
func TestWhatWasGivenInAxStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ has, given, wants, is, isGiven bool }{
		"nothing":                           {false, false, false, false, false},
		"the group gives it":                {false, false, true, true, true},
		"the group still gives it":          {true, true, true, true, true},
		"the group is gone":                 {true, true, false, false, false},
		"given in ax":                       {true, false, false, true, false},
		"given in ax, and by the group":     {true, false, true, true, false},
		"taken in ax, and the group has it": {false, true, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			is, given := provide(c.has, c.given, c.wants)
			require.Equal(t, []bool{c.is, c.isGiven}, []bool{is, given})
		})
	}
}

func TestTheHigherRoleOfTwoGroupsCounts(t *testing.T) {
	t.Parallel()
	grants := []Grant{{Group: "a", Team: "one", Role: Editor}, {Group: "b", Team: "one", Role: Viewer}, {Group: "b", Team: "gone", Role: Owner}}
	teams := []Team{{ID: 1, Code: "one"}, {ID: 2, Code: "two"}}
	require.Equal(t, map[int64]Role{1: Editor}, grantedTo([]string{"b", "a"}, grants, teams).roles)
	require.True(t, grantedTo([]string{"A", "c"}, grants, teams).none(), "names of groups are compared to the letter")
	require.True(t, grantedTo(nil, []Grant{{Group: "", Admin: true}}, teams).none())
	require.True(t, grantedTo([]string{"x"}, []Grant{{Group: "x", Team: "gone", Role: Owner}}, teams).none(), "a team that isn't there gives nothing")
}

var errDisbelief = errors.New("the signature is wrong")

// comes is somebody who comes back from the provider with the groups.
func (h *house) comes(t *testing.T, ask func(context.Context, Trip) (Assertion, error)) (string, error) {
	t.Helper()
	trip, sealed, err := h.sessions.BeginTrip("/tasks")
	require.NoError(t, err)
	token, back, err := h.sessions.SignInThrough(t.Context(), Return{
		Provider: "Company", Trip: sealed, State: trip.State, Address: "10.0.0.1:5000", Ask: ask,
		Grants: []Grant{{Group: "ops", Team: "payments", Role: Operator}, {Group: "admins", Admin: true}},
	})
	if err == nil {
		require.Equal(t, "/tasks", back.Next)
	}
	return token, err
}

func in(groups ...string) func(context.Context, Trip) (Assertion, error) {
	return func(context.Context, Trip) (Assertion, error) {
		return Assertion{ProviderID: ProviderID{"https://id", "s-1"}, Login: "lin", Groups: groups}, nil
	}
}

func TestTheLastAdministratorStaysOneWhateverTheGroups(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.team(t, "payments")
	_, err := h.comes(t, in("admins", "ops"))
	require.NoError(t, err)
	token, err := h.comes(t, in("ops"))
	require.NoError(t, err)
	a, err := h.resolve(t, token)
	require.NoError(t, err)
	require.True(t, a.Admin, "there is no other one")
	h.person(t, "boss", admin)
	token, err = h.comes(t, in("ops"))
	require.NoError(t, err)
	a, err = h.resolve(t, token)
	require.NoError(t, err)
	require.False(t, a.Admin)
}

func TestATripEndsOnceAndInTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.team(t, "payments")
	trip, sealed, err := h.sessions.BeginTrip("/")
	require.NoError(t, err)
	back := Return{Provider: "Company", Trip: sealed, State: trip.State, Ask: in("ops"), Grants: []Grant{{Group: "ops", Team: "payments", Role: Operator}}}
	for name, change := range map[string]func(*Return){
		"another state": func(r *Return) { r.State = trip.Nonce }, "no state": func(r *Return) { r.State = "" },
		"no trip": func(r *Return) { r.Trip = "" }, "a trip of one's own making": func(r *Return) { r.Trip = "{}" },
		"a changed trip": func(r *Return) { r.Trip = sealed[:len(sealed)-2] + "AA" },
	} {
		bad := back
		bad.Address = name + ":1"
		change(&bad)
		_, _, err := h.sessions.SignInThrough(t.Context(), bad)
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err), name)
	}
	_, _, err = h.sessions.SignInThrough(t.Context(), back)
	require.NoError(t, err)
	_, _, err = h.sessions.SignInThrough(t.Context(), back)
	require.ErrorContains(t, err, "is over", "a copy of the cookie is worth nothing")

	trip, sealed, err = h.sessions.BeginTrip("/")
	require.NoError(t, err)
	h.forward(tripLife)
	back.Trip, back.State = sealed, trip.State
	_, _, err = h.sessions.SignInThrough(t.Context(), back)
	require.ErrorContains(t, err, "is over")
}

func TestAnswersThatCantBeBelievedAreThrottledAndOthersNot(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.team(t, "payments")
	for range 20 {
		_, err := h.comes(t, func(context.Context, Trip) (Assertion, error) { return Assertion{}, GaveUp("Company", nil) })
		require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
		_, err = h.comes(t, func(context.Context, Trip) (Assertion, error) { return Assertion{}, fault.Unavailable(errAway, "away") })
		require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
		_, err = h.comes(t, in("no group of ours"))
		require.Equal(t, fault.KindDenied, fault.KindOf(err))
	}
	var err error
	for range 6 {
		_, err = h.comes(t, func(context.Context, Trip) (Assertion, error) { return Assertion{}, errDisbelief })
	}
	require.Equal(t, fault.KindTooMany, fault.KindOf(err))
	_, err = h.comes(t, in("ops"))
	require.Equal(t, fault.KindTooMany, fault.KindOf(err))
	h.forward(2 * time.Second)
	_, err = h.comes(t, in("ops"))
	require.NoError(t, err)
}

func TestASubjectThatCantBeKeptIsRefused(t *testing.T) {
	t.Parallel()
	for _, subject := range []string{"", strings.Repeat("x", 256), "a\nb", "\xff"} {
		require.False(t, ProviderID{"https://id", subject}.Valid())
	}
	require.NotEqual(t, ProviderID{"https://id", "x"}.key(), ProviderID{"https://i", "dx"}.key())
	h := newHouse(t)
	_, err := h.comes(t, func(context.Context, Trip) (Assertion, error) {
		return Assertion{ProviderID: ProviderID{"https://id", "a\nb"}, Groups: []string{"admins"}}, nil
	})
	require.Equal(t, fault.KindUnauthenticated, fault.KindOf(err))
}

func TestOnlyAnAdministratorBindsPeople(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	p, q := h.person(t, "lin"), h.person(t, "wei")
	require.Equal(t, fault.KindNotFound, fault.KindOf(h.users.Bind(t.Context(), Actor{Kind: User, ID: p.ID}, p.ID, ProviderID{"https://id", "s-1"})))
	require.NoError(t, h.users.Bind(t.Context(), root, p.ID, ProviderID{"https://id", " s-1 "}))
	require.Equal(t, fault.KindConflict, fault.KindOf(h.users.Bind(t.Context(), root, q.ID, ProviderID{"https://id", "s-1"})))
	require.Equal(t, []string{"subject"}, fails(t, h.users.Bind(t.Context(), root, q.ID, ProviderID{"https://id", "a\nb"})))
	require.NoError(t, h.users.Bind(t.Context(), root, p.ID, ProviderID{Issuer: "https://id"}))
	require.NoError(t, h.users.Bind(t.Context(), root, q.ID, ProviderID{"https://id", "s-1"}))
}
