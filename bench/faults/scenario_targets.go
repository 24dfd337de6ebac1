package main

import (
	"context"
	"fmt"
	"strings"
	"time"
)

func targets() []scenario {
	return []scenario{
		{name: "F25", says: "targets just under, at and over the limit of 1 s", smoke: true, works: slowTargets, run: restFor(8 * time.Second), after: slowEnds},
		{name: "F26", says: "targets that accept and stay silent, don't accept, stall in the TLS handshake (TIME-05)", smoke: true, worksAt: silentTargets, run: countGoroutines(7 * time.Second), after: silentEnds},
		{name: "F27", says: "targets that drip, flood without end and answer with a gzip bomb (TIME-07)", smoke: true, works: greedyTargets, run: watchMemory(9 * time.Second), after: greedyEnds, pace: 0.6},
		{name: "F28", says: "targets that redirect: 301 to 308, in a loop, to a metadata service, to a file; not followed, and followed by choice", works: redirectingTargets, prepare: toMetadata(), run: restFor(6 * time.Second), after: redirectedEnds, except: []string{"I17b"}},
		{name: "F29", says: "targets that answer with wrong lengths, bad chunks, half a status line, storms of 1xx (TIME-10)", works: brokenTargets, run: countGoroutines(8 * time.Second), after: brokenEnds},
		{name: "F30", says: "targets that answer 429 and 503 with Retry-After of 0, 10, 10^9 and a date", works: busyTargets, run: letThemWait(7 * time.Second), after: busyEnds},
		{name: "F31", says: "receipts 50 at once, late, foreign, forged, of older attempts, after a replay, before our settle", smoke: true, works: receiptWork, run: endAwaiting, after: receiptEnds},
	}
}

// ends says how all instances of a task must end (canceled is always allowed:
// callers cancel), and how long an attempt may take.
type ends struct {
	states string // separated by spaces
	most   time.Duration
}

// endAs holds the ledger against what was said of each task.
func (h *house) endAs(want map[string]ends) error {
	rows, err := h.ledger.Query("SELECT t.code, i.state, COUNT(*), COALESCE(MAX((SELECT MAX(a.ended_at-a.started_at) FROM attempts a WHERE a.instance_id=i.id)),0) FROM instances i JOIN tasks t ON t.id=i.task_id GROUP BY t.code, i.state")
	if err != nil {
		return err
	}
	defer rows.Close()
	seen := map[string]int{}
	for rows.Next() {
		var code, state string
		var n int
		var took int64
		if err := rows.Scan(&code, &state, &n, &took); err != nil {
			return err
		}
		w, ok := want[code]
		if !ok || state == "canceled" {
			continue
		}
		seen[code] += n
		h.tell("%s: %d %s, at most %d ms", code, n, state, took)
		if !strings.Contains(" "+w.states+" ", " "+state+" ") {
			return fmt.Errorf("%d instances of %s are %s, not %s", n, code, state, w.states)
		}
		if w.most > 0 && took > w.most.Milliseconds() {
			return fmt.Errorf("an attempt of %s took %d ms, not at most %s", code, took, w.most)
		}
	}
	for code := range want {
		if seen[code] == 0 {
			return fmt.Errorf("%s never ran", code)
		}
	}
	return rows.Err()
}

// overLimit is how long after its limit an attempt may end: 0.5 s is right
// (TIME-05), and this machine runs the whole installation several times.
const overLimit = 2 * time.Second

func slowTargets() []work {
	return append(fewSlots(),
		work{code: "under", path: "/slow/600", schedule: manual, rate: 4, timeout: 1},
		work{code: "edge", path: "/around/1000", schedule: manual, rate: 8, timeout: 1},
		work{code: "over", path: "/slow/1500", schedule: manual, rate: 4, timeout: 1},
		work{code: "again", path: "/around/1000", schedule: manual, idempotent: true, retries: 1, rate: 4, timeout: 1})
}

// fewSlots is the usual work without what is slow by itself.
func fewSlots() []work {
	var out []work
	for _, w := range usualWork() {
		switch w.code {
		case "tick", "two", "queue", "order", "pay", "hourly":
			out = append(out, w)
		}
	}
	return out
}

// slowEnds: what was slower than the limit never succeeds; the rest is one of
// the two. That no instance is both is I5.
func slowEnds(_ context.Context, h *house) error {
	most := time.Second + overLimit
	return h.endAs(map[string]ends{
		"under": {"succeeded timed_out", most}, "edge": {"succeeded timed_out", most},
		"over": {"timed_out", most}, "again": {"succeeded timed_out", most},
	})
}

// silentTargets opens a port whose queue of connections is full and one that
// takes connections and says nothing.
func silentTargets(h *house) ([]work, error) {
	deaf, err := h.deafPort()
	if err != nil {
		return nil, err
	}
	mute, err := h.mutePort()
	if err != nil {
		return nil, err
	}
	return append(fewSlots(),
		work{code: "silent", path: "/hang", schedule: manual, rate: 4, timeout: 1},
		work{code: "deaf", path: "http://" + deaf + "/", schedule: manual, idempotent: true, retries: 1, rate: 4, timeout: 1},
		work{code: "stalled", path: "https://" + mute + "/", schedule: manual, idempotent: true, retries: 1, rate: 4, timeout: 1},
		work{code: "wordless", path: "http://" + mute + "/", schedule: manual, rate: 4, timeout: 1}), nil
}

func silentEnds(_ context.Context, h *house) error {
	most := time.Second + overLimit
	if err := h.endAs(map[string]ends{"silent": {"timed_out", most}, "deaf": {"timed_out", most}, "stalled": {"timed_out", most}, "wordless": {"timed_out", most}}); err != nil {
		return err
	}
	return h.goroutinesBack()
}

