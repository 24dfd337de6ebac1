package views

import (
	"encoding/json"
	"fmt"
	"time"

	"ax/app/alert"
	"ax/app/cron"
	"ax/app/fault"
	"ax/app/sched"
)

// taskExamples are the list, the form and the page of a task.
func taskExamples() []Example {
	return []Example{
		{Name: "tasks-list", Component: Tasks(TasksPage{Rows: shownTaskRows(), Next: "store.snapshot", MayCreate: true})},
		{Name: "tasks-filtered", Component: Tasks(TasksPage{Rows: shownTaskRows()[:2], Prev: "a", Filter: TasksFilter{Tag: "critical", Kind: "cron", Text: "bil", Enabled: "true"}})},
		{Name: "tasks-none", Component: Tasks(TasksPage{MayCreate: true})},
		{Name: "tasks-none-viewer", Component: Tasks(TasksPage{})},
		{Name: "tasks-nothing-matches", Component: Tasks(TasksPage{Filter: TasksFilter{Owner: "nobody"}})},
		{Name: "task-new", Component: TaskForm(shownNewTask())},
		{Name: "task-new-refused", Component: TaskForm(shownRefusedTask())},
		{Name: "task-new-message", Component: TaskForm(shownMessageForm(nil))},
		{Name: "task-new-message-refused", Component: TaskForm(shownMessageForm([]fault.FieldError{
			fault.Field("target.exchange", "%s with the key %q is not on the list of %s; an owner can add it on the team’s page", "amq.direct", "order.close", "shop-rabbit"),
			fault.Field("target.message_headers", "%s is not a task’s to set", "CC"),
		}))},
		{Name: "task-new-message-gone", Component: TaskForm(shownNoMessageForm())},
		{Name: "task-message", Component: Task(shownMessageTask())},
		{Name: "task-stream", Component: Task(shownStreamTask())},
		{Name: "task-new-command", Component: TaskForm(shownCommandForm(nil))},
		{Name: "task-new-command-refused", Component: TaskForm(shownCommandForm([]fault.FieldError{
			fault.Field("target.command", "The whole path of a file, beginning with / and without .. in it"),
			fault.Field("target.args", "Argument %d is empty; leave it out", 2),
			fault.Field("target.success_codes", "Codes are between 0 and 255; this is %d", 900),
		}))},
		{Name: "task-new-no-command", Component: TaskForm(shownNoCommandForm())},
		{Name: "task-command", Component: Task(shownCommandTask())},
		{Name: "task-new-http-rules", Component: TaskForm(shownHTTPForm())},
		{Name: "task-http-rules", Component: Task(shownHTTPTask())},
		{Name: "task-new-hooks", Component: TaskForm(shownHooksForm())},
		{Name: "task-hooks", Component: Task(shownHooksTask())},
		{Name: "task-edit", Component: TaskForm(shownEditTask())},
		{Name: "task-edit-labels", Component: TaskForm(shownLabeledTask())},
		{Name: "task-edit-changed", Component: TaskForm(shownChangedTask())},
		{Name: "task", Component: Task(shownTaskPage())},
		{Name: "task-labels", Component: Task(shownLabeledPage())},
		{Name: "task-paused", Component: Task(shownPausedTask())},
		{Name: "task-broken", Component: Task(shownBrokenTask())},
		{Name: "task-fresh", Component: Task(shownFreshTask())},
		{Name: "task-calendar", Component: Task(shownCalendarTask())},
		{Name: "task-edit-slots", Component: TaskForm(shownSlotsTask())},
		{Name: "task-archived", Component: Task(shownArchivedTask())},
		{Name: "task-run", Component: TaskConfirm(TaskConfirmPage{Task: shownTask(), Action: "run", Values: TaskActionValues{BizID: "@x"},
			Errors: []fault.FieldError{fault.Field("biz_id", "A biz_id that begins with @ belongs to a slot of the schedule")}})},
		{Name: "task-disable", Component: TaskConfirm(TaskConfirmPage{Task: shownTask(), Action: "disable", Waiting: 491, Back: "/tasks?tag=critical"})},
		{Name: "task-pause", Component: TaskConfirm(TaskConfirmPage{Task: shownTask(), Action: "pause", Values: TaskActionValues{For: "tomorrow", Until: "2026-12-03T08:00"}})},
		{Name: "task-move", Component: TaskConfirm(TaskConfirmPage{Task: shownTask(), Action: "move", Team: "payments", Teams: []Team{{Code: "store", Name: "Store 门店"}}})},
		{Name: "task-move-refused", Component: TaskConfirm(TaskConfirmPage{Task: shownTask(), Action: "move", Team: "payments", Teams: []Team{{Code: "store", Name: "Store 门店"}},
			Values: TaskActionValues{Team: "store", Reason: "they run it now"},
			Errors: []fault.FieldError{fault.Field("team", "The task goes by the calendar %q, which the team %q can't use", "pay-days", "store")}})},
		{Name: "task-version", Component: TaskVersion(shownVersion())},
		{Name: "task-version-refused", Component: TaskVersion(shownRefusedVersion())},
		{Name: "task-version-same", Component: TaskVersion(TaskVersionPage{Task: shownTask(), Version: versionOf(shownTask(), 40), MayRollBack: true})},
		{Name: "task-version-present", Component: TaskVersion(TaskVersionPage{Task: shownTask(), Version: versionOf(shownTask(), 41), MayRollBack: true})},
		{Name: "task-archive", Component: TaskConfirm(TaskConfirmPage{Task: shownTask(), Action: "archive"})},
	}
}

