package main

import "fmt"

// The batch model: requests about different instances share a transaction
// (db/group.go). Claims of one limited task, or settlements; one of them may be
// of a kind that makes any transaction fail that carries it. A failed
// transaction is run again one by one; a ledger that is away, or a commit that
// nobody confirmed, is told to all. Each caller must end up knowing what the
// ledger knows.

const requests = 3

// Where a caller is.
const (
	bNone    uint8 = iota
	bWaits         // put into the queue
	bTaken         // in a writer's batch
	bUnknown       // was told that nobody knows
	bYes           // was told: done
	bNo            // was told: somebody else's, drop it
	bFailed        // was told its own error
)

// BatchWriter carries one batch: a mask of requests; Alone: one by one.
type BatchWriter struct{ Batch, Alone uint8 }

// BS is a state of the batch model.
type BS struct {
	Call [requests]uint8
	Row  [requests]uint8 // times that the request has taken effect
	W    [2]BatchWriter
	// budgets
	Away, Unknown uint8
}

// BP is what is taken away.
type BP struct {
	FailAll       bool // a failure of one is told to all
	KeepHalf      bool // the batch is not one transaction
	CountOthers   bool // places are counted without the batch
	UnknownFails  bool // an unknown commit is taken for a failure, run again one by one
	UnknownIsDone bool // … or for a success
	UnknownToOne  bool // only one caller learns of it, the others are told that nothing stands
	NoReread      bool // settle: 0 rows of our own attempt are not read back
}

// Batch is the model. Poison: the last request makes its transactions fail.
type Batch struct {
	P                    BP
	Settle               bool
	Limit, Away, Unknown uint8
	Poison               bool
}

// Init has nobody waiting.
func (m *Batch) Init() BS { return BS{Away: m.Away, Unknown: m.Unknown} }

func has(mask uint8, i int) bool { return mask>>i&1 == 1 }

// Next emits callers, writers, and ends of what was claimed.
func (m *Batch) Next(s *BS, emit Emit[BS]) {
	for i := range s.Call {
		m.calls(s, i, emit)
	}
	for w := range s.W {
		switch x := s.W[w]; {
		case x.Batch == 0:
			m.takes(s, w, emit)
		case x.Alone == 1:
			for i := range s.Call { // the first of them
				if has(x.Batch, i) {
					m.runs(s, w, 1<<i, emit)
					break
				}
			}
		default:
			m.runs(s, w, x.Batch, emit)
		}
	}
}

// calls is what a caller does by itself.
func (m *Batch) calls(s *BS, i int, emit Emit[BS]) {
	t := *s
	switch {
	case s.Call[i] == bNone:
		t.Call[i] = bWaits
		emit(Label{F: "caller %d: asks", A: i}, t, false, "")
	case s.Call[i] == bUnknown && !m.Settle:
		t.Call[i] = bWaits
		if s.Row[i] > 0 {
			t.Call[i] = bYes
		}
		emit(Label{F: "caller %d: reads back", A: i}, t, false, "")
	case s.Call[i] == bUnknown:
		t.Call[i] = bWaits
		emit(Label{F: "caller %d: settles again", A: i}, t, false, "")
	}
}

// takes: a writer takes all that waits.
func (m *Batch) takes(s *BS, w int, emit Emit[BS]) {
	t := *s
	for i := range s.Call {
		if s.Call[i] == bWaits {
			t.W[w].Batch |= 1 << i
			t.Call[i] = bTaken
		}
	}
	if t.W[w].Batch != 0 {
		emit(Label{F: "writer %d: takes the batch %d", A: w, B: int(t.W[w].Batch)}, t, false, "")
	}
}

// runs is one transaction of a writer.
func (m *Batch) runs(s *BS, w int, batch uint8, emit Emit[BS]) {
	if m.Poison && has(batch, requests-1) {
		m.fails(s, w, batch, emit)
	} else {
		t := *s
		bad := m.apply(&t, batch, true)
		t.leave(w, batch)
		emit(Label{F: "writer %d: commits the batch %d", A: w, B: int(batch)}, t, false, bad)
	}
	if s.Away > 0 {
		t := *s
		t.Away--
		t.tell(batch, bWaits) // the message comes back, or the handler tries again
		t.leave(w, batch)
		emit(Label{F: "FAULT writer %d: the ledger is away, the batch %d hears it", A: w, B: int(batch)}, t, true, "")
	}
	if s.Unknown > 0 && !(m.Poison && has(batch, requests-1)) {
		for landed := range 2 {
			t := *s
			t.Unknown--
			bad := ""
			if landed == 1 {
				bad = m.apply(&t, batch, false)
			}
			m.unconfirmed(&t, w, batch)
			emit(Label{F: "FAULT writer %d: nobody confirms the commit of %d; landed=%d", A: w, B: int(batch), C: landed}, t, true, bad)
		}
	}
}

