package views

import (
	"time"

	"ax/app/sched"
)

// dashboardExamples are the first page on a bad day, on a good one, and before
// there is anything to show.
func dashboardExamples() []Example {
	first := DashboardPage{FirstRun: true, MayCreate: true, Beats: sched.DefaultPulse(), Alarms: sampleAlarms()}
	first.Figures.Nodes = []sched.NodeInfo{sampleNode("ax-1", "web", "scheduler", "worker")}
	looker := first
	looker.MayCreate = false
	away := sampleCalm()
	away.Queues.RedisAway = true
	hour := sampleCalm()
	hour.Span, hour.Outcomes = sched.SpanHour, make([]sched.Bucket, 60)
	week := sampleBusy()
	week.Span, week.Outcomes = sched.SpanWeek, append(sampleHours(), sampleHours()[:4]...)
	for i := range week.Outcomes {
		week.Outcomes[i].At = ago(167*time.Hour - time.Duration(i)*6*time.Hour).Truncate(time.Hour)
	}
	return []Example{
		{Name: "dashboard-hour-empty", Component: Dashboard(hour)},
		{Name: "dashboard-week", Component: Dashboard(week)},
		{Name: "dashboard-busy", Component: Dashboard(sampleBusy())},
		{Name: "dashboard-calm", Component: Dashboard(sampleCalm())},
		{Name: "dashboard-redis-away", Component: Dashboard(away)},
		{Name: "dashboard-first-run", Component: Dashboard(first)},
		{Name: "dashboard-first-run-viewer", Component: Dashboard(looker)},
		{Name: "dashboard-no-team", Component: Dashboard(DashboardPage{NoTeam: true})},
	}
}

func sampleAlarms() Alarms {
	return Alarms{ClockOffset: 30 * time.Second, Lag: 5 * time.Second, QueueDepth: 10_000, SuccessRate: 95}
}

// ago is a moment before the time of the sample data.
func ago(d time.Duration) time.Time { return sampleTime(d) }

// ahead is a moment after it.
func ahead(d time.Duration) time.Time { return sampleTime(-d) }