func shownTask() sched.Task {
	return sched.Task{
		ID: 7, TeamID: 1, Code: "billing.settle-daily", Name: "Daily settlement run 每日清算", Group: "billing", Owner: "ops-lead",
		Tags: []string{"critical", "month-end"}, Enabled: true, Queue: "pay-critical", Version: 41,
		NextFireAt: time.Date(2026, 12, 2, 7, 30, 0, 0, time.UTC), CreatedAt: sampleTime(400 * 24 * time.Hour), UpdatedAt: sampleTime(75 * time.Hour), UpdatedBy: "ops-night",
		Spec: sched.Spec{
			Schedule: sched.Schedule{Kind: sched.KindCron, Cron: "30 15 * * *", Timezone: "Asia/Shanghai", Misfire: sched.FireOnce},
			Target:   sched.Target{Kind: sched.TargetHTTP, URL: "https://pay-gw.internal/v2/settle"},
			Policy: sched.Policy{TimeoutSeconds: 300, Overlap: sched.OverlapSkip, MaxConcurrent: 1, Idempotent: true, AlertLevel: sched.AlertP1,
				Retry: sched.Retry{Kind: sched.RetrySteps, Max: 3, DelaysSeconds: []int{10, 30, 120}}},
			Payload: json.RawMessage(`{"banks":["house-01","house-02"],"period":"day","tolerance_cents":5,"notify":true}`),
		},
	}
}

// shownRuns are runs of the usual length, one a day, the last ones as states
// say.
func shownRuns(n int, usual time.Duration, states ...sched.State) []sched.Run {
	var runs []sched.Run
	for i := range n {
		at := time.Date(2026, 12, 1, 7, 30, 0, 0, time.UTC).Add(-time.Duration(n-1-i) * 24 * time.Hour)
		r := sched.Run{InstanceID: fmt.Sprintf("0193868e-2f40-7c11-9a02-%012d", i), TaskID: 7, State: sched.Succeeded, Attempt: 1, WantedAt: at, StartedAt: at.Add(40 * time.Millisecond)}
		took := usual * time.Duration(80+(i*37)%45) / 100
		if k := i - (n - len(states)); k >= 0 {
			r.State = states[k]
		}
		if i%23 == 11 {
			r.Attempt, took = 2, usual*2
		}
		switch {
		case r.State.Bad():
			r.Attempt, took = 4, usual*7/10
		case r.State == sched.Skipped:
			r.StartedAt, took, r.Attempt = time.Time{}, 0, 0
		}
		if r.State.Final() {
			r.FinishedAt = at.Add(took)
			if !r.StartedAt.IsZero() {
				r.FinishedAt = r.StartedAt.Add(took)
			}
		}
		runs = append(runs, r)
	}
	return runs
}

