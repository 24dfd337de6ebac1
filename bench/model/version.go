package main

import "fmt"

// The version model: one instance with up to three attempts, a person who
// edits the task meanwhile, and what is decided by its policy afterwards. A
// version either says that the work may be repeated (idempotent: no sent mark)
// or that it may not (marked before it is sent). What has been sent under one
// version must not be judged by another: the handler acted by its own.

const versions, attempts = 3, 3

// Where the instance is.
const (
	vWait uint8 = iota
	vRun
	vAwait // the callee accepted it and will report
	vEnd
	vLost
	vCanceled
)

// Where its handler is.
const (
	pcNone uint8 = iota // nobody works on it
	pcRead              // has read the task, holds the gate
	pcClaimed
	pcMarked
	pcSent
	pcDead
)

// VS is a state of the version model.
type VS struct {
	Idem  [versions]uint8 // of each version
	Cur   uint8           // the task's current version
	Gate  uint8           // held by the claim
	St    uint8
	Att   uint8
	Of    [attempts + 1]uint8 // the version kept on each attempt
	Sent  uint8               // sent_at
	Wish  uint8
	Ret   uint8
	PC    uint8
	Ver   uint8 // what the handler has read
	Out   uint8 // ghost: the attempt's request has left
	Edits uint8
	Crash uint8
	Wants uint8 // cancel wishes that may come
}

// VP is what is taken away.
type VP struct {
	ReadOnce  bool // later attempts go by the version of the first
	ReadEarly bool // the version is read before the gate is locked
	EditFree  bool // an edit doesn't lock the gate
	// an end is judged by the task's current version, not by the attempt's
	LostByCurrent, ReceiptByCurrent, SettleByCurrent bool
}

// Version is the model.
type Version struct{ P VP }

// Init has an idempotent task, and one edit to either kind twice.
func (m *Version) Init() VS { return VS{Idem: [versions]uint8{1}, Edits: 2, Crash: 2, Wants: 1} }

// Next emits edits and wishes, the handler's step, its death, the sweeps.
func (m *Version) Next(s *VS, emit Emit[VS]) {
	m.edits(s, emit)
	if s.St == vRun && s.Wish == 0 && s.Wants > 0 {
		t := *s
		t.Wish, t.Wants = 1, 0
		emit(Label{F: "person: wants it canceled"}, t, true, "")
	}
	m.works(s, emit)
	if s.PC != pcNone && s.PC != pcDead && s.Crash > 0 {
		t := *s
		t.Crash--
		t.Gate = 0
		t.PC = pcDead
		if s.PC == pcRead {
			t.PC = pcNone
		}
		emit(Label{F: "FAULT the handler dies"}, t, true, "")
	}
	if s.St == vRun && s.PC == pcDead {
		m.lost(s, emit)
	}
	if s.St == vAwait {
		m.unreported(s, emit)
	}
}

func (m *Version) edits(s *VS, emit Emit[VS]) {
	if s.Edits == 0 || s.Gate == 1 && !m.P.EditFree {
		return
	}
	for idem := range uint8(2) {
		t := *s
		t.Edits--
		t.Cur++
		t.Idem[t.Cur] = idem
		emit(Label{F: "person: edits, version %d, idempotent=%d", A: int(t.Cur), B: int(idem)}, t, true, "")
	}
}

// works is the handler's next step.
func (m *Version) works(s *VS, emit Emit[VS]) {
	t := *s
	switch s.PC {
	case pcNone:
		if s.St == vWait && s.Att < attempts {
			t.PC, t.Ver, t.Gate = pcRead, s.Cur, 1
			if m.P.ReadEarly {
				t.Gate = 0
			}
			if m.P.ReadOnce && s.Att > 0 {
				t.Ver = s.Of[1]
			}
			emit(Label{F: "worker: reads version %d for its claim", A: int(t.Ver)}, t, false, "")
		}
	case pcRead:
		bad := ""
		if s.Ver != s.Cur {
			bad = "an attempt began with a definition that is no longer the task's"
		}
		t.Gate, t.PC, t.St, t.Sent, t.Out = 0, pcClaimed, vRun, 0, 0
		t.Att++
		t.Of[t.Att] = s.Ver
		emit(Label{F: "worker: claims attempt %d", A: int(t.Att)}, t, false, bad)
	case pcClaimed:
		if s.Idem[s.Ver] == 0 {
			t.PC, t.Sent = pcMarked, 1
			emit(Label{F: "worker: marks it sent"}, t, false, "")
			return
		}
		fallthrough
	case pcMarked:
		t.PC, t.Out = pcSent, 1
		emit(Label{F: "worker: sends attempt %d", A: int(s.Att)}, t, false, "")
	case pcSent:
		m.answers(s, emit)
	}
}

