package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Behaviours of the target, the last part of its paths.
const (
	behaveOK     = "ok"
	behaveSlow   = "slow"   // 200 after 300 ms
	behaveFlaky  = "flaky"  // 500 at the first attempt
	behaveFail   = "fail"   // 500 until a person replays it
	behaveHang   = "hang"   // never answers
	behaveAccept = "accept" // 202, and a receipt a second later
)

// ordersCode is the task of the orders.
const ordersCode = "order.close-unpaid"

// zones take turns over the jobs. The last one is half an hour off, so a minute
// field means another minute there.
func zones() []string {
	return []string{"Asia/Shanghai", "Europe/Berlin", "America/New_York", "UTC", "Asia/Kolkata"}
}

// behaviourOf is how the target does a job: one fails for good, one hangs for
// longer than its period, so that slots meet a run that is not over, one
// reports later; heavy work is slow and what fetches from elsewhere is flaky.
func behaviourOf(name string) string {
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(name, p) })
	}
	switch {
	case name == "daily.rkhunter":
		return behaveFail
	case name == "dma.1":
		return behaveHang
	case name == "munin.1":
		return behaveAccept
	case has("btrfs", "pg_", "mdcheck", "e2scrub", "fstrim", "updatedb", "man-db"):
		return behaveSlow
	case has("certbot", "apt-daily", "cron-apt", "leafnode", "spamassassin", "roundcube-gc"):
		return behaveFlaky
	}
	return behaveOK
}

// retry is a retry policy as the API takes it.
type retry struct {
	Kind   string `json:"kind"`
	Max    int    `json:"max"`
	Delays []int  `json:"delays_seconds"`
}

type policy struct {
	Timeout    int   `json:"timeout_seconds"`
	Retry      retry `json:"retry"`
	Idempotent bool  `json:"idempotent"`
}

type target struct {
	Kind string `json:"kind"`
	URL  string `json:"url"`
}

// task is a task as the API takes it.
type task struct {
	Code     string         `json:"code"`
	Name     string         `json:"name"`
	Team     string         `json:"team"`
	Group    string         `json:"group"`
	Tags     []string       `json:"tags"`
	Schedule schedule       `json:"schedule"`
	Target   target         `json:"target"`
	Policy   policy         `json:"policy"`
	Payload  map[string]any `json:"payload"`

	behaviour string
}

// policyOf suits the behaviour. What rotates or sums up files must not be done
// twice.
func policyOf(name, behaviour string) policy {
	p := policy{Timeout: 30, Retry: retry{Kind: "fixed", Max: 3, Delays: []int{2}}, Idempotent: true}
	switch {
	case behaviour == behaveFail:
		p.Retry = retry{Kind: "steps", Max: 2, Delays: []int{1, 2}}
	case behaviour == behaveHang:
		p.Timeout, p.Retry = 2, retry{Kind: "fixed", Max: 1, Delays: []int{1}}
	case strings.Contains(name, "rotate") || strings.Contains(name, "summary"):
		p.Idempotent, p.Retry.Max = false, 0
	}
	return p
}

// makeTasks writes the jobs as tasks of the target at base.
func makeTasks(jobs []job, base string, boot time.Time) ([]task, error) {
	var out []task
	have := map[string]bool{}
	for i, j := range jobs {
		s, err := speedUp(j, zones()[i%len(zones())], boot)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", j.source, err)
		}
		b := behaviourOf(j.name)
		have[b] = true
		out = append(out, task{
			Code: codeOf(j.name), Name: j.name + ": " + j.schedule, Team: "default", Group: j.kind, Tags: []string{b},
			Schedule: s, Target: target{Kind: "http", URL: base + "/" + b}, Policy: policyOf(j.name, b),
			Payload: map[string]any{"source": j.source, "schedule": j.schedule}, behaviour: b,
		})
	}
	for _, b := range []string{behaveOK, behaveSlow, behaveFlaky, behaveFail, behaveHang, behaveAccept} {
		if !have[b] {
			return nil, fmt.Errorf("no job gets the behaviour %q: see behaviourOf", b)
		}
	}
	return out, nil
}

// codeOf makes a code of a name.
func codeOf(name string) string {
	code := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-', r == '_':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return strings.TrimRight(code, "-")
}

// ordersTask closes an order a while after it was placed.
func ordersTask(base string, delay time.Duration) task {
	return task{
		Code: ordersCode, Name: "Close unpaid orders", Team: "default", Group: "orders", Tags: []string{"orders"},
		Schedule: schedule{Kind: "delay", DelaySeconds: int(delay / time.Second)},
		Target:   target{Kind: "http", URL: base + "/orders"}, Policy: policyOf(ordersCode, behaveOK),
		Payload: map[string]any{},
	}
}

// order is one trigger of the orders' task.
type order struct {
	BizID   string         `json:"biz_id"`
	Delay   int            `json:"delay_seconds,omitempty"` // 0: the task's own
	Payload map[string]any `json:"payload"`

	behaviour string
}

// makeOrders spreads n orders over the window; each tenth takes the task's own
// delay. Most go well, 1 in 50 at its second attempt, 1 in 100 slowly.
func makeOrders(n int, window time.Duration) []order {
	out := make([]order, n)
	for i := range out {
		// A multiplier prime to any window scatters neighbours over it.
		delay := 1 + i*7919%int(window/time.Second)
		if i%10 == 3 {
			delay = 0
		}
		b := behaveOK
		switch {
		case i%50 == 7:
			b = behaveFlaky
		case i%100 == 11:
			b = behaveSlow
		}
		out[i] = order{BizID: fmt.Sprintf("order-%d", i+1), Delay: delay, Payload: map[string]any{"order": i + 1, "behaviour": b}, behaviour: b}
	}
	return out
}
