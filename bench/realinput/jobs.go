package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// fewestJobs is how many schedules make a real input.
const fewestJobs = 40

// job is a line of collect.sh.
type job struct {
	source, name, kind, schedule string
}

// readJobs reads the list of jobs, or has it made.
func readJobs(ctx context.Context, o options, dir string) ([]job, error) {
	var raw []byte
	var err error
	if o.jobs != "" {
		raw, err = os.ReadFile(o.jobs)
	} else {
		cmd := exec.CommandContext(ctx, "sh", filepath.Join(o.tools, "collect.sh"))
		cmd.Stderr = os.Stderr
		raw, err = cmd.Output()
	}
	if err != nil {
		return nil, fmt.Errorf("list the jobs: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "jobs.tsv"), raw, 0o600); err != nil {
		return nil, err
	}
	jobs, err := parseJobs(raw)
	if err == nil && len(jobs) < fewestJobs {
		err = fmt.Errorf("only %d jobs were found, %d are needed", len(jobs), fewestJobs)
	}
	return jobs, err
}

func parseJobs(raw []byte) ([]job, error) {
	var jobs []job
	names := map[string]bool{}
	for sc := bufio.NewScanner(bytes.NewReader(raw)); sc.Scan(); {
		f := strings.Split(sc.Text(), "\t")
		if len(f) != 4 || names[f[1]] {
			return nil, fmt.Errorf("line %q: source, name, kind and schedule are needed, and the name only once", sc.Text())
		}
		names[f[1]] = true
		jobs = append(jobs, job{f[0], f[1], f[2], f[3]})
	}
	return jobs, nil
}
