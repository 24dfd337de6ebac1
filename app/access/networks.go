package access

import (
	"net/netip"
	"slices"
	"strings"

	"ax/app/fault"
)

// Metadata tells whether the address is a metadata service of a cloud: it
// hands out credentials of the machine to whoever asks, so nothing opens it.
func Metadata(addr netip.Addr) bool {
	return slices.Contains([]string{
		"169.254.169.254", "fd00:ec2::254", // most clouds, and Amazon's by IPv6
		"169.254.170.2", "169.254.170.23", "fd00:ec2::23", // Amazon's containers
		"fd20:ce::254",    // Google's by IPv6
		"168.63.129.16",   // Azure's, of the public ones
		"100.100.100.200", // Alibaba's
		"169.254.0.23",    // Tencent's
		"192.0.0.192",     // Oracle's
	}, addr.Unmap().WithZone("").String())
}

// Loopback are the addresses of the machine itself.
func Loopback() []netip.Prefix { return prefixes("127.0.0.0/8", "::1/128") }

// Openable are the ranges of which an administrator may open parts to a team:
// loopback, the private ones of both families, and the shared one of carriers
// (RFC 6598). What is public needs no opening; multicast, link-local, reserved
// ranges and those that carry another address inside are no place of targets.
func Openable() []netip.Prefix {
	return append(Loopback(), prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")...)
}

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// Within tells whether the prefix lies inside one that may be opened.
func Within(p netip.Prefix) bool {
	return slices.ContainsFunc(Openable(), func(o netip.Prefix) bool { return o.Bits() <= p.Bits() && o.Contains(p.Addr()) })
}

// readNetwork reads a prefix or a single address that a team is to be allowed,
// and what is wrong with it.
func readNetwork(text string) (netip.Prefix, []fault.FieldError) {
	p, err := netip.ParsePrefix(text)
	if addr, bare := netip.ParseAddr(text); bare == nil && addr.Zone() == "" {
		p, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	switch {
	case text == "":
		return p, one(fault.Field("prefix", "A range or an address is needed"))
	case err != nil || p.Addr().Is4In6():
		return p, one(fault.Field("prefix", "Write a range such as 10.20.0.0/16, or one address such as 10.20.0.7; this is %q", firstOf(text, 64)))
	case p != p.Masked():
		return p, one(fault.Field("prefix", "%s begins inside its range, which is %s", p.String(), p.Masked().String()))
	case Metadata(p.Addr()) && p.IsSingleIP():
		return p, one(fault.Field("prefix", "%s is a metadata service of clouds: it hands out credentials, and nothing opens it", p.Addr().String()))
	case !Within(p):
		return p, one(fault.Field("prefix", "Only parts of loopback, private and shared ranges can be opened: %s. Public addresses are open to every team.", joined(Openable())))
	}
	return p, nil
}

// firstOf is the start of a text that somebody sent.
func firstOf(s string, most int) string {
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

func joined(list []netip.Prefix) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.String()
	}
	return strings.Join(out, ", ")
}
