package main

// turn is what one scheduler does next: it reads a row, or writes what it read
// if the row is still so.
type turn struct {
	m    *Run
	s    *RS
	k    int
	x    Sched
	emit Emit[RS]
}

func (y turn) idle(t *RS)             { t.S[y.k] = Sched{} }
func (y turn) set(t *RS, op, d uint8) { t.S[y.k] = Sched{Op: op, I: y.x.I, D: d} }
func (y turn) say(f string, t RS)     { y.emit(Label{F: f, A: int(y.x.I)}, t, false, "") }

// asRead is the guard of every sweep: the row is as it was read.
func (y turn) asRead(r *Inst) bool {
	return r.St == y.x.St && r.Att == y.x.Att && r.Disp == y.x.D
}

func (m *Run) schedulers(s *RS, emit Emit[RS]) {
	for k := 0; k < m.C.NS; k++ {
		x := s.S[k]
		y := turn{m, s, k, x, emit}
		if x.Op != OpIdle && s.B.Crash > 0 {
			t := *s
			y.idle(&t)
			t.B.Crash--
			emit(Label{F: "FAULT scheduler dies (op %d on i%d)", A: int(x.Op), B: int(x.I)}, t, true, "")
		}
		switch x.Op {
		case OpIdle:
			y.look()
		case OpEnq, OpMark:
			y.handOver()
		case OpSwU:
			y.raise()
		case OpSwE:
			y.resend()
		case OpLost:
			y.lose()
		case OpTmo:
			y.missReceipt()
		case OpOver:
			y.endOverdue()
		}
	}
}

// look reads a row that asks for something.
func (y turn) look() {
	s, p := y.s, &y.m.P
	for i := range s.I {
		r := s.I[i]
		read := func(op uint8, f string) {
			t := *s
			t.S[y.k] = Sched{op, uint8(i), r.St, r.Att, r.Disp}
			y.emit(Label{F: f, A: i}, t, false, "")
		}
		if r.St == Pending {
			read(OpEnq, "dispatcher: reads i%d pending")
		}
		if (r.St == Queued || r.St == Retrying) && r.Due == 1 && !p.NoSweepQueued {
			read(OpSwU, "sweeper: reads i%d late")
		}
		if r.St == Running && s.Nodes[r.Node] == 2 && !p.NoSweepRunning && (!p.DeadScannedOnce || r.Scan == 1) {
			read(OpLost, "sweeper: reads i%d running on a dead node")
		}
		if r.St == Running && r.Over == 1 && !p.NoOver && (p.OverSweep && s.Nodes[r.Node] == 1 || s.nodeUp(r.Node)) {
			read(OpOver, "its node: reads i%d running past its deadline + 60 s")
		}
		if r.St == Awaiting && !p.NoSweepAwaiting {
			read(OpTmo, "sweeper: reads i%d past its receipt deadline")
		}
	}
}

// handOver is HAND OVER: enqueue, then write queued.
func (y turn) handOver() {
	t := *y.s
	if y.x.Op == OpEnq {
		if y.m.enqueue(&t, y.x.I, y.x.D) {
			y.set(&t, OpMark, y.x.D)
		} else {
			y.idle(&t)
		}
		y.emit(Label{F: "dispatcher: enqueues i%d.%d", A: int(y.x.I), B: int(y.x.D)}, t, false, "")
		return
	}
	if r := &t.I[y.x.I]; r.St == Pending && r.Disp == y.x.D || y.m.P.MarkBlind {
		r.St = Queued
	}
	y.idle(&t)
	y.say("dispatcher: writes i%d queued if still pending", t)
}

// raise is the first half of sweep a: the row gets a new dispatch number.
func (y turn) raise() {
	p := &y.m.P
	t := *y.s
	if p.EnqueueBeforeBump {
		y.m.enqueue(&t, y.x.I, y.x.D+1)
		t.S[y.k] = Sched{OpSwE, y.x.I, y.x.St, y.x.Att, y.x.D} // the row is raised in the next step
		y.emit(Label{F: "sweeper: enqueues i%d.%d before the row says so", A: int(y.x.I), B: int(y.x.D + 1)}, t, false, "")
		return
	}
	r := &t.I[y.x.I]
	switch {
	case y.asRead(r):
		if !p.SweepSameID {
			r.Disp++
		}
		y.set(&t, OpSwE, r.Disp)
	case p.SweepBlind:
		r.Disp++
		r.St = Queued
		y.set(&t, OpSwE, r.Disp)
	default:
		y.idle(&t)
	}
	y.say("sweeper: raises dispatch of i%d if unchanged", t)
}

// resend is the second half: the message of the new number.
func (y turn) resend() {
	t := *y.s
	if y.m.P.EnqueueBeforeBump && y.x.St != 0 {
		if r := &t.I[y.x.I]; y.asRead(r) {
			r.Disp++
		}
		y.idle(&t)
		y.say("sweeper: raises dispatch of i%d after the enqueue", t)
		return
	}
	y.m.enqueue(&t, y.x.I, y.x.D)
	y.idle(&t)
	y.emit(Label{F: "sweeper: enqueues i%d.%d", A: int(y.x.I), B: int(y.x.D)}, t, false, "")
}

// lose is sweep b.
func (y turn) lose() {
	t := *y.s
	r := &t.I[y.x.I]
	again := false
	if r.St == Running && r.Att == y.x.Att || y.m.P.LostBlind {
		again = y.m.lost(&t, y.x.I)
	}
	y.idle(&t)
	if again {
		y.set(&t, OpSwE, t.I[y.x.I].Disp)
	}
	y.say("sweeper: ends the attempt of i%d as lost if unchanged", t)
}

// missReceipt is sweep c.
func (y turn) missReceipt() {
	m := y.m
	t := *y.s
	r := &t.I[y.x.I]
	if r.St == Awaiting && r.Att == y.x.Att || m.P.TmoBlind {
		if m.C.Idem && r.Ret < m.C.MaxRet || m.P.TmoRetriesAll && m.C.Allow {
			r.St, r.Due = Retrying, 0
			r.Ret++
		} else {
			m.end(&t, y.x.I, TimedOut)
		}
	}
	y.idle(&t)
	y.say("sweeper: i%d retrying or timed_out if still awaiting", t)
}

// endOverdue is the part of AUDIT that ends an attempt past its deadline.
func (y turn) endOverdue() {
	p := &y.m.P
	t := *y.s
	r := &t.I[y.x.I]
	bad, inHand := "", y.s.answered(y.x.I, r.Att)
	if r.St == Running && r.Att == y.x.Att && (!inHand || p.OverSweep) || p.OverBlind {
		if inHand && !p.OverBlind {
			bad = "an answer in hand was thrown away on a living node"
		}
		wish := r.Cxl
		if p.OverIgnoresCancel {
			r.Cxl = 0
		}
		y.m.badEnd(&t, y.x.I, TimedOut, y.m.C.Idem || r.Sent == 0 || p.OverRetries)
		if !final(r.St) {
			r.Cxl = wish
		}
	}
	y.idle(&t)
	y.emit(Label{F: "its node: settles i%d timed_out if still running, unless the answer is in hand", A: int(y.x.I)}, t, false, bad)
}

// answered: a living handler holds an answer for this attempt.
func (s *RS) answered(i, a uint8) bool {
	for _, w := range s.W {
		for _, y := range w.H {
			if w.Up > 0 && (y.PC == Have || y.PC == SettleU) && y.I == i && y.A == a && y.Z == 0 {
				return true
			}
		}
	}
	return false
}
