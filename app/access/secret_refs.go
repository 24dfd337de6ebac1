package access

import (
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"ax/app/fault"
)

// secretRef stands for the value of a team's secret in what is sent.
var secretRef = regexp.MustCompile(`\{\{\s*secret:\s*([A-Za-z0-9_-]+)\s*\}\}`)

// SecretRef is how a text names a secret of its team.
func SecretRef(name string) string { return "{{secret:" + name + "}}" }

// SecretRefs gives the names of the secrets that a text names, each once, and
// the text with all of them written in one way. What looks like another
// placeholder is Invalid, without a field.
func SecretRefs(text string) (names []string, plain string, err error) {
	plain = secretRef.ReplaceAllStringFunc(text, func(ref string) string {
		name := secretRef.FindStringSubmatch(ref)[1]
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		return SecretRef(name)
	})
	if rest := secretRef.ReplaceAllString(text, ""); strings.Contains(rest, "{{") || strings.Contains(rest, "}}") {
		return nil, "", fault.Invalid(fault.Field("", "Between braces only a secret can be named: {{secret:NAME}}"))
	}
	return names, plain, nil
}

// FillSecrets puts values in the place of a text's secrets. The error is the
// first that value gives.
func FillSecrets(text string, value func(name string) (string, error)) (string, error) {
	var failed error
	out := secretRef.ReplaceAllStringFunc(text, func(ref string) string {
		v, err := value(secretRef.FindStringSubmatch(ref)[1])
		if err != nil && failed == nil {
			failed = err
		}
		return v
	})
	return out, failed
}

// Destination is where a call goes: host and port, in lower case.
type Destination struct{ Host, Port string }

// DestinationOf a target's address.
func DestinationOf(u *url.URL) Destination {
	d := Destination{Host: strings.ToLower(u.Hostname()), Port: u.Port()}
	switch {
	case d.Port != "":
	case u.Scheme == "https":
		d.Port = "443"
	default:
		d.Port = "80"
	}
	return d
}

// For tells whether the secret may be sent there: to one of its hosts, at any
// port or at the one named.
func (s Secret) For(to Destination) bool {
	return slices.Contains(s.Hosts, to.Host) || slices.Contains(s.Hosts, net.JoinHostPort(to.Host, to.Port))
}

// hostForm is a host name, or an address without its zone; IPv6 stands in
// brackets where a port follows.
var hostForm = regexp.MustCompile(`^([a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?|[0-9a-f:.]*:[0-9a-f:.]*)$`)

// readHosts reads the hosts of a secret as they are typed: apart by commas,
// spaces or lines.
func readHosts(typed string) ([]string, []fault.FieldError) {
	var hosts []string
	for _, h := range strings.FieldsFunc(strings.ToLower(typed), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' }) {
		name, port, err := net.SplitHostPort(h)
		if err != nil {
			name, port = strings.Trim(h, "[]"), ""
		}
		switch {
		case strings.Contains(h, "://") || strings.Contains(h, "/"):
			return nil, one(fault.Field("hosts", "A host alone, without http:// and path: %q", h))
		case len(h) > 200 || !hostForm.MatchString(name) || strings.Trim(port, "0123456789") != "":
			return nil, one(fault.Field("hosts", "%q is not a host, such as pay.example.com or pay.example.com:8443", h))
		}
		if port != "" {
			name = net.JoinHostPort(name, port)
		}
		if !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	slices.Sort(hosts)
	switch n := len(hosts); {
	case n == 0:
		return nil, one(fault.Field("hosts", "Which host is it for? Calls to others don’t get it"))
	case n > maxSecretHosts:
		return nil, one(fault.Field("hosts", "At most %d hosts; these are %d", maxSecretHosts, n))
	}
	return hosts, nil
}
