package main

// Nodes: declared dead, dying, starting, registering anew, stopping, auditing.

func (m *Run) nodes(s *RS, emit Emit[RS]) {
	for n := 1; n < len(s.Nodes); n++ {
		if s.Nodes[n] == 1 {
			m.judged(s, n, emit)
		}
	}
	for w := 0; w < m.C.NW; w++ {
		m.lives(s, w, emit)
		m.stops(s, w, emit)
		m.audits(s, w, emit)
	}
}

func newNode(t *RS) uint8 {
	for n := 1; n < len(t.Nodes); n++ {
		if t.Nodes[n] == 0 {
			t.Nodes[n] = 1
			return uint8(n)
		}
	}
	return 0
}

func declare(t *RS, n int) {
	t.Nodes[n] = 2
	for i := range t.I {
		if t.I[i].St == Running && int(t.I[i].Node) == n {
			t.I[i].Scan = 1
		}
	}
}

// judged: a node is declared dead, rightly or wrongly.
func (m *Run) judged(s *RS, n int, emit Emit[RS]) {
	owned := s.nodeUp(uint8(n))
	if owned && s.B.Suspect == 0 {
		return
	}
	t := *s
	f := "sweeper: declares the gone node n%d dead"
	if owned {
		t.B.Suspect--
		f = "FAULT node n%d is frozen and declared dead"
	}
	declare(&t, n)
	emit(Label{F: f, A: n}, t, owned, "")
}

func (m *Run) lives(s *RS, w int, emit Emit[RS]) {
	x := s.W[w]
	if x.Up > 0 && s.B.Crash > 0 {
		t := *s
		t.W[w] = Worker{}
		t.B.Crash--
		emit(Label{F: "FAULT worker w%d dies (kill -9)", A: w}, t, true, "")
	}
	if x.Up == 0 {
		t := *s
		if n := newNode(&t); n > 0 {
			t.W[w] = Worker{Up: 1, Node: n}
			emit(Label{F: "worker w%d starts as node n%d", A: w, B: int(n)}, t, false, "")
		}
	}
	if x.Up > 0 && s.Nodes[x.Node] == 2 && !m.P.NoReregister {
		t := *s
		if n := newNode(&t); n > 0 {
			m.reborn(&t, w, n)
			emit(Label{F: "worker w%d finds itself declared dead: cancels its runs, registers as n%d", A: w, B: int(n)}, t, false, "")
		}
	}
}

// reborn: whatever the old row held is given up.
func (m *Run) reborn(t *RS, w int, n uint8) {
	t.W[w].Node, t.W[w].Mem = n, 0
	for h := range t.W[w].H {
		y := &t.W[w].H[h]
		if !holds(y.PC) && y.PC != SettleU {
			continue
		}
		y.PC, y.A, y.N, y.O, y.Z, y.X = AckRetry, 0, 0, 0, 0, 0
		if m.P.RebornDrops {
			y.PC = AckDrop
		}
	}
}

func (m *Run) stops(s *RS, w int, emit Emit[RS]) {
	x := s.W[w]
	if x.Up == 1 && s.B.Stop > 0 {
		t := *s
		t.W[w].Up = 2
		t.B.Stop--
		emit(Label{F: "worker w%d is asked to stop", A: w}, t, true, "")
	}
	if x.Up == 2 {
		t := *s
		t.W[w] = Worker{}
		declare(&t, int(x.Node))
		emit(Label{F: "worker w%d leaves (limit over, or nothing left) and closes its node row", A: w}, t, false, "")
	}
}

// audits its own rows: those that say they run here but nobody here knows.
func (m *Run) audits(s *RS, w int, emit Emit[RS]) {
	x := s.W[w]
	if x.Up == 0 || m.P.NoAudit {
		return
	}
	for i := range s.I {
		r := s.I[i]
		if r.St != Running || r.Node != x.Node {
			continue
		}
		known := i == 0 && x.Mem&(1<<r.Att) != 0
		for _, y := range x.H {
			known = known || int(y.I) == i && (holds(y.PC) || y.PC == SettleU) && y.A == r.Att
		}
		if known {
			continue
		}
		t := *s
		if m.lost(&t, uint8(i)) {
			t.I[i].St = Pending // handed over by the next dispatcher tick
		}
		emit(Label{F: "worker w%d: audit finds i%d running here without a handler", A: w, B: i}, t, false, "")
	}
}
