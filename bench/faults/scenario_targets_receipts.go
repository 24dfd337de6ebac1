package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

func receiptWork() []work {
	out := fewSlots()
	for _, how := range []string{"many", "mixed", "foreign", "forged", "ended", "late", "old"} {
		out = append(out, work{code: how, path: "/receipts/" + how, schedule: manual, rate: 1.2})
	}
	return append(out,
		work{code: "older", path: "/receipts/older", schedule: manual, idempotent: true, retries: 1, rate: 1.2},
		work{code: "ask", path: "/accept/300", schedule: manual, idempotent: true, retries: 2, rate: 2},
		work{code: "twice", path: "/twice/50", schedule: manual, idempotent: true, retries: 2, rate: 2},
		work{code: "early", path: "/early/100", schedule: manual, idempotent: true, retries: 2, rate: 2})
}

// endAwaiting lets the deadline of what waits for a late receipt pass: a day
// is too long to wait for it.
func endAwaiting(ctx context.Context, h *house) error {
	for range 10 {
		rest(ctx, time.Second)
		if _, err := h.ledger.ExecContext(ctx, "UPDATE instances SET receipt_deadline=1 WHERE state='awaiting' AND task_id=?", h.taskID("late")); err != nil {
			return err
		}
	}
	return nil
}

// receiptEnds: one of many receipts counts, and what is wrong is refused.
func receiptEnds(_ context.Context, h *house) error {
	calls, _, err := readCalls(h.sink.record)
	if err != nil {
		return err
	}
	for _, c := range calls {
		if err := h.judgeNotes(c); err != nil {
			return fmt.Errorf("instance %s: %w\n%s", c.Instance, err, c.Note)
		}
	}
	if err := h.forgedAudited(); err != nil {
		return err
	}
	return h.endAs(map[string]ends{
		"many": {"succeeded", 0}, "mixed": {"succeeded failed", 0}, "foreign": {"succeeded", 0}, "forged": {"succeeded", 0},
		"ended": {"succeeded", 0}, "late": {"succeeded timed_out", 0}, "older": {"succeeded", 0}, "old": {"succeeded failed", 0},
	})
}

// forgedAudited: forged words stand in the audit, of an address at most once a
// minute: there is one console.
func (h *house) forgedAudited() error {
	var rows, minutes int
	err := h.ledger.QueryRow("SELECT COUNT(*), COALESCE(CEIL((MAX(at)-MIN(at))/60000), 0) FROM audit_log WHERE action='receipt.refuse'").Scan(&rows, &minutes)
	if err != nil {
		return err
	}
	h.facts["audited forgeries"] += float64(rows)
	if h.facts["forged receipts"]+h.facts["foreign receipts"] > 0 && rows == 0 {
		return errors.New("forged receipts are not in the audit")
	}
	if most := minutes + 1; rows > most {
		return fmt.Errorf("%d rows of forged receipts in the audit within %d min: more than %d", rows, minutes, most)
	}
	return nil
}

// judgeNotes looks at what the answers to a call's receipts were.
func (h *house) judgeNotes(c call) error {
	effects, crowd := 0, 0
	for line := range strings.Lines(c.Note) {
		how, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
		refused := strings.Contains(answer, " 404 ") || strings.Contains(answer, " 401 ")
		h.facts[how+" receipts"]++
		switch how {
		case "forged", "foreign":
			if !refused {
				return fmt.Errorf("a %s receipt was taken", how)
			}
		case "crowd":
			crowd++
			if !strings.Contains(answer, " 200 ") {
				return fmt.Errorf("one of many receipts was refused")
			}
			if strings.HasSuffix(answer, " false") {
				effects++
			}
		case "old", "ended":
			if !strings.HasSuffix(answer, " 200 true") {
				return fmt.Errorf("a receipt for what had ended was not told so")
			}
		}
	}
	if effects > 1 {
		return fmt.Errorf("%d of %d receipts had an effect", effects, crowd)
	}
	return nil
}
