package cron

import "math/bits"

// shape is the form of a set of values, as people would describe it.
type shape struct {
	kind  shapeKind
	vals  []int // all values in order; a wrapping span begins at its start
	step  int   // distance of the values of steps; 1 for all and span
	whole bool  // all, or steps from the first value on that divide the field evenly
	even  bool  // steps that go on into the next turn at the same pace
}

type shapeKind uint8

const (
	single shapeKind = iota
	all
	span
	steps
	list
)

func (s shape) first() int { return s.vals[0] }
func (s shape) last() int  { return s.vals[len(s.vals)-1] }

// repeats says that the set is a pace rather than a few points.
func (s shape) repeats() bool { return s.kind == all || s.kind == span || s.kind == steps }

// shapeOf describes the members of set within low…high. With ring, a span may
// run over the end of the field.
func shapeOf(set uint64, low, high int, ring bool) shape {
	size := high - low + 1
	vals := members(set, low)
	s := shape{kind: list, vals: vals, step: 1}
	switch {
	case len(vals) == size:
		s.kind, s.whole, s.even = all, true, true
		return s
	case len(vals) == 1:
		s.kind = single
		return s
	}
	// Two minutes in a row read better one by one; two hours make a window.
	if turned, ok := contiguous(vals, size, ring); ok && (len(vals) > 2 || high != 59) {
		s.kind, s.vals = span, turned
		return s
	}
	step := vals[1] - vals[0]
	for i := 1; i < len(vals); i++ {
		if vals[i]-vals[i-1] != step {
			return s
		}
	}
	s.even = s.first()+size-s.last() == step
	s.whole = s.even && s.first() == low
	if s.whole || len(vals) > 6 {
		s.kind, s.step = steps, step
	}
	return s
}

// members lists the bits of set, lowest first.
func members(set uint64, low int) []int {
	vals := make([]int, 0, bits.OnesCount64(set))
	for v := low; set>>v != 0; v++ {
		if set>>v&1 == 1 {
			vals = append(vals, v)
		}
	}
	return vals
}

// contiguous turns vals so that they follow one another, if they can.
func contiguous(vals []int, size int, ring bool) ([]int, bool) {
	breaks, at := 0, 0
	for i := 1; i < len(vals); i++ {
		if vals[i] != vals[i-1]+1 {
			breaks, at = breaks+1, i
		}
	}
	if breaks == 0 {
		return vals, true
	}
	if ring && breaks == 1 && vals[len(vals)-1]+1-size == vals[0] {
		return append(append([]int{}, vals[at:]...), vals[:at]...), true
	}
	return vals, false
}

// stretch is a stretch of values from…to; from == to is one value.
type stretch struct{ from, to int }

// stretches folds three or more neighbours into one stretch.
func stretches(vals []int) []stretch {
	var out []stretch
	for i := 0; i < len(vals); {
		j := i
		for j+1 < len(vals) && vals[j+1] == vals[j]+1 {
			j++
		}
		if j-i < 2 {
			j = i
		}
		out = append(out, stretch{vals[i], vals[j]})
		i = j + 1
	}
	return out
}
