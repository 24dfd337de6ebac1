package main

// SETTLE.

// settle brings outcome o to the ledger; unknown: the answer of the commit is
// cut off.
func (y hand) settle(o uint8, unknown bool) {
	p, x := &y.m.P, y.x
	t := *y.s
	r := &t.I[y.i]
	own := (r.St == Running || p.NoSettleState) && (r.Att == x.A || p.NoSettleAttempt) && (r.Node == x.N || p.NoSettleNode)
	if unknown && !own {
		return
	}
	ack, bad := AckDrop, ""
	if own {
		bad = y.zombie()
		if y.m.outcome(&t, x.I, x.A, o) {
			ack = AckRetry
		}
	}
	l := y.label("w%d/%d: settles i%d " + outName[o])
	if !own {
		l.F = "w%d/%d: settle of i%d " + outName[o] + " refused"
	}
	if unknown {
		t.B.Unknown--
		y.in(&t).PC, y.in(&t).O = SettleU, o
		l.F = "FAULT " + l.F + ", the answer of the commit is cut off"
		y.emit(l, t, true, bad)
		return
	}
	if own && y.s.B.Late > 0 && x.PC != SettleU {
		u := *y.s
		u.B.Late--
		u.Fly = Fly{FlySettle, x.I, x.A, x.N, o}
		y.in(&u).PC, y.in(&u).O = SettleU, o
		y.fail("FAULT w%d/%d: settle of i%d is cut off and may land later", u)
	}
	*y.in(&t) = Handler{PC: ack, I: x.I, D: x.D}
	hang := x.X == 1 && x.PC != Have && x.PC != SettleU
	y.emit(l, t, hang, bad)
}
