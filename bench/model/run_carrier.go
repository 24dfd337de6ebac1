package main

// Asynq on Redis: messages, leases, and what may happen to all of them.

func (s *RS) msg(i, d uint8) *Msg {
	for k := range s.I[i].M {
		if x := &s.I[i].M[k]; x.L != Gone && x.D == d {
			return x
		}
	}
	return nil
}

// enqueue: false when the model's room for messages of one instance is full;
// then the message is not there, as if Redis had answered with an error.
func (m *Run) enqueue(s *RS, i, d uint8) bool {
	if s.msg(i, d) != nil {
		return true // conflict counts as sent
	}
	for k := range s.I[i].M {
		if m.C.Room > 0 && k >= m.C.Room {
			return false
		}
		if s.I[i].M[k].L == Gone {
			s.I[i].M[k] = Msg{d, Waiting}
			return true
		}
	}
	return false
}

// leases: Asynq gives an active message back when its lease is over; a message
// may also be archived or orphaned.
func (m *Run) leases(s *RS, emit Emit[RS]) {
	for i := range s.I {
		for k, x := range s.I[i].M {
			if held := s.held(i, x.D); x.L == Active && (!held || s.B.Steal > 0) {
				t := *s
				t.I[i].M[k].L = Waiting
				if held {
					t.B.Steal--
				}
				emit(Label{F: "asynq: lease of i%d.%d is over, message back", A: i, B: int(x.D)}, t, held, "")
			}
			if (x.L == Active || x.L == Waiting) && s.B.Orphan > 0 {
				t := *s
				t.I[i].M[k].L = Archived
				t.B.Orphan--
				emit(Label{F: "FAULT message i%d.%d archived/orphaned: keeps its id, never delivered", A: i, B: int(x.D)}, t, true, "")
			}
		}
	}
}

// held: a handler works on this message.
func (s *RS) held(i int, d uint8) bool {
	for w := range s.W {
		for _, h := range s.W[w].H {
			if h.PC != Idle && int(h.I) == i && h.D == d {
				return true
			}
		}
	}
	return false
}

// wiped: Redis loses everything, or comes back with an old dump.
func (m *Run) wiped(s *RS, emit Emit[RS]) {
	if s.B.Flush > 0 {
		t := *s
		for i := range t.I {
			t.I[i].M = [3]Msg{}
		}
		t.B.Flush--
		emit(Label{F: "FAULT Redis flushed"}, t, true, "")
	}
	if s.B.Snap == 2 {
		t := *s
		for i := range t.I {
			t.I[i].Snap = t.I[i].M
		}
		t.B.Snap = 1
		emit(Label{F: "Redis writes a dump"}, t, true, "")
	}
	if s.B.Snap == 1 {
		t := *s
		for i := range t.I {
			t.I[i].M = t.I[i].Snap
			t.I[i].Snap = [3]Msg{}
			for k := range t.I[i].M {
				if t.I[i].M[k].L == Active {
					t.I[i].M[k].L = Waiting
				}
			}
		}
		t.B.Snap = 0
		emit(Label{F: "FAULT Redis restored from the old dump"}, t, true, "")
	}
}
