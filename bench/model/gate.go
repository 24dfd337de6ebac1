package main

import "fmt"

// The gate model: a task with a limit of one or two, its deferred rows, the
// wake-up after a settle, pause and resume, and a pause that ends by its time.
// Deciding (count, paused) and writing are two steps of a claim; the gate lock
// is held between them. A message in the retry set comes back when its time is
// over, whenever that is.

const gN, gH, gM = 4, 3, 3

// The states of a row.
const (
	gWait uint8 = iota // pending or queued
	gRun
	gRetry
	gDone
)

// When a row is due.
const (
	gLater uint8 = iota // its delay is not over
	gNow
	gAtEnd // at the end of the pause, or before
)

// Where a message is.
const (
	gGone uint8 = iota
	gReady
	gTaken
	gBack // in the retry set
)

// Where a handler is.
const (
	hIdle uint8 = iota
	hGot
	hStart // decided to start, not written
	hDefer // decided to defer, not written
	hRun
	hWake  // settled, about to wake somebody
	hWakeE // woken, about to enqueue
	hAck   // about to tell Asynq: forget it
	hAckB  // about to tell Asynq: again later
	hLook  // has passed the gate, about to look for something deferred
	hFound // has seen something deferred
)

// GI is a row: state, due, deferred, looked for by the sweep, dispatch,
// retries, whether it has begun; and its messages.
type GI struct {
	St, Due, Def, Look, Disp, Ret, Tried uint8
	M                                    [gM]Msg
}

func (r *GI) waits() bool { return r.St == gWait || r.St == gRetry }

// GH is a handler: instance and message; whom it woke with which message;
// whether its message goes back; whether it defers for a pause.
type GH struct{ PC, I, D, J, E, Back, Held uint8 }

// GS is a state of the gate model.
type GS struct {
	I            [gN]GI
	H            [gH]GH
	Gate         uint8 // handler+1 that holds the lock
	Paused       uint8
	Pause, Crash uint8 // budgets
	Faulty       uint8 // ghost: a crash or a full Redis, lateness is allowed
}

// GP is what is taken away.
type GP struct {
	NoWake, WakeAny, WakeNoGate, WakeNoBump bool
	PauseNoGate, ResumeNoGate, ResumeSilent bool
	PauseFirstOnly                          bool
	DeferDrop, NoGate                       bool
	// a deferral doesn't end with its pause; a settle in a pause wakes nobody
	DeferPastPause, WakeOnlyNow bool
	LookNoGate                  bool // the look for something deferred doesn't wait for a claim
}

// Gate is the model: rows, handlers, limit, retries, pauses, deaths.
type Gate struct {
	P            GP
	N, H         int
	L, Ret       uint8
	Pause, Crash uint8
	Timed        bool // the pause has an end
	Look         bool // a settle looks without a transaction first
}

// Init has all rows due and sent.
func (m *Gate) Init() GS {
	s := GS{Pause: m.Pause, Crash: m.Crash}
	for i := 0; i < m.N; i++ {
		s.I[i] = GI{St: gWait, Due: gNow}
		s.I[i].M[0] = Msg{0, gReady}
	}
	for i := m.N; i < gN; i++ {
		s.I[i].St = gDone
	}
	return s
}

// send puts a message where its row's due time says. Where the model's room
// for messages of one instance is full, the message is not there, as if Redis
// had answered with an error.
func (s *GS) send(i, d uint8) {
	free := -1
	for k, x := range s.I[i].M {
		if x.L != gGone && x.D == d {
			return
		}
		if x.L == gGone {
			free = k
		}
	}
	if free < 0 {
		s.Faulty = 1
		return
	}
	at := gReady
	if s.I[i].Due == gAtEnd {
		at = gBack
	}
	s.I[i].M[free] = Msg{d, at}
}

func (s *GS) running() uint8 {
	n := uint8(0)
	for i := range s.I {
		if s.I[i].St == gRun {
			n++
		}
	}
	return n
}

// Next emits time, the sweeper and the carrier, persons, handlers.
func (m *Gate) Next(s *GS, emit0 Emit[GS]) {
	emit := func(l Label, t GS, fault bool, bad string) {
		m.norm(&t)
		emit0(l, t, fault, bad)
	}
	for i := range s.I {
		m.passes(s, i, emit)
	}
	m.pauses(s, emit)
	for h := 0; h < m.H; h++ {
		x := s.H[h]
		y := gHand{m, s, h, x, s.I[x.I], emit}
		y.dies()
		y.step()
	}
}

