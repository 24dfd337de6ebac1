package jobs_test

import (
	"net/netip"
	"testing"
	"time"

	"ax/jobs"

	"github.com/stretchr/testify/require"
)

func addrs(texts ...string) []netip.Addr {
	out := make([]netip.Addr, len(texts))
	for i, s := range texts {
		out[i] = netip.MustParseAddr(s)
	}
	return out
}

func TestOnlyPublicAddressesAreOpenByDefault(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{})
	for _, a := range addrs("8.8.8.8", "93.184.216.34", "2606:2800:220:1::1") {
		require.NoError(t, e.Check(t.Context(), 0, netip.AddrPortFrom(a, 8080)), a)
	}
	for _, a := range addrs(
		"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "10.0.0.1", "172.16.0.1", "192.168.1.1", "fc00::1", "fd12::1",
		"169.254.1.1", "fe80::1", "fe80::1%eth0", "100.64.0.1", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1", "192.0.2.1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1",
		"169.254.169.254", "100.100.100.200", "fd00:ec2::254", "::ffff:169.254.169.254",
	) {
		require.Error(t, e.Check(t.Context(), 0, netip.AddrPortFrom(a, 80)), a)
	}
}

func TestTheAdminOpensPrefixesButNotMetadata(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{Allow: append(jobs.PrivateNetworks(),
		netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("64:ff9b::/96"))})
	for _, a := range addrs("127.0.0.1", "::1", "10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "169.254.1.1", "100.64.0.1", "8.8.8.8", "64:ff9b::808:808") {
		require.NoError(t, e.Check(t.Context(), 0, netip.AddrPortFrom(a, 80)), a)
	}
	for _, a := range addrs("169.254.169.254", "::ffff:169.254.169.254", "100.100.100.200", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "224.0.0.1") {
		require.Error(t, e.Check(t.Context(), 0, netip.AddrPortFrom(a, 80)), a)
	}
}

// What a cloud hands its machines' credentials out by stays closed, whoever
// lists it: the configuration or the list of a team.
func TestNothingOpensAMetadataService(t *testing.T) {
	t.Parallel()
	for _, a := range addrs(
		"169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.0.23", "100.100.100.200", "168.63.129.16", "192.0.0.192",
		"fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "::ffff:169.254.169.254", "::ffff:168.63.129.16", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1", "fd00:ec2::254%eth0",
	) {
		very := netip.PrefixFrom(a.WithZone("").Unmap(), a.WithZone("").Unmap().BitLen())
		wide := netip.PrefixFrom(very.Addr(), 8).Masked()
		e := jobs.NewEgress(jobs.EgressPolicy{
			Allow: []netip.Prefix{very, wide, netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("2002::/16")},
			Teams: jobs.NewTeamLists(&lists{open: map[int64][]netip.Prefix{7: {very, wide}}}, time.Now),
		})
		require.ErrorContains(t, e.Check(t.Context(), 7, netip.AddrPortFrom(a, 80)), "metadata service", a)
		ok, err := e.MayCall(t.Context(), 7, a)
		require.NoError(t, err)
		require.False(t, ok, a)
	}
}

func TestTheAddressRulesOfATeam(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{
		Allow: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16"), netip.MustParsePrefix("64:ff9b::/96")},
		Teams: jobs.NewTeamLists(&lists{open: map[int64][]netip.Prefix{
			7: {netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("fd12::/32"), netip.MustParsePrefix("100.64.0.0/10"),
				netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}, // that nobody could open
			8: {netip.MustParsePrefix("10.2.0.0/16")},
		}}, time.Now),
	})
	for text, want := range map[string]struct{ seven, eight bool }{
		"8.8.8.8": {true, true}, "2606:2800:220:1::1": {true, true}, // public
		"10.9.0.1": {true, true}, "::ffff:10.9.0.1": {true, true}, // open to every team
		"10.1.2.3": {true, false}, "::ffff:10.1.2.3": {true, false}, "64:ff9b::a01:203": {true, false},
		"10.2.2.3": {false, true}, "64:ff9b::a02:203": {false, true},
		"10.3.2.3": {}, "64:ff9b::a03:203": {}, "172.16.0.1": {}, "192.168.1.1": {}, "fc00::1": {},
		"127.0.0.1": {true, false}, "127.0.0.2": {}, "::1": {}, "64:ff9b::7f00:1": {true, false}, "64:ff9b::7f00:2": {},
		"fd12::9": {true, false}, "fd13::9": {}, "100.64.9.9": {true, false}, "100.100.100.200": {},
		"64:ff9b::808:808": {true, true}, "2002:808:808::1": {}, "2002:a01:203::1": {}, // 6to4 is open to nobody
		"169.254.1.1": {}, "fe80::1": {}, "224.0.0.1": {}, "0.0.0.0": {}, "255.255.255.255": {}, "240.0.0.1": {}, "192.0.2.1": {}, "64:ff9b:1::a01:203": {},
	} {
		addr := netip.MustParseAddr(text)
		for team, open := range map[int64]bool{7: want.seven, 8: want.eight} {
			err := e.Check(t.Context(), team, netip.AddrPortFrom(addr, 80))
			require.Equal(t, open, err == nil, "team %d, %s: %v", team, text, err)
			may, err := e.MayCall(t.Context(), team, addr)
			require.NoError(t, err)
			require.Equal(t, open, may, "team %d, %s", team, text)
		}
	}
	require.Error(t, e.Check(t.Context(), 0, netip.MustParseAddrPort("10.1.2.3:80")), "a call of no team")
	require.Error(t, e.Check(t.Context(), 7, netip.AddrPort{}))
}

func TestPortsCanBeNarrowed(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{Ports: []uint16{443}})
	require.NoError(t, e.Check(t.Context(), 0, netip.MustParseAddrPort("8.8.8.8:443")))
	require.Error(t, e.Check(t.Context(), 0, netip.MustParseAddrPort("8.8.8.8:25")))
}

func TestOtherNetworksThanTCPAreRefused(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{})
	require.Error(t, e.ControlContext(t.Context(), "udp4", "8.8.8.8:53", nil))
	require.Error(t, e.ControlContext(t.Context(), "unix", "/run/docker.sock", nil))
	require.Error(t, e.ControlContext(t.Context(), "tcp4", "nonsense", nil))
	require.NoError(t, e.ControlContext(t.Context(), "tcp4", "8.8.8.8:80", nil))
}
