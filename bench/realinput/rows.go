package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// attempt is a row of the ledger; moments are epoch milliseconds, 0 is none.
type attempt struct {
	Instance       string
	No             int
	Started, Ended int64
	Outcome        string
	Status         int
	Error          string
}

// instance is a row of the ledger with its attempts.
type instance struct {
	ID, Task, BizID, Origin, State, Reason string
	Replay                                 int
	Slot, Wanted, Started, Finished        int64
	Attempts                               []attempt
}

// call is a line of the target's log.
type call struct {
	At          string `json:"at"`
	Key         string `json:"key"`
	Instance    string `json:"instance"`
	Attempt     int    `json:"attempt"`
	Replay      int    `json:"replay"`
	Task        string `json:"task"`
	BizID       string `json:"biz_id"`
	ScheduledAt string `json:"scheduled_at"`
	Behaviour   string `json:"behaviour"`
	Status      int    `json:"status"`
}

// receipt is a line of the target's log of receipts.
type receipt struct {
	Instance string `json:"instance"`
	Attempt  int    `json:"attempt"`
	Status   int    `json:"status"`
	Answer   string `json:"answer"`
}

// slot is a line of the oracle.
type slot struct {
	Code string `json:"code"`
	Slot int64  `json:"slot"`
}

// span of slots that the ledger recorded as missed.
type missed struct {
	Task     string
	From, To int64
}

// deadLetter is a row of the ledger.
type deadLetter struct{ Task, BizID, Status, Outcome string }

// evidence is all that was written down about a run.
type evidence struct {
	driven    *driven
	instances map[string]*instance
	calls     []call
	receipts  []receipt // sent by the target
	received  map[string]int
	slots     []slot
	missed    []missed
	letters   []deadLetter
	verify    string // what ax verify found; empty: nothing
}

// collect reads ledger, logs and oracle.
func collect(ctx context.Context, h *house, d *driven) (*evidence, error) {
	e := &evidence{driven: d, instances: map[string]*instance{}, received: map[string]int{}}
	if out, err := h.command(ctx, "verify"); err != nil {
		e.verify = out
		if out == "" {
			return nil, err
		}
	}
	for _, read := range []func(context.Context, *house) error{e.readInstances, e.readAttempts, e.readReceived, e.readMissed, e.readLetters} {
		if err := read(ctx, h); err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
	}
	var err error
	if e.calls, err = readLines[call](filepath.Join(h.dir, "calls.jsonl")); err != nil {
		return nil, err
	}
	if e.receipts, err = readLines[receipt](filepath.Join(h.dir, "receipts.jsonl")); err != nil {
		return nil, err
	}
	e.slots, err = askOracle(ctx, h, d)
	return e, err
}

// query reads all rows of a statement, each by scan.
func query(ctx context.Context, h *house, text string, scan func(into func(...any) error) error) error {
	rows, err := h.ledger.QueryContext(ctx, text)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (e *evidence) readInstances(ctx context.Context, h *house) error {
	const text = "SELECT i.id, t.code, i.biz_id, i.origin, i.state, i.reason, i.replay, COALESCE(i.slot_at,0), i.wanted_at, COALESCE(i.started_at,0), COALESCE(i.finished_at,0)" +
		" FROM instances i JOIN tasks t ON t.id=i.task_id"
	return query(ctx, h, text, func(into func(...any) error) error {
		in := &instance{}
		err := into(&in.ID, &in.Task, &in.BizID, &in.Origin, &in.State, &in.Reason, &in.Replay, &in.Slot, &in.Wanted, &in.Started, &in.Finished)
		e.instances[in.ID] = in
		return err
	})
}

func (e *evidence) readAttempts(ctx context.Context, h *house) error {
	const text = "SELECT instance_id, no, started_at, COALESCE(ended_at,0), COALESCE(outcome,''), status_code, error FROM attempts ORDER BY instance_id, no"
	return query(ctx, h, text, func(into func(...any) error) error {
		var a attempt
		if err := into(&a.Instance, &a.No, &a.Started, &a.Ended, &a.Outcome, &a.Status, &a.Error); err != nil {
			return err
		}
		in := e.instances[a.Instance]
		if in == nil {
			return fmt.Errorf("attempt %d of %s has no instance", a.No, a.Instance)
		}
		in.Attempts = append(in.Attempts, a)
		return nil
	})
}

func (e *evidence) readReceived(ctx context.Context, h *house) error {
	return query(ctx, h, "SELECT instance_id, attempt FROM receipts", func(into func(...any) error) error {
		var id string
		var no int
		err := into(&id, &no)
		e.received[attemptKey(id, no)]++
		return err
	})
}

func (e *evidence) readMissed(ctx context.Context, h *house) error {
	return query(ctx, h, "SELECT t.code, m.from_slot, m.to_slot FROM missed_ranges m JOIN tasks t ON t.id=m.task_id", func(into func(...any) error) error {
		var m missed
		err := into(&m.Task, &m.From, &m.To)
		e.missed = append(e.missed, m)
		return err
	})
}

func (e *evidence) readLetters(ctx context.Context, h *house) error {
	return query(ctx, h, "SELECT t.code, l.biz_id, l.status, l.outcome FROM dead_letters l JOIN tasks t ON t.id=l.task_id", func(into func(...any) error) error {
		var l deadLetter
		err := into(&l.Task, &l.BizID, &l.Status, &l.Outcome)
		e.letters = append(e.letters, l)
		return err
	})
}

// attemptKey names one try.
func attemptKey(instance string, no int) string { return fmt.Sprintf("%s attempt %d", instance, no) }

// readLines reads a file of JSON lines.
func readLines[T any](path string) ([]T, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseLines[T](raw)
}

func parseLines[T any](raw []byte) ([]T, error) {
	var out []T
	sc := bufio.NewScanner(bytes.NewReader(raw))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		var row T
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("line %q: %w", sc.Text(), err)
		}
		out = append(out, row)
	}
	return out, sc.Err()
}

// askOracle asks which slots were to be.
func askOracle(ctx context.Context, h *house, d *driven) ([]slot, error) {
	type question struct {
		Code     string   `json:"code"`
		Schedule schedule `json:"schedule"`
		From     int64    `json:"from"`
		Until    int64    `json:"until"`
	}
	var all []question
	for _, t := range d.tasks {
		all = append(all, question{t.Code, t.Schedule, t.from.UnixMilli(), t.until.UnixMilli()})
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(h.dir, "tasks.json"), raw, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "node", filepath.Join(h.tools, "oracle.mjs"))
	var words strings.Builder
	cmd.Stdin, cmd.Stderr = bytes.NewReader(raw), &words
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("ask the oracle: %w\n%s", err, words.String())
	}
	return parseLines[slot](out)
}