// passes: time, sweep a and the retry set, for one row.
func (m *Gate) passes(s *GS, i int, emit Emit[GS]) {
	r := s.I[i]
	if r.waits() && r.Due != gNow {
		t := *s
		t.I[i].Due = gNow
		emit(Label{F: "time: i%d is due", A: i}, t, false, "")
	}
	if r.waits() && r.Due == gNow && (r.Look == 1 || r.M == [gM]Msg{}) {
		t := *s
		q := &t.I[i]
		q.Look = 0
		q.Disp++
		t.send(uint8(i), q.Disp)
		emit(Label{F: "sweeper: sends i%d.%d", A: i, B: int(q.Disp)}, t, false, "")
	}
	for k, x := range r.M {
		if x.L != gBack {
			continue
		}
		t := *s
		t.I[i].M[k].L = gReady
		switch {
		case r.Due == gNow:
			emit(Label{F: "asynq: i%d.%d comes back", A: i, B: int(x.D)}, t, false, "")
		case r.Due == gLater || !r.waits():
			emit(Label{F: "asynq: i%d.%d comes back, the row has moved", A: i, B: int(x.D)}, t, false, "")
		}
	}
}

func (m *Gate) pauses(s *GS, emit Emit[GS]) {
	p := &m.P
	if s.Pause > 0 && s.Paused == 0 && (s.Gate == 0 || p.PauseNoGate) {
		t := *s
		t.Paused = 1
		t.Pause--
		emit(Label{F: "person: pauses the task"}, t, true, "")
	}
	if s.Paused == 1 && (s.Gate == 0 || p.ResumeNoGate) {
		t := *s
		t.Paused = 0
		for i := range t.I {
			if q := &t.I[i]; q.Def == 1 && q.waits() && !p.ResumeSilent {
				q.Due, q.Look = gNow, 1
			}
		}
		emit(Label{F: "person: resumes the task, deferred rows are due"}, t, false, "")
	}
	if s.Paused == 1 && m.Timed {
		t := *s
		t.Paused = 0
		for i := range t.I {
			if q := &t.I[i]; q.Due == gAtEnd {
				q.Due = gNow
			}
		}
		emit(Label{F: "time: the pause is over"}, t, false, "")
	}
}

// Bad is what must never be so.
func (m *Gate) Bad(s *GS) string {
	running := s.running()
	if running > m.L {
		return "concurrency limit exceeded"
	}
	if running < m.L && s.quiet() && s.sleeps() && !(m.Timed && s.comes()) {
		return "a place is free, a row is deferred, and nobody looks before its delay is over"
	}
	return ""
}

// sleeps: a deferred row is not due yet.
func (s *GS) sleeps() bool {
	for i := range s.I {
		if r := &s.I[i]; r.waits() && r.Def == 1 && r.Due == gLater {
			return true
		}
	}
	return false
}

// comes: the message of a row that is due stands in the retry set, or is about
// to.
func (s *GS) comes() bool {
	due := func(i uint8) bool { return s.I[i].waits() && s.I[i].Due == gNow }
	for i := range s.I {
		for _, x := range s.I[i].M {
			if x.L == gBack && due(uint8(i)) {
				return true
			}
		}
	}
	for _, h := range s.H {
		if h.PC == hAckB && due(h.I) {
			return true
		}
	}
	return false
}

// quiet: nothing went wrong, and nothing is under way that might take a place.
func (s *GS) quiet() bool {
	if s.Paused != 0 || s.Faulty != 0 {
		return false
	}
	for i := range s.I {
		if r := &s.I[i]; r.waits() && r.Look == 1 {
			return false
		}
		for _, x := range s.I[i].M {
			if x.L == gReady {
				return false
			}
		}
	}
	for _, h := range s.H {
		if h.PC != hIdle && h.PC != hRun && h.PC != hAckB && h.PC != hAck {
			return false
		}
	}
	return true
}

// Goal: every row has ended.
func (m *Gate) Goal(s *GS) bool {
	for i := range s.I {
		if s.I[i].St != gDone {
			return false
		}
	}
	return true
}

// Show is a line about a state.
func (m *Gate) Show(s *GS) string { return fmt.Sprintf("%+v", *s) }
