package main

import "fmt"

// The letter model: one business action, its first run (which has ended badly
// once this model starts to matter), up to three replays, two persons who
// read the letter before they act. How an instance runs is the run model's
// business; here only how it ends and what the ending transaction writes.

const runs = 4

// Status of the letter.
const (
	noLetter uint8 = iota
	open
	taken
	solved
	wontFix
)

// State of a run.
const (
	rNone uint8 = iota
	rOpen
	rWish // running, a cancel wish is set
	rOK
	rBad
	rCanceled
	rSkipped
)

// What was said last about the business action.
const (
	lastBad uint8 = iota + 1
	lastOK
	lastClosed   // by a person
	lastReopened // by a person
)

// LS is a state of the letter model.
type LS struct {
	R            [runs]uint8
	St, Now, Num uint8    // status, replaying+1, highest replay number
	Op           [2]uint8 // person k has read a letter that may be replayed
	Last         uint8    // ghost: what was said last
	Acts, Cancel uint8
}

// LP is what is taken away.
type LP struct {
	BadKeeps, CancelKeeps, WishKeeps, SuccessKeeps, SkipKeeps bool // replaying is not cleared
	BadKeepsClosed, SuccessKeepsOpen                          bool // status is not changed
	Unconditional, AnyStatus                                  bool
}

// Letter is the model.
type Letter struct{ P LP }

// Init has the first run open.
func (m *Letter) Init() LS {
	var s LS
	s.R[0], s.Acts, s.Cancel = rOpen, 2, 2
	return s
}

// Next emits ends of runs, then persons.
func (m *Letter) Next(s *LS, emit Emit[LS]) {
	for i := range s.R {
		if s.R[i] == rOpen || s.R[i] == rWish {
			m.ends(s, i, emit)
		}
	}
	for k := range s.Op {
		m.replays(s, k, emit)
	}
	m.edits(s, emit)
}

// ended is run i after an end; the transaction lets the letter go.
func (s *LS) ended(i int, st uint8, keep bool) LS {
	t := *s
	t.R[i] = st
	if s.Now == uint8(i+1) && !keep {
		t.Now = 0
	}
	return t
}

// ends: settle, receipt, LOST, deadline, wish, cancel, each in one transaction
// with the letter.
func (m *Letter) ends(s *LS, i int, emit Emit[LS]) {
	p := &m.P
	if s.R[i] == rOpen {
		t := s.ended(i, rBad, p.BadKeeps)
		t.Last = lastBad
		if t.St != taken && !(p.BadKeepsClosed && t.St != noLetter) {
			t.St = open
		}
		emit(Label{F: "r%d ends badly", A: i}, t, false, "")
	}
	t := s.ended(i, rOK, p.SuccessKeeps)
	if s.Now == uint8(i+1) && !p.SuccessKeepsOpen {
		t.St = solved
	}
	if s.St != noLetter {
		t.Last = lastOK
	}
	emit(Label{F: "r%d succeeds", A: i}, t, false, "")
	if s.R[i] == rWish {
		emit(Label{F: "r%d ends canceled by the wish", A: i}, s.ended(i, rCanceled, p.WishKeeps), false, "")
		return
	}
	if s.Cancel == 0 {
		return
	}
	t = s.ended(i, rCanceled, p.CancelKeeps)
	t.Cancel--
	emit(Label{F: "person: cancels r%d before it runs", A: i}, t, true, "")
	t = *s
	t.R[i] = rWish
	t.Cancel--
	emit(Label{F: "person: cancels r%d while it runs (a wish)", A: i}, t, true, "")
	if p.SkipKeeps && i > 0 {
		emit(Label{F: "claim: r%d skipped for overlap", A: i}, s.ended(i, rSkipped, true), true, "")
	}
}

// replays: person k reads the letter, then asks for a replay.
func (m *Letter) replays(s *LS, k int, emit Emit[LS]) {
	p := &m.P
	may := (s.St == open || s.St == taken || p.AnyStatus && s.St != noLetter) && s.Now == 0
	t := *s
	if s.Op[k] == 0 {
		if may && s.Num+1 < runs {
			t.Op[k] = 1
			emit(Label{F: "person %d: reads the letter, asks for a replay", A: k}, t, true, "")
		}
		return
	}
	t.Op[k] = 0
	if !may && !p.Unconditional || s.Num+1 >= runs {
		emit(Label{F: "person %d: replay refused, 409", A: k}, t, false, "")
		return
	}
	bad := ""
	if s.St == solved || s.St == wontFix {
		bad = "a closed letter was replayed"
	}
	t.Num++
	t.R[t.Num] = rOpen
	t.Now = t.Num + 1
	emit(Label{F: "person %d: replay as r%d", A: k, B: int(t.Num)}, t, false, bad)
}

// edits: a person closes or reopens the letter.
func (m *Letter) edits(s *LS, emit Emit[LS]) {
	if s.Acts == 0 || s.St == noLetter {
		return
	}
	for st := open; st <= wontFix; st++ {
		if st == s.St {
			continue
		}
		t := *s
		t.Acts--
		t.St = st
		if st == solved || st == wontFix {
			t.Last = lastClosed
		} else if s.Last == lastClosed || s.Last == lastOK {
			t.Last = lastReopened
		}
		emit(Label{F: "person: sets the letter to %d (1 open, 2 taken, 3 solved, 4 won't fix)", A: int(st)}, t, true, "")
	}
}

// Bad is what must never be so.
func (m *Letter) Bad(s *LS) string {
	n := 0
	for i, r := range s.R {
		is := s.Now == uint8(i+1)
		if r == rOpen || r == rWish {
			n++
			if i > 0 && !is {
				return "a replay is open and the letter doesn't know"
			}
		} else if is {
			return "the letter waits for a replay that is over: it can never be replayed again"
		}
	}
	isOpen := s.St == open || s.St == taken
	switch {
	case n > 1:
		return "two open instances for one business action"
	case s.Last == lastBad && !isOpen:
		return "the last run ended badly and its letter is closed"
	case s.Last == lastOK && isOpen:
		return "the replay succeeded and its letter is still open"
	case s.Last == 0 && s.St != noLetter:
		return "a letter without a bad end"
	}
	return ""
}

// Goal: no run is open, and nobody is about to ask for one.
func (m *Letter) Goal(s *LS) bool {
	for _, r := range s.R {
		if r == rOpen || r == rWish {
			return false
		}
	}
	return s.Op[0] == 0 && s.Op[1] == 0
}

// Show is a line about a state.
func (m *Letter) Show(s *LS) string { return fmt.Sprintf("%+v", *s) }

func letterCases() []Case {
	letter := func(name string, p LP) Case { return explored[LS](name, &Letter{p}) }
	return []Case{
		letter("base/letter", LP{}),
		letter("draft/letter-success-keeps-replaying", LP{SuccessKeeps: true}).breaks(32),
		letter("draft/letter-wish-keeps-replaying", LP{WishKeeps: true}).breaks(32),
		letter("draft/letter-replay-skipped", LP{SkipKeeps: true}).breaks(33),
		letter("guard/letter-bad-end-clears", LP{BadKeeps: true}).breaks(32),
		letter("guard/letter-cancel-clears", LP{CancelKeeps: true}).breaks(),
		letter("guard/letter-bad-end-reopens", LP{BadKeepsClosed: true}).breaks(),
		letter("guard/letter-success-solves", LP{SuccessKeepsOpen: true}).breaks(),
		letter("guard/letter-replay-conditional", LP{Unconditional: true}).breaks(15),
		letter("guard/letter-replay-open-only", LP{AnyStatus: true}).breaks(),
	}
}
