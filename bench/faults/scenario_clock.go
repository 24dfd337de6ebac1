package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// faketime bends the clock of a program that asks the C library for it, such
// as MariaDB; a Go program does not.
var faketime = []string{"/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "/usr/lib/faketime/libfaketimeMT.so.1"}

// clocks is F36 as far as the ledger's clock goes, which is the one that
// decides. The bench's own oracle and its record of moves go by true time, so
// what compares with them is left out; that no slot has two instances (I1),
// none is stuck, and the histories are whole, is not.
func clocks() []scenario {
	without := []string{"I2", "I2b", "I3", "I8c", "I10", "I17d", "I18", "I19"}
	return []scenario{
		{name: "F36/ahead", says: "the ledger's clock steps 2 h ahead and back", own: true, maria: patient, run: stepClock("+7200"), after: clockStopped, works: fewSlots, except: without, quiet: 120 * time.Second},
		{name: "F36/back", says: "the ledger's clock steps 2 h back and ahead again", own: true, maria: patient, run: stepClock("-7200"), after: clockStopped, works: fewSlots, except: without, quiet: 120 * time.Second},
		{name: "F36/drift", says: "the ledger's clock runs 1 % fast", own: true, maria: patient, run: stepClock("+0 x1.01"), works: fewSlots, except: without, quiet: 120 * time.Second},
	}
}

// patient keeps InnoDB from ending itself: it takes a step ahead for a thread
// that has waited for hours.
var patient = []string{"--innodb-fatal-semaphore-wait-threshold=4294967295"}

// stepClock starts MariaDB with a clock that follows a file, lets it run true,
// steps it by what is written there, and back.
func stepClock(to string) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error {
		file, err := h.bendClock()
		if err != nil {
			return err
		}
		rest(ctx, 3*time.Second)
		for _, now := range []string{to, "+0"} {
			h.tell("the ledger's clock is %s", now)
			if err := os.WriteFile(file, []byte(now+"\n"), 0o600); err != nil {
				return err
			}
			var says string
			if err := h.ledger.QueryRow("SELECT NOW(3)").Scan(&says); err != nil {
				return err
			}
			h.tell("it says %s", says)
			rest(ctx, 5*time.Second)
		}
		return nil
	}
}

// bendClock starts the ledger again with a clock that follows the file.
func (h *house) bendClock() (string, error) {
	lib := ""
	for _, path := range faketime {
		if _, err := os.Stat(path); err == nil {
			lib = path
		}
	}
	if lib == "" {
		return "", errSkip{"libfaketime is not installed"}
	}
	file := filepath.Join(h.dir, "clock")
	if err := os.WriteFile(file, []byte("+0\n"), 0o600); err != nil {
		return "", err
	}
	h.maria.kill()
	h.maria.env = []string{"LD_PRELOAD=" + lib, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"}
	return file, h.maria.start()
}

// clockStopped: a jump that nobody can explain stops planning until the clock
// has been steady for two beats; no process is taken for dead for it.
func clockStopped(_ context.Context, h *house) error {
	if err := h.expect("nodes were declared dead because a clock stepped", "SELECT COUNT(*) FROM nodes WHERE dead_at IS NOT NULL"); err != nil {
		return err
	}
	for _, n := range h.with("scheduler") {
		raw, err := os.ReadFile(n.p.log)
		if err != nil {
			return err
		}
		h.facts["planning stopped"] += float64(bytes.Count(raw, []byte("planning is stopped")))
	}
	if h.facts["planning stopped"] == 0 {
		return fmt.Errorf("planning went on over the jump")
	}
	return nil
}
