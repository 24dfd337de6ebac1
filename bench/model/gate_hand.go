package main

// gHand is one handler's next step in the gate model.
type gHand struct {
	m    *Gate
	s    *GS
	h    int
	x    GH
	r    GI // its row
	emit Emit[GS]
}

func (y gHand) say(f string, t GS)    { y.tell(f, t, "") }
func (y gHand) set(t *GS, pc uint8)   { t.H[y.h].PC = pc }
func (y gHand) row(t *GS) *GI         { return &t.I[y.x.I] }
func (y gHand) passes(open bool) bool { return y.s.Gate == 0 || open }
func (y gHand) hold(t *GS, pc uint8)  { t.H[y.h].PC, t.Gate = pc, uint8(y.h+1) }
func (y gHand) label(f string) Label  { return Label{F: f, A: y.h, B: int(y.x.I), C: int(y.x.D)} }
func (y gHand) tell(f string, t GS, bad string) {
	y.emit(y.label(f), t, false, bad)
}

func (y gHand) free(t *GS) {
	if t.Gate == uint8(y.h+1) {
		t.Gate = 0
	}
}

// done: about to tell Asynq what becomes of the message.
func (y gHand) done(t *GS) {
	y.set(t, hAck)
	if y.x.Back == 1 {
		y.set(t, hAckB)
	}
}

func (y gHand) dies() {
	if y.x.PC == hIdle || y.s.Crash == 0 {
		return
	}
	t := *y.s
	t.Crash--
	t.Faulty = 1
	y.free(&t)
	q := y.row(&t)
	if y.x.PC == hRun {
		q.St, q.Due, q.Look = gWait, gNow, 1
	}
	for k := range q.M {
		if q.M[k].L == gTaken && q.M[k].D == y.x.D {
			q.M[k].L = gReady
		}
	}
	t.H[y.h] = GH{}
	y.emit(Label{F: "FAULT handler %d dies at step %d of i%d; its run is lost and due again", A: y.h, B: int(y.x.PC), C: int(y.x.I)}, t, true, "")
}

func (y gHand) step() {
	switch y.x.PC {
	case hIdle:
		y.takeMessage()
	case hGot:
		if y.passes(y.m.P.NoGate) {
			y.decide()
		}
	case hStart:
		y.start()
	case hDefer:
		y.putOff()
	case hRun:
		y.settle()
	case hWake:
		switch {
		case y.m.Look && y.passes(y.m.P.LookNoGate):
			t := *y.s
			y.set(&t, hLook)
			y.say("h%d: after i%d has waited for the gate, and leaves it", t)
		case !y.m.Look && y.passes(y.m.P.WakeNoGate):
			y.wake()
		}
	case hLook:
		y.look()
	case hFound:
		if y.passes(y.m.P.WakeNoGate) {
			y.wake()
		}
	case hWakeE:
		t := *y.s
		t.send(y.x.J, y.x.E)
		y.done(&t)
		t.H[y.h].J, t.H[y.h].E = 0, 0
		y.emit(Label{F: "h%d: enqueues i%d.%d", A: y.h, B: int(y.x.J), C: int(y.x.E)}, t, false, "")
	case hAck, hAckB:
		y.acknowledge()
	}
}

func (y gHand) takeMessage() {
	for i := range y.s.I {
		for k, z := range y.s.I[i].M {
			if z.L == gReady {
				t := *y.s
				t.I[i].M[k].L = gTaken
				t.H[y.h] = GH{PC: hGot, I: uint8(i), D: z.D}
				y.emit(Label{F: "h%d: takes i%d.%d", A: y.h, B: i, C: int(z.D)}, t, false, "")
			}
		}
	}
}

// decide is the first half of a claim, under the gate.
func (y gHand) decide() {
	t, s := *y.s, y.s
	paused := s.Paused == 1 && !(y.m.P.PauseFirstOnly && y.r.Tried == 1)
	switch {
	case !y.r.waits():
		y.set(&t, hAck)
		y.say("h%d: i%d.%d refused, dropped", t)
	case y.r.Due != gNow:
		y.set(&t, hAckB)
		y.say("h%d: i%d.%d is early, goes back", t)
	case paused || s.running() >= y.m.L:
		y.hold(&t, hDefer)
		if paused && y.m.Timed {
			t.H[y.h].Held = 1
		}
		y.say("h%d: i%d may not start now", t)
	default:
		y.hold(&t, hStart)
		y.say("h%d: i%d may start", t)
	}
}

func (y gHand) start() {
	t, bad := *y.s, ""
	if y.s.Paused == 1 {
		bad = "something started after the pause was confirmed"
	}
	q := y.row(&t)
	q.St, q.Def, q.Look, q.Tried = gRun, 0, 0, 1
	y.set(&t, hRun)
	y.free(&t)
	y.tell("h%d: starts i%d", t, bad)
}

// putOff is DEFER. For a pause with an end: min(paused_until, now+delay).
func (y gHand) putOff() {
	t := *y.s
	q := y.row(&t)
	q.Due, q.Def, q.Look = gLater, 1, 0
	if y.x.Held == 1 && !y.m.P.DeferPastPause {
		q.Due = gAtEnd
		if y.s.Paused == 0 {
			q.Due = gNow // it is over since we looked
		}
	}
	t.H[y.h].Held = 0
	y.set(&t, hAckB)
	if y.m.P.DeferDrop {
		y.set(&t, hAck)
	}
	y.free(&t)
	y.say("h%d: defers i%d", t)
}

func (y gHand) settle() {
	for ok := range 2 {
		t := *y.s
		q := y.row(&t)
		if ok == 1 || y.r.Ret >= y.m.Ret {
			q.St = gDone
		} else {
			q.St, q.Due, q.Ret = gRetry, gLater, y.r.Ret+1
			t.H[y.h].Back = 1
		}
		y.set(&t, hWake)
		y.emit(Label{F: "h%d: settles i%d, success=%d", A: y.h, B: int(y.x.I), C: ok}, t, false, "")
	}
}

// look reads without a lock whether anything is deferred; most often nothing is.
func (y gHand) look() {
	t := *y.s
	y.done(&t)
	if y.s.sleeps() {
		y.set(&t, hFound)
	}
	y.say("h%d: after i%d looks for something deferred", t)
}

// wake is WAKE. In a pause that has an end the row is due at that end.
func (y gHand) wake() {
	t, p := *y.s, &y.m.P
	y.done(&t)
	due := gNow
	if y.s.Paused == 1 {
		due = gAtEnd
	}
	if due == gNow && !p.NoWake || due == gAtEnd && y.m.Timed && !p.WakeOnlyNow {
		for j := range y.s.I {
			q := &t.I[j]
			if q.waits() && q.Def == 1 && (q.Due == gLater || p.WakeAny) {
				q.Due = due
				if !p.WakeNoBump {
					q.Disp++
				}
				t.H[y.h].J, t.H[y.h].E = uint8(j), q.Disp
				y.set(&t, hWakeE)
				break
			}
		}
	}
	y.emit(Label{F: "h%d: after i%d wakes the oldest deferred row: i%d", A: y.h, B: int(y.x.I), C: int(t.H[y.h].J)}, t, false, "")
}

func (y gHand) acknowledge() {
	t := *y.s
	q := y.row(&t)
	for k := range q.M {
		if q.M[k].L == gTaken && q.M[k].D == y.x.D {
			if y.x.PC == hAck {
				q.M[k] = Msg{}
			} else {
				q.M[k].L = gBack
			}
		}
	}
	t.H[y.h] = GH{}
	y.say("h%d: acknowledges i%d.%d", t)
}
