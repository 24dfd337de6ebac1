package main

// hand is one handler's next step: which worker and slot, and what it holds.
type hand struct {
	m    *Run
	s    *RS
	w, h int
	x    Handler
	i    int // instance
	emit Emit[RS]
}

func (y hand) up() uint8           { return y.s.W[y.w].Up }
func (y hand) row() Inst           { return y.s.I[y.i] }
func (y hand) in(t *RS) *Handler   { return &t.W[y.w].H[y.h] }
func (y hand) drop(t *RS)          { *y.in(t) = Handler{PC: AckDrop, I: y.x.I, D: y.x.D} }
func (y hand) again(t *RS)         { *y.in(t) = Handler{PC: AckRetry, I: y.x.I, D: y.x.D} }
func (y hand) say(f string, t RS)  { y.tell(f, t, "") }
func (y hand) fail(f string, t RS) { y.emit(y.label(f), t, true, "") }

func (y hand) tell(f string, t RS, bad string) { y.emit(y.label(f), t, false, bad) }
func (y hand) label(f string) Label            { return Label{F: f, A: y.w, B: y.h, C: y.i, D: int(y.x.D)} }

// zombie tells of a write that was taken from a handler whose attempt had ended.
func (y hand) zombie() string {
	if y.x.Z == 1 {
		return "a zombie's write was taken"
	}
	return ""
}

func (m *Run) handler(s *RS, w, h int, emit Emit[RS]) {
	x := s.W[w].H[h]
	y := hand{m, s, w, h, x, int(x.I), emit}
	if y.up() == 0 {
		return
	}
	if s.B.Panic > 0 && holds(x.PC) {
		t := *s
		y.again(&t)
		t.B.Panic--
		emit(Label{F: "FAULT handler of i%d panics, nothing settled", A: y.i}, t, true, "")
	}
	switch x.PC {
	case Idle:
		y.takeMessage()
	case Got:
		y.claim()
		y.giveBack()
	case Checked:
		y.writeClaim()
	case GotU:
		y.readClaim()
	case EarlyW:
		y.waited()
	case Claimed:
		y.begin()
	case MarkU:
		y.readMark()
	case Marked:
		if !y.late() {
			y.send()
		}
	case Sent:
		y.ends()
	case Have, SettleU:
		y.settle(x.O, false)
	case AckDrop, AckRetry:
		y.acknowledge()
	case CancelO:
		t := *s
		y.cancelBegun(&t)
		y.again(&t)
		y.say("w%d/%d: asks what has begun to stop for i%d", t)
	}
}

func (y hand) takeMessage() {
	if y.up() != 1 {
		return
	}
	for i := range y.s.I {
		for k, z := range y.s.I[i].M {
			if z.L == Waiting {
				t := *y.s
				t.I[i].M[k].L = Active
				*y.in(&t) = Handler{PC: Got, I: uint8(i), D: z.D}
				y.emit(Label{F: "w%d/%d: takes message i%d.%d", A: y.w, B: y.h, C: i, D: int(z.D)}, t, false, "")
			}
		}
	}
}

// giveBack: an unclaimed message of a stopping worker.
func (y hand) giveBack() {
	if y.up() == 2 {
		t := *y.s
		y.again(&t)
		y.say("w%d/%d: stopping, gives message of i%d back", t)
	}
}

// readClaim is the read back after an unknown commit.
func (y hand) readClaim() {
	p := &y.m.P
	if y.s.Fly.K == FlyClaim && !p.PlainReadback {
		return // the read back locks the row: it waits for the late commit
	}
	t := *y.s
	z, r := y.in(&t), &t.I[y.i]
	if !p.NoReadback && y.x.A > 0 && r.own(y.x) {
		z.PC = Claimed
		y.say("w%d/%d: reads back, the claim of i%d is its own", t)
		return
	}
	*z = Handler{PC: Got, I: y.x.I, D: y.x.D}
	if p.KeepClaimID && y.i == 0 {
		t.W[y.w].Mem |= 1 << y.x.A
	}
	y.say("w%d/%d: tries the claim of i%d again", t)
}

// waited: the message was early by a second at most.
func (y hand) waited() {
	t := *y.s
	if !y.m.P.EarlyNoRecheck {
		y.in(&t).PC = Got
		y.say("w%d/%d: has waited, claims i%d again", t)
		return
	}
	if y.row().Due == 1 {
		y.m.take(&t, y.w, y.h)
		y.say("w%d/%d: has waited, takes i%d without looking again", t)
	}
}

// begin: claimed, nothing is sent yet.
func (y hand) begin() {
	s, m := y.s, y.m
	r := s.I[y.i]
	own := r.St == Running && r.Att == y.x.A && (r.Node == y.x.N || m.P.NoSettleNode)
	if own && r.Cxl == 1 {
		t := *s
		m.end(&t, y.x.I, Canceled)
		y.drop(&t)
		y.tell("w%d/%d: sees the cancel wish, settles i%d canceled", t, y.zombie())
	}
	if y.up() == 2 {
		y.handBack(own)
	}
	switch {
	case y.late():
	case !m.C.Idem && !m.P.NoSentMark:
		y.mark(own)
	default:
		y.send()
	}
}

// handBack: claimed, unsent, and the worker is stopping.
func (y hand) handBack(own bool) {
	t, p := *y.s, &y.m.P
	bad := ""
	if own {
		bad = y.zombie()
		if r := &t.I[y.i]; r.Cxl == 1 && p.HandBackCancels {
			y.m.end(&t, y.x.I, Canceled)
		} else {
			t.endAttempt(y.x.I)
			r.St, r.Due = Pending, 1
			if !p.HandBackSameDispatch {
				r.Disp++
			}
			if p.HandBackSameAttempt {
				r.Att--
			}
		}
	}
	y.drop(&t)
	y.tell("w%d/%d: stopping, hands i%d back", t, bad)
}

// late: our own deadline is over and nothing was sent, so nothing is.
func (y hand) late() bool {
	over := y.x.X == 1 && !y.m.P.SendAfterDeadline
	if over {
		y.settle(1, false)
	}
	return over
}

func (y hand) acknowledge() {
	t := *y.s
	if z := t.msg(y.x.I, y.x.D); z != nil && z.L == Active {
		if y.x.PC == AckDrop {
			*z = Msg{}
		} else {
			z.L = Waiting
		}
	}
	*y.in(&t) = Handler{}
	f := "w%d/%d: acknowledges i%d.%d"
	if y.x.PC == AckRetry {
		f = "w%d/%d: asks Asynq to bring i%d.%d later"
	}
	y.say(f, t)
}
