package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/libtnb/sqlite"
)

// evidence is all that is known of a run, in one SQLite file: a copy of the
// ledger, the record of moves, what the sink saw, what callers were promised,
// and which slots there should be. The checks read nothing else, and the file
// of a run that failed is kept.
type evidence struct {
	*sql.DB
	file string
}

// ledgerTables are copied whole.
var ledgerTables = []string{
	"tasks", "instances", "attempts", "instance_events", "missed_ranges", "dead_letters", "receipts", "nodes", "audit_log", "plan_log", "bench_moves",
	"incidents", "channels", "subscriptions", "deliveries",
}

// gather writes the evidence of a run that is over.
func (h *house) gather() (*evidence, error) {
	file := filepath.Join(h.dir, "evidence.db")
	_ = os.Remove(file)
	e, err := openEvidence(file)
	if err != nil {
		return nil, err
	}
	for _, table := range ledgerTables {
		if err := e.copyTable(h.ledger, table); err != nil {
			return nil, fmt.Errorf("copy %s: %w", table, err)
		}
	}
	for _, add := range []func(*house) error{e.addWorks, e.addSlots, e.addCalls, e.addClient, e.addDoomed, e.addHeard} {
		if err := add(h); err != nil {
			return nil, err
		}
	}
	_, err = e.Exec(evidenceKeys)
	return e, err
}

// evidenceKeys are what the checks look things up by: a soak has 100,000 rows.
const evidenceKeys = `CREATE INDEX k1 ON instances (id); CREATE INDEX k2 ON instances (task_id, slot_at); CREATE INDEX k3 ON instances (task_id, biz_id);
CREATE INDEX k4 ON attempts (instance_id, no); CREATE INDEX k5 ON bench_moves (instance_id, id); CREATE INDEX k6 ON calls (instance_id, attempt);
CREATE INDEX k7 ON calls (task, ended_at); CREATE INDEX k8 ON expected (task_id, slot_at); CREATE INDEX k9 ON missed_ranges (task_id);
CREATE INDEX k10 ON dead_letters (task_id, biz_id); CREATE INDEX k11 ON audit_log (request_id); CREATE INDEX k12 ON actions (request_id);
CREATE INDEX k13 ON receipts (instance_id, attempt); CREATE INDEX k14 ON deliveries (incident_id); CREATE INDEX k15 ON heard (id)`

func openEvidence(file string) (*evidence, error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=synchronous(0)&_pragma=journal_mode(memory)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &evidence{db, file}, nil
}

