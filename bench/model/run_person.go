package main

// What comes from outside: receipts of callees, cancels and replays of persons.

func (m *Run) receipts(s *RS, emit Emit[RS]) {
	for i := range s.I {
		for a := uint8(1); a <= 7; a++ {
			if s.I[i].Owes&(1<<a) == 0 {
				continue
			}
			for ok := range 2 {
				t := *s
				t.I[i].Owes &^= 1 << a
				bad := m.receive(&t, i, a, ok == 1)
				emit(Label{F: "callee: receipt for i%d attempt %d, success=%d", A: i, B: int(a), C: ok}, t, true, bad)
			}
		}
	}
}

// receive is RECEIPT for attempt a.
func (m *Run) receive(t *RS, i int, a uint8, ok bool) string {
	r := &t.I[i]
	if !m.takes(r, a, ok) {
		if ok && !final(r.St) {
			return "a true success receipt was refused while the instance was open"
		}
		return ""
	}
	bad := ""
	if !ok && r.Att > a && !m.P.ReceiptBlind {
		bad = "an older attempt's failure report ended a later attempt"
	}
	st := Failed
	if ok {
		st = Succeeded
	}
	m.end(t, uint8(i), st)
	return bad
}

// takes tells whether a receipt counts.
func (m *Run) takes(r *Inst, a uint8, ok bool) bool {
	p := &m.P
	switch {
	case p.ReceiptBlind:
		return true
	case p.ReceiptOnlyAwaiting:
		return r.St == Awaiting
	case ok:
		return !final(r.St) && r.Att >= a && (r.Att == a || !p.ReceiptThisAttempt)
	default:
		return (r.St == Running || r.St == Awaiting) && (r.Att == a || p.ReceiptAnyAttempt && r.Att > a)
	}
}

func (m *Run) persons(s *RS, emit Emit[RS]) {
	for i := range s.I {
		m.cancel(s, i, emit)
		m.replay(s, i, emit)
	}
}

func (m *Run) cancel(s *RS, i int, emit Emit[RS]) {
	r := s.I[i]
	if s.B.Cancel == 0 || !r.open() && !(m.P.CancelBlind && r.exists()) {
		return
	}
	t := *s
	t.B.Cancel--
	if r.St == Running && !m.P.CancelAtOnce {
		t.I[i].Cxl = 1
		emit(Label{F: "person: cancel i%d (running: a wish)", A: i}, t, true, "")
		return
	}
	m.end(&t, uint8(i), Canceled)
	emit(Label{F: "person: cancel i%d", A: i}, t, true, "")
}

func (m *Run) replay(s *RS, i int, emit Emit[RS]) {
	r := s.I[i]
	if s.B.Replay == 0 || !dead(r.St) || r.DL != 1 && !(m.P.ReplayUnguarded && r.DL == 2) {
		return
	}
	rep := r.Rep
	for _, x := range s.I {
		if x.exists() {
			rep = max(rep, x.Rep)
		}
	}
	for j := 0; j < m.C.NSlot; j++ {
		if s.I[j].St == None {
			t := *s
			t.B.Replay--
			t.I[i].DL = 2
			t.I[j] = Inst{St: Pending, Due: 1, Rep: rep + 1, Of: uint8(i + 1)}
			emit(Label{F: "person: replay of i%d as i%d", A: i, B: j}, t, true, "")
			return
		}
	}
}
