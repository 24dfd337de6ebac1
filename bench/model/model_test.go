package main

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// small is what go test explores: a configuration of each model that ends in
// an instant, and something broken of each.
const small = `^(base/(plain|restore|limit|letter|gate|gate-look|version|batch-.*|no-sweeper-.*)` +
	`|draft/(claim-not-from-pending|no-due-guard|edit-drops-overdue|outage-own-clock|wake-without-gate)` +
	`|guard/(version-.*|edit-locks-the-gate|defer-ends-with-pause|wake-in-a-pause|batch-.*|letter-.*|sweep-queued))$`

func TestSmallConfigurationsAreAsExpected(t *testing.T) {
	re := regexp.MustCompile(small)
	cases := slices.DeleteFunc(allCases(), func(c Case) bool { return !re.MatchString(c.Name) })
	if len(cases) < 30 {
		t.Fatalf("only %d cases: a name has changed", len(cases))
	}
	var out bytes.Buffer
	if failed := explore(&out, cases, options{limit: 1_000_000, par: 2}); failed > 0 {
		t.Errorf("%d cases not as expected:\n%s", failed, &out)
	}
}

// A table that can't turn red proves nothing.
func TestACaseThatIsNotAsExpectedIsReported(t *testing.T) {
	broken := explored[GS]("base/never", &Gate{N: 3, H: 2, L: 1, P: GP{NoGate: true}})
	whole := explored[LS]("guard/nothing", &Letter{}).breaks()
	large := explored[LS]("base/large", &Letter{})
	for _, c := range []Case{broken, whole} {
		if failed := explore(&bytes.Buffer{}, []Case{c}, options{limit: 1_000_000, par: 1}); failed != 1 {
			t.Errorf("%s was taken as expected", c.Name)
		}
	}
	if failed := explore(&bytes.Buffer{}, []Case{large}, options{limit: 100, par: 1}); failed != 1 {
		t.Error("an exploration that was given up was taken for clean")
	}
}

func TestATraceLeadsToWhatIsBroken(t *testing.T) {
	r := Explore[BS](&Batch{Limit: 1, P: BP{CountOthers: true}}, 10_000)
	last := r.Trace[len(r.Trace)-1]
	if r.Bad == "" || len(r.Trace) < 4 || !strings.HasPrefix(last, "  => ") || slices.Contains(r.Trace, "?") {
		t.Errorf("%q by %q", r.Bad, r.Trace)
	}
}

func TestCasesHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range allCases() {
		if seen[c.Name] {
			t.Errorf("two cases are called %s", c.Name)
		}
		seen[c.Name] = true
		if kind := strings.HasPrefix(c.Name, "base/") || strings.HasPrefix(c.Name, "code/"); kind == c.WantBad {
			t.Errorf("%s: what is base or code must be clean, the rest must break", c.Name)
		}
	}
}

// The table of README.md has a row for each flaw of protocol.md; it names every
// case that shows it, and tests that say so themselves.
func TestTheTableOfFlawsIsTrue(t *testing.T) {
	rows := flawRows(t)
	for n := 1; n <= 35; n++ {
		tests := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(rows[n], -1)
		if len(tests) == 0 {
			t.Errorf("flaw %d names no test", n)
		}
		for _, m := range tests {
			if doc := testDoc(t, rows[n], m[1]); !strings.Contains(doc, fmt.Sprintf("(flaw %d)", n)) {
				t.Errorf("%s doesn't say that it is about (flaw %d)", m[1], n)
			}
		}
	}
	for _, c := range allCases() {
		for _, n := range c.Flaws {
			if !strings.Contains(rows[n], "`"+c.Name+"`") {
				t.Errorf("flaw %d doesn't name %s", n, c.Name)
			}
		}
	}
}

func flawRows(t *testing.T) map[int]string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	row, rows := regexp.MustCompile(`^(\d+) \|`), map[int]string{}
	for line := range strings.Lines(string(text)) {
		if m := row.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			rows[n] = line
		}
	}
	return rows
}

// testDoc reads the comment of a test in one of the files that a row names.
func testDoc(t *testing.T, row, name string) string {
	t.Helper()
	for _, m := range regexp.MustCompile(`\(([\w/]+_test\.go)\)`).FindAllStringSubmatch(row, -1) {
		text, err := os.ReadFile("../../" + m[1])
		if err != nil {
			t.Fatal(err)
		}
		above, _, found := strings.Cut(string(text), "\nfunc "+name+"(")
		if found {
			return above[strings.LastIndex(above, "\n\n")+1:]
		}
	}
	t.Errorf("%s stands in no file of its row", name)
	return ""
}

// README.md names only cases that there are.
func TestReadmeNamesCasesThatThereAre(t *testing.T) {
	have := map[string]bool{}
	for _, c := range allCases() {
		have[c.Name] = true
	}
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("`((?:base|code|draft|guard)/[\\w-]+)`").FindAllStringSubmatch(string(text), -1) {
		if !have[m[1]] {
			t.Errorf("there is no case %s", m[1])
		}
	}
}
