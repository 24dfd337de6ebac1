package access

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

// kept is a secret as the memory keeps it.
type kept struct {
	Secret
	sealed string
}

func (m *memory) Secrets(_ context.Context, team int64) ([]Secret, error) {
	defer m.lock()()
	var out []Secret
	for _, k := range m.secrets {
		if k.TeamID == team {
			out = append(out, k.Secret)
		}
	}
	return out, m.away
}

func (m *memory) Secret(_ context.Context, team int64, name string) (Secret, string, error) {
	defer m.lock()()
	for _, k := range m.secrets {
		if k.TeamID == team && k.Name == name {
			return k.Secret, k.sealed, m.away
		}
	}
	if m.away != nil {
		return Secret{}, "", m.away
	}
	return Secret{}, "", fault.NotFound("no secret")
}

func (m *memory) InsertSecret(_ context.Context, s Secret, sealed string, _ int, e Entry) error {
	defer m.lock()()
	m.secrets = append(m.secrets, kept{s, sealed})
	m.audit = append(m.audit, e)
	return m.away
}

func (m *memory) ChangeSecret(_ context.Context, s Secret, sealed string, e Entry) error {
	defer m.lock()()
	at := slices.IndexFunc(m.secrets, func(k kept) bool { return k.ID == s.ID })
	m.secrets[at].Secret = s
	if sealed != "" {
		m.secrets[at].sealed = sealed
	}
	m.audit = append(m.audit, e)
	return nil
}

func (m *memory) DeleteSecret(_ context.Context, s Secret, e Entry) error {
	defer m.lock()()
	m.secrets = slices.DeleteFunc(m.secrets, func(k kept) bool { return k.ID == s.ID })
	m.audit = append(m.audit, e)
	return nil
}

func at(t *testing.T, address string) Destination {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	return DestinationOf(u)
}

const token = "canary-of-pay-77"

func TestASecretIsStoredSealedAndGoesToItsHostsOnly(t *testing.T) {
	h := newHouse(t)
	team, other := h.team(t, "shop"), h.team(t, "depot")
	owner := Actor{Kind: User, ID: 5, Name: "ada", Roles: map[int64]Role{team.ID: Owner}}
	made, err := h.secrets.Add(t.Context(), owner, team, NewSecret{Name: " PAY_TOKEN ", Value: token, Hosts: "Pay.example.com, bank.example.com:8443\n10.0.0.7"})
	require.NoError(t, err)
	require.Equal(t, []string{"10.0.0.7", "bank.example.com:8443", "pay.example.com"}, made.Hosts)
	require.NotContains(t, h.memory.secrets[0].sealed, token)
	require.Contains(t, h.memory.secrets[0].sealed, "ax1.")

	for address, want := range map[string]bool{
		"https://pay.example.com/x": true, "http://PAY.example.com:81/x": true, "https://bank.example.com:8443/": true,
		"https://bank.example.com/": false, "https://bank.example.com:8444/": false, "http://10.0.0.7/": true,
		"https://pay.example.com.evil.example/": false, "https://evil.example/": false, "https://a.pay.example.com/": false,
	} {
		got, err := h.secrets.Reveal(t.Context(), team.ID, "PAY_TOKEN", at(t, address))
		if want {
			require.NoError(t, err, address)
			require.Equal(t, token, got, address)
			continue
		}
		require.Equal(t, fault.KindDenied, fault.KindOf(err), address)
		require.NotContains(t, err.Error(), token)
	}
	_, err = h.secrets.Reveal(t.Context(), other.ID, "PAY_TOKEN", at(t, "https://pay.example.com/"))
	require.Equal(t, fault.KindNotFound, fault.KindOf(err), "another team's name is its own")

	// All of a team's are opened to be masked, and no other's.
	plain, err := h.secrets.Plain(t.Context(), team.ID)
	require.NoError(t, err)
	require.Equal(t, []string{token}, plain)
	plain, err = h.secrets.Plain(t.Context(), other.ID)
	require.NoError(t, err)
	require.Empty(t, plain)

	// What is sealed for one row opens in no other.
	_, err = h.secrets.Add(t.Context(), owner, team, NewSecret{Name: "OTHER", Value: "another value", Hosts: "pay.example.com"})
	require.NoError(t, err)
	h.memory.secrets[0].sealed, h.memory.secrets[1].sealed = h.memory.secrets[1].sealed, h.memory.secrets[0].sealed
	_, err = h.secrets.Reveal(t.Context(), team.ID, "OTHER", at(t, "https://pay.example.com/"))
	require.ErrorContains(t, err, "does not open here")
	for _, e := range h.audit {
		for _, c := range e.Changes {
			require.NotContains(t, c.Old+c.New, "canary")
		}
	}
}

