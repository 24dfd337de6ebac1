package main

import (
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// The table must not rot: a place that moved would leave its guard in, and the
// bench would be green for the wrong reason.
func TestEveryGuardIsFoundOnceAndItsLossParses(t *testing.T) {
	root, err := repository()
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range allGuards() {
		t.Run(g.name, func(t *testing.T) {
			files, err := changed(root, g.edits)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range files {
				if _, err := parser.ParseFile(token.NewFileSet(), name, text, parser.AllErrors); err != nil {
					t.Errorf("%s doesn't parse without the guard: %v", name, err)
				}
			}
		})
	}
}

func TestEveryGuardHasScenariosAndSignsThatExist(t *testing.T) {
	var names, signs []string
	for _, sc := range append(scenarios(), guarding()...) {
		names = append(names, sc.name)
	}
	for _, c := range checks() {
		signs = append(signs, c.name)
	}
	seen := map[string]bool{}
	for _, g := range allGuards() {
		if seen[g.name] || g.purpose == "" || len(g.runs) == 0 || strings.Contains(g.name, "|") {
			t.Errorf("guard %q is there twice, or lacks what it is for or a scenario", g.name)
		}
		seen[g.name] = true
		if g.name != intact && (len(g.signs) == 0 || len(g.edits)+len(g.prepare) == 0) {
			t.Errorf("guard %q has no signs, or nothing is taken out", g.name)
		}
		for _, r := range g.runs {
			if !slices.Contains(names, r) {
				t.Errorf("guard %q: there is no scenario %s", g.name, r)
			}
		}
		for _, s := range g.signs {
			if !slices.Contains(signs, s) && !slices.Contains(g.runs, s) {
				t.Errorf("guard %q: there is no check %s", g.name, s)
			}
		}
	}
}