func sampleBusy() DashboardPage {
	return DashboardPage{
		Span: sched.SpanDay, Outcomes: sampleHours(),
		Figures: sched.Dashboard{
			DueSoon: 1284, FirstDue: ahead(23 * time.Second),
			Open: map[sched.State]int{sched.Pending: 40, sched.Queued: 439, sched.Retrying: 12, sched.Running: 37, sched.Awaiting: 9},
			Late: 3, WorstLate: 41 * time.Second, OpenLetters: 43,
			Hour: sched.Rate{Succeeded: 44_804, Bad: 2_989}, LagP50: 38 * time.Millisecond, LagP99: 212 * time.Millisecond, LagOf: 1000,
			Nodes: sampleNodes(), Buckets: sampleHours(),
			Troubled: []sched.Task{{ID: 4, Code: "stock.snapshot-stores", Name: "Store stock snapshot 门店库存快照", PlanError: "the zone Asia/Shangai is not known"}},
			Overlong: []sched.Instance{{ID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", TaskID: 3, BizID: "@2026-12-02T06:20:00Z", State: sched.Running, DeadlineAt: ago(11*time.Minute + 32*time.Second)}},
			Next:     sampleNext(), Tasks: map[int64]sched.Task{3: {ID: 3, Code: "order.sync-marketplace", Name: "Marketplace order sync"}},
		},
		Errors: sampleErrors(), New: Counted{N: 29}, More: ErrorsMore{Errors: 3, Letters: Counted{N: 7}},
		Queues: sampleQueues(), Alarms: sampleAlarms(), Beats: sched.DefaultPulse(), MayCreate: true,
		Teams: []TeamRate{
			{"payments", "Payments", sched.Rate{Succeeded: 37_615, Bad: 3_056}}, {"marketplace", "Marketplace", sched.Rate{Succeeded: 28_893, Bad: 84}},
			{"data", "Data platform", sched.Rate{Succeeded: 9_609, Bad: 31}}, {"store", "Store operations 门店运营", sched.Rate{Succeeded: 4_112}},
			{"people", "People", sched.Rate{}},
		},
	}
}

func sampleErrors() []LetterGroup {
	letter := func(id int64, age time.Duration, said string, n int, code, name string) LetterGroup {
		return LetterGroup{
			First: id, Latest: sched.Letter{ID: id, Error: said, Outcome: sched.OutcomeFailed, OpenedAt: ago(age)}, Letters: Counted{N: n},
			Task: sched.Task{Code: code, Name: name},
		}
	}
	return []LetterGroup{
		letter(9, 12*time.Second, "HTTP 422 PERIOD_CLOSED 会计期间已关账", 18, "ledger.post-journal", "Post journal entries"),
		letter(8, 4*time.Minute, "HTTP 504 Gateway Timeout: upstream request timeout after 30000 ms while reading the response header from upstream", 1, "pay.capture", "Capture authorised card payments"),
		letter(7, 2*time.Hour, `answered_500:{"error":"duplicate_key_value_violates_unique_constraint","detail":"Key_(order_id,line_no)=(48211,3)_already_exists"}`, 2, "notify.webhook-redeliver", "Retry undelivered webhooks"),
	}
}

func sampleNext() []sched.Upcoming {
	return []sched.Upcoming{
		{At: ago(9 * time.Second), Code: "report.revenue-hourly", Name: "Hourly revenue"},
		{At: ahead(23 * time.Second), Code: "order.close-unpaid", Name: "Close unpaid orders"},
		{At: ahead(53 * time.Second), Code: "fx.rates-ecb", Name: "Refresh exchange rates from the ECB"},
		{At: ahead(173 * time.Second), Code: "notify.webhook-redeliver", Name: "Retry undelivered webhooks"},
		{At: ahead(3473 * time.Second), Code: "billing.settle-daily", Name: "Daily settlement run 每日清算"},
		{At: ahead(40 * time.Hour), Code: "archive.partition-roll", Name: "Roll the archive’s partitions"},
	}
}

// sampleHours is a day that goes bad at its end.
func sampleHours() []sched.Bucket {
	hours := make([]sched.Bucket, 24)
	for i := range hours {
		b := sched.Bucket{At: ago(time.Duration(23-i) * time.Hour).Truncate(time.Hour), Retried: 20 + i*37%90, Counts: map[sched.State]int{}}
		b.Counts[sched.Succeeded] = 1400 + i*(24-i)*22 + i*151%400
		b.Counts[sched.Skipped] = i % 3
		b.Counts[sched.Canceled] = i % 2
		if i > 21 {
			b.Counts[sched.Succeeded], b.Counts[sched.TimedOut], b.Counts[sched.Failed] = 1900, 320, 2669
		}
		if i == 9 {
			b.Counts[sched.Lost], b.Counts[sched.Failed] = 40, 160
		}
		hours[i] = b
	}
	return hours
}

func sampleCalm() DashboardPage {
	p := sampleBusy()
	p.Figures.Late, p.Figures.WorstLate, p.Figures.OpenLetters, p.Figures.Hour = 0, 0, 0, sched.Rate{Succeeded: 4412}
	p.Figures.Nodes, p.Figures.Troubled, p.Figures.Overlong, p.Figures.Next = p.Figures.Nodes[:2], nil, nil, p.Figures.Next[1:]
	for i := range p.Figures.Buckets {
		p.Figures.Buckets[i].Counts = map[sched.State]int{sched.Succeeded: 180 + i*53%70}
		p.Figures.Buckets[i].Retried = 0
	}
	p.Outcomes = p.Figures.Buckets
	p.Errors, p.More, p.New, p.Teams = nil, ErrorsMore{}, Counted{}, nil
	p.Queues.Rows, p.Queues.Nodes = p.Queues.Rows[:1], p.Figures.Nodes
	return p
}
