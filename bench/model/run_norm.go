package main

// States that differ only in names are made one: that keeps the number of
// states within reach.

// norm renames dispatch numbers (only their order matters), forgets nodes that
// nobody refers to, clears what no longer matters and orders the schedulers.
func (m *Run) norm(t *RS) {
	for i := range t.I {
		m.renumber(t, i)
		if !m.P.DeadScannedOnce {
			t.I[i].Scan = 0
		}
	}
	t.forgetNodes()
	if a, b := t.S[0], t.S[1]; m.C.NS == 2 && less(b, a) {
		t.S[0], t.S[1] = b, a
	}
	if m.Sym {
		m.symmetry(t)
	}
}

// renumber gives the dispatch numbers of one instance new ones without gaps.
func (m *Run) renumber(t *RS, i int) {
	r := &t.I[i]
	var used [16]bool
	m.numbers(t, i, func(d *uint8) { used[*d&15] = true })
	for k := range r.M {
		if r.M[k].L == Gone {
			r.M[k] = Msg{}
		}
	}
	if t.B.Snap == 0 {
		r.Snap = [3]Msg{}
	}
	if m.P.EnqueueBeforeBump {
		for k := range t.S {
			if y := t.S[k]; y.Op != OpIdle && int(y.I) == i {
				used[(y.D+1)&15] = true
			}
		}
	}
	var to [16]uint8
	n := uint8(0)
	for d := range used {
		to[d] = n
		if used[d] {
			n++
		}
	}
	m.numbers(t, i, func(d *uint8) { *d = to[*d&15] })
	sort3(&r.M)
	sort3(&r.Snap)
}

// numbers visits every dispatch number of one instance.
func (m *Run) numbers(t *RS, i int, visit func(*uint8)) {
	r := &t.I[i]
	visit(&r.Disp)
	for k := range r.M {
		if r.M[k].L != Gone {
			visit(&r.M[k].D)
		}
		if r.Snap[k].L != Gone {
			visit(&r.Snap[k].D)
		}
	}
	for w := range t.W {
		for h := range t.W[w].H {
			if y := &t.W[w].H[h]; y.PC != Idle && int(y.I) == i {
				visit(&y.D)
			}
		}
	}
	for k := range t.S {
		if y := &t.S[k]; y.Op != OpIdle && int(y.I) == i {
			visit(&y.D)
		}
	}
}

func (s *RS) forgetNodes() {
	for n := 1; n < len(s.Nodes); n++ {
		if s.Nodes[n] != 0 && !s.refers(n) {
			s.Nodes[n] = 0
		}
	}
}

// refers tells whether anything names a node.
func (s *RS) refers(n int) bool {
	for i := range s.I {
		if s.I[i].St == Running && int(s.I[i].Node) == n {
			return true
		}
	}
	for _, w := range s.W {
		if w.Up > 0 && int(w.Node) == n {
			return true
		}
		for _, h := range w.H {
			if h.PC != Idle && int(h.N) == n {
				return true
			}
		}
	}
	return s.Fly.K != FlyNone && int(s.Fly.N) == n
}

// symmetry: workers are alike and so are node numbers. It makes traces harder
// to read, so it is on only where no trace is expected.
func (m *Run) symmetry(t *RS) {
	if m.C.NW == 2 && t.W[1].key() < t.W[0].key() {
		t.W[0], t.W[1] = t.W[1], t.W[0]
	}
	var to [6]uint8
	n := uint8(0)
	name := func(x *uint8) {
		if *x == 0 {
			return
		}
		if to[*x] == 0 {
			n++
			to[*x] = n
		}
		*x = to[*x]
	}
	for w := range t.W {
		name(&t.W[w].Node)
	}
	for i := range t.I {
		name(&t.I[i].Node)
	}
	for w := range t.W {
		for h := range t.W[w].H {
			name(&t.W[w].H[h].N)
		}
	}
	name(&t.Fly.N)
	var nodes [6]uint8
	for x, y := range t.Nodes {
		if y != 0 && to[x] != 0 {
			nodes[to[x]] = y
		}
	}
	t.Nodes = nodes
}

// key orders workers; their nodes don't count.
func (w *Worker) key() uint64 {
	k := uint64(w.Up)
	for _, h := range w.H {
		k = k<<24 | uint64(h.PC)<<20 | uint64(h.I)<<16 | uint64(h.D)<<12 | uint64(h.A)<<8 | uint64(h.O)<<4 | uint64(h.X)<<1 | uint64(h.Z)
	}
	return k
}

func less(a, b Sched) bool {
	x := [5]uint8{a.Op, a.I, a.St, a.Att, a.D}
	y := [5]uint8{b.Op, b.I, b.St, b.Att, b.D}
	for k := range x {
		if x[k] != y[k] {
			return x[k] < y[k]
		}
	}
	return false
}

// sort3 puts messages into the order of their numbers.
func sort3(m *[3]Msg) {
	less := func(a, b Msg) bool { return a.L != Gone && (b.L == Gone || a.D < b.D) }
	for _, p := range [][2]int{{0, 1}, {1, 2}, {0, 1}} {
		if less(m[p[1]], m[p[0]]) {
			m[p[0]], m[p[1]] = m[p[1]], m[p[0]]
		}
	}
}
