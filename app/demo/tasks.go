package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/sched"
)

// The demo's broker and the stream that its warehouse reads.
const (
	brokerName  = "warehouse-redis"
	orderStream = "warehouse.orders"
)

// tasks are the use cases that the demo needs.
type tasks interface {
	Create(ctx context.Context, by access.Actor, w sched.TaskSpec) (sched.Task, error)
	Trigger(ctx context.Context, by access.Actor, code string, r sched.TriggerRequest) (sched.Instance, bool, error)
}

// fill makes live tasks of every kind that there is, and triggers those that
// run on request.
func (h House) fill(ctx context.Context, team string) error {
	s, by := h.Tasks, h.By
	for _, w := range h.specs(team) {
		if _, err := s.Create(ctx, by, w); err != nil {
			return fmt.Errorf("make demo task %s: %w", w.Code, err)
		}
	}
	for i := range 12 {
		r := sched.TriggerRequest{
			BizID:        fmt.Sprintf("order-%d", 48211+i),
			DelaySeconds: 5 + 20*i,
			Payload:      json.RawMessage(fmt.Sprintf(`{"order":%d,"reason":"unpaid"}`, 48211+i)),
		}
		if _, _, err := s.Trigger(ctx, by, "order.close-unpaid", r); err != nil {
			return fmt.Errorf("trigger a demo task: %w", err)
		}
	}
	// Three failures one after the other: within a minute there is an alert.
	for i := range 3 {
		if _, _, err := s.Trigger(ctx, by, "ledger.post-journal", sched.TriggerRequest{DelaySeconds: 20 * i}); err != nil {
			return fmt.Errorf("trigger a demo task: %w", err)
		}
	}
	once := []string{"report.month-end"}
	if h.Commands != "" {
		once = append(once, "warehouse.print-labels")
	}
	for _, code := range once {
		if _, _, err := s.Trigger(ctx, by, code, sched.TriggerRequest{}); err != nil {
			return fmt.Errorf("trigger a demo task: %w", err)
		}
	}
	return nil
}

