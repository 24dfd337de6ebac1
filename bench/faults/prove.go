package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// proveChecks plants one fault for each check into a copy of clean evidence:
// exactly that check must turn red. A check that was never seen red proves
// nothing.
func proveChecks(dir string) error {
	clean, err := os.ReadFile(filepath.Join(dir, "evidence.db"))
	if err != nil {
		return err
	}
	var wrong []string
	for _, c := range checks() {
		red, err := plant(filepath.Join(dir, "planted.db"), clean, c.plant)
		if err != nil {
			return fmt.Errorf("plant %s: %w", c.name, err)
		}
		if !slices.Equal(red, []string{c.name}) {
			wrong = append(wrong, fmt.Sprintf("the fault of %s turns %v red", c.name, red))
		}
	}
	if len(wrong) > 0 {
		return fmt.Errorf("the checks are not proven:\n    %s", strings.Join(wrong, "\n    "))
	}
	return nil
}

// plant gives the names of the checks that are red afterwards.
func plant(file string, clean []byte, statements string) ([]string, error) {
	if err := os.WriteFile(file, clean, 0o600); err != nil {
		return nil, err
	}
	defer os.Remove(file)
	e, err := openEvidence(file)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	if _, err := e.Exec(statements); err != nil {
		return nil, err
	}
	found, err := e.judge()
	var red []string
	for _, v := range found {
		if !slices.Contains(red, v.check) {
			red = append(red, v.check)
		}
	}
	return red, err
}