// shownFacts has figures of a week as the runs of it are.
func shownFacts(runs []sched.Run) sched.TaskFacts {
	f := sched.TaskFacts{Runs: runs}
	var took []time.Duration
	for _, r := range runs[len(runs)-9:] {
		switch {
		case r.State == sched.Succeeded:
			f.Week.Succeeded++
			took = append(took, r.Took())
		case r.State.Bad():
			f.Week.Bad++
		}
	}
	f.Took = sched.Spread{P50: sched.Percentile(took, 50), P99: sched.Percentile(took, 99), Of: len(took)}
	return f
}

func shownTaskRows() []TaskRow {
	const ok, fail = sched.Succeeded, sched.Failed
	row := func(code, name string, usual time.Duration, states []sched.State, change func(*sched.Task)) TaskRow {
		task := shownTask()
		task.Code, task.Name, task.Tags, task.Version = code, name, nil, 3
		change(&task)
		return TaskRow{Task: task, MayPause: true, Facts: shownFacts(shownRuns(60, usual, states...))}
	}
	cron := func(t *sched.Task, expr, zone string, next time.Time) {
		t.Spec.Schedule.Cron, t.Spec.Schedule.Timezone, t.NextFireAt = expr, zone, next
	}
	soon := func(d time.Duration) time.Time { return sampleTime(-d) }
	rows := []TaskRow{
		row("billing.settle-daily", "Daily settlement run 每日清算", 44*time.Second, []sched.State{fail, fail, fail, ok, fail, ok, fail, fail, fail}, func(t *sched.Task) {
			t.Tags = []string{"critical"}
		}),
		row("billing.capture-authorised", "Capture authorised card payments", 1900*time.Millisecond, []sched.State{ok, sched.Retrying}, func(t *sched.Task) {
			t.Tags = []string{"critical"}
			t.Owner = "ledger-dev"
			t.Spec.Schedule = sched.Schedule{Kind: sched.KindInterval, EverySeconds: 120, Anchor: t.CreatedAt}
			t.NextFireAt = soon(113 * time.Second)
		}),
		row("billing.dunning-v1", "Dunning letters, old engine", 4*time.Second, nil, func(t *sched.Task) {
			cron(t, "0 10 * * MON-FRI", "Asia/Shanghai", time.Time{})
			t.Enabled, t.Owner = false, ""
		}),
		row("ledger.post-journal", "Post journal entries to the general ledger of all companies of the group, one by one", 3*time.Second, []sched.State{fail, sched.Lost, sched.TimedOut}, func(t *sched.Task) {
			cron(t, "*/5 6-23 * * *", "Asia/Shanghai", time.Time{})
			t.PlanError = "zone \"Asia/Shangai\" is not known"
		}),
		row("order.close-unpaid", "Close unpaid orders 关闭超时未支付订单", 184*time.Millisecond, nil, func(t *sched.Task) {
			t.Spec.Schedule = sched.Schedule{Kind: sched.KindDelay, DelaySeconds: 1800}
			t.NextFireAt = time.Time{}
		}),
		row("order.sync-marketplace", "Sync marketplace orders (14 shops, South-East Asia)", 72*time.Second, []sched.State{sched.Running}, func(t *sched.Task) {
			cron(t, "5/15 * * * *", "Asia/Singapore", soon(173*time.Second))
		}),
		row("order.reprice-carts", "Re-price abandoned carts", 22*time.Second, []sched.State{sched.Skipped}, func(t *sched.Task) {
			cron(t, "20 * * * *", "Europe/Berlin", soon(time.Hour))
			t.PausedFrom, t.PausedUntil = sampleTime(time.Hour), soon(41*time.Hour+28*time.Minute)
		}),
		row("crm.birthday-voucher-v2", "会员生日礼券发放（新版）", 0, nil, func(t *sched.Task) {
			cron(t, "15 8 * * *", "Asia/Shanghai", soon(17*time.Hour+43*time.Minute))
			t.CreatedAt = sampleTime(2 * time.Hour)
		}),
	}
	rows[len(rows)-1].Facts = sched.TaskFacts{}
	rows[0].MayPause = false
	return rows
}

