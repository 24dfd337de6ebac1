// Command model checks the run protocol of ax by visiting every state of small
// configurations. The repaired protocol must be clean in all of them, and each
// guard taken away, and each wording of the first draft put back, must break
// something. README.md says what is covered. From this folder:
//
//	go run .
//	go run . -only draft/ -traces
//
// It is a module of its own, without dependencies: it shares nothing with the
// code that it judges. It exits with 1 when a case is not as expected.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

type options struct {
	limit  int // states
	par    int // cases at a time
	traces bool
}

// simulations is what -only knows backlog and wake-ups by.
const simulations = "backlog"

func main() {
	var o options
	only := flag.String("only", "", "run the cases whose name matches this expression")
	flag.IntVar(&o.limit, "limit", 30_000_000, "give up above this many states")
	flag.BoolVar(&o.traces, "traces", false, "print the trace of every broken case")
	flag.IntVar(&o.par, "par", 2, "cases at a time; one may take 3 GB")
	flag.Parse()
	re, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "-only:", err)
		os.Exit(2)
	}
	cases := slices.DeleteFunc(allCases(), func(c Case) bool { return !re.MatchString(c.Name) })
	if len(cases) == 0 && !re.MatchString(simulations) {
		fmt.Fprintln(os.Stderr, "-only: no case has such a name")
		os.Exit(2)
	}
	failed := explore(os.Stdout, cases, o)
	if re.MatchString(simulations) {
		for _, simulate := range []func(io.Writer) bool{backlogs, wakeUps} {
			if !simulate(os.Stdout) {
				failed++
			}
		}
	}
	if failed > 0 {
		fmt.Println(strings.Repeat("-", 20), failed, "cases not as expected")
		os.Exit(1)
	}
}

func allCases() []Case {
	return slices.Concat(baseCases(), codeCases(), planCases(), letterCases(), outageCases(), gateCases(), versionCases(), batchCases(), brokenCases())
}

// explore prints a table as the cases end, and counts those that are not as
// expected.
func explore(w io.Writer, cases []Case, o options) int {
	var mu sync.Mutex
	var wg sync.WaitGroup
	failed, slot := 0, make(chan bool, o.par)
	for _, c := range cases {
		slot <- true
		wg.Go(func() {
			defer func() { <-slot }()
			began := time.Now()
			r := c.Explore(o.limit)
			mu.Lock()
			defer mu.Unlock()
			if !report(w, c, r, time.Since(began), o.traces) {
				failed++
			}
		})
	}
	wg.Wait()
	return failed
}

func report(w io.Writer, c Case, r Result, took time.Duration, traces bool) bool {
	text, ok := c.verdict(r)
	mark := "ok  "
	if !ok {
		mark = "FAIL"
	}
	if len(c.Flaws) > 0 {
		text += " " + flawText(c.Flaws)
	}
	fmt.Fprintf(w, "%s %-36s %9d states %6.1fs  %s\n", mark, c.Name, r.States, took.Seconds(), text)
	if r.Bad == "" || ok && !traces {
		return ok
	}
	if c.Note != "" {
		fmt.Fprintln(w, "       #", c.Note)
	}
	for k, s := range r.Trace {
		fmt.Fprintf(w, "       %2d %s\n", k+1, s)
	}
	return ok
}

func flawText(flaws []int) string {
	return "(flaw " + strings.Trim(fmt.Sprint(flaws), "[]") + ")"
}
