package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// asked is what targets that have too much to do ask for, and between which
// bounds the way to the next attempt is then, in seconds: at least the policy's
// second and what was asked for, an hour of it at most.
var asked = []struct {
	retryAfter  string
	least, most int64
}{
	{"0", 0, 9}, {"10", 9, 20}, {"1000000000", 3590, 3605}, {"Wed, 21 Oct 2099 07:28:00 GMT", 3590, 3605}, {"-5", 0, 9}, {"soon", 0, 9},
}

// aLong tells whether the wait is longer than an attack.
func aLong(i int) bool { return asked[i].least > 60 }

func busyTargets() []work {
	out := fewSlots()
	for i, a := range asked {
		for _, kind := range []string{"later", "busy"} {
			out = append(out, work{code: fmt.Sprintf("%s-%d", kind, i), path: "/" + kind + "/" + strings.ReplaceAll(a.retryAfter, " ", "%20"), schedule: manual, idempotent: true, retries: 2, rate: 1})
		}
	}
	return out
}

// letThemWait holds what waits for an hour against its bounds, and cancels it
// then: for as long as the attack lasts, and what comes after it.
func letThemWait(d time.Duration) func(context.Context, *house) error {
	return func(ctx context.Context, h *house) error {
		go func() {
			for end := time.Now().Add(d + 70*time.Second); time.Now().Before(end) && ctx.Err() == nil; rest(ctx, 500*time.Millisecond) {
				for i := range asked {
					if err := h.endLongWaits(i); err != nil {
						h.strayed.CompareAndSwap(nil, &err)
					}
				}
			}
		}()
		rest(ctx, d)
		return nil
	}
}

func (h *house) endLongWaits(i int) error {
	if !aLong(i) {
		return nil
	}
	rows, err := h.ledger.Query("SELECT i.id, i.due_at-(SELECT MAX(a.ended_at) FROM attempts a WHERE a.instance_id=i.id) FROM instances i JOIN tasks t ON t.id=i.task_id "+
		"WHERE i.state='retrying' AND t.code IN (?, ?)", fmt.Sprintf("later-%d", i), fmt.Sprintf("busy-%d", i))
	if err != nil {
		return nil // asked again
	}
	waits := map[string]int64{}
	for rows.Next() {
		var id string
		var wait int64
		if rows.Scan(&id, &wait) == nil {
			waits[id] = wait
		}
	}
	rows.Close()
	for id, wait := range waits {
		if s := wait / 1000; s < asked[i].least || s > asked[i].most {
			err = fmt.Errorf("after a Retry-After of %s the instance %s waits %d s", asked[i].retryAfter, id, s)
		}
		h.longWaits.Add(1)
		_, _ = h.load.change("instance.cancel", id, "POST", "/instances/"+id+"/cancel", nil)
	}
	return err
}

// canceledLater counts what was canceled while it waited for long: the message
// of each is a hint that stays until its time.
func (h *house) canceledLater() (n int64) {
	if h.longWaits.Load() > 0 {
		_ = h.ledger.QueryRow("SELECT COUNT(*) FROM instances WHERE state='canceled' AND due_at>?", time.Now().Add(time.Minute).UnixMilli()).Scan(&n)
	}
	return n
}

// busyEnds: a target can put its work off within its bounds, and not draw it
// nearer than the policy says (the latter is I8c).
func busyEnds(_ context.Context, h *house) error {
	if err := h.strayed.Load(); err != nil {
		return *err
	}
	if h.longWaits.Load() == 0 {
		return fmt.Errorf("nothing waited for an hour")
	}
	want := map[string]ends{}
	for i, a := range asked {
		if aLong(i) {
			continue
		}
		for _, kind := range []string{"later", "busy"} {
			code := fmt.Sprintf("%s-%d", kind, i)
			var least, most int64
			err := h.ledger.QueryRow("SELECT COALESCE(MIN(b.started_at-a.ended_at),0), COALESCE(MAX(b.started_at-a.ended_at),0) FROM attempts a JOIN attempts b ON b.instance_id=a.instance_id AND b.no=a.no+1 "+
				"JOIN tasks t ON t.id=a.task_id WHERE t.code=?", code).Scan(&least, &most)
			if err != nil {
				return err
			}
			h.facts["longest way to a retry, s"] = max(h.facts["longest way to a retry, s"], float64(most)/1000)
			if least < a.least*1000 || most > a.most*1000 {
				return fmt.Errorf("retries of %s, which asked for %s, began after %d to %d ms", code, a.retryAfter, least, most)
			}
			want[code] = ends{"failed", 0}
		}
	}
	return h.endAs(want)
}