func shownDefaults() sched.Defaults {
	return sched.Defaults{TimeoutSeconds: 30, RetryMax: 3, RetryDelays: []int{10, 30, 120}, Queues: []string{"default", "pay-critical"}}
}

func shownNewTask() TaskFormPage {
	v := GalleryViewer(English, "light")
	return TaskFormPage{
		Values: v.NewTaskValues(shownDefaults(), "payments"), Teams: v.Teams, People: []string{"ledger-dev", "ops-lead"},
		Zones: []string{"Asia/Shanghai", "Europe/Berlin"}, Defaults: shownDefaults(), MayUnsafe: true, Preview: TaskPreview{Empty: true},
	}
}

func shownRefusedTask() TaskFormPage {
	p := shownNewTask()
	p.Values.Code, p.Values.Cron, p.Values.Timeout = "Bank!", "* 25 * * *", "5 min"
	p.Values.URL, p.Values.Payload = "ftp://ledger-svc.internal/", "{\n  \"banks\": [\"house-01\"],\n  \"notify\": true,\n}"
	cron := fault.Field("schedule.cron", "hour %s is outside 0–23", "25")
	p.Errors = []fault.FieldError{
		fault.Field("name", "A name is needed"), cron,
		fault.Field("code", "Lower-case letters, digits, dots, hyphens and underscores, beginning with a letter or digit"),
		fault.Field("target.url", "The address must begin with http:// or https://"),
		fault.Field("payload", "Line %d is not valid JSON: %s", 4, "invalid character '}' looking for beginning of object key string"),
		fault.Field("policy.idempotent", "Say whether the target may get the same key twice: there is no default for it"),
	}
	p.Preview = TaskPreview{Errors: []fault.FieldError{cron}, Timeout: 5 * time.Minute}
	return p
}

func shownEditTask() TaskFormPage {
	v := GalleryViewer(English, "light")
	p := shownNewTask()
	p.Stored = shownTask()
	p.Stored.Spec.Schedule.Cron, p.Stored.Spec.Schedule.Timezone = "30 2 * * MON-FRI", "Europe/Berlin"
	p.Values = v.TaskValues(p.Stored, "payments")
	zone, err := cron.LoadZone("Europe/Berlin")
	if err != nil {
		zone = time.UTC
	}
	p.Preview = TaskPreview{Schedule: p.Stored.Spec.Schedule, Zone: zone, Timeout: 5 * time.Minute, PerYear: 260, Warnings: []fault.Text{
		{Format: "On %s the clocks go forward from %s to %s: what is due in between runs once, at %s", Args: []any{"2027-03-28", "02:00", "03:00", "03:00"}},
	}}
	for _, day := range []int{3, 4, 7, 8, 9} {
		p.Preview.Next = append(p.Preview.Next, time.Date(2026, 12, day, 1, 30, 0, 0, time.UTC))
	}
	return p
}

// shownLabeledTask needs what no node has.
func shownLabeledTask() TaskFormPage {
	p := shownEditTask()
	p.Values.HostLimit = "8"
	p.Values.Labels, p.NodeLabels = "cn-north, oracle", []string{"cn-north", "gpu"}
	p.Unserved = &sched.Lane{Queue: "default", Labels: "cn-north,oracle"}
	return p
}

// shownLabeledPage is the page of such a task.
func shownLabeledPage() TaskPage {
	p := shownTaskPage()
	p.Task.Spec.Labels, p.Task.Spec.Policy.HostLimit = []string{"cn-north", "oracle"}, 8
	p.Unserved = &sched.Lane{Queue: "default", Labels: "cn-north,oracle"}
	return p
}

func shownChangedTask() TaskFormPage {
	p := shownEditTask()
	p.Changed, p.Began = true, 40
	p.Theirs = p.Values
	p.Values.Cron, p.Values.Timeout, p.Values.Owner = "0 3 * * MON-FRI", "30 s", ""
	p.Mine = p.Values
	p.Since = FieldHistory{Last: map[string]FieldChange{"schedule.cron": {By: "ops-night", At: sampleTime(95 * time.Second), Version: 41}}, Spec: true, Heading: true}
	p.Stored.UpdatedAt = sampleTime(95 * time.Second)
	return p
}