func TestASecretIsChangedByItsOwnersAndReadByNobody(t *testing.T) {
	h := newHouse(t)
	team := h.team(t, "shop")
	as := func(role Role) Actor {
		return Actor{Kind: User, ID: 5, Name: string(role), Roles: map[int64]Role{team.ID: role}}
	}
	for _, role := range []Role{Viewer, Operator, Editor} {
		_, err := h.secrets.Add(t.Context(), as(role), team, NewSecret{Name: "A", Value: token, Hosts: "a"})
		require.Equal(t, fault.KindDenied, fault.KindOf(err), role)
		_, err = h.secrets.Change(t.Context(), as(role), team, "A", NewSecret{Hosts: "a"})
		require.Equal(t, fault.KindDenied, fault.KindOf(err), role)
		require.Equal(t, fault.KindDenied, fault.KindOf(h.secrets.Remove(t.Context(), as(role), team, "A")), role)
	}
	stranger := Actor{Kind: User, ID: 6, Roles: map[int64]Role{team.ID + 1: Owner}}
	_, err := h.secrets.List(t.Context(), stranger, team.ID)
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))

	owner := as(Owner)
	_, err = h.secrets.Add(t.Context(), owner, team, NewSecret{Name: "A", Value: token, Hosts: "a.example, b.example"})
	require.NoError(t, err)
	_, err = h.secrets.Change(t.Context(), owner, team, "A", NewSecret{Hosts: "a.example, evil.example"})
	require.Equal(t, []string{"value"}, names(fault.Fields(err)), "nobody can have it sent where they can read it")
	_, err = h.secrets.Change(t.Context(), owner, team, "A", NewSecret{Hosts: "a.example"})
	require.NoError(t, err)
	got, err := h.secrets.Reveal(t.Context(), team.ID, "A", at(t, "http://a.example"))
	require.NoError(t, err)
	require.Equal(t, token, got, "an empty value keeps the one from before")
	kept, err := h.secrets.Change(t.Context(), owner, team, "A", NewSecret{Value: "another one"})
	require.NoError(t, err)
	require.Equal(t, []string{"a.example"}, kept.Hosts)
	_, err = h.secrets.Change(t.Context(), owner, team, "A", NewSecret{Value: "a new value", Hosts: "c.example"})
	require.NoError(t, err)
	got, err = h.secrets.Reveal(t.Context(), team.ID, "A", at(t, "http://c.example"))
	require.NoError(t, err)
	require.Equal(t, "a new value", got)
	last := h.audit[len(h.audit)-1]
	require.Equal(t, "secret.update", last.Action)
	require.Equal(t, []Change{{Field: "hosts", Old: "a.example", New: "c.example"}, {Field: "value", Old: "***", New: "***"}}, last.Changes)

	_, err = h.secrets.Change(t.Context(), owner, team, "NONE", NewSecret{Hosts: "a"})
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	require.NoError(t, h.secrets.Remove(t.Context(), owner, team, "A"))
	require.Equal(t, fault.KindNotFound, fault.KindOf(h.secrets.Remove(t.Context(), owner, team, "A")))
	_, err = h.secrets.Reveal(t.Context(), team.ID, "A", at(t, "http://c.example"))
	require.ErrorContains(t, err, "the team has no secret A")
}

func TestASecretAsTyped(t *testing.T) {
	h := newHouse(t)
	team := h.team(t, "shop")
	good := NewSecret{Name: "A", Value: token, Hosts: "a.example"}
	for name, c := range map[string]struct {
		change func(*NewSecret)
		field  string
	}{
		"no name":             {func(s *NewSecret) { s.Name = "" }, "name"},
		"a small letter":      {func(s *NewSecret) { s.Name = "pay_TOKEN" }, "name"},
		"a digit first":       {func(s *NewSecret) { s.Name = "1A" }, "name"},
		"too long a name":     {func(s *NewSecret) { s.Name = strings.Repeat("A", 65) }, "name"},
		"no value":            {func(s *NewSecret) { s.Value = "" }, "value"},
		"too short a value":   {func(s *NewSecret) { s.Value = "1234567" }, "value"},
		"too long a value":    {func(s *NewSecret) { s.Value = strings.Repeat("x", 8193) }, "value"},
		"two lines":           {func(s *NewSecret) { s.Value = "Bearer x\r\nX-B: y" }, "value"},
		"a zero":              {func(s *NewSecret) { s.Value = "12345678\x00" }, "value"},
		"a space at the end":  {func(s *NewSecret) { s.Value = "12345678 " }, "value"},
		"broken text":         {func(s *NewSecret) { s.Value = "12345678\xff" }, "value"},
		"no host":             {func(s *NewSecret) { s.Hosts = " ,\n" }, "hosts"},
		"an address":          {func(s *NewSecret) { s.Hosts = "https://a.example/x" }, "hosts"},
		"a star":              {func(s *NewSecret) { s.Hosts = "*" }, "hosts"},
		"a star for children": {func(s *NewSecret) { s.Hosts = "*.example.com" }, "hosts"},
		"a port in words":     {func(s *NewSecret) { s.Hosts = "a.example:https" }, "hosts"},
		"a user":              {func(s *NewSecret) { s.Hosts = "me@a.example" }, "hosts"},
		"eleven hosts":        {func(s *NewSecret) { s.Hosts = "a b c d e f g h i j k" }, "hosts"},
	} {
		in := good
		c.change(&in)
		_, err := h.secrets.Add(t.Context(), root, team, in)
		require.Equal(t, []string{c.field}, names(fault.Fields(err)), name)
	}
	for typed, want := range map[string]string{
		"[::1]:8080": "[::1]:8080", "::1": "::1", "[::1]": "::1", "LOCALHOST": "localhost", "a a,a": "a", "b:1 a": "a b:1",
	} {
		hosts, bad := readHosts(typed)
		require.Empty(t, bad, typed)
		require.Equal(t, want, strings.Join(hosts, " "), typed)
	}
	require.True(t, Secret{Hosts: []string{"::1"}}.For(at(t, "http://[::1]:8080/")))
	require.True(t, Secret{Hosts: []string{"[::1]:8080"}}.For(at(t, "http://[::1]:8080/")))
}
