package jobs_test

import (
	"net/netip"
	"testing"

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
		require.NoError(t, e.Check(netip.AddrPortFrom(a, 8080)), a)
	}
	for _, a := range addrs(
		"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::", "10.0.0.1", "172.16.0.1", "192.168.1.1", "fc00::1", "fd12::1",
		"169.254.1.1", "fe80::1", "fe80::1%eth0", "100.64.0.1", "224.0.0.1", "ff02::1", "255.255.255.255", "240.0.0.1", "192.0.2.1",
		"::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1",
		"169.254.169.254", "100.100.100.200", "fd00:ec2::254", "::ffff:169.254.169.254",
	) {
		require.Error(t, e.Check(netip.AddrPortFrom(a, 80)), a)
	}
}

func TestTheAdminOpensPrefixesButNotMetadata(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{Allow: append(jobs.PrivateNetworks(),
		netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("64:ff9b::/96"))})
	for _, a := range addrs("127.0.0.1", "::1", "10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "169.254.1.1", "100.64.0.1", "8.8.8.8", "64:ff9b::808:808") {
		require.NoError(t, e.Check(netip.AddrPortFrom(a, 80)), a)
	}
	for _, a := range addrs("169.254.169.254", "::ffff:169.254.169.254", "100.100.100.200", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "224.0.0.1") {
		require.Error(t, e.Check(netip.AddrPortFrom(a, 80)), a)
	}
}

func TestAMetadataServiceOpensByItsVeryAddress(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{Allow: []netip.Prefix{netip.MustParsePrefix("169.254.169.254/32")}})
	require.NoError(t, e.Check(netip.MustParseAddrPort("169.254.169.254:80")))
	require.Error(t, e.Check(netip.MustParseAddrPort("169.254.169.253:80")))
}

func TestPortsCanBeNarrowed(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{Ports: []uint16{443}})
	require.NoError(t, e.Check(netip.MustParseAddrPort("8.8.8.8:443")))
	require.Error(t, e.Check(netip.MustParseAddrPort("8.8.8.8:25")))
}

func TestOtherNetworksThanTCPAreRefused(t *testing.T) {
	t.Parallel()
	e := jobs.NewEgress(jobs.EgressPolicy{})
	require.Error(t, e.Control("udp4", "8.8.8.8:53", nil))
	require.Error(t, e.Control("unix", "/run/docker.sock", nil))
	require.Error(t, e.Control("tcp4", "nonsense", nil))
	require.NoError(t, e.Control("tcp4", "8.8.8.8:80", nil))
}
