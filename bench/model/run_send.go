package main

// EXECUTE: the sent mark of non-idempotent work, the call, its answer.

// mark stores sent_at; own: the guard holds, as far as it is looked at.
func (y hand) mark(own bool) {
	p := &y.m.P
	t := *y.s
	if own && y.row().Sent == 1 && !p.MarkNoNull && !p.SentMarkBlind {
		if p.MarkNoReread || p.SentKept {
			y.drop(&t)
			y.tell("w%d/%d: the sent mark of i%d is refused", t, "the owner gave up an attempt that it had not sent")
			return
		}
		y.in(&t).PC = Marked
		y.say("w%d/%d: 0 rows, reads back: the mark of i%d is its own", t)
		return
	}
	if own {
		y.cutOffMark()
	}
	if !own && !p.SentMarkBlind {
		y.drop(&t)
		y.say("w%d/%d: the sent mark of i%d is refused", t)
		return
	}
	t.I[y.i].Sent = 1
	y.in(&t).PC = Marked
	bad := ""
	if own {
		bad = y.zombie()
	}
	y.tell("w%d/%d: marks i%d sent", t, bad)
}

func (y hand) cutOffMark() {
	if y.s.B.Unknown > 0 {
		t := *y.s
		t.B.Unknown--
		t.I[y.i].Sent = 1
		y.in(&t).PC = MarkU
		y.fail("FAULT w%d/%d: the sent mark of i%d commits, the answer is cut off", t)
	}
	if y.s.B.Late > 0 {
		t := *y.s
		t.B.Late--
		t.Fly = Fly{FlyMark, y.x.I, y.x.A, y.x.N, 0}
		y.in(&t).PC = MarkU
		y.fail("FAULT w%d/%d: the sent mark of i%d is cut off and may land later", t)
	}
}

// readMark is the read back after an unknown commit of the mark.
func (y hand) readMark() {
	t, p, r := *y.s, &y.m.P, y.row()
	own := r.own(y.x)
	switch {
	case p.MarkAssumed || own && r.Sent == 1 && !p.MarkNoReread:
		y.in(&t).PC = Marked
		y.say("w%d/%d: the mark of i%d is its own", t)
	case own && r.Sent == 0:
		y.in(&t).PC = Claimed
		y.say("w%d/%d: reads back, i%d is not marked: marks again", t)
	default:
		bad := ""
		if own {
			bad = "the owner gave up an attempt that it had not sent"
		}
		y.drop(&t)
		y.tell("w%d/%d: reads back, i%d is no longer its own", t, bad)
	}
}

func (y hand) send() {
	t, c := *y.s, &y.m.C
	x, r := y.in(&t), &t.I[y.i]
	x.PC = Sent
	bad := ""
	if r.Sends < 2 {
		r.Sends++
	}
	if !c.Idem && !c.Allow && r.Sends > 1 {
		bad = "a non-idempotent instance was sent twice"
	}
	if c.Allow {
		if r.Open&(1<<x.A) != 0 {
			bad = "one attempt was sent twice"
		} else if r.Open != 0 {
			bad = "sent again although the outcome of an earlier send is unknown"
		}
		r.Open |= 1 << x.A
	}
	if x.Z == 1 && c.Have && y.s.Nodes[y.s.W[y.w].Node] == 1 {
		bad = "sent on a living node for an attempt that had ended"
	}
	if c.Await {
		r.Owes |= 1 << x.A
	}
	y.emit(Label{F: "w%d/%d: sends i%d attempt %d to the callee", A: y.w, B: y.h, C: y.i, D: int(x.A)}, t, false, bad)
}

// ends: the request is out, and comes to an end.
func (y hand) ends() {
	s, c := y.s, &y.m.C
	if y.up() == 2 && y.m.P.HandBackAfterSend && s.I[y.i].St == Running && s.I[y.i].Att == y.x.A {
		t := *s
		t.endAttempt(y.x.I)
		t.I[y.i].St, t.I[y.i].Due, t.I[y.i].Sent = Pending, 1, 0
		t.I[y.i].Disp++
		y.drop(&t)
		y.say("w%d/%d: stopping, hands i%d back although it was sent", t)
	}
	outs := []uint8{0, 1}
	if c.Await {
		outs = append(outs, 2)
	}
	if c.Allow {
		outs = append(outs, 3)
	}
	for _, o := range outs {
		if c.Have {
			t := *s
			y.in(&t).PC, y.in(&t).O = Have, o
			y.emit(y.label("w%d/%d: i%d ends: "+outName[o]), t, y.x.X == 1, "")
			continue
		}
		y.settle(o, false)
		if s.B.Unknown > 0 {
			y.settle(o, true)
		}
	}
}
