package main

import "strings"

// work is a task of the load and what the judges need to know of it.
type work struct {
	code       string
	path       string // of the sink
	schedule   map[string]any
	every      int64 // seconds between two slots by the epoch; 0: none
	idempotent bool
	retries    int
	limit      int // max_concurrent; 0: none
	overlap    string
	timeout    int
	rate       float64        // requests a second by each caller
	more       map[string]any // of the trigger
	stays      bool           // is never disabled
	target     map[string]any // in place of path
	redirects  int            // that are followed
	unsafe     bool           // what is not idempotent is repeated after a definite failure
}

// epoch is the anchor of all intervals: their slots are whole multiples of the
// interval since 1970.
const epoch = "2020-01-01T00:00:00Z"

func interval(seconds int64) map[string]any {
	return map[string]any{"kind": "interval", "every_seconds": seconds, "anchor": epoch}
}

func cronLine(line string) map[string]any {
	return map[string]any{"kind": "cron", "cron": line, "timezone": "Asia/Shanghai"}
}

var manual = map[string]any{"kind": "manual"}

// usualWork is what runs while an installation is attacked: slots of every
// kind of overlap, requests of every kind of target.
func usualWork() []work {
	return []work{
		{code: "tick", path: "/ok", schedule: interval(1), every: 1, idempotent: true, retries: 2},
		{code: "two", path: "/slow/50", schedule: cronLine("0/2 * * * * ?"), every: 2, idempotent: true, retries: 2},
		{code: "skip", path: "/slow/1500", schedule: interval(1), every: 1, idempotent: true, retries: 2, limit: 1, overlap: "skip"},
		{code: "queue", path: "/slow/400", schedule: interval(1), every: 1, idempotent: true, retries: 2, limit: 1, overlap: "queue"},
		{code: "latest", path: "/slow/1500", schedule: interval(2), every: 2, idempotent: true, retries: 2, limit: 1, overlap: "cancel_running"},
		{code: "careful", path: "/slow/100", schedule: interval(1), every: 1, limit: 3, overlap: "allow"},
		{code: "pay", path: "/slow/200", schedule: manual, rate: 4},
		{code: "order", path: "/slow/30", schedule: manual, idempotent: true, retries: 2, rate: 6},
		{code: "late", path: "/ok", schedule: manual, idempotent: true, retries: 2, rate: 3, more: map[string]any{"delay_seconds": 2}},
		{code: "flaky", path: "/flaky/1", schedule: manual, idempotent: true, retries: 3, rate: 2},
		{code: "bad", path: "/mended", schedule: manual, idempotent: true, retries: 1, rate: 1},
		{code: "worse", path: "/fail", schedule: manual, rate: 1},
		{code: "ask", path: "/accept/300", schedule: manual, idempotent: true, retries: 2, rate: 2},
		{code: "twice", path: "/twice/50", schedule: manual, idempotent: true, retries: 2, rate: 1},
		{code: "early", path: "/early/100", schedule: manual, idempotent: true, retries: 2, rate: 1},
		{code: "pair", path: "/slow/150", schedule: manual, idempotent: true, retries: 2, limit: 2, rate: 3},
		{code: "hourly", path: "/ok", schedule: cronLine("0 0 * * * ?"), every: 3600, idempotent: true, retries: 2, stays: true},
		{code: "hang", path: "/hang", schedule: manual, idempotent: true, retries: 1, timeout: 1, rate: 0.5},
	}
}

// definition is the task as the API takes it.
func (w work) definition(sink string) map[string]any {
	retry := map[string]any{"max": 0}
	if w.retries > 0 {
		retry = map[string]any{"kind": "steps", "max": w.retries, "delays_seconds": []int{retryDelay}}
	}
	if w.unsafe {
		retry["unsafe"] = true
	}
	target := map[string]any{"kind": "http", "url": w.address(sink)}
	if w.redirects > 0 {
		target["http"] = map[string]any{"redirects": w.redirects}
	}
	if w.target != nil {
		target = w.target
	}
	policy := map[string]any{"idempotent": w.idempotent, "timeout_seconds": choose(w.timeout > 0, w.timeout, 10), "retry": retry, "max_concurrent": w.limit}
	if w.overlap != "" {
		policy["overlap"] = w.overlap
	}
	return map[string]any{
		"code": w.code, "name": w.code, "team": "default", "schedule": w.schedule,
		"target": target, "policy": policy,
	}
}

// address is the target's: a path of the sink, or a whole address elsewhere.
func (w work) address(sink string) string {
	if strings.Contains(w.path, "://") {
		return w.path
	}
	return sink + w.path
}

// retryDelay is how long each retry of the load waits, in seconds.
const retryDelay = 1
