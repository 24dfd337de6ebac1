package access

import (
	"strings"
	"testing"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

func TestCreateStoresTheLoginInLowerCaseAndAHash(t *testing.T) {
	h := newHouse(t)
	p := h.person(t, "  Ops-Lead@Example.COM ", admin)
	require.Equal(t, "ops-lead@example.com", p.Login)
	require.Equal(t, "plain:"+pass, p.PasswordHash)
	require.Equal(t, []string{"user.create"}, h.actions())
	require.Equal(t, "1", h.audit[0].Object.ID)
	require.Equal(t, []Change{{Field: "admin", Old: "false", New: "true"}}, h.audit[0].Changes)

	_, err := h.users.Create(t.Context(), root, NewUser{Login: "OPS-LEAD@example.com", Password: pass})
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
}

func TestCreateTellsAllBadFieldsAtOnce(t *testing.T) {
	long := strings.Repeat("ü", 128)
	for name, c := range map[string]struct {
		in  NewUser
		bad []string
	}{
		"all of them": {NewUser{Login: "a", Name: "x\ny", Email: "no", Password: "short",
			Preferences: Preferences{Language: "de", Zone: "Mars/Base", Theme: "pink"}},
			[]string{"login", "name", "email", "password", "language", "zone", "theme"}},
		"a space in the login":           {NewUser{Login: "ops lead", Password: pass}, []string{"login"}},
		"markup in the login":            {NewUser{Login: "<b>", Password: pass}, []string{"login"}},
		"a login of 65":                  {NewUser{Login: strings.Repeat("a", 65), Password: pass}, []string{"login"}},
		"a password of 9":                {NewUser{Login: "ops", Password: "123456789"}, []string{"password"}},
		"128 characters, not bytes":      {NewUser{Login: "ops", Password: long}, nil},
		"a password of 129":              {NewUser{Login: "ops", Password: long + "x"}, []string{"password"}},
		"a password with NUL is a text":  {NewUser{Login: "ops", Password: "0123456789\x00x"}, nil},
		"a password that is no text":     {NewUser{Login: "ops", Password: "0123456789\xff"}, []string{"password"}},
		"the login as password":          {NewUser{Login: "longenough", Password: "LongEnough"}, []string{"password"}},
		"a name of 101":                  {NewUser{Login: "ops", Name: strings.Repeat("名", 101), Password: pass}, []string{"name"}},
		"the server's own zone":          {NewUser{Login: "ops", Password: pass, Preferences: Preferences{Zone: "Local"}}, []string{"zone"}},
		"a name beside the mail address": {NewUser{Login: "ops", Email: "Ops <o@example.com>", Password: pass}, []string{"email"}},
		"the least there is":             {NewUser{Login: "ops", Password: pass}, nil},
		"everything chosen": {NewUser{Login: "ops", Name: "运维", Email: "o@example.com", Password: pass,
			Preferences: Preferences{Language: "zh-CN", Zone: "Asia/Shanghai", Theme: "dark"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			_, err := h.users.Create(t.Context(), root, c.in)
			require.Equal(t, c.bad, fails(t, err))
			require.Len(t, h.people, map[bool]int{true: 1, false: 0}[c.bad == nil], "nothing is stored of a bad form")
		})
	}
}

func TestOnlyAdminsManagePeople(t *testing.T) {
	h := newHouse(t)
	p := h.person(t, "ops")
	for name, c := range map[string]struct {
		actor Actor
		kind  fault.Kind
	}{
		"an owner of a team": {Actor{Kind: User, ID: 99, Roles: map[int64]Role{1: Owner}}, fault.KindNotFound},
		"an owner's token":   {Actor{Kind: Token, ID: p.ID, Roles: map[int64]Role{1: Owner}}, fault.KindNotFound},
		"an auditor":         {Actor{Kind: User, ID: 99, Auditor: true}, fault.KindDenied},
		"the person":         {Actor{Kind: User, ID: p.ID}, fault.KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			_, err := h.users.Create(ctx, c.actor, NewUser{Login: "new", Password: pass})
			require.Equal(t, c.kind, fault.KindOf(err))
			require.Equal(t, c.kind, fault.KindOf(h.users.SetPassword(ctx, c.actor, p.ID, pass)))
			require.Equal(t, c.kind, fault.KindOf(h.users.Disable(ctx, c.actor, p.ID)))
			require.Equal(t, c.kind, fault.KindOf(h.users.Enable(ctx, c.actor, p.ID)))
			require.Equal(t, c.kind, fault.KindOf(h.users.SetRights(ctx, c.actor, p.ID, Rights{Admin: true})))
		})
	}
	require.Equal(t, []string{"user.create"}, h.actions())
	require.False(t, h.people[p.ID].Admin)
}

func TestPeopleAreListedToAdminsAndAuditors(t *testing.T) {
	h := newHouse(t)
	p := h.person(t, "ops")
	_, err := h.users.List(t.Context(), Actor{Kind: User, ID: p.ID})
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	all, err := h.users.List(t.Context(), Actor{Kind: User, Auditor: true})
	require.NoError(t, err)
	require.Len(t, all, 1)

	_, err = h.users.Get(t.Context(), Actor{Kind: User, ID: p.ID}, p.ID)
	require.NoError(t, err, "one's own")
	_, err = h.users.Get(t.Context(), Actor{Kind: Token, ID: p.ID}, p.ID)
	require.Equal(t, fault.KindNotFound, fault.KindOf(err), "a token with the same number is not the person")
	_, err = h.users.ByLogin(t.Context(), root, " OPS ")
	require.NoError(t, err)
}

func TestPreferencesAreThePersonsOwn(t *testing.T) {
	h := newHouse(t)
	p := h.person(t, "ops")
	a := Actor{Kind: User, ID: p.ID}
	require.NoError(t, h.users.UpdatePreferences(t.Context(), a, Preferences{"zh-CN", "Asia/Shanghai", "dark"}))
	require.Equal(t, "zh-CN", h.people[p.ID].Language)
	require.Zero(t, h.people[p.ID].Epoch, "sessions go on")
	require.Equal(t, []string{"zone"}, fails(t, h.users.UpdatePreferences(t.Context(), a, Preferences{Zone: "../etc/passwd"})))
	require.Equal(t, fault.KindDenied, fault.KindOf(h.users.UpdatePreferences(t.Context(), root, Preferences{})))
}
