package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// guard is one of the conditions that the promises of ax rest on. Taken out of
// a copy of the sources, the bench must turn red: a guard whose loss nothing
// notices is one that nothing tests.
type guard struct {
	name    string
	purpose string // what it is for (protocol.md section 5)
	edits   []edit
	prepare []string // statements on the fresh ledger
	runs    []string // scenarios that are to notice, the likeliest first
	signs   []string // checks by which its loss shows; red by another one is another story
	most    int      // seeds of each scenario; 0: 3
	quiet   time.Duration
}

// edit changes one place of a source file.
type edit struct {
	file     string // from the root of the repository
	old, new string // old is there exactly once
}

// intact is the guard that stands for none: with everything in place all the
// scenarios must be clean, or "noticed" would prove nothing.
const intact = "nothing"

// noticed is what became of one guard.
type noticed struct {
	guard    guard
	by       string // check, scenario and seed
	example  string
	err      error // the bench could not do its part
	outcomes []outcome
}

func (n noticed) line() string {
	switch {
	case n.err != nil:
		return fmt.Sprintf("%s | the bench failed: %v", n.guard.name, n.err)
	case n.by == "":
		return fmt.Sprintf("%s | NOTHING notices its loss (%s)", n.guard.name, n.guard.purpose)
	}
	return fmt.Sprintf("%s | %s\n    %s", n.guard.name, n.by, n.example)
}

// takeOutGuards takes the guards out one at a time.
func (o options) takeOutGuards(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "ax-guards-")
	if err != nil {
		return err
	}
	if o.root == "" {
		if o.root, err = repository(); err != nil {
			return err
		}
	}
	o.prove = false
	todo := slices.DeleteFunc(allGuards(), func(g guard) bool { return !o.only.MatchString(g.name) })
	fmt.Printf("%d guards, %d at a time, out of %s; what is red for another reason stays in %s\n", len(todo), o.seats, o.root, dir)
	found, err := o.shareGuards(ctx, dir, todo)
	if err != nil {
		return err
	}
	unseen := 0
	for _, n := range found {
		if n.err != nil || n.by == "" {
			unseen++
		}
	}
	fmt.Printf("\n%s", guardTable(found))
	if unseen > 0 {
		return fmt.Errorf("the loss of %d of %d guards is not noticed", unseen, len(found))
	}
	return os.RemoveAll(dir)
}

// shareGuards gives the guards to the seats, in their order.
func (o options) shareGuards(ctx context.Context, dir string, todo []guard) ([]noticed, error) {
	next := make(chan int)
	found := make([]noticed, len(todo))
	var all sync.WaitGroup
	for i := range min(o.seats, len(todo)) {
		s, err := newSeat(o, filepath.Join(dir, fmt.Sprintf("seat%d", i)))
		if err != nil {
			close(next)
			return nil, err
		}
		all.Go(func() {
			defer s.close()
			for i := range next {
				found[i] = s.withoutGuard(ctx, todo[i])
				fmt.Println(found[i].line())
			}
		})
	}
	for i := range todo {
		next <- i
	}
	close(next)
	all.Wait()
	return found, ctx.Err()
}

// withoutGuard builds ax without one guard and runs until a check notices.
func (s *seat) withoutGuard(ctx context.Context, g guard) noticed {
	n := noticed{guard: g}
	dir, err := os.MkdirTemp(s.dir, "ax-")
	if err != nil {
		n.err = err
		return n
	}
	defer os.RemoveAll(dir)
	if g.name == intact && s.opt.ax != "" {
		return s.control(ctx, n)
	}
	given := s.opt.ax
	defer func() { s.opt.ax = given }()
	if s.opt.ax, n.err = buildWithout(ctx, s.opt.root, dir, g.edits); n.err != nil {
		return n
	}
	if g.name == intact {
		return s.control(ctx, n)
	}
	return s.notice(ctx, n)
}

// control runs the scenarios with all guards in place.
func (s *seat) control(ctx context.Context, n noticed) noticed {
	for _, name := range n.guard.runs {
		sc, err := scenarioWithout(name, n.guard)
		if err != nil {
			n.err = err
			return n
		}
		out := s.run(ctx, sc, s.opt.first)
		fmt.Println(out.line())
		if !out.clean() {
			n.err = errors.Join(n.err, fmt.Errorf("%s is red with all guards in place", name))
		}
	}
	if n.err = errors.Join(n.err, ctx.Err()); n.err == nil {
		n.by = fmt.Sprintf("all %d scenarios are clean", len(n.guard.runs))
	}
	return n
}

// notice runs the scenarios of a guard, seed by seed.
func (s *seat) notice(ctx context.Context, n noticed) noticed {
	g, seeds := n.guard, n.guard.most
	if seeds == 0 {
		seeds = 3
	}
	ran := 0
	for i := range min(seeds, s.opt.seeds) {
		for _, name := range g.runs {
			if ctx.Err() != nil {
				n.err = ctx.Err()
				return n
			}
			sc, err := scenarioWithout(name, g)
			if err != nil {
				n.err = err
				return n
			}
			out := s.run(ctx, sc, s.opt.first+uint64(i))
			if out.err != nil {
				fmt.Printf("%s: %s\n", g.name, out.line())
				n.err = out.err
				continue
			}
			ran++
			if g.judge(&n, out) {
				_ = os.RemoveAll(out.evidence)
				n.err = nil
				return n
			}
		}
	}
	if ran > 0 {
		n.err = nil
	}
	return n
}

// judge looks for a sign of the loss in a run; true: it is there.
func (g guard) judge(n *noticed, out outcome) bool {
	for _, sign := range g.signs {
		for _, v := range out.violations {
			if v.check == sign {
				n.by = fmt.Sprintf("noticed by check %s in scenario %s at seed %d", sign, out.scenario, out.seed)
				n.example = v.String()
				return true
			}
		}
	}
	if !out.clean() { // worth a look: it may be a sign that nobody thought of
		fmt.Printf("%s: %s\n", g.name, out.line())
	}
	return false
}

// scenarioWithout finds a scenario and takes from its ledger what belongs to
// the guard.
func scenarioWithout(name string, g guard) (scenario, error) {
	for _, sc := range append(scenarios(), guarding()...) {
		if sc.name != name {
			continue
		}
		sc.prepare = append(slices.Clip(sc.prepare), g.prepare...)
		if g.quiet > 0 {
			sc.quiet = g.quiet
		}
		return sc, nil
	}
	return scenario{}, fmt.Errorf("there is no scenario %s", name)
}

func guardTable(found []noticed) string {
	var b strings.Builder
	b.WriteString("| guard | what it is for | its loss is |\n|---|---|---|\n")
	for _, n := range found {
		by := n.by
		if n.err != nil {
			by = "not judged: " + strings.ReplaceAll(n.err.Error(), "\n", "; ")
		} else if by == "" {
			by = "**not noticed**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", n.guard.name, n.guard.purpose, by)
	}
	return b.String()
}