func shownTaskPage() TaskPage {
	const ok, fail = sched.Succeeded, sched.Failed
	p := TaskPage{Task: shownTask(), Team: "payments", Audit: AuditOf("task", "7"), May: TaskRights{Run: true, Pause: true, Edit: true, Move: true}}
	r := &p.Report
	r.Runs = shownRuns(60, 44*time.Second, fail, fail, fail, ok, sched.TimedOut, ok, fail, sched.Lost, fail)
	r.Latest = sched.Spread{P50: 43600 * time.Millisecond, P95: 68 * time.Second, P99: 92 * time.Second, Of: 51}
	r.Took = sched.Spread{P50: 41300 * time.Millisecond, P95: 64 * time.Second, P99: 97 * time.Second, Of: 2}
	r.Lag = sched.Spread{P50: 38 * time.Millisecond, P95: 90 * time.Millisecond, P99: 212 * time.Millisecond, Of: 7}
	r.Week, r.Waiting = sched.Rate{Succeeded: 2, Bad: 5}, 1
	for i := range 5 {
		p.Coming.Runs = append(p.Coming.Runs, p.Task.NextFireAt.AddDate(0, 0, i))
	}
	r.Missed = []sched.MissedRange{
		{ID: 2, From: sampleTime(30 * 24 * time.Hour), To: sampleTime(27 * 24 * time.Hour), Slots: 4, Reason: sched.MissedPaused},
		{ID: 1, From: sampleTime(61 * 24 * time.Hour), To: sampleTime(61 * 24 * time.Hour), Slots: 1, Reason: sched.MissedMisfire, MakeUp: sampleTime(60 * 24 * time.Hour), InstanceID: "0193868e-2f40-7c11-9a02-000000000001"},
	}
	for i, note := range []string{"match gateway SLA", "", "retries 2 → 3"} {
		r.Versions = append(r.Versions, sched.TaskVersion{TaskID: 7, Version: 41 - i, Author: []string{"ops-night", "ops-lead", "ci-deploy"}[i], Note: note, CreatedAt: sampleTime(time.Duration(75+i*150) * time.Hour)})
	}
	p.Last = shownLast(r.Runs)
	p.Alerts = shownTaskAlerts()
	return p
}

// shownTaskAlerts are an incident that a silence keeps quiet, and rules.
func shownTaskAlerts() TaskAlerts {
	open := IncidentRow{Incident: taskIncident(), Team: "Payments", To: []alert.Channel{feishuGroup}}
	quiet := silentSample()[0]
	quiet.Scope.Value, quiet.Rule = "billing.settle-daily", ""
	rule := func(id int64, name string, m alert.Metric, threshold float64, on bool, to ...alert.Channel) TaskRule {
		return TaskRule{Rule: alert.Rule{ID: id, Name: name, Metric: m, Threshold: threshold, Enabled: on}, Level: alert.P1, To: to}
	}
	broken := rule(5, "Run too long", alert.RunTooLong, 3, true)
	broken.Broken, broken.Level = "the ledger did not answer", alert.P2
	return TaskAlerts{
		Open: []IncidentRow{open}, Silences: []SilenceRow{quiet}, MaySilence: true, MayRule: true,
		Rules: []TaskRule{rule(2, "Failures in a row", alert.InARow, 3, true, feishuGroup, slackGroup, mailGroup), broken, rule(6, "Expected run missing", alert.MissedRun, 15, false, feishuGroup)},
	}
}

// taskIncident is one of the task that the examples show.
func taskIncident() alert.Incident {
	return alert.Incident{
		ID: "i9", RuleID: 2, RuleName: "Failures in a row", Metric: alert.InARow, Level: alert.P1, State: alert.Firing, Threshold: 3, Value: 4, Since: ago(40 * time.Minute), OpenedAt: ago(40 * time.Minute), Told: 2,
		Members: []alert.Member{{Subject: taskSubject("billing.settle-daily", "Daily settlement run 每日清算"), Value: 4, Level: alert.P1}},
	}
}

