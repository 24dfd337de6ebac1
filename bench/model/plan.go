package main

import "fmt"

// The plan model: one task with four slots, two planners, a person who edits
// and toggles, claims as one step. T slots have passed; slot T is inside the
// horizon and may already be planned.

const slots = 4

// Row is the instance of a slot. St: 0 none, 1 pending, 2 ran, 3 skipped.
type Row struct{ St, Ver, Trig, N uint8 }

// Planner is one that has read the task without a lock.
type Planner struct{ PC, Next, Sched, Ver uint8 }

// PS is a state of the plan model.
type PS struct {
	T, Next, Sched, Ver, Enabled uint8
	Rows                         [slots]Row
	Owed                         [slots]uint8 // ghost: asked for at its instant
	Pl                           [2]Planner
	Edits, Toggles, API          uint8
}

// PP is what is taken away.
type PP struct {
	NoLock, NoUnique, PlainInsert     bool
	EditDropsOverdue                  bool
	TakeBackSkips, TakeBackDeletes    bool
	VersionDrop, NoRecheck, FreeBizID bool
}

// Plan is the model.
type Plan struct{ P PP }

// wants: schedule 0 asks for every slot, 1 for the odd ones.
func wants(sched, k uint8) bool { return sched == 0 || k%2 == 1 }

func nextWanted(sched, k uint8) uint8 {
	for k < slots && !wants(sched, k) {
		k++
	}
	return k
}

// Init has nothing planned.
func (m *Plan) Init() PS { return PS{Enabled: 1, Edits: 2, Toggles: 2, API: 1} }

// insert: false is an error, which rolls the transaction back.
func (m *Plan) insert(s *PS, k, ver uint8) bool {
	r := &s.Rows[k]
	if r.N > 0 && !m.P.NoUnique {
		return !m.P.PlainInsert // INSERT … ON CONFLICT DO NOTHING, or an error
	}
	if r.N == 0 {
		*r = Row{St: 1, Ver: ver}
	}
	r.N++
	return true
}

// overdue: in the edit's own transaction, plan what the old schedule already asked for.
func (m *Plan) overdue(s *PS) {
	if m.P.EditDropsOverdue || s.Enabled == 0 {
		return
	}
	for k := s.Next; k < s.T; k = nextWanted(s.Sched, k+1) {
		m.insert(s, k, s.Ver)
	}
	s.Next = nextWanted(s.Sched, max(s.Next, s.T))
}

func (m *Plan) takeBack(s *PS) {
	for k := s.T; k < slots; k++ {
		if s.Rows[k].St == 1 {
			if m.P.TakeBackSkips {
				s.Rows[k].St = 3
			}
			if m.P.TakeBackDeletes {
				s.Rows[k] = Row{}
			}
		}
	}
}

// Next emits time, planners, claims, a person, a caller.
func (m *Plan) Next(s *PS, emit Emit[PS]) {
	m.time(s, emit)
	for k := range s.Pl {
		m.plans(s, k, emit)
	}
	for k := uint8(0); k < s.T; k++ {
		if s.Rows[k].St == 1 {
			m.decides(s, k, emit)
		}
	}
	m.edits(s, emit)
	m.toggles(s, emit)
	m.triggers(s, emit)
}

func (m *Plan) time(s *PS, emit Emit[PS]) {
	if s.T == slots {
		return
	}
	t, bad := *s, ""
	k := s.T
	t.T++
	if s.Enabled == 1 && wants(s.Sched, k) {
		t.Owed[k] = 1
		if s.Rows[k].St == 3 {
			bad = "a slot that the task asks for was given up before its time"
		}
		if s.Rows[k].Trig == 1 {
			bad = "a caller's biz_id took the slot"
		}
	}
	emit(Label{F: "time: slot %d has come", A: int(k)}, t, false, bad)
}

func (m *Plan) plans(s *PS, k int, emit Emit[PS]) {
	x := s.Pl[k]
	if x.PC == 0 && s.Enabled == 1 && s.Next <= s.T && s.Next < slots {
		t := *s
		if m.P.NoLock {
			t.Pl[k] = Planner{1, s.Next, s.Sched, s.Ver}
			emit(Label{F: "planner %d: reads next=%d (no lock)", A: k, B: int(s.Next)}, t, false, "")
		} else if m.insert(&t, s.Next, s.Ver) {
			t.Next = nextWanted(s.Sched, s.Next+1)
			emit(Label{F: "planner %d: plans slot %d", A: k, B: int(s.Next)}, t, false, "")
		} // else: unique violation, the transaction rolls back
	}
	if x.PC == 1 {
		t := *s
		t.Pl[k] = Planner{}
		if m.insert(&t, x.Next, x.Ver) {
			t.Next = nextWanted(x.Sched, x.Next+1)
		}
		emit(Label{F: "planner %d: writes slot %d and next", A: k, B: int(x.Next)}, t, false, "")
	}
}

