package sched

import (
	"log/slog"
	"time"

	"pgregory.net/rapid"
)

// noon is the moment at which most tests stand.
func noon() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// moment reads an instant; a test that can't write one is wrong.
func moment(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t.UTC()
}

// moments reads several instants.
func moments(all ...string) []time.Time {
	var out []time.Time
	for _, s := range all {
		out = append(out, moment(s))
	}
	return out
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// cronOf is a cron schedule in a zone.
func cronOf(expr, zone string) Schedule {
	return Schedule{Kind: KindCron, Cron: expr, Timezone: zone, Anchor: noon(), Misfire: FireOnce}
}

// everyOf is a fixed rate.
func everyOf(seconds int, anchor time.Time) Schedule {
	return Schedule{Kind: KindInterval, EverySeconds: seconds, Anchor: anchor, Timezone: "UTC", Misfire: FireOnce}
}

// taskOf is a plain enabled task of team 7 with one place.
func taskOf(s Schedule) Task {
	return Task{
		ID: 3, TeamID: 7, Code: "close-orders", Name: "Close orders", Enabled: true, Queue: "default", Version: 1,
		Spec: Spec{
			Schedule: s,
			Target:   Target{Kind: TargetHTTP, URL: "http://127.0.0.1/close"},
			Policy: Policy{
				TimeoutSeconds: 30, Idempotent: true, MaxConcurrent: 1, Overlap: OverlapSkip, AlertLevel: AlertP2,
				Retry: Retry{Kind: RetrySteps, Max: 3, DelaysSeconds: []int{10, 30, 120}},
			},
		},
	}
}

// slotOf is the queued instance of a slot of the task.
func slotOf(t Task, slot time.Time) Instance {
	return Instance{
		ID: "0195f0c0-0000-7000-8000-000000000001", TaskID: t.ID, TeamID: t.TeamID, Queue: t.Queue, BizID: SlotBizID(slot),
		Origin: FromSchedule, SlotAt: slot, WantedAt: slot, DueAt: slot, State: Queued, CreatedAt: slot,
	}
}

// requestOf is the queued instance of a request.
func requestOf(t Task, due time.Time) Instance {
	return Instance{
		ID: "0195f0c0-0000-7000-8000-000000000002", TaskID: t.ID, TeamID: t.TeamID, Queue: t.Queue, BizID: "order-17",
		Origin: FromAPI, WantedAt: due, DueAt: due, State: Queued, CreatedAt: due,
	}
}

// anyPolicy draws a policy that validation would let pass.
func anyPolicy(r *rapid.T) Policy {
	p := Policy{
		TimeoutSeconds: rapid.IntRange(1, 600).Draw(r, "timeout"),
		Idempotent:     rapid.Bool().Draw(r, "idempotent"),
		MaxConcurrent:  rapid.IntRange(0, 2).Draw(r, "limit"),
		Overlap:        OverlapSkip,
		Retry:          anyRetry(r),
	}
	p.Retry.Unsafe = rapid.Bool().Draw(r, "unsafe")
	if !p.Idempotent && !p.Retry.Unsafe {
		p.Retry.Max = 0
	}
	return p
}

func anyRetry(r *rapid.T) Retry {
	delay := rapid.IntRange(1, 86_400)
	out := Retry{
		Kind: rapid.SampledFrom([]RetryKind{RetrySteps, RetryFixed, RetryExponential}).Draw(r, "kind"),
		Max:  rapid.IntRange(0, 4).Draw(r, "max"),
	}
	switch out.Kind {
	case RetrySteps:
		out.DelaysSeconds = rapid.SliceOfN(delay, 1, 20).Draw(r, "delays")
	case RetryFixed:
		out.DelaysSeconds = []int{delay.Draw(r, "delay")}
	default:
		base := delay.Draw(r, "base")
		out.DelaysSeconds = []int{base}
		if rapid.Bool().Draw(r, "has cap") {
			out.DelaysSeconds = append(out.DelaysSeconds, rapid.IntRange(base, 86_400).Draw(r, "cap"))
		}
	}
	return out
}
