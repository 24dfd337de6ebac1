package main

import (
	"context"
	"strings"
	"time"
)

// scenario is one way to attack an installation.
type scenario struct {
	name  string // of faults.md 2.3, such as F06; variants have a tail: F06/running
	says  string
	smoke bool                                // part of the smoke set
	works func() []work                       // nil: usualWork
	pace  float64                             // factor on the callers' rates; 0: 1
	nodes []struct{ name, roles string }      // nil: usual
	redis []string                            // profile; nil: redisPlain
	env   []string                            // of every node
	own   bool                                // needs a MariaDB of its own: it is harmed in a way that others would notice
	maria []string                            // more arguments of that MariaDB
	run   func(context.Context, *house) error // injects and heals, while the load goes on
	after func(context.Context, *house) error // looks at what only this scenario can tell; an error is a violation
	still func(context.Context, *house) error // waits for what comes after all work has ended, before anything is judged; an error is a violation
	quiet time.Duration                       // limit until all work has ended; 0: 75 s

	alone   bool     // nothing else runs meanwhile: it is about pace
	bins    []string // programs that it needs besides
	alerts  bool     // there are receivers of alerts: h.robots
	prepare []string // statements on the fresh ledger: guards taken away

	worksAt func(*house) ([]work, error) // in place of works, for what needs the installation's addresses
	except  []string                     // checks whose promise this fault rightly breaks, said in says or at run
}

// file is the name as a part of a path.
func (s scenario) file() string { return strings.ReplaceAll(s.name, "/", "-") }

// scenarios in the order of faults.md.
func scenarios() []scenario {
	var all []scenario
	for _, some := range [][]scenario{baseline(), killing(), freezing(), carrier(), ledgerFaults(), network(), clusters(), upgrades(), recovery(), targets(), executing(), messages(), commands(), changing(), limits(), ledgerMore(), logs(), clocks(), alerting(), guarding()} {
		all = append(all, some...)
	}
	return all
}

// rest lets the load go on, unless ctx ends.
func rest(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// baseline attacks nothing: what is red here is red for another reason. Its
// evidence is the clean ground for proving the checks.
func baseline() []scenario {
	return []scenario{{
		name: "F00", says: "nothing is done to it", smoke: true, after: slotsInTime,
		run: func(ctx context.Context, h *house) error { rest(ctx, 6*time.Second); return nil },
	}}
}
