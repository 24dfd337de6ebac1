package main

import (
	"fmt"
	"hash/maphash"
	"strings"
)

// Label names a step. It is formatted only when a trace is printed.
type Label struct {
	F          string
	A, B, C, D int
}

func (l Label) String() string {
	n := strings.Count(l.F, "%")
	return fmt.Sprintf(l.F, []any{l.A, l.B, l.C, l.D}[:n]...)
}

// Emit hands one successor to the engine. fault: the step is an injected
// fault or an outside wish (crash, flush, cancel …), which liveness may not
// rely on. bad: the step itself breaks a promise.
type Emit[S comparable] func(l Label, t S, fault bool, bad string)

// Model is a protocol with everything that can happen to it.
type Model[S comparable] interface {
	Init() S
	// Next emits the successors of s, always in the same order.
	Next(s *S, emit Emit[S])
	Bad(s *S) string // state invariant, "" when it holds
	Goal(s *S) bool  // everything has come to an end
	Show(s *S) string
}

// Result of one exploration.
type Result struct {
	States, Edges int
	Bad           string
	Trace         []string
	Truncated     bool // more states than the limit: nothing is proven
}

// stuck is what a state breaks from which no end can be reached.
const stuck = "stuck: no end can be reached without another fault"

// Explore visits every reachable state breadth first (so a trace is a
// shortest one), then checks liveness: from every reachable state a Goal is
// reachable by steps that are no faults. Under strong fairness that means: if
// faults stop, everything comes to an end. It gives up above limit states.
func Explore[S comparable](m Model[S], limit int) Result {
	x := &explorer[S]{m: m, seen: newIndex[S]()}
	x.walk(limit)
	x.r.States = len(x.seen.states)
	if x.r.Bad == "" && !x.r.Truncated {
		x.live()
	}
	return x.r
}

// explorer is one exploration on its way.
type explorer[S comparable] struct {
	m      Model[S]
	seen   *index[S]
	parent []int32 // state from which each was found first
	// steps that are no faults, backwards
	to, from []int32
	r        Result
}

func (x *explorer[S]) add(s *S, parent int32) int32 {
	id, isNew := x.seen.add(s)
	if isNew {
		x.parent = append(x.parent, parent)
	}
	return id
}

// walk visits the states until one is bad.
func (x *explorer[S]) walk(limit int) {
	s0 := x.m.Init()
	x.add(&s0, -1)
	for i := int32(0); int(i) < len(x.seen.states); i++ {
		s := x.seen.states[i]
		if b := x.m.Bad(&s); b != "" {
			x.r.Bad, x.r.Trace = b, append(x.trace(i), "  => "+x.m.Show(&s))
			return
		}
		x.m.Next(&s, func(l Label, t S, fault bool, bad string) { x.step(i, l, t, fault, bad) })
		if x.r.Bad != "" {
			return
		}
		if len(x.seen.states) > limit {
			x.r.Truncated = true
			return
		}
	}
}

func (x *explorer[S]) step(i int32, l Label, t S, fault bool, bad string) {
	x.r.Edges++
	if bad != "" && x.r.Bad == "" {
		x.r.Bad = bad
		x.r.Trace = append(x.trace(i), l.String(), "  => "+x.m.Show(&t))
	}
	id := x.add(&t, i)
	if !fault && id != i {
		x.to, x.from = append(x.to, id), append(x.from, i)
	}
}

// trace names the steps from the first state to one.
func (x *explorer[S]) trace(id int32) []string {
	var path []int32
	for ; id >= 0; id = x.parent[id] {
		path = append(path, id)
	}
	var out []string
	for k := len(path) - 1; k > 0; k-- {
		s, want := x.seen.states[path[k]], path[k-1]
		name := "?"
		x.m.Next(&s, func(l Label, t S, _ bool, _ string) {
			if name == "?" && t == x.seen.states[want] {
				name = l.String()
			}
		})
		out = append(out, name)
	}
	return out
}

// live walks backwards from the ends; what it doesn't reach is stuck.
func (x *explorer[S]) live() {
	head, before := x.backwards()
	live := make([]bool, len(x.seen.states))
	var stack []int32
	for i := range x.seen.states {
		if x.m.Goal(&x.seen.states[i]) {
			live[i] = true
			stack = append(stack, int32(i))
		}
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, p := range before[head[i]:head[i+1]] {
			if !live[p] {
				live[p] = true
				stack = append(stack, p)
			}
		}
	}
	for i := range x.seen.states {
		if !live[i] {
			x.r.Bad = stuck
			x.r.Trace = append(x.trace(int32(i)), "  => "+x.m.Show(&x.seen.states[i]))
			return
		}
	}
}

// backwards sorts the steps by where they lead: before[head[i]:head[i+1]] are
// the states from which a step leads to i.
func (x *explorer[S]) backwards() (head, before []int32) {
	n := len(x.seen.states)
	head = make([]int32, n+1)
	for _, t := range x.to {
		head[t+1]++
	}
	for i := range n {
		head[i+1] += head[i]
	}
	before = make([]int32, len(x.to))
	pos := append([]int32(nil), head[:n]...)
	for k, t := range x.to {
		before[pos[t]] = x.from[k]
		pos[t]++
	}
	return head, before
}

// index is the set of states seen, each with a number in order of discovery.
// A map would hold each state twice.
type index[S comparable] struct {
	seed   maphash.Seed
	states []S
	table  []int32 // number+1; 0: free
}

func newIndex[S comparable]() *index[S] {
	return &index[S]{seed: maphash.MakeSeed(), states: make([]S, 0, 1<<10), table: make([]int32, 1<<11)}
}

// add gives the number of a state, and whether it is new.
func (x *index[S]) add(s *S) (int32, bool) {
	if len(x.states)*2 >= len(x.table) {
		x.grow()
	}
	mask := uint64(len(x.table) - 1)
	h := maphash.Comparable(x.seed, *s) & mask
	for x.table[h] != 0 {
		if x.states[x.table[h]-1] == *s {
			return x.table[h] - 1, false
		}
		h = (h + 1) & mask
	}
	x.states = append(x.states, *s)
	x.table[h] = int32(len(x.states))
	return int32(len(x.states) - 1), true
}

func (x *index[S]) grow() {
	old := x.table
	x.table = make([]int32, 2*len(old))
	mask := uint64(len(x.table) - 1)
	for _, v := range old {
		if v == 0 {
			continue
		}
		h := maphash.Comparable(x.seed, x.states[v-1]) & mask
		for x.table[h] != 0 {
			h = (h + 1) & mask
		}
		x.table[h] = v
	}
}