// decides is a claim of slot k.
func (m *Plan) decides(s *PS, k uint8, emit Emit[PS]) {
	r, p := s.Rows[k], &m.P
	t, bad := *s, ""
	switch {
	case p.NoRecheck:
		if s.Enabled == 0 {
			bad = "a disabled task started a run"
		} else if r.Ver != s.Ver {
			bad = "a run started with an old definition"
		}
		t.Rows[k].St = 2
	case p.VersionDrop && r.Ver != s.Ver:
		return // message dropped, nobody decides about the row
	case s.Enabled == 0 || r.Trig == 0 && !wants(s.Sched, k):
		t.Rows[k].St = 3
	default:
		t.Rows[k].St, t.Rows[k].Ver = 2, s.Ver
	}
	emit(Label{F: "worker: decides about slot %d (2 ran, 3 skipped): %d", A: int(k), B: int(t.Rows[k].St)}, t, false, bad)
}

func (m *Plan) edits(s *PS, emit Emit[PS]) {
	if s.Edits == 0 {
		return
	}
	for sched := range uint8(2) {
		t := *s
		t.Edits--
		m.overdue(&t)
		t.Ver++
		m.takeBack(&t)
		t.Sched = sched
		t.Next = nextWanted(sched, s.T)
		emit(Label{F: "person: edits, schedule %d (0 every slot, 1 odd slots)", A: int(sched)}, t, true, "")
	}
}

func (m *Plan) toggles(s *PS, emit Emit[PS]) {
	if s.Toggles == 0 {
		return
	}
	t := *s
	t.Toggles--
	if s.Enabled == 1 {
		m.overdue(&t)
		m.takeBack(&t)
		t.Enabled = 0
	} else {
		t.Enabled = 1
		t.Next = nextWanted(s.Sched, s.T)
	}
	emit(Label{F: "person: enabled := %d", A: int(t.Enabled)}, t, true, "")
}

func (m *Plan) triggers(s *PS, emit Emit[PS]) {
	if s.API == 0 || !m.P.FreeBizID {
		return
	}
	for k := s.T; k < slots; k++ {
		t := *s
		t.API--
		if t.Rows[k].N == 0 {
			t.Rows[k] = Row{St: 1, Ver: s.Ver, Trig: 1, N: 1}
			emit(Label{F: "caller: triggers with the biz_id of slot %d", A: int(k)}, t, true, "")
		}
	}
}

// Bad is what must never be so.
func (m *Plan) Bad(s *PS) string {
	for k := range s.Rows {
		if s.Rows[k].N > 1 {
			return "two instances for one slot"
		}
		if s.Owed[k] == 1 && s.Rows[k].N == 0 && (int(s.Next) > k || s.Enabled == 0) && !s.underWay(k) {
			return "a slot that was asked for left no trace"
		}
	}
	return ""
}

// underWay: a planner is about to write this slot.
func (s *PS) underWay(k int) bool {
	for _, p := range s.Pl {
		if p.PC == 1 && int(p.Next) <= k {
			return true
		}
	}
	return false
}

// Goal: all slots have passed, were planned and decided about.
func (m *Plan) Goal(s *PS) bool {
	for k := range s.Rows {
		if s.Rows[k].St == 1 {
			return false
		}
	}
	return s.T == slots && (s.Enabled == 0 || s.Next >= slots)
}

// Show is a line about a state.
func (m *Plan) Show(s *PS) string { return fmt.Sprintf("%+v", *s) }

func planCases() []Case {
	plan := func(name string, p PP) Case { return explored[PS](name, &Plan{p}) }
	return []Case{
		plan("base/plan", PP{}),
		plan("draft/edit-drops-overdue", PP{EditDropsOverdue: true}).breaks(18),
		plan("draft/take-back-skips", PP{TakeBackSkips: true}).breaks(19),
		plan("draft/take-back-deletes", PP{TakeBackDeletes: true}).mayHold(),
		plan("draft/plain-insert", PP{PlainInsert: true}).breaks(21),
		plan("draft/version-mismatch-dropped", PP{VersionDrop: true}).breaks(20),
		plan("draft/biz-id-not-reserved", PP{FreeBizID: true}).breaks(22),
		plan("guard/plan-lock", PP{NoLock: true}).breaks(),
		plan("guard/plan-unique", PP{NoUnique: true}).breaks(),
		plan("guard/claim-recheck", PP{NoRecheck: true}).breaks(),
	}
}
