package main

import "fmt"

// The outage model: two living nodes, second by second. A beat every 5 s;
// after more than 15 s without one (three missed) a node counts as dead.
// Nobody is dead here, so every declaration is wrong. The database may go
// away for any time, a node may fail one beat more than the others when it is
// back, and the ledger's clock may jump (a paused host, a corrected clock).

// ON is a node.
type ON struct {
	Ph     uint8 // seconds since the last try
	Age    uint8 // ledger's now - beat_at
	Steady uint8 // ledger's now - steady_at
	Own    uint8 // the node's own count of seconds since its beats became unbroken
	Miss   uint8 // beats it may still fail alone
}

// OS is a state of the outage model.
type OS struct {
	N          [3]ON
	Down, Boot uint8
	Offs, Jump uint8
}

// OP is what is taken away.
type OP struct {
	NoSteady, Own, NoFresh, Five, NoRetry bool
}

// Outage is the model, of NN nodes.
type Outage struct {
	P  OP
	NN int
}

// ageCap bounds the ages: beyond it nothing changes any more.
const ageCap = 32

// Init has steady nodes whose beats are in step.
func (m *Outage) Init() OS {
	s := OS{Boot: uint8(m.NN), Offs: 1, Jump: 1}
	for k := 0; k < m.NN; k++ {
		s.N[k] = ON{Steady: ageCap, Own: ageCap, Miss: 2}
	}
	return s
}

// Next emits phases of the beats first, then outage, clock step, and a second.
func (m *Outage) Next(s *OS, emit Emit[OS]) {
	if s.Boot > 1 {
		m.phases(s, emit)
		return
	}
	if s.Down == 0 && s.Offs > 0 {
		t := *s
		t.Offs--
		t.Down = 1
		emit(Label{F: "FAULT the database goes away"}, t, true, "")
	}
	if s.Down == 1 {
		t := *s
		t.Down = 0
		emit(Label{F: "the database is back"}, t, false, "")
	}
	if s.Jump > 0 {
		t := *s
		t.Jump--
		for k := 0; k < m.NN; k++ {
			t.N[k].Age = min(t.N[k].Age+20, ageCap)
			t.N[k].Steady = min(t.N[k].Steady+20, ageCap)
		}
		emit(Label{F: "FAULT the ledger's clock jumps 20 s ahead"}, t, true, "")
	}
	for fail := 0; fail < 1<<m.NN; fail++ {
		if t, ok := m.second(s, fail); ok {
			emit(Label{F: "one second; nodes that fail a beat alone: mask %d", A: fail}, t, false, m.judges(&t, s.Down == 1))
		}
	}
}

// phases of the beats are arbitrary.
func (m *Outage) phases(s *OS, emit Emit[OS]) {
	for ph := range uint8(5) {
		t := *s
		t.Boot--
		t.N[t.Boot].Ph, t.N[t.Boot].Age = ph, ph
		emit(Label{F: "node %d beats %d s before node 0", A: int(t.Boot), B: int(ph)}, t, false, "")
	}
}

// second: one second passes; whoever is to beat beats, or fails. False: those
// that are to fail can't.
func (m *Outage) second(s *OS, fail int) (OS, bool) {
	t := *s
	for k := 0; k < m.NN; k++ {
		n := &t.N[k]
		n.Ph++
		n.Age, n.Steady, n.Own = min(n.Age+1, ageCap), min(n.Steady+1, ageCap), min(n.Own+1, ageCap)
		miss := fail>>k&1 == 1
		if n.Ph < 5 {
			if miss {
				return t, false
			}
			continue
		}
		n.Ph = 0
		switch {
		case miss && (s.Down == 1 || n.Miss == 0):
			return t, false
		case miss:
			n.Miss--
			n.Own, n.Ph = 0, m.retry()
		case s.Down == 1:
			n.Own, n.Ph = 0, m.retry()
		default:
			if n.Age > 10 {
				n.Steady = 0
			}
			n.Age = 0
		}
	}
	return t, true
}

// judges tells whether a node may declare another dead now.
func (m *Outage) judges(t *OS, down bool) string {
	bad := ""
	need := uint8(15)
	if m.P.Five {
		need = 5
	}
	for a := 0; a < m.NN && !down; a++ {
		for b := 0; b < m.NN; b++ {
			x := t.N[a]
			may := x.Steady >= need && (x.Age <= 10 || m.P.NoFresh)
			if m.P.Own {
				may = x.Own >= need
			}
			if a != b && t.N[b].Age > 15 && (may || m.P.NoSteady) {
				bad = fmt.Sprintf("node %d declares the living node %d dead", a, b)
			}
		}
	}
	return bad
}

// retry: a failed beat is tried again after a second.
func (m *Outage) retry() uint8 {
	if m.P.NoRetry {
		return 0
	}
	return 4
}

// Bad: only declarations are.
func (m *Outage) Bad(*OS) string { return "" }

// Goal: the database is back.
func (m *Outage) Goal(s *OS) bool { return s.Down == 0 }

// Show is a line about a state.
func (m *Outage) Show(s *OS) string { return fmt.Sprintf("%+v", *s) }

func outageCases() []Case {
	outage := func(name string, p OP) Case { return explored[OS](name, &Outage{p, 2}) }
	return []Case{
		outage("base/outage", OP{}),
		outage("draft/outage-own-clock", OP{Own: true}).breaks(34),
		outage("draft/outage-beats-not-retried", OP{NoRetry: true}).breaks(35),
		outage("guard/outage-own-beat-fresh", OP{NoFresh: true}).breaks(),
		outage("guard/outage-steady", OP{NoSteady: true}).breaks(34),
		outage("guard/outage-steady-5", OP{Five: true}).breaks(),
	}
}
