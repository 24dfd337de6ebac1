// Command faults attacks ax: it runs installations of real processes, kills,
// freezes and cuts them off under load, and holds what is left against what was
// promised. README.md says how to run it, docs/reliability.md what came of it.
//
// It imports nothing of ax: what judges must not share the mistakes of what is
// judged. All traffic stays on this machine.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// options of a run of the bench.
type options struct {
	ax    string // program, built with failpoints
	root  string // of the repository
	only  *regexp.Regexp
	smoke bool
	seeds int
	first uint64
	seats int
	keep  bool
	out   string
	prove bool
	soak  time.Duration
	old   string // commit of the earlier version
	bins  string // folder of the programs beside ax

	guards bool // take guards out instead
}

func main() {
	var o options
	only := flag.String("run", "", "only scenarios whose name matches this expression")
	flag.BoolVar(&o.smoke, "smoke", false, "only the smoke set, one seed each")
	flag.IntVar(&o.seeds, "seeds", 10, "runs of each scenario")
	flag.Uint64Var(&o.first, "seed", 1, "first seed; -seed 7 -seeds 1 repeats one run")
	flag.IntVar(&o.seats, "seats", 3, "runs at a time")
	flag.BoolVar(&o.keep, "keep", false, "keep the folders of clean runs too")
	flag.StringVar(&o.out, "out", "", "write the table to this file, between its marks")
	flag.BoolVar(&o.prove, "prove", false, "after a clean F00, plant a fault for each check")
	flag.StringVar(&o.ax, "ax", "", "attack this program instead of building one; it needs the tag failpoint")
	flag.StringVar(&o.old, "old", "HEAD~15", "commit of the earlier version that is mixed in")
	flag.DurationVar(&o.soak, "soak", 0, "only the soak, for so long")
	flag.BoolVar(&o.guards, "guards", false, "take the guards out one at a time: each time a check must turn red; -run chooses guards")
	flag.StringVar(&o.root, "root", "", "build from the sources in this folder; empty: the repository around")
	list := flag.Bool("list", false, "list the scenarios")
	sinkPort, record := flag.String("sink", "", "be the sink on this port"), flag.String("record", "", "file of the sink's record")
	command := flag.String("command", "", "be the first step of a command of F33, which tells the sink at this address")
	flag.Parse()
	if *sinkPort != "" {
		exit(serveSink(*sinkPort, *record))
	}
	if *command != "" {
		exit(tellSink(*command))
	}
	if *list {
		for _, sc := range scenarios() {
			fmt.Printf("%-14s %s%s\n", sc.name, choose(sc.smoke, "S  ", "   "), sc.says)
		}
		return
	}
	if o.smoke {
		o.seeds, o.prove = 1, true
	}
	var err error
	if o.only, err = regexp.Compile("^(" + *only + ")"); err != nil {
		exit(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.guards {
		exit(o.takeOutGuards(ctx))
	}
	exit(runAll(ctx, o))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// job is one run to be made.
type job struct {
	sc   scenario
	seed uint64
}

func (o options) jobs() []job {
	if o.soak > 0 {
		return []job{{soakScenario(o.soak), o.first}}
	}
	var out []job
	for i := range uint64(o.seeds) {
		for _, sc := range scenarios() {
			if o.only.MatchString(sc.name) && (!o.smoke || sc.smoke) {
				out = append(out, job{sc, o.first + i})
			}
		}
	}
	return out
}

func runAll(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "ax-faults-")
	if err != nil {
		return err
	}
	if o.root == "" {
		if o.root, err = repository(); err != nil {
			return err
		}
	}
	if o.ax == "" {
		o.ax = filepath.Join(dir, "ax")
		if err := buildAx(ctx, o.root, o.ax, "-tags", "failpoint"); err != nil {
			return err
		}
	}
	o.bins = dir
	jobs := o.jobs()
	if err := o.buildBins(ctx, jobs); err != nil {
		return err
	}
	fmt.Printf("%d runs, %d at a time; seeds %d to %d; what is red stays in %s\n", len(jobs), o.seats, o.first, o.first+uint64(o.seeds)-1, dir)
	began := time.Now()
	outcomes, stopped := o.runJobs(ctx, dir, jobs)
	t := tableOf(outcomes) // of what there is, when it was stopped
	fmt.Printf("\n%s\n%d runs in %s\n", t.markdown(), len(outcomes), time.Since(began).Round(time.Second))
	if o.out != "" {
		if err := t.writeInto(o.out); err != nil {
			return err
		}
	}
	if stopped != nil {
		return stopped
	}
	if t.red > 0 {
		return fmt.Errorf("%d of %d runs are red; their evidence is in %s", t.red, len(outcomes), dir)
	}
	return os.RemoveAll(dir)
}

// runJobs shares the jobs among the seats.
func (o options) runJobs(ctx context.Context, dir string, jobs []job) ([]outcome, error) {
	var seats []*seat
	defer func() {
		for _, s := range seats {
			s.close()
		}
	}()
	for i := range min(o.seats, len(jobs)) {
		s, err := newSeat(o, filepath.Join(dir, fmt.Sprintf("seat%d", i)))
		if err != nil {
			return nil, err
		}
		seats = append(seats, s)
	}
	next := make(chan job)
	var mu sync.Mutex
	var others sync.RWMutex
	var outcomes []outcome
	var all sync.WaitGroup
	for _, s := range seats {
		all.Go(func() {
			for j := range next {
				out := s.runBeside(ctx, &others, j)
				if ctx.Err() != nil {
					continue // cut short: it says nothing
				}
				mu.Lock()
				outcomes = append(outcomes, out)
				fmt.Println(out.line())
				mu.Unlock()
			}
		})
	}
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		next <- j
	}
	close(next)
	all.Wait()
	return outcomes, ctx.Err()
}

// runBeside runs a job beside those of the other seats, or waits until it is
// alone.
func (s *seat) runBeside(ctx context.Context, others *sync.RWMutex, j job) outcome {
	if j.sc.alone {
		others.Lock()
		defer others.Unlock()
	} else {
		others.RLock()
		defer others.RUnlock()
	}
	return s.run(ctx, j.sc, j.seed)
}

// repository is the root of ax's sources, from anywhere inside.
func repository() (string, error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func buildAx(ctx context.Context, root, to string, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", append(append([]string{"build", "-buildvcs=false"}, args...), "-o", to, ".")...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build ax: %w\n%s", err, out)
	}
	return nil
}