// answers: success, silence, or 202.
func (m *Version) answers(s *VS, emit Emit[VS]) {
	t := *s
	t.PC, t.St = pcNone, vEnd
	emit(Label{F: "worker: settles success"}, t, false, "")
	t = *s
	t.PC, t.St = pcNone, vAwait
	emit(Label{F: "worker: settles accepted"}, t, false, "")
	t = *s
	t.PC = pcNone
	bad := m.again(&t, m.by(s, s.Ver, m.P.SettleByCurrent), vEnd)
	emit(Label{F: "worker: no answer, settles"}, t, false, bad)
}

// by gives the version that an end is judged by.
func (m *Version) by(s *VS, own uint8, current bool) uint8 {
	if current {
		return s.Cur
	}
	return own
}

// again repeats the work if version v allows it; else it ends as st.
func (m *Version) again(t *VS, v, st uint8) string {
	began := t.Idem[t.Of[t.Att]] == 1
	switch {
	case t.Wish == 1:
		t.St = vCanceled
		return ""
	case t.Idem[v] == 1 && t.Att < attempts:
		t.St, t.Sent = vWait, 0
		if !began && t.Out == 1 {
			return "work that must not be repeated was sent, and is repeated"
		}
	default:
		t.St = st
		if began && t.Att < attempts {
			return "work that may be repeated was given up"
		}
	}
	return ""
}

// lost is LOST.
func (m *Version) lost(s *VS, emit Emit[VS]) {
	v := m.by(s, s.Of[s.Att], m.P.LostByCurrent)
	t, bad := *s, ""
	t.PC = pcNone
	unsent := s.Idem[v] == 0 && s.Sent == 0
	switch {
	case s.Wish == 1 && unsent:
		t.St = vCanceled
		if s.Out == 1 {
			bad = "canceled as surely unsent, and it was sent"
		}
	case s.Wish == 1:
		t.St = vLost
	case unsent && s.Att < attempts:
		t.St = vWait
	default:
		bad = m.again(&t, v, vLost)
	}
	emit(Label{F: "sweeper: ends attempt %d as lost, by version %d", A: int(s.Att), B: int(v)}, t, false, bad)
}

// unreported is sweep c.
func (m *Version) unreported(s *VS, emit Emit[VS]) {
	v := m.by(s, s.Of[s.Att], m.P.ReceiptByCurrent)
	t := *s
	bad := m.again(&t, v, vEnd)
	emit(Label{F: "sweeper: attempt %d has not reported, by version %d", A: int(s.Att), B: int(v)}, t, false, bad)
}

// Bad: only steps are.
func (m *Version) Bad(*VS) string { return "" }

// Goal: the instance has ended, or its attempts are used up.
func (m *Version) Goal(s *VS) bool { return s.St >= vEnd || s.St == vWait && s.Att == attempts }

// Show is a line about a state.
func (m *Version) Show(s *VS) string { return fmt.Sprintf("%+v", *s) }

func versionCases() []Case {
	version := func(name string, p VP) Case { return explored[VS](name, &Version{p}) }
	return []Case{
		version("base/version", VP{}).about("protocol.md, +: the current version is read at every claim and kept on the attempt"),
		version("guard/version-read-at-every-claim", VP{ReadOnce: true}).breaks(),
		version("guard/version-read-under-the-gate", VP{ReadEarly: true}).breaks(),
		version("guard/edit-locks-the-gate", VP{EditFree: true}).breaks(),
		version("guard/version-kept-for-lost", VP{LostByCurrent: true}).breaks(),
		version("guard/version-kept-for-receipts", VP{ReceiptByCurrent: true}).breaks(),
		version("guard/version-kept-for-settle", VP{SettleByCurrent: true}).breaks(),
	}
}
