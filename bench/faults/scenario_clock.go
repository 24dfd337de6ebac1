package main

import (
	"context"
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
		{name: "F36/drift", says: "the ledger's clock runs 1 % fast", own: true, maria: patient, run: fastClock, works: fewSlots, except: without, quiet: 120 * time.Second},
	}
}

// patient keeps InnoDB from ending itself: it takes a step ahead for a thread
// that has waited for hours.
var patient = []string{"--innodb-fatal-semaphore-wait-threshold=4294967295"}

// fastClock lets the ledger's clock run true, then 1 % fast for 8 s. Steps have
// tests of their own (F36 in db): InnoDB does not survive one here.
func fastClock(ctx context.Context, h *house) error {
	file, err := h.bendClock()
	if err != nil {
		return err
	}
	rest(ctx, 3*time.Second)
	if err := os.WriteFile(file, []byte("+0 x1.01\n"), 0o600); err != nil {
		return err
	}
	h.tell("the ledger's clock runs fast")
	rest(ctx, 8*time.Second)
	return nil
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
