package main

import (
	"fmt"
	"strings"
)

// Bad is what must never be so.
func (m *Run) Bad(s *RS) string {
	live := uint8(0)
	for i, r := range s.I {
		if r.St == Running || r.St == Awaiting {
			live++
		}
		if bad := m.badRow(s, i); bad != "" {
			return bad
		}
	}
	if m.C.Limit > 0 && live > m.C.Limit {
		return "concurrency limit exceeded in the ledger"
	}
	if m.C.Limit > 0 && !m.C.Await && m.C.B.Suspect == 0 && s.working() > m.C.Limit {
		return "more really running on living nodes than the limit"
	}
	return ""
}

func (m *Run) badRow(s *RS, i int) string {
	r := s.I[i]
	if dead(r.St) != (r.DL > 0) {
		return "dead letter and final state disagree"
	}
	if !m.C.Idem && r.St == Lost && r.Sends == 0 && r.Sent == 0 && r.Dth < m.C.MaxDeath {
		return "ended lost although nothing can have been sent"
	}
	if r.Rep > 0 && r.open() {
		for j := range s.I {
			if j != i && s.I[j].open() {
				return "two open instances for one business action"
			}
		}
	}
	owners := 0
	for _, w := range s.W {
		for _, h := range w.H {
			if w.Up > 0 && holds(h.PC) && h.PC != GotU && int(h.I) == i && h.Z == 0 {
				owners++
			}
		}
	}
	if owners > 1 {
		return "two handlers believe they own one attempt"
	}
	return ""
}

// working counts what really runs on living nodes.
func (s *RS) working() uint8 {
	n := uint8(0)
	for _, w := range s.W {
		for _, h := range w.H {
			if w.Up > 0 && s.Nodes[w.Node] == 1 && h.X == 0 && (h.PC == Claimed || h.PC == Marked || h.PC == Sent) {
				n++
			}
		}
	}
	return n
}

// Goal: every instance has ended.
func (m *Run) Goal(s *RS) bool {
	for i := range s.I {
		if s.I[i].open() {
			return false
		}
	}
	return true
}

// Show is a line about a state.
func (m *Run) Show(s *RS) string {
	var b strings.Builder
	for i, r := range s.I {
		if !r.exists() {
			continue
		}
		fmt.Fprintf(&b, "i%d %s attempt %d dispatch %d node n%d due %d sends %d; ", i, stateName[r.St], r.Att, r.Disp, r.Node, r.Due, r.Sends)
		for _, x := range r.M {
			if x.L != Gone {
				fmt.Fprintf(&b, "msg .%d %s; ", x.D, placeName[x.L])
			}
		}
	}
	return b.String()
}