func (h House) specs(team string) []sched.TaskSpec {
	base, now := h.Target.URL(), h.Now()
	cron := func(line, zone string) sched.ScheduleSpec {
		return sched.ScheduleSpec{Kind: sched.KindCron, Cron: line, Timezone: zone}
	}
	every := func(seconds int) sched.ScheduleSpec {
		return sched.ScheduleSpec{Kind: sched.KindInterval, EverySeconds: seconds}
	}
	manual := sched.ScheduleSpec{Kind: sched.KindManual}
	list := []sched.TaskSpec{
		{Code: "fx.rates-ecb", Name: "Refresh exchange rates from the ECB", Owner: "treasury", Tags: []string{"fx"},
			Schedule: cron("* * * * *", "Europe/Berlin"), Target: call(base, "ok"), Policy: again(5, 20)},
		{Code: "stock.snapshot-stores", Name: "Store stock snapshot 门店库存快照", Owner: "stores", Tags: []string{"stock"},
			Schedule: cron("0/30 * * * * ?", "Asia/Shanghai"), Target: call(base, "slow"), Policy: again(5, 20)},
		{Code: "notify.webhook-redeliver", Name: "Retry undelivered webhooks", Owner: "platform", Tags: []string{"notify"},
			Schedule: every(20), Target: call(base, "flaky"), Policy: again(3, 6, 12)},
		{Code: "order.sync-marketplace", Name: "Marketplace order sync", Owner: "marketplace", Tags: []string{"orders"},
			Schedule: every(45), Target: call(base, "accepting"), Policy: again(5, 20)},
		{Code: "billing.settle-daily", Name: "Daily settlement run 每日清算", Owner: "payments", Tags: []string{"billing", "p1"},
			Schedule: workdays(cron("30 15 * * MON-FRI", "Asia/Shanghai")), Target: call(base, "ok"), Policy: once(sched.AlertP1)},
		{Code: "billing.dunning", Name: "Send payment reminders", Owner: "payments", Tags: []string{"billing"},
			Schedule: cron("*/2 * * * *", "Asia/Shanghai"), Target: call(base, "hanging"), Policy: short(again(4), 3)},
		{Code: "ledger.post-journal", Name: "Post journal entries", Owner: "accounting", Tags: []string{"ledger"},
			Schedule: manual, Target: call(base, "failing"), Policy: again(3, 6)},
		{Code: "report.month-end", Name: "Month-end report", Owner: "accounting", Tags: []string{"report"},
			Schedule: manual, Target: call(base, "chosen"), Policy: again(5, 20)},
		{Code: "order.close-unpaid", Name: "Close unpaid orders", Owner: "orders", Tags: []string{"orders"},
			Schedule: sched.ScheduleSpec{Kind: sched.KindDelay, DelaySeconds: 1800}, Target: call(base, "flaky"), Policy: again(3, 6)},
		{Code: "search.rebuild-index", Name: "Rebuild the search index", Owner: "platform", Tags: []string{"search"},
			Schedule: sched.ScheduleSpec{Kind: sched.KindInterval, EverySeconds: 30, FixedDelay: true}, Target: call(base, "slow"), Policy: again(5)},
		{Code: "mail.invoice-batch", Name: "Send invoice e-mails 发送账单邮件", Owner: "billing", Tags: []string{"mail"},
			Schedule: spread(cron("0 9-18 * * *", "Asia/Shanghai"), 300), Target: call(base, "ok"), Policy: queued(again(5, 20))},
		{Code: "release.warm-caches", Name: "Warm the caches after the release", Owner: "platform", Tags: []string{"release"},
			Schedule: sched.ScheduleSpec{Kind: sched.KindOnce, RunAt: now.Add(2 * time.Minute)}, Target: call(base, "ok"), Policy: again(5)},
		{Code: "billing.close-day", Name: "Close the day in billing 账务日结", Owner: "billing", Tags: []string{"billing"},
			Schedule: every(75), Target: sched.TargetSpec{Kind: sched.TargetHTTP, Executor: serviceName, Type: serviceType, Route: sched.RoundRobin}, Policy: again(5, 20)},
		{Code: "warehouse.pick-orders", Name: "Hand new orders to the warehouse", Owner: "warehouse", Tags: []string{"orders"},
			Schedule: every(50), Target: sched.TargetSpec{Kind: sched.TargetMQ, Broker: brokerName, Stream: orderStream}, Policy: again(5, 20)},
	}
	list = append(list, commands(h.Commands)...)
	for i := range list {
		list[i].Team = team
	}
	return list
}

// spread gives a schedule jitter, and every missed slot its run.
func spread(s sched.ScheduleSpec, seconds int) sched.ScheduleSpec {
	s.JitterSeconds, s.Misfire = seconds, sched.FireAll
	return s
}

// workdays lets a schedule go by the statutory workdays of China, which every
// installation has.
func workdays(s sched.ScheduleSpec) sched.ScheduleSpec {
	s.Calendar, s.CalendarMove = "cn-workdays", sched.MoveNext
	return s
}

// queued lets slots wait for each other.
func queued(p sched.PolicySpec) sched.PolicySpec {
	p.Overlap = sched.OverlapQueue
	return p
}

func call(base, behaviour string) sched.TargetSpec {
	return sched.TargetSpec{Kind: sched.TargetHTTP, URL: base + "/call/" + behaviour}
}

// again is the policy of idempotent work with the given delays between tries.
func again(delays ...int) sched.PolicySpec {
	return sched.PolicySpec{
		Idempotent: new(true),
		Retry:      &sched.RetrySpec{Kind: sched.RetrySteps, Max: new(len(delays)), DelaysSeconds: delays},
	}
}

// once is the policy of work that must not be sent twice.
func once(level sched.AlertLevel) sched.PolicySpec {
	return sched.PolicySpec{Idempotent: new(false), AlertLevel: level}
}

// short gives a policy another timeout.
func short(p sched.PolicySpec, seconds int) sched.PolicySpec {
	p.TimeoutSeconds = new(seconds)
	return p
}