func shownLast(runs []sched.Run) []sched.Instance {
	var last []sched.Instance
	for i := len(runs) - 1; i >= 0 && len(last) < 8; i-- {
		r := runs[i]
		in := sched.Instance{ID: r.InstanceID, TaskID: 7, State: r.State, Attempt: r.Attempt, WantedAt: r.WantedAt, StartedAt: r.StartedAt, FinishedAt: r.FinishedAt}
		if r.State.Bad() {
			in.Error = "HTTP 504 from pay-gw.internal: upstream request timeout after 30,000 ms, see X-Request-Id"
		}
		last = append(last, in)
	}
	return last
}

func shownPausedTask() TaskPage {
	p := shownTaskPage()
	p.Task.Spec.Payload = nil
	p.Task.PausedFrom, p.Task.PausedUntil = sampleTime(time.Hour), sampleTime(-42*time.Hour)
	p.Report.Runs = shownRuns(60, 300*time.Millisecond, sched.Skipped, sched.Skipped)
	p.Report.Took = sched.Spread{P50: 280 * time.Millisecond, P95: 400 * time.Millisecond, P99: 600 * time.Millisecond, Of: 1204}
	p.Report.Latest, p.Report.Lag = p.Report.Took, sched.Spread{P50: 900 * time.Millisecond, P99: 75 * time.Second, Of: 1204}
	p.Report.Week = sched.Rate{Succeeded: 1204}
	p.Last = shownLast(p.Report.Runs)
	p.May = TaskRights{Run: true, Pause: true}
	return p
}

func shownBrokenTask() TaskPage {
	p := shownTaskPage()
	p.Task.PlanError = `zone "Europe/Kyiw" is not known; near names: Europe/Kiev`
	p.Task.NextFireAt, p.Coming = time.Time{}, sched.Coming{}
	p.May = TaskRights{}
	return p
}

// versionOf is a version with the definition of the task.
func versionOf(task sched.Task, n int) sched.TaskVersion {
	heading := task.Heading()
	return sched.TaskVersion{TaskID: task.ID, Version: n, Spec: task.Spec, Heading: &heading, Author: "ops-lead", Note: "match gateway SLA 对齐网关", CreatedAt: sampleTime(225 * time.Hour)}
}

func shownVersion() TaskVersionPage {
	old := shownTask()
	old.Name, old.Owner, old.Enabled = "Daily settlement", "", false
	old.Spec.Schedule.Cron, old.Spec.Policy.TimeoutSeconds = "0 15 * * *", 60
	old.Spec.Payload = json.RawMessage(`{"banks":["house-01"],"period":"day"}`)
	return TaskVersionPage{Task: shownTask(), Version: versionOf(old, 38), MayRollBack: true}
}

func shownRefusedVersion() TaskVersionPage {
	p := shownVersion()
	p.Version.Spec.Schedule.Calendar = "pay-days"
	p.Errors = []fault.FieldError{
		fault.Field("schedule.calendar", "There is no calendar %q that this team can use", "pay-days"),
		fault.Field("note", "A reason is needed: the history keeps it"),
	}
	return p
}

func shownFreshTask() TaskPage {
	p := shownTaskPage()
	p.Task.Name, p.Task.Group, p.Task.Tags = `<script>alert("x")</script>`, "", nil
	p.Task.Spec.Schedule = sched.Schedule{Kind: sched.KindManual, Timezone: "UTC"}
	p.Task.Spec.Policy.MaxConcurrent, p.Task.Spec.Policy.Idempotent, p.Task.Spec.Policy.Retry = 0, false, sched.Retry{Kind: sched.RetrySteps}
	p.Task.NextFireAt, p.Task.Enabled = time.Time{}, false
	p.Report, p.Coming = sched.TaskReport{Versions: p.Report.Versions[2:]}, sched.Coming{}
	p.Last = nil
	return p
}

func shownArchivedTask() TaskPage {
	p := shownTaskPage()
	p.Task.ArchivedAt, p.Task.Enabled, p.Task.NextFireAt, p.Coming = sampleTime(3*time.Hour), false, time.Time{}, sched.Coming{}
	return p
}
