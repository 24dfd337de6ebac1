package main

import (
	"fmt"
	"io"
)

// backlog simulates one FIFO queue, second by second: n instances are due at
// once, workers serve at most rate a second, a message that is refused at the
// claim costs 1/4000 of a second. The sweeper hands late rows over again.
// It shows flaw 2, the one that is about pace, not about order.
type backlog struct {
	n, rate int
	equal   bool // only the row's own dispatch claims, raised every 10 s (draft)

	dispatch, look, wait []int
	done                 []bool
	queue                []sent
	served, refused      int
}

type sent struct{ i, d int }

// drops is how many messages a second may be refused.
const drops = 4000.0

// backlogs runs both protocols; false: it is not as the page says.
func backlogs(w io.Writer) bool {
	fmt.Fprintln(w, "backlog: 20,000 or 100,000 due at once; after 10 minutes")
	ok := true
	for _, b := range []*backlog{
		{n: 20_000, rate: 100, equal: true},
		{n: 20_000, rate: 100},
		{n: 100_000, rate: 1000, equal: true},
		{n: 100_000, rate: 1000},
	} {
		full, peak := b.run()
		name := "any dispatch claims, look-again doubles"
		if b.equal {
			name = "dispatch must be equal, raised every 10 s (draft)"
		}
		fmt.Fprintf(w, "     %6d due, %4d/s, %s: served %d, all at %d s (0: never), %d messages refused, peak queue %d\n",
			b.n, b.rate, name, b.served, full, b.refused, peak)
		ok = ok && (full == b.n/b.rate) != b.equal // as fast as the workers are
	}
	return ok
}

// run gives the second at which all were served, and the longest queue.
func (b *backlog) run() (full, peak int) {
	b.dispatch, b.look, b.wait, b.done = make([]int, b.n), make([]int, b.n), make([]int, b.n), make([]bool, b.n)
	for i := range b.n {
		b.queue = append(b.queue, sent{i, 0})
		b.look[i], b.wait[i] = 10, 10
	}
	peak = len(b.queue)
	for t := range 600 {
		b.serve()
		b.sweep(t + 1)
		peak = max(peak, len(b.queue))
		if b.served == b.n && full == 0 {
			full = t + 1
		}
	}
	return full, peak
}

// serve is a second of the workers.
func (b *backlog) serve() {
	for budget := 1.0; budget > 0 && len(b.queue) > 0; {
		x := b.queue[0]
		b.queue = b.queue[1:]
		if b.done[x.i] || b.equal && b.dispatch[x.i] != x.d {
			b.refused++
			budget -= 1 / drops
			continue
		}
		b.done[x.i] = true
		b.served++
		budget -= 1 / float64(b.rate)
	}
}

func (b *backlog) sweep(now int) {
	for i := range b.n {
		if b.done[i] || now < b.look[i] {
			continue
		}
		b.dispatch[i]++
		b.queue = append(b.queue, sent{i, b.dispatch[i]})
		if !b.equal {
			b.wait[i] = min(2*b.wait[i], 320)
		}
		b.look[i] = now + b.wait[i]
	}
}
