package sched

import (
	"net"
	"net/url"
	"strings"
)

// maxHostLimit bounds how many calls a task allows to its host at once.
const maxHostLimit = 1000

// maxHostName is the longest name that there is.
const maxHostName = 253

// Host is where an address is called: host and port, whatever the scheme. Empty
// for what has no address of its own: executors, commands, messages.
func (t Target) Host() string {
	if t.Kind != TargetHTTP || t.URL == "" {
		return ""
	}
	u, err := url.Parse(t.URL)
	if err != nil || u.Hostname() == "" || len(u.Hostname()) > maxHostName {
		return ""
	}
	port := u.Port()
	switch {
	case port == "" && u.Scheme == "https":
		port = "443"
	case port == "":
		port = "80"
	}
	return net.JoinHostPort(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), port)
}

// LimitedHost is the host that the task's own calls wait for; empty: they wait
// for none.
func (t Task) LimitedHost() string {
	if t.Spec.Policy.HostLimit == 0 {
		return ""
	}
	return t.Spec.Target.Host()
}

// hostLimit checks the limit of calls to the target's host.
func (p *problems) hostLimit(n *int, t Target) int {
	if n == nil || *n == 0 {
		return 0
	}
	switch {
	case *n < 0 || *n > maxHostLimit:
		p.add("policy.host_limit", "Between 0 (none) and %d; this is %d", maxHostLimit, *n)
	case t.Kind != TargetHTTP || t.Executor != "":
		p.add("policy.host_limit", "Only a target with an address of its own has a host; leave it out here")
	}
	return *n
}
