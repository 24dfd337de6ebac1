package jobs

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"

	"ax/app/access"
)

// errBlocked marks a connection that the address rules forbid.
var errBlocked = errors.New("the address rules of this installation forbid it")

// errNoList marks one of them that the team's list might have opened, had it
// been read.
var errNoList = errors.New("the team's list of ranges can't be read")

// EgressPolicy says which addresses targets may have. Public ones always;
// loopback, private, link-local, shared (100.64/10), multicast, unspecified
// and other special ones only inside Allow, which is open to every team, or,
// of those that an administrator can open, inside the list of the team. The
// metadata services of clouds hand out credentials: nothing opens them.
type EgressPolicy struct {
	Allow []netip.Prefix
	Teams *TeamLists // nil: no team has a list
	Ports []uint16   // empty: any
}

// PrivateNetworks are the ranges in which internal callbacks live: loopback
// and private addresses of both families.
func PrivateNetworks() []netip.Prefix {
	return slices.DeleteFunc(access.Openable(), func(p netip.Prefix) bool { return p.Addr() == netip.AddrFrom4([4]byte{100, 64}) })
}

// Egress judges addresses when a connection is made: on the resolved address,
// so a name whose answer changes between two looks gains nothing.
type Egress struct {
	policy EgressPolicy
	rules  *ssrf.Guardian
}

// NewEgress makes the judge of a policy.
func NewEgress(p EgressPolicy) *Egress {
	var v4, v6 []netip.Prefix
	for _, a := range p.Allow {
		if a.Addr().Is4() {
			v4 = append(v4, a)
		} else {
			v6 = append(v6, a)
		}
	}
	return &Egress{
		policy: p,
		rules:  ssrf.New(ssrf.WithAnyPort(), ssrf.WithAllowedV4Prefixes(v4...), ssrf.WithAllowedV6Prefixes(v6...)),
	}
}

// teamOf is the key of the team in the context of a call.
type teamOf struct{}

// withTeam says for which team's task a call is made. Without it the call is
// nobody's, and goes where every team may.
func withTeam(ctx context.Context, team int64) context.Context {
	return context.WithValue(ctx, teamOf{}, team)
}

// ControlContext is a net.Dialer's: it refuses before the first packet.
func (e *Egress) ControlContext(ctx context.Context, network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("network %s: %w", network, errBlocked)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, errBlocked)
	}
	team, _ := ctx.Value(teamOf{}).(int64)
	return e.Check(ctx, team, to)
}

// Check tells why tasks of the team may not call the address; nil: they may.
func (e *Egress) Check(ctx context.Context, team int64, to netip.AddrPort) error {
	if len(e.policy.Ports) > 0 && !slices.Contains(e.policy.Ports, to.Port()) {
		return fmt.Errorf("port %d: %w", to.Port(), errBlocked)
	}
	addr := to.Addr().Unmap()
	if err := e.judge(ctx, team, addr); err != nil {
		return err
	}
	// A gateway on the way would call the address that is carried inside.
	if inner := embedded(addr); inner.IsValid() {
		return e.judge(ctx, team, inner)
	}
	return nil
}

// MayCall is Check of an address that a task is to have, whatever the port, by
// the ledger as it is now.
func (e *Egress) MayCall(ctx context.Context, team int64, addr netip.Addr) (bool, error) {
	asked := func(ctx context.Context, team int64, addr netip.Addr) (bool, error) {
		list, err := e.policy.Teams.ask(ctx, team)
		return contains(list, addr), err
	}
	addr = addr.Unmap()
	ok, err := e.open(ctx, team, addr, asked)
	if inner := embedded(addr); ok && err == nil && inner.IsValid() {
		return e.open(ctx, team, inner, asked)
	}
	return ok, err
}

func (e *Egress) judge(ctx context.Context, team int64, addr netip.Addr) error {
	if access.Metadata(addr) {
		return fmt.Errorf("metadata service %s: %w", addr, errBlocked)
	}
	ok, err := e.open(ctx, team, addr, e.policy.Teams.holds)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w (%w), and without it %w", addr, errNoList, err, errBlocked)
	case !ok:
		return fmt.Errorf("%s: %w", addr, errBlocked)
	}
	return nil
}

// open tells whether the address is open to the team. The team's list is asked
// only about what no rule of the process decides.
func (e *Egress) open(ctx context.Context, team int64, addr netip.Addr, listed func(context.Context, int64, netip.Addr) (bool, error)) (bool, error) {
	addr = addr.WithZone("")
	switch {
	case !addr.IsValid(), access.Metadata(addr):
		return false, nil
	case e.rules.SafeAddr(addr) == nil:
		return true, nil
	case e.policy.Teams == nil || team == 0 || !access.Within(netip.PrefixFrom(addr, addr.BitLen())):
		return false, nil
	}
	return listed(ctx, team, addr)
}

// embedded is the IPv4 address that NAT64 (64:ff9b::/96) and 6to4 (2002::/16)
// carry inside: a gateway on the way would call that one.
func embedded(addr netip.Addr) netip.Addr {
	if !addr.Is6() {
		return netip.Addr{}
	}
	b := addr.As16()
	switch {
	case netip.MustParsePrefix("64:ff9b::/96").Contains(addr.WithZone("")):
		return netip.AddrFrom4([4]byte(b[12:]))
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return netip.Addr{}
}
