package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Soak: one installation under load with random faults, for long. Some
// processes live through all of it; what they hold must not grow.

// sample is what a process held at a moment.
type sample struct {
	at         time.Time
	goroutines float64
	files      float64
	memory     float64 // MiB resident
}

// series are the samples of one process that lives through the soak.
type series struct {
	node    *node
	samples []sample
}

// lasting are the nodes that the soak doesn't kill.
var lasting = []string{"web", "scheduler2", "worker2"}

func soakScenario(d time.Duration) scenario {
	var all []*series
	return scenario{
		name: "F44", says: "long under load, with a random fault every 4 to 12 s", quiet: 3 * time.Minute,
		run: func(ctx context.Context, h *house) error {
			for _, n := range h.nodes {
				if slices.Contains(lasting, n.name) {
					all = append(all, &series{node: n})
				}
			}
			h.zombies = true
			return h.soak(ctx, d, all)
		},
		after: func(_ context.Context, h *house) error { return flat(h, all) },
	}
}

// soak samples every 5 s and does harm until the time is over.
func (h *house) soak(ctx context.Context, d time.Duration, all []*series) error {
	end := time.Now().Add(d)
	go func() {
		for time.Now().Before(end) && ctx.Err() == nil {
			for _, s := range all {
				if v, err := s.node.sample(); err == nil { // a frozen one can't be asked
					s.samples = append(s.samples, v)
				}
			}
			rest(ctx, 5*time.Second)
		}
	}()
	for time.Now().Before(end) && ctx.Err() == nil {
		if err := h.randomFault(ctx); err != nil {
			return err
		}
		rest(ctx, h.between(4*time.Second, 12*time.Second))
	}
	return h.heal()
}

// randomFault does one harm and makes it good.
func (h *house) randomFault(ctx context.Context) error {
	n := h.nodes[h.random.IntN(len(h.nodes))]
	short := h.between(time.Second, 4*time.Second)
	switch h.random.IntN(7) {
	case 0, 1:
		if slices.Contains(lasting, n.name) {
			return nil
		}
		h.tell("kill %s", n.name)
		return n.restart()
	case 2:
		h.tell("freeze %s for %s", n.name, short)
		n.freeze()
		rest(ctx, short)
		n.thaw()
	case 3:
		h.tell("FLUSHALL")
		return h.redis.flush()
	case 4:
		l := choose(h.random.IntN(2) == 0, n.db, n.redis)
		h.tell("cut %s for %s", l.name, short)
		n.doomed()
		l.cut()
		rest(ctx, short)
		return l.heal()
	case 5:
		h.tell("slow ways of %s", n.name)
		n.doomed()
		if err := n.db.slow(down, 150*time.Millisecond, 100*time.Millisecond); err != nil {
			return err
		}
		rest(ctx, short)
		return n.db.heal()
	default:
		h.tell("freeze MariaDB for %s", short)
		h.maria.freeze()
		rest(ctx, short)
		h.maria.thaw()
	}
	return nil
}

// sample reads a node's own metrics.
func (n *node) sample() (sample, error) {
	c := http.Client{Timeout: 2 * time.Second}
	resp, err := c.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", n.metrics))
	if err != nil {
		return sample{}, err
	}
	defer resp.Body.Close()
	s := sample{at: time.Now()}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "go_goroutines":
			s.goroutines = v
		case "process_open_fds":
			s.files = v
		case "process_resident_memory_bytes":
			s.memory = v / (1 << 20)
		}
	}
	return s, lines.Err()
}

// flat compares the second quarter of the time with the last: the first is for
// warming up.
func flat(h *house, all []*series) error {
	var grown []string
	for _, s := range all {
		n := len(s.samples)
		if n < 8 {
			return fmt.Errorf("only %d samples of %s", n, s.node.name)
		}
		early, late := s.samples[n/4:n/2], s.samples[3*n/4:]
		for what, of := range map[string]func(sample) float64{
			"goroutines": func(v sample) float64 { return v.goroutines }, "open files": func(v sample) float64 { return v.files }, "MiB": func(v sample) float64 { return v.memory },
		} {
			a, b := medianOf(early, of), medianOf(late, of)
			h.facts[s.node.name+" "+what] = b
			if b > a*1.25+10 {
				grown = append(grown, fmt.Sprintf("%s: %.0f %s, later %.0f", s.node.name, a, what, b))
			}
		}
	}
	if err := writeSamples(filepath.Join(filepath.Dir(h.dir), "soak.tsv"), all); err != nil {
		return err
	}
	if len(grown) > 0 {
		return fmt.Errorf("it grows: %s", strings.Join(grown, "; "))
	}
	return nil
}

func medianOf(samples []sample, of func(sample) float64) float64 {
	var values []float64
	for _, s := range samples {
		values = append(values, of(s))
	}
	return percentile(values, 50)
}

func writeSamples(file string, all []*series) error {
	var b strings.Builder
	for _, s := range all {
		for _, v := range s.samples {
			fmt.Fprintf(&b, "%s\t%d\t%.0f\t%.0f\t%.1f\n", s.node.name, v.at.Unix(), v.goroutines, v.files, v.memory)
		}
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}
