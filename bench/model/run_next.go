package main

// Next emits whatever may happen next: time, the carrier, faults, schedulers,
// nodes, handlers, callees, persons.
func (m *Run) Next(s *RS, emit0 Emit[RS]) {
	emit := func(l Label, t RS, fault bool, bad string) {
		if bad == "" {
			bad = moved(s, &t)
		}
		m.norm(&t)
		emit0(l, t, fault, bad)
	}
	m.time(s, emit)
	m.leases(s, emit)
	m.wiped(s, emit)
	m.lands(s, emit)
	m.overdue(s, emit)
	m.schedulers(s, emit)
	m.nodes(s, emit)
	for w := 0; w < m.C.NW; w++ {
		for h := 0; h < m.C.NH; h++ {
			m.handler(s, w, h, emit)
		}
	}
	m.receipts(s, emit)
	m.persons(s, emit)
}

// moved tells what no step may do to a row.
func moved(s, t *RS) string {
	for i := range t.I {
		if final(s.I[i].St) && t.I[i].St != s.I[i].St {
			return "a final state changed"
		}
		if s.I[i].Att > 0 && t.I[i].St == Skipped && s.I[i].St != Skipped {
			return "an instance that had started ended as skipped"
		}
	}
	return ""
}

func (m *Run) time(s *RS, emit Emit[RS]) {
	for i := range s.I {
		r := &s.I[i]
		if r.open() && r.Due == 0 && r.St != Running && r.St != Awaiting {
			t := *s
			t.I[i].Due = 1
			emit(Label{F: "time: i%d is due", A: i}, t, false, "")
		}
	}
}

// lands: a write whose answer was cut off takes effect late, or never.
func (m *Run) lands(s *RS, emit Emit[RS]) {
	f := s.Fly
	if f.K == FlyNone {
		return
	}
	t := *s
	t.Fly = Fly{}
	r := &t.I[f.I]
	own := r.St == Running && r.Att == f.A && r.Node == f.N
	switch {
	case f.K == FlyClaim && m.claimable(r, r.Disp) && r.Due == 1 && r.Att+1 == f.A && s.Nodes[f.N] == 1:
		m.start(&t, f.I, f.N)
	case f.K == FlyMark && own && r.Sent == 0:
		r.Sent = 1
	case f.K == FlySettle && own:
		m.outcome(&t, f.I, f.A, f.O)
	}
	emit(Label{F: "ledger: the late write of i%d attempt %d lands (1 claim, 2 mark, 3 settle: %d), if its guards hold", A: int(f.I), B: int(f.A), C: int(f.K)}, t, false, "")
	t = *s
	t.Fly = Fly{}
	emit(Label{F: "ledger: the late write of i%d attempt %d is rolled back", A: int(f.I), B: int(f.A)}, t, false, "")
}

// overdue: an attempt runs past its deadline on a living node.
func (m *Run) overdue(s *RS, emit Emit[RS]) {
	for i := range s.I {
		if s.I[i].St != Running || s.I[i].Over != 0 || s.B.Over == 0 {
			continue
		}
		t := *s
		t.B.Over--
		t.I[i].Over = 1
		for w := range t.W {
			for h := range t.W[w].H {
				if y := &t.W[w].H[h]; y.PC != Idle && int(y.I) == i && holds(y.PC) && y.A == s.I[i].Att && y.Z == 0 {
					y.X = 1
				}
			}
		}
		emit(Label{F: "FAULT i%d runs past its deadline + 60 s, its handler may hang", A: i}, t, true, "")
	}
}