// apply writes what each of the batch asks for; answer: and tells it.
func (m *Batch) apply(t *BS, batch uint8, answer bool) string {
	bad := ""
	before := t.busy()
	for i := range t.Call {
		if !has(batch, i) {
			continue
		}
		busy := t.busy()
		if m.P.CountOthers {
			busy = before
		}
		told := bYes
		switch {
		case t.Row[i] > 0 && m.Settle && !m.P.NoReread: // the attempt ended by our own claim
		case t.Row[i] > 0:
			told = bNo
		case !m.Settle && m.Limit > 0 && busy >= m.Limit:
			told = bWaits // deferred; it comes back
		default:
			t.Row[i]++
		}
		if answer {
			t.Call[i] = told
		}
	}
	return bad
}

func (s *BS) busy() uint8 {
	n := uint8(0)
	for _, r := range s.Row {
		n += min(r, 1)
	}
	return n
}

// fails: one of the batch makes the transaction fail; nothing of it stands.
func (m *Batch) fails(s *BS, w int, batch uint8, emit Emit[BS]) {
	t, bad := *s, ""
	if m.P.KeepHalf {
		m.apply(&t, batch&^(1<<(requests-1)), false)
	}
	switch {
	case batch == 1<<(requests-1):
		t.tell(batch, bFailed)
		t.leave(w, batch)
	case m.P.FailAll:
		bad = "a good request failed for another's fault"
		t.tell(batch, bFailed)
		t.leave(w, batch)
	default:
		t.W[w].Alone = 1
	}
	emit(Label{F: "writer %d: the batch %d fails and is rolled back", A: w, B: int(batch)}, t, false, bad)
}

// unconfirmed: nobody knows whether the batch stands.
func (m *Batch) unconfirmed(t *BS, w int, batch uint8) {
	switch {
	case m.P.UnknownFails:
		t.W[w].Alone = 1
		return
	case m.P.UnknownIsDone:
		t.tell(batch, bYes)
	case m.P.UnknownToOne:
		t.tell(batch, bNo)
		for i := range t.Call {
			if has(batch, i) {
				t.Call[i] = bUnknown
				break
			}
		}
	default:
		t.tell(batch, bUnknown)
	}
	t.leave(w, batch)
}

func (s *BS) tell(batch, what uint8) {
	for i := range s.Call {
		if has(batch, i) {
			s.Call[i] = what
		}
	}
}

// leave: the writer has answered these.
func (s *BS) leave(w int, batch uint8) {
	s.W[w].Batch &^= batch
	if s.W[w].Batch == 0 {
		s.W[w].Alone = 0
	}
}

// Bad is what must never be so.
func (m *Batch) Bad(s *BS) string {
	if !m.Settle && m.Limit > 0 && s.busy() > m.Limit {
		return "concurrency limit exceeded"
	}
	for i, r := range s.Row {
		switch told := s.Call[i]; {
		case r > 1:
			return "one request took effect twice"
		case r == 1 && (told == bNo || told == bFailed):
			return "it stands in the ledger, and its caller was told no"
		case r == 0 && told == bYes:
			return "its caller was told yes, and it is not in the ledger"
		}
	}
	return ""
}

// Goal: all callers know; those without a place wait in the ledger.
func (m *Batch) Goal(s *BS) bool {
	free := m.Settle || m.Limit == 0 || s.busy() < m.Limit
	for _, c := range s.Call {
		if c == bNone || c == bTaken || c == bUnknown || c == bWaits && free {
			return false
		}
	}
	return true
}

// Show is a line about a state.
func (m *Batch) Show(s *BS) string { return fmt.Sprintf("%+v", *s) }

func batchCases() []Case {
	claims := Batch{Limit: 1, Away: 1, Unknown: 1}
	poison := Batch{Limit: 2, Away: 1, Unknown: 1, Poison: true}
	settles := Batch{Settle: true, Away: 1, Unknown: 1, Poison: true}
	batch := func(name string, m Batch, p BP) Case {
		m.P = p
		return explored[BS](name, &m)
	}
	return []Case{
		batch("base/batch-claims", claims, BP{}),
		batch("base/batch-claims-one-bad", poison, BP{}),
		batch("base/batch-settles", settles, BP{}),
		batch("guard/batch-counts-itself", claims, BP{CountOthers: true}).breaks(),
		batch("guard/batch-fails-one-by-one", poison, BP{FailAll: true}).breaks(),
		batch("guard/batch-is-one-transaction", poison, BP{KeepHalf: true}).breaks(),
		batch("guard/batch-unknown-is-no-failure", claims, BP{UnknownFails: true}).breaks(),
		batch("guard/batch-unknown-is-no-success", settles, BP{UnknownIsDone: true}).breaks(),
		batch("guard/batch-unknown-is-told-to-all", settles, BP{UnknownToOne: true}).breaks(),
		batch("guard/batch-settle-is-read-back", settles, BP{NoReread: true}).breaks(),
	}
}