// copyTable makes a table of the same columns and rows.
func (e *evidence) copyTable(from *sql.DB, table string) error {
	rows, err := from.Query("SELECT * FROM " + table)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if _, err := e.Exec("CREATE TABLE " + table + " (" + strings.Join(columns, ", ") + ")"); err != nil {
		return err
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	return e.fill(table, len(columns), func(add func(...any) error) error {
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			row := slices.Clone(values)
			for i, v := range row {
				if text, ok := v.([]byte); ok {
					row[i] = string(text)
				}
			}
			if err := add(row...); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// fill adds rows in one transaction.
func (e *evidence) fill(table string, columns int, give func(add func(...any) error) error) error {
	tx, err := e.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	put, err := tx.Prepare("INSERT INTO " + table + " VALUES (" + strings.TrimSuffix(strings.Repeat("?,", columns), ",") + ")")
	if err != nil {
		return err
	}
	if err := give(func(row ...any) error { _, err := put.Exec(row...); return err }); err != nil {
		return err
	}
	return tx.Commit()
}

// addWorks says what the bench itself asked of each task.
func (e *evidence) addWorks(h *house) error {
	_, err := e.Exec("CREATE TABLE works (task_id, code, idempotent, retries, most, delay_ms, zombies)")
	if err != nil {
		return err
	}
	return e.fill("works", 7, func(add func(...any) error) error {
		for _, w := range h.load.works {
			if err := add(h.taskID(w.code), w.code, w.idempotent, w.retries, w.limit, retryDelay*1000, h.zombies); err != nil {
				return err
			}
		}
		return nil
	})
}

// clockSlack is how far a node's idea of the ledger's clock may be off, in ms:
// it reads that clock at each beat, and the answer takes its time.
const clockSlack = 1000

// addSlots is the oracle: which slots there must be, and in which span there
// may be some. All schedules of the load are whole multiples of their interval
// since 1970, so it counts, and shares no code with ax.
func (e *evidence) addSlots(h *house) error {
	_, err := e.Exec("CREATE TABLE expected (task_id, slot_at); CREATE TABLE spans (task_id, every_ms, from_ms, to_ms)")
	if err != nil {
		return err
	}
	now := time.Now().UnixMilli()
	return e.fill("expected", 2, func(add func(...any) error) error {
		for _, s := range h.load.spans {
			every := s.task.every * 1000
			until, last := s.askedOff, s.off
			if s.off == 0 {
				until, last = now-2000, now
			}
			for at := ((s.on+clockSlack)/every + 1) * every; at < until-clockSlack; at += every {
				if err := add(h.taskID(s.task.code), at); err != nil {
					return err
				}
			}
			// A slot is planned up to two seconds ahead.
			h.frames = append(h.frames, []any{h.taskID(s.task.code), every, s.askedOn - clockSlack, last + clockSlack + 2000})
		}
		return nil
	})
}

// taskID finds a task by its code; 0: none.
func (h *house) taskID(code string) int64 {
	var id int64
	_ = h.ledger.QueryRow("SELECT id FROM tasks WHERE code=?", code).Scan(&id)
	return id
}

func (e *evidence) addCalls(h *house) error {
	if err := e.fill("spans", 4, func(add func(...any) error) error {
		for _, f := range h.frames {
			if err := add(f...); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	calls, ends, err := readCalls(h.sink.record)
	if err != nil {
		return err
	}
	if _, err := e.Exec("CREATE TABLE calls (n, path, idem_key, instance_id, attempt, replay, task, at, ended_at, status, broken, receipt)"); err != nil {
		return err
	}
	return e.fill("calls", 12, func(add func(...any) error) error {
		for i, c := range calls {
			var end any
			if ends[i] != 0 {
				end = ends[i]
			}
			if err := add(c.N, c.Path, c.Key, c.Instance, c.Attempt, c.Replay, c.Task, c.At, end, c.Status, c.Broken, c.Receipt); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e *evidence) addClient(h *house) error {
	c := h.load.client
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := e.Exec("CREATE TABLE accepted (task_id, biz_id, instance_id, at, duplicate); CREATE TABLE actions (request_id, action, object, at); CREATE TABLE unknown (n)")
	if err != nil {
		return err
	}
	err = e.fill("accepted", 5, func(add func(...any) error) error {
		for _, a := range c.accepted {
			if err := add(h.taskID(a.Task), a.BizID, a.InstanceID, a.At, a.Duplicate); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = e.fill("actions", 4, func(add func(...any) error) error {
		for _, a := range c.actions {
			if err := add(a.RequestID, a.Action, a.Object, a.At); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = e.Exec("INSERT INTO unknown VALUES (?)", c.unknown)
	return err
}

// addDoomed lists the processes whose death may rightly be declared.
func (e *evidence) addDoomed(h *house) error {
	if _, err := e.Exec("CREATE TABLE doomed (pid)"); err != nil {
		return err
	}
	return e.fill("doomed", 1, func(add func(...any) error) error {
		for _, n := range h.nodes {
			for _, pid := range n.deadBy {
				if err := add(pid); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// addHeard is what the receivers of alerts got.
func (e *evidence) addHeard(h *house) error {
	if _, err := e.Exec("CREATE TABLE heard (receiver, id, event, object, incidents, at, signed, taken)"); err != nil {
		return err
	}
	if h.robots == nil {
		return nil
	}
	return e.fill("heard", 8, func(add func(...any) error) error {
		for _, m := range h.robots.messages() {
			if err := add(m.receiver, m.id, m.event, m.object, m.incidents, m.at, m.signed, m.taken); err != nil {
				return err
			}
		}
		return nil
	})
}
