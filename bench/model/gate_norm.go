package main

// norm renames dispatch numbers, forgets what no longer matters, and orders
// the handlers, which are alike.
func (m *Gate) norm(t *GS) {
	for i := range t.I {
		r := &t.I[i]
		if r.St == gDone {
			*r = GI{St: gDone, M: r.M}
		}
		t.renumber(i)
		less := func(a, b Msg) bool { return a.L != gGone && (b.L == gGone || a.D < b.D) }
		for a := 1; a < gM; a++ {
			for b := a; b > 0 && less(r.M[b], r.M[b-1]); b-- {
				r.M[b], r.M[b-1] = r.M[b-1], r.M[b]
			}
		}
	}
	for a := 1; a < m.H; a++ {
		for b := a; b > 0 && t.H[b].key() < t.H[b-1].key(); b-- {
			t.H[b], t.H[b-1] = t.H[b-1], t.H[b]
			switch t.Gate {
			case uint8(b + 1):
				t.Gate = uint8(b)
			case uint8(b):
				t.Gate = uint8(b + 1)
			}
		}
	}
}

func (s *GS) renumber(i int) {
	var used [32]bool
	s.numbers(i, func(d *uint8) { used[*d] = true })
	var to [32]uint8
	n := uint8(0)
	for d := range used {
		to[d] = n
		if used[d] {
			n++
		}
	}
	s.numbers(i, func(d *uint8) { *d = to[*d] })
}

// numbers visits every dispatch number of one row.
func (s *GS) numbers(i int, visit func(*uint8)) {
	r := &s.I[i]
	visit(&r.Disp)
	for k := range r.M {
		if r.M[k].L == gGone {
			r.M[k] = Msg{}
		} else {
			visit(&r.M[k].D)
		}
	}
	for k := range s.H {
		h := &s.H[k]
		if h.PC != hIdle && int(h.I) == i {
			visit(&h.D)
		}
		if h.PC == hWakeE && int(h.J) == i {
			visit(&h.E)
		}
	}
}

func (h GH) key() uint64 {
	return uint64(h.PC)<<48 | uint64(h.I)<<40 | uint64(h.D)<<32 | uint64(h.J)<<24 | uint64(h.E)<<16 | uint64(h.Back)<<8 | uint64(h.Held)
}
