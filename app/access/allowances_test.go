package access

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"ax/app/fault"

	"github.com/stretchr/testify/require"
)

func (m *memory) Allowances(_ context.Context, team int64) ([]Allowance, error) {
	defer m.lock()()
	var out []Allowance
	for _, a := range m.allowed {
		if a.TeamID == team {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b Allowance) int { return cmp.Compare(a.Prefix.String(), b.Prefix.String()) })
	return out, m.away
}

func (m *memory) InsertAllowance(_ context.Context, a Allowance, most int, e Entry) (int64, error) {
	defer m.lock()()
	if m.away != nil {
		return 0, m.away
	}
	n := 0
	for _, b := range m.allowed {
		if b.TeamID == a.TeamID {
			n++
		}
		if b.TeamID == a.TeamID && b.Prefix == a.Prefix || n >= most {
			return 0, fault.Conflict("taken")
		}
	}
	a.ID = m.id()
	m.allowed[a.ID] = a
	m.record(e, "allowance", a.ID)
	return a.ID, nil
}

func (m *memory) DeleteAllowance(_ context.Context, team, id int64, entry func(Allowance) Entry) error {
	defer m.lock()()
	a, ok := m.allowed[id]
	if !ok || a.TeamID != team {
		return fault.NotFound("no allowance")
	}
	delete(m.allowed, id)
	m.record(entry(a), "allowance", a.ID)
	return nil
}

func TestAnAdministratorOpensARangeAndClosesItAgain(t *testing.T) {
	h := newHouse(t)
	team, other := h.team(t, "payments"), h.team(t, "data")
	admin := Actor{Kind: User, ID: 1, Name: "ops-lead", Admin: true}
	made, err := h.allows.Add(t.Context(), admin, team, " 10.20.0.0/16 ", " the order services ")
	require.NoError(t, err)
	require.Equal(t, Allowance{ID: made.ID, TeamID: team.ID, Prefix: netip.MustParsePrefix("10.20.0.0/16"), Reason: "the order services", CreatedBy: "ops-lead", CreatedAt: h.at}, made)
	list, err := h.allows.List(t.Context(), Actor{Kind: User, Roles: map[int64]Role{team.ID: Viewer}}, team.ID)
	require.NoError(t, err)
	require.Equal(t, []Allowance{made}, list)
	_, err = h.allows.Add(t.Context(), admin, team, "10.20.0.0/16", "again")
	require.Equal(t, fault.KindConflict, fault.KindOf(err))

	require.Equal(t, fault.KindNotFound, fault.KindOf(h.allows.Remove(t.Context(), admin, other, made.ID, "by another team")))
	require.Equal(t, []string{"reason"}, fails(t, h.allows.Remove(t.Context(), admin, team, made.ID, " ")))
	require.NoError(t, h.allows.Remove(t.Context(), admin, team, made.ID, "moved away"))
	require.Equal(t, fault.KindNotFound, fault.KindOf(h.allows.Remove(t.Context(), admin, team, made.ID, "again")))

	require.Equal(t, []string{"team.create", "team.create", "allowance.create", "allowance.delete"}, h.actions())
	opened, closed := h.audit[2], h.audit[3]
	require.Equal(t, []any{"the order services", team.ID, made.Object(), []Change{{"prefix", "", "10.20.0.0/16"}}}, []any{opened.Reason, opened.TeamID, opened.Object, opened.Changes})
	require.Equal(t, []any{"moved away", team.ID, made.Object(), []Change{{"prefix", "10.20.0.0/16", ""}}}, []any{closed.Reason, closed.TeamID, closed.Object, closed.Changes})
}

func TestOnlyAdministratorsOpenRanges(t *testing.T) {
	h := newHouse(t)
	team, other := h.team(t, "payments"), h.team(t, "data")
	made, err := h.allows.Add(t.Context(), root, team, "10.20.0.0/16", "x")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		actor Actor
		want  fault.Kind
	}{
		"an owner":                 {ownerOf(team), fault.KindDenied},
		"an auditor":               {Actor{Kind: User, Auditor: true}, fault.KindDenied},
		"an owner of another team": {ownerOf(other), fault.KindNotFound},
		"a token that owns":        {Actor{Kind: Token, Roles: map[int64]Role{team.ID: Owner}}, fault.KindDenied},
	} {
		_, err := h.allows.Add(t.Context(), c.actor, team, "10.30.0.0/16", "x")
		require.Equal(t, c.want, fault.KindOf(err), name)
		require.Equal(t, c.want, fault.KindOf(h.allows.Remove(t.Context(), c.actor, team, made.ID, "x")), name)
	}
	_, err = h.allows.List(t.Context(), ownerOf(other), team.ID)
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	h.away = errAway
	_, err = h.allows.Add(t.Context(), root, team, "10.30.0.0/16", "x")
	require.ErrorIs(t, err, errAway)
}

func TestWhatCanBeOpened(t *testing.T) {
	const shape, inside, never, private = "Write a range", "begins inside", "is a metadata service", "Only parts of"
	for text, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "10.20.0.7": "10.20.0.7/32", "172.16.0.0/12": "172.16.0.0/12", "192.168.1.0/24": "192.168.1.0/24",
		"127.0.0.1": "127.0.0.1/32", "127.0.0.0/8": "127.0.0.0/8", "::1": "::1/128", "fd12:3456::/32": "fd12:3456::/32",
		"100.64.0.0/10": "100.64.0.0/10", "::ffff:10.1.2.3": "10.1.2.3/32",

		"": "is needed", " ": shape, "orders.internal": shape, "10.0.0": shape, "10.0.0.0/33": shape, "10.0.0.0/-1": shape, "010.0.0.1": shape,
		"10.1": shape, "0x0a000001": shape, "fe80::1%eth0": shape, "10.0.0.1:80": shape, "::ffff:10.0.0.0/104": shape, "<b>\xff": shape, strings.Repeat("9", 500): shape,
		"10.20.0.7/16": inside, "fd12:3456::1/32": inside,
		"169.254.169.254": never, "::ffff:169.254.169.254": never, "fd00:ec2::254": never, "100.100.100.200/32": never, "168.63.129.16": never,
		"0.0.0.0/0": private, "::/0": private, "10.0.0.0/7": private, "8.8.8.8": private, "2606:2800::/32": private, "169.254.0.0/16": private, "fe80::/10": private,
		"224.0.0.1": private, "ff02::1": private, "0.0.0.0": private, "255.255.255.255": private, "192.0.2.0/24": private, "64:ff9b::/96": private, "64:ff9b::a00:1": private, "2002:a00:1::/48": private,
	} {
		t.Run(fmt.Sprintf("%.40q", text), func(t *testing.T) {
			p, bad := readNetwork(text)
			if len(bad) == 0 {
				require.Equal(t, want, p.String())
				require.True(t, Within(p))
				return
			}
			require.Equal(t, []string{"prefix"}, names(bad))
			require.Contains(t, bad[0].Text.String(), want)
			require.Less(t, len(bad[0].Text.String()), 400)
		})
	}
}

func TestAReasonIsOneLine(t *testing.T) {
	h := newHouse(t)
	team := h.team(t, "payments")
	for _, reason := range []string{"", " \t", "a\nb", "a\xff", strings.Repeat("因", 201)} {
		_, err := h.allows.Add(t.Context(), root, team, "nonsense", reason)
		require.Equal(t, []string{"prefix", "reason"}, fails(t, err), "%q", reason)
	}
	_, err := h.allows.Add(t.Context(), root, team, "10.0.0.0/8", strings.Repeat("因", 200))
	require.NoError(t, err)
}
