package jobs

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"code.dny.dev/ssrf"
)

// errBlocked marks a connection that the address rules forbid.
var errBlocked = errors.New("the address rules of this installation forbid it")

// EgressPolicy says which addresses targets may have. Public ones always;
// loopback, private, link-local, shared (100.64/10), multicast, unspecified
// and other special ones only inside Allow. The metadata services of clouds
// hand out credentials: they need a prefix of their very address.
type EgressPolicy struct {
	Allow []netip.Prefix
	Ports []uint16 // empty: any
}

// PrivateNetworks are the ranges in which internal callbacks live: loopback
// and private addresses of both families.
func PrivateNetworks() []netip.Prefix {
	return prefixes("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7")
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Egress judges addresses when a connection is made: on the resolved address,
// so a name whose answer changes between two looks gains nothing.
type Egress struct {
	policy EgressPolicy
	rules  *ssrf.Guardian
	meta   []netip.Addr
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
		meta: []netip.Addr{
			netip.MustParseAddr("169.254.169.254"),
			netip.MustParseAddr("100.100.100.200"),
			netip.MustParseAddr("fd00:ec2::254"),
		},
	}
}

// Control is a net.Dialer's Control: it refuses before the first packet.
func (e *Egress) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("network %s: %w", network, errBlocked)
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q: %w", address, errBlocked)
	}
	return e.Check(to)
}

// Check tells why the address may not be called; nil: it may.
func (e *Egress) Check(to netip.AddrPort) error {
	if len(e.policy.Ports) > 0 && !slices.Contains(e.policy.Ports, to.Port()) {
		return fmt.Errorf("port %d: %w", to.Port(), errBlocked)
	}
	addr := to.Addr().Unmap()
	if e.metadata(addr.WithZone("")) || e.metadata(embedded(addr)) {
		return fmt.Errorf("metadata service %s: %w", addr, errBlocked)
	}
	if e.rules.SafeAddr(addr) != nil {
		return fmt.Errorf("%s: %w", addr, errBlocked)
	}
	return nil
}

// metadata tells whether addr is a metadata service that isn't allowed by its
// very address.
func (e *Egress) metadata(addr netip.Addr) bool {
	return slices.Contains(e.meta, addr) &&
		!slices.Contains(e.policy.Allow, netip.PrefixFrom(addr, addr.BitLen()))
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
