package main

import (
	"fmt"
	"io"
)

// wakes simulates a task with a limit, in steps of 10 ms: n rows due at once,
// ten run at a time for 100 ms each, 4,000 claims a second may be refused. A
// claim that meets the limit defers the row for 1, 2, 4 … 30 s; each settle
// wakes one row. It shows what the wake-up costs in messages, and flaw 30.
type wakes struct {
	name             string
	wake, any, older bool // a settle wakes; the woken too (draft); older messages go back

	due, dispatch, defers []int
	running               []bool // or ended
	queue, back           []sentAt
	ends                  []int
	served, delivered     int
}

type sentAt struct{ i, d, at int }

const (
	wakeRows  = 5000
	wakeLimit = 10
	wakeRun   = 10 // steps
	wakeStep  = 40 // deliveries a step
)

// wakeUps runs the protocols; false: it is not as the page says.
func wakeUps(w io.Writer) bool {
	fmt.Fprintln(w, "wakes: 5,000 due at once, limit 10, 100 runs a second; ideal end 50 s")
	var ends []int
	for _, c := range []*wakes{
		{name: "no wake-up"},
		{name: "any deferred row is woken, older messages go back (draft)", wake: true, any: true, older: true},
		{name: "only a row not yet due is woken, older messages go back", wake: true, older: true},
		{name: "only a row not yet due is woken, older messages dropped", wake: true},
	} {
		full, peak := c.run()
		fmt.Fprintf(w, "     %-58s all at %.0f s (0: never), %d deliveries, at most %d messages\n", c.name+":", float64(full)/100, c.delivered, peak)
		ends = append(ends, full)
	}
	return ends[1] > ends[2] && ends[2] > 0 && ends[2] < 5200
}

// run gives the step at which all were served, and the most messages.
func (c *wakes) run() (full, peak int) {
	c.due, c.dispatch, c.defers, c.running = make([]int, wakeRows), make([]int, wakeRows), make([]int, wakeRows), make([]bool, wakeRows)
	for i := range wakeRows {
		c.queue = append(c.queue, sentAt{i: i})
	}
	for t := 0; t < 60_000 && c.served < wakeRows; t++ {
		c.comeBack(t)
		c.settle(t)
		c.deliver(t)
		peak = max(peak, len(c.queue)+len(c.back))
		if c.served == wakeRows {
			full = t
		}
	}
	return full, peak
}

func (c *wakes) comeBack(t int) {
	rest := c.back[:0]
	for _, x := range c.back {
		if x.at <= t {
			c.queue = append(c.queue, x)
		} else {
			rest = append(rest, x)
		}
	}
	c.back = rest
}

func (c *wakes) settle(t int) {
	for len(c.ends) > 0 && c.ends[0] <= t {
		c.ends = c.ends[1:]
		c.served++
		for j := 0; c.wake && j < wakeRows; j++ {
			if !c.running[j] && c.defers[j] > 0 && (c.due[j] > t || c.any) {
				c.due[j] = t
				c.dispatch[j]++
				c.queue = append(c.queue, sentAt{i: j, d: c.dispatch[j]})
				break
			}
		}
	}
}

func (c *wakes) deliver(t int) {
	for b := 0; b < wakeStep && len(c.queue) > 0; b++ {
		x := c.queue[0]
		c.queue = c.queue[1:]
		c.delivered++
		switch {
		case c.running[x.i]:
			continue
		case c.due[x.i] > t:
		case len(c.ends) >= wakeLimit:
			c.due[x.i] = t + 100*min(1<<min(c.defers[x.i], 5), 30) + x.i%50
			c.defers[x.i]++
		default:
			c.running[x.i] = true
			c.ends = append(c.ends, t+wakeRun)
			continue
		}
		if x.d == c.dispatch[x.i] || c.older {
			x.at = c.due[x.i]
			c.back = append(c.back, x)
		}
	}
}
