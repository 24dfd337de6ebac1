package main

// What the end of an attempt makes of its instance. Each is part of a
// transaction that has checked its guard.

// endAttempt: the ledger ended the current attempt of i; whoever still works
// on it is a zombie from now on.
func (s *RS) endAttempt(i uint8) {
	for w := range s.W {
		for h := range s.W[w].H {
			x := &s.W[w].H[h]
			if x.I == i && x.PC != Idle && (holds(x.PC) || x.PC == SettleU) {
				x.Z = 1
			}
		}
	}
	s.I[i].Node = 0
}

// badEnd: an attempt ended badly; definite: the callee has answered, or nothing
// was sent. True when the instance is tried again.
func (m *Run) badEnd(s *RS, i, st uint8, definite bool) bool {
	r := &s.I[i]
	if r.Cxl == 1 {
		m.end(s, i, Canceled)
		return false
	}
	if (m.C.Idem || m.C.Allow && (definite || m.P.RetryUnknown)) && r.Ret < m.C.MaxRet {
		s.endAttempt(i)
		r.St, r.Due, r.Over = Retrying, 0, 0
		r.Ret++
		return true
	}
	m.end(s, i, st)
	return false
}

func (m *Run) end(s *RS, i, st uint8) {
	r := &s.I[i]
	if r.St == Running || r.St == Awaiting {
		s.endAttempt(i)
	}
	r.St, r.Cxl, r.Due, r.Over = st, 0, 0, 0
	if dead(st) && !m.P.TwoStepDeadLetter {
		r.DL = 1
	}
}

// lost: what becomes of a running row whose worker is gone. True when a new
// message must follow.
func (m *Run) lost(s *RS, i uint8) bool {
	r := &s.I[i]
	safe := m.C.Idem || (!m.P.NoSentMark && r.Sent == 0) || m.P.LostAlwaysRetried
	if r.Cxl == 1 && !m.P.LostIgnoresCancel {
		if !m.C.Idem && safe {
			m.end(s, i, Canceled)
		} else {
			m.end(s, i, Lost)
		}
		return false
	}
	r.Dth++
	r.Over = 0
	if safe && r.Dth < m.C.MaxDeath {
		s.endAttempt(i)
		r.St = Queued
		if !m.P.OldKeepsDispatch {
			r.Disp++
		}
		if m.P.LostSameAttempt {
			r.Att--
		}
		r.Due = 1
		return true
	}
	m.end(s, i, Lost)
	return false
}

// outName names the outcomes that a callee may cause.
var outName = []string{"success", "failure", "accepted (202)", "no answer"}

// outcome writes what an attempt came to. True when it is tried again.
func (m *Run) outcome(t *RS, i, a, o uint8) bool {
	r := &t.I[i]
	if o == 1 && m.C.Allow {
		r.Open &^= 1 << a
	}
	switch {
	case o == 0:
		m.end(t, i, Succeeded)
	case o == 2 && r.Cxl == 0:
		t.endAttempt(i)
		r.St, r.Over = Awaiting, 0
	default:
		return m.badEnd(t, i, []uint8{0, Failed, Failed, TimedOut}[o], o == 1)
	}
	return false
}
