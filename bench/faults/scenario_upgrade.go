package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Programs beside the one under attack.
const (
	oldAx  = "ax-old"  // an earlier commit
	nextAx = "ax-next" // this one and a schema change that a next version might bring
)

func upgrades() []scenario {
	return []scenario{
		{name: "F23", says: "every process replaced by an earlier version and back, one by one, under load", bins: []string{oldAx}, run: rollBackAndForth},
		{name: "F23/schema", says: "every process replaced by a version with a newer schema; the older one is refused", bins: []string{nextAx}, run: rollToNewerSchema},
	}
}

// rollBackAndForth mixes two versions in both directions; their schemas must
// be the same.
func rollBackAndForth(ctx context.Context, h *house) error {
	for _, bin := range []string{h.seat.bin(oldAx), h.seat.opt.ax} {
		for _, n := range h.nodes {
			if err := h.replace(ctx, n, bin); err != nil {
				return err
			}
		}
	}
	return nil
}

// replace stops a node in order and starts another program in its place.
func (h *house) replace(ctx context.Context, n *node, bin string) error {
	n.doomed() // what its grace doesn't cover is taken from it
	if !n.p.stop(15 * time.Second) {
		return fmt.Errorf("%s did not stop", n.name)
	}
	n.bin = bin
	if err := n.start(); err != nil {
		return err
	}
	if err := n.ready(20 * time.Second); err != nil {
		return fmt.Errorf("%w\n%s", err, n.p.tail(1500))
	}
	h.tell("%s is now %s", n.name, filepath.Base(bin))
	rest(ctx, 700*time.Millisecond)
	return nil
}

// rollToNewerSchema: the first new process migrates while the older ones run
// on; an older one that starts afterwards must refuse, and say why.
func rollToNewerSchema(ctx context.Context, h *house) error {
	h.ax = h.seat.bin(nextAx)
	for i, n := range h.nodes {
		if err := h.replace(ctx, n, h.seat.bin(nextAx)); err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		late, err := h.addNode("late", "worker")
		if err != nil {
			return err
		}
		if err := late.start(); err != nil {
			return err
		}
		late.doomed()
		refused := late.p.ends(15*time.Second) && strings.Contains(late.p.tail(2000), "newer than this program")
		h.nodes = h.nodes[:len(h.nodes)-1]
		if !refused {
			late.p.kill()
			return errors.New("an older program started on a newer schema")
		}
		h.tell("an older program is refused")
	}
	return nil
}

func (s *seat) bin(name string) string { return filepath.Join(s.opt.bins, name) }

// buildBins builds the programs that the jobs need beside the attacked one.
func (o options) buildBins(ctx context.Context, jobs []job) error {
	built := map[string]bool{}
	for _, j := range jobs {
		for _, name := range j.sc.bins {
			if built[name] {
				continue
			}
			built[name] = true
			build := choose(name == oldAx, o.buildOld, o.buildNext)
			if err := build(ctx, filepath.Join(o.bins, name)); err != nil {
				return fmt.Errorf("build %s: %w", name, err)
			}
		}
	}
	return nil
}

// buildOld builds the commit of the flag -old.
func (o options) buildOld(ctx context.Context, to string) error {
	src := to + ".src"
	if err := os.MkdirAll(src, 0o700); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", `set -o pipefail; git -C "$1" archive "$2" | tar -x -C "$3"`, "-", o.root, o.old, src)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("commit %s: %w\n%s", o.old, err, out)
	}
	return buildAx(ctx, src, to, "-tags", "failpoint")
}

// nextSchema is a change as a next version may bring: it adds, and takes
// nothing away that this version reads.
const nextSchema = "-- +goose Up\nALTER TABLE instances ADD COLUMN next_note VARCHAR(50) NULL, ADD KEY instances_next (next_note);\nALTER TABLE tasks ADD COLUMN next_flag TINYINT(1) NOT NULL DEFAULT 0;\n"

// buildNext builds the sources with one more migration, which exists in no
// tree.
func (o options) buildNext(ctx context.Context, to string) error {
	replace := map[string]string{}
	for dialect, text := range map[string]string{"mysql": nextSchema, "sqlite": "-- +goose Up\nALTER TABLE tasks ADD COLUMN next_flag INTEGER NOT NULL DEFAULT 0;\n"} {
		file := to + "-" + dialect + ".sql"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return err
		}
		replace[filepath.Join(o.root, "db", "migrations", dialect, "9000_next.sql")] = file
	}
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+".json", raw, 0o600); err != nil {
		return err
	}
	return buildAx(ctx, o.root, to, "-tags", "failpoint", "-overlay", to+".json")
}