func greedyTargets() []work {
	return append(fewSlots(),
		work{code: "drip", path: "/drip", schedule: manual, rate: 3, timeout: 2},
		work{code: "flood", path: "/flood", schedule: manual, idempotent: true, rate: 3, timeout: 5},
		work{code: "bomb", path: "/bomb", schedule: manual, idempotent: true, rate: 3, timeout: 5},
		work{code: "headers", path: "/raw/storm-headers", schedule: manual, rate: 2, timeout: 5})
}

// greedyEnds: of a body without end the first megabyte is read and the status
// decides; what never comes to that ends with its time.
func greedyEnds(_ context.Context, h *house) error {
	most := 5*time.Second + overLimit
	err := h.endAs(map[string]ends{
		"drip": {"timed_out", 2*time.Second + overLimit}, "flood": {"succeeded timed_out", most}, "bomb": {"succeeded timed_out", most}, "headers": {"failed timed_out", most},
	})
	if err != nil {
		return err
	}
	var longest int64
	if err := h.ledger.QueryRow("SELECT COALESCE(MAX(response_bytes),0) FROM attempts").Scan(&longest); err != nil {
		return err
	}
	if longest > 1<<20 {
		return fmt.Errorf("%d bytes of an answer were read", longest)
	}
	if grown := h.facts["memory grown, MiB"]; grown > memoryGrowth {
		return fmt.Errorf("a worker grew by %.0f MiB, not at most %d", grown, memoryGrowth)
	}
	return nil
}

var redirects = []string{"301", "302", "307", "308", "loop", "meta", "file"}

// toMetadata gives the task meta a target that ax refuses when it is written,
// as a name would that leads there.
func toMetadata() []string {
	return []string{"CREATE TRIGGER bench_meta BEFORE INSERT ON tasks FOR EACH ROW IF NEW.code='meta' THEN " +
		"SET NEW.spec=JSON_SET(NEW.spec, '$.target.url', 'http://169.254.169.254/latest/meta-data/'); END IF"}
}

func redirectingTargets() []work {
	out := append(fewSlots(), work{code: "meta", path: "/landed", schedule: manual, rate: 2, timeout: 5})
	for _, how := range redirects {
		out = append(out, work{code: "to-" + how, path: "/redirect/" + how, schedule: manual, rate: 1.5, timeout: 5})
	}
	for _, how := range []string{"on", "loop", "meta", "file"} {
		out = append(out, work{code: "follow-" + how, path: "/redirect/" + how, schedule: manual, idempotent: true, rate: 1, timeout: 5, redirects: 2})
	}
	return out
}

// redirectedEnds: nothing is followed where nobody chose it, so that hop was
// never called; who chose it gets to a good end, and no further than allowed.
func redirectedEnds(_ context.Context, h *house) error {
	want := map[string]ends{"meta": {"failed", 5*time.Second + overLimit}}
	for _, how := range redirects {
		want["to-"+how] = ends{"failed", 5*time.Second + overLimit}
	}
	want["follow-on"] = ends{"succeeded", 5*time.Second + overLimit}
	for _, how := range []string{"loop", "meta", "file"} {
		want["follow-"+how] = ends{"failed", 5*time.Second + overLimit}
	}
	if err := h.endAs(want); err != nil {
		return err
	}
	calls, _, err := readCalls(h.sink.record)
	if err != nil {
		return err
	}
	if err := hopsHold(calls); err != nil {
		return err
	}
	var opened int
	err = h.ledger.QueryRow("SELECT COUNT(*) FROM attempts a JOIN tasks t ON t.id=a.task_id WHERE t.code IN ('meta', 'follow-meta') AND a.error NOT LIKE '%address rules%'").Scan(&opened)
	if err == nil && opened > 0 {
		return fmt.Errorf("%d calls of a metadata service were not refused by the address rules", opened)
	}
	return err
}

// hopsHold is I17b where each hop is a call: as many of one attempt as its
// task allows, and none of what must not be followed.
func hopsHold(calls []call) error {
	most := map[string]int{"follow-on": 2, "follow-loop": 3}
	made := map[string]int{}
	for _, c := range calls {
		if c.Path == "/landed" {
			return fmt.Errorf("instance %s followed its redirect", c.Instance)
		}
		if c.Instance == "" || c.Done {
			continue
		}
		of := fmt.Sprintf("%s/%d", c.Instance, c.Attempt)
		if made[of]++; made[of] > max(1, most[c.Task]) {
			return fmt.Errorf("attempt %s of %s made %d calls", of, c.Task, made[of])
		}
	}
	return nil
}

func brokenTargets() []work {
	out := append(fewSlots(),
		work{code: "reset", path: "/reset", schedule: manual, rate: 1, timeout: 2},
		work{code: "midbody", path: "/midbody", schedule: manual, rate: 1, timeout: 2},
		work{code: "storm", path: "/raw/storm", schedule: manual, rate: 1, timeout: 2})
	for name := range rawAnswers {
		out = append(out, work{code: "raw-" + name, path: "/raw/" + name, schedule: manual, rate: 0.7, timeout: 2})
	}
	return out
}

// brokenEnds: success needs a complete answer of 2xx (TIME-10).
func brokenEnds(_ context.Context, h *house) error {
	most := 2*time.Second + overLimit
	want := map[string]ends{"reset": {"failed", most}, "midbody": {"failed", most}, "storm": {"failed timed_out", most}}
	for name, a := range rawAnswers {
		want["raw-"+name] = ends{choose(a.whole, "succeeded", "failed"), most}
	}
	if err := h.endAs(want); err != nil {
		return err
	}
	return h.goroutinesBack()
}
