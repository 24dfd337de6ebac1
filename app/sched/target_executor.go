package sched

import "slices"

// maxExecutor is the longest name of an executor, and of a type.
const maxExecutor = 64

// executorTarget checks a target that names an executor instead of an address.
// Whether one of the name is there is looked at when it is called.
func (p *problems) executorTarget(w TargetSpec) Target {
	t := Target{Kind: TargetHTTP, Headers: p.headers("target.headers", w.Headers), HTTP: p.httpRules(w.HTTP), Executor: w.Executor, Type: w.Type, Route: w.Route}
	if w.URL != "" {
		p.add("target.url", "The executor gives the address; leave it out")
	}
	if t.HTTP != nil && t.HTTP.CancelURL != "" {
		p.add("target.http.cancel_url", "The executor says at its registration whether it can be told; leave it out")
	}
	p.word("target.executor", w.Executor)
	p.word("target.type", w.Type)
	if t.Route == "" {
		t.Route = RoundRobin
	}
	if !slices.Contains(Routes(), t.Route) {
		p.add("target.route", "One of round_robin, least_busy, random, hash, failover, broadcast; this is %q", string(w.Route))
	}
	return t
}

// noExecutor refuses the fields of an executor where none is named.
func (p *problems) noExecutor(w TargetSpec) {
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"target.executor", w.Executor != ""}, {"target.type", w.Type != ""}, {"target.route", w.Route != ""},
	} {
		if f.has {
			p.add(f.name, "Only a target that names an executor has this; leave it out")
		}
	}
}

// word is a name for machines: of an executor or of a type of work.
func (p *problems) word(name, s string) {
	switch {
	case s == "":
		p.add(name, "A name is needed, such as %s", "billing")
	case len(s) > maxExecutor:
		p.add(name, "At most %d characters; this has %d", maxExecutor, len(s))
	case !codeForm.MatchString(s):
		p.add(name, "Lower-case letters, digits, dots, hyphens and underscores, beginning with a letter or digit")
	}
}
