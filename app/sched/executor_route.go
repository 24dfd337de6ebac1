package sched

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// Route says which of the executors that offer a type gets a call.
type Route string

// The routes.
const (
	RoundRobin Route = "round_robin" // in turn, by weight; the default
	LeastBusy  Route = "least_busy"  // who runs least for its weight
	Random     Route = "random"      // by weight
	Hash       Route = "hash"        // the same biz_id goes to the same one while it is there
	Failover   Route = "failover"    // the heaviest; the next one when that was surely not reached
	Broadcast  Route = "broadcast"   // all of them at once, each with its shard
)

// Routes lists the routes in the order of forms.
func Routes() []Route { return []Route{RoundRobin, LeastBusy, Random, Hash, Failover, Broadcast} }

// Turns tells whether a route needs a turn of Draw.
func (r Route) Turns() bool { return r == RoundRobin || r == LeastBusy }

// Draw is what a choice goes by besides the executors.
type Draw struct {
	Turn uint64  // how many calls were given out before, over all nodes
	Dice float64 // at least 0, below 1
	Key  string  // biz_id
	// Busy is what each runs as far as is known, by id.
	Busy map[string]int
}

// Choose gives those of the executors that a call is tried on, in that order:
// one, or all of them of Failover and Broadcast. The next one is tried only
// when the one before was surely not reached. from is sorted by address, so
// that all nodes choose alike; of none nobody is chosen.
func (r Route) Choose(from []ExecutorInfo, d Draw) []ExecutorInfo {
	if len(from) == 0 {
		return nil
	}
	switch r {
	case LeastBusy:
		from = idlest(from, d.Busy)
		return from[d.Turn%uint64(len(from)):][:1]
	case Random:
		return byShare(from, d.Dice)
	case Hash:
		return rendezvous(from, d.Key)
	case Failover:
		out := slices.Clone(from)
		slices.SortStableFunc(out, func(a, b ExecutorInfo) int { return cmp.Compare(b.Weight, a.Weight) })
		return out
	case Broadcast:
		return slices.Clone(from)
	}
	return inTurn(from, d.Turn)
}

// inTurn spreads the turns of a round evenly: in a round of as many turns as
// all weights together (divided by what they share) each executor has as many
// as its weight, at even distances.
func inTurn(from []ExecutorInfo, turn uint64) []ExecutorInfo {
	shared := 0
	for _, e := range from {
		shared = gcd(shared, e.Weight)
	}
	round := 0
	for _, e := range from {
		round += e.Weight / max(shared, 1)
	}
	type place struct{ at, of, who int } // the at-th (odd halves) of so many turns
	places := make([]place, 0, round)
	for i, e := range from {
		w := e.Weight / max(shared, 1)
		for j := range w {
			places = append(places, place{2*j + 1, 2 * w, i})
		}
	}
	if len(places) == 0 {
		return from[:1]
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.at*b.of, b.at*a.of), cmp.Compare(a.who, b.who))
	})
	who := places[turn%uint64(len(places))].who
	return from[who : who+1]
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// idlest are those that run least for their weight.
func idlest(from []ExecutorInfo, busy map[string]int) []ExecutorInfo {
	var out []ExecutorInfo
	for _, e := range from {
		c := -1
		if len(out) > 0 {
			c = cmp.Compare(busy[e.ID]*out[0].Weight, busy[out[0].ID]*e.Weight)
		}
		switch {
		case c < 0:
			out = []ExecutorInfo{e}
		case c == 0:
			out = append(out, e)
		}
	}
	return out
}

// byShare throws a dice whose sides are as wide as the weights.
func byShare(from []ExecutorInfo, dice float64) []ExecutorInfo {
	total := 0
	for _, e := range from {
		total += e.Weight
	}
	at := int(dice * float64(total))
	for i, e := range from {
		if at -= e.Weight; at < 0 {
			return from[i : i+1]
		}
	}
	return from[len(from)-1:]
}

// rendezvous lets each executor draw a number from key and address, and takes
// the greatest. When one leaves only its own keys move; weights are kept
// (-w/ln u is greatest with the probability of the share of w).
func rendezvous(from []ExecutorInfo, key string) []ExecutorInfo {
	best, at := math.Inf(-1), 0
	for i, e := range from {
		sum := sha256.Sum256([]byte(strings.Join([]string{key, e.Address}, "\x00")))
		u := (float64(binary.BigEndian.Uint64(sum[:])>>11) + 0.5) / (1 << 53)
		if score := -float64(e.Weight) / math.Log(u); score > best {
			best, at = score, i
		}
	}
	return from[at : at+1]
}

// Unreached tells whether it is sure that a call got to nobody, so that another
// executor may be tried: nothing was sent. A call that was canceled is over.
func (r Result) Unreached() bool {
	return r.Definite && r.StatusCode == 0 && r.Response == "" && r.Outcome == OutcomeFailed
}
