package main

// CLAIM.

func (m *Run) claimable(r *Inst, d uint8) bool {
	if m.P.DispEqual && r.Disp != d {
		return false
	}
	return r.St == Queued || r.St == Retrying || r.St == Pending && !m.P.NoClaimPending
}

func (m *Run) start(t *RS, i, n uint8) {
	r := &t.I[i]
	r.St, r.Node, r.Scan, r.Over = Running, n, 0, 0
	r.Att++
	if !m.P.SentKept {
		r.Sent = 0
	}
}

func (m *Run) take(t *RS, w, h int) {
	x := &t.W[w].H[h]
	r := &t.I[x.I]
	m.start(t, x.I, t.W[w].Node)
	x.X = 0
	x.PC, x.A, x.N, x.Z = Claimed, r.Att, r.Node, 0
}

// claim applies the guards in their order.
func (y hand) claim() {
	s, p, r := y.s, &y.m.P, y.row()
	t := *s
	gone := s.Nodes[s.W[y.w].Node] != 1
	if gone && !p.NoNodeAlive {
		y.again(&t)
		y.say("w%d/%d: claim of i%d refused, own node is declared dead", t)
		return
	}
	if !y.m.claimable(&r, y.x.D) && !p.ClaimBlind {
		y.drop(&t)
		y.say("w%d/%d: claim of i%d.%d refused, message dropped", t)
		return
	}
	if r.Due == 0 && !p.NoDueGuard {
		y.early()
		return
	}
	bad := ""
	switch {
	case gone:
		bad = "a node declared dead claimed work"
	case r.Due == 0:
		bad = "an attempt started before it was due"
	case r.Cxl == 1:
		bad = "a new attempt began after a cancel wish"
	}
	if y.m.C.Limit > 0 && y.overLimit(bad) {
		return
	}
	if p.SplitClaim {
		y.in(&t).PC = Checked
		y.tell("w%d/%d: checks for i%d pass", t, bad)
		return
	}
	y.cutOffClaim(bad)
	y.m.take(&t, y.w, y.h)
	y.tell("w%d/%d: claims i%d with message %d", t, bad)
	y.claimTwice(t, bad)
}

// early: the row is not due yet.
func (y hand) early() {
	if y.m.C.Early {
		t := *y.s
		y.in(&t).PC = EarlyW
		y.say("w%d/%d: i%d is early by a second at most, the handler waits", t)
	}
	t := *y.s
	if y.m.P.EarlyDrop {
		y.drop(&t)
	} else {
		y.again(&t)
	}
	y.say("w%d/%d: i%d is not due yet, message goes back", t)
}

// writeClaim is the second half of a claim that is not one transaction.
func (y hand) writeClaim() {
	t := *y.s
	if r := &t.I[y.i]; y.m.claimable(r, y.x.D) || y.m.P.ClaimBlind {
		y.m.take(&t, y.w, y.h)
	} else {
		y.drop(&t)
	}
	y.say("w%d/%d: writes the claim of i%d after the checks", t)
}

// begun counts the other instances that hold a place, and those that have
// begun and not ended.
func (y hand) begun() (live, open uint8) {
	p := &y.m.P
	for j, z := range y.s.I {
		if j == y.i {
			continue
		}
		if z.St == Running || z.St == Awaiting && !p.AwaitNotCounted {
			live++
		}
		if z.Att > 0 && z.open() && (!p.SkipStarted || z.St == Running) {
			open++
		}
	}
	return live, open
}

// overLimit: no free place. False: the claim goes on.
func (y hand) overLimit(bad string) bool {
	c, p, t := &y.m.C, &y.m.P, *y.s
	live, open := y.begun()
	overlaps := (y.row().Att == 0 || p.SkipStarted) && open >= c.Limit
	wait := func() {
		t.I[y.i].Due = 0
		y.again(&t)
	}
	switch {
	case overlaps && c.Policy == "skip" && c.Request && !p.RequestSkipped:
		wait()
		y.tell("w%d/%d: overlap, the request i%d waits", t, bad)
	case overlaps && c.Policy == "skip":
		if c.Request {
			bad = "a request was skipped"
		}
		y.m.end(&t, y.x.I, Skipped)
		y.drop(&t)
		y.tell("w%d/%d: overlap, i%d skipped", t, bad)
	case overlaps && c.Policy == "cancel_running":
		wait()
		if p.CancelsApart {
			y.in(&t).PC = CancelO
		} else {
			y.cancelBegun(&t)
		}
		y.tell("w%d/%d: overlap, i%d asks the running one to stop and waits", t, bad)
	case live >= c.Limit, overlaps && p.QueueBehindBegun:
		wait()
		if p.LimitDrop {
			y.drop(&t)
		}
		y.tell("w%d/%d: limit reached, i%d waits", t, bad)
	default:
		return false
	}
	return true
}

// cancelBegun cancels what has begun of the task.
func (y hand) cancelBegun(t *RS) {
	for j := range t.I {
		if z := &t.I[j]; j != y.i && z.Att > 0 && !final(z.St) {
			if z.St == Running {
				z.Cxl = 1
			} else {
				y.m.end(t, uint8(j), Canceled)
			}
		}
	}
}

// cutOffClaim: the answer of the claim is lost; it has landed, lands later, or
// never.
func (y hand) cutOffClaim(bad string) {
	s, r := y.s, y.row()
	if s.B.Unknown > 0 {
		t := *s
		t.B.Unknown--
		y.m.take(&t, y.w, y.h)
		y.in(&t).PC = GotU
		y.emit(y.label("FAULT w%d/%d: claim of i%d commits, the answer is cut off"), t, true, bad)
	}
	if s.B.Late > 0 {
		t := *s
		t.B.Late--
		t.Fly = Fly{FlyClaim, y.x.I, r.Att + 1, s.W[y.w].Node, 0}
		z := y.in(&t)
		z.PC, z.A, z.N = GotU, r.Att+1, s.W[y.w].Node
		y.emit(y.label("FAULT w%d/%d: claim of i%d is cut off and may land later"), t, true, bad)
	}
}

// claimTwice: one batch of a process holds two messages of one instance, and
// counts rows.
func (y hand) claimTwice(t RS, bad string) {
	if !y.m.P.BatchDup || y.h != 0 || y.m.C.NH < 2 {
		return
	}
	if z := y.s.W[y.w].H[1]; z.PC == Got && z.I == y.x.I {
		t.W[y.w].H[1].PC, t.W[y.w].H[1].A, t.W[y.w].H[1].N = Claimed, t.W[y.w].H[0].A, t.W[y.w].H[0].N
		y.emit(Label{F: "w%d: one batch claims i%d for two messages", A: y.w, B: y.i}, t, false, bad)
	}
}
