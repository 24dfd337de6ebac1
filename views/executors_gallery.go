package views

import (
	"time"

	"ax/app/sched"
)

// executorExamples are a service in its states.
func executorExamples() []Example {
	groups := sampleExecutors()
	return []Example{
		{Name: "executor", Component: Executor(ExecutorPage{ExecutorGroup: groups[0], Rates: map[int64]sched.Rate{1: {Succeeded: 280, Bad: 8}, 2: {Succeeded: 24}}})},
		{Name: "executor-offline", Component: Executor(ExecutorPage{ExecutorGroup: groups[1]})},
		{Name: "executor-none", Component: Executor(ExecutorPage{ExecutorGroup: groups[2]})},
	}
}

// sampleExecutors are one that is well but for an address, one that is gone,
// and one that only a task names.
func sampleExecutors() []ExecutorGroup {
	types := []sched.TaskType{{Type: "post-journal", Description: "Posts the journal of a day"}, {Type: "reconcile", Description: "银行对账"}, {Type: "accrue"}}
	row := func(address string, beat time.Duration, weight, running int, version string) sched.ExecutorInfo {
		return sched.ExecutorInfo{
			TeamID: 1, Name: "ledger-svc", Address: address, Types: types, Weight: weight, Running: running, Version: version,
			Token: "ledger-register", RegisteredAt: ago(26 * time.Hour), BeatAt: ago(beat),
		}
	}
	gone := row("http://10.20.7.4:9000", 31*time.Minute, 100, 0, "2.0.1")
	gone.Name, gone.Types = "label-printer", []sched.TaskType{{Type: "print-labels"}}
	left := gone
	left.Address, left.ClosedAt = "http://10.20.7.5:9000", ago(2*time.Hour)
	task := func(id int64, code, name, kind string) sched.ExecutorTask {
		return sched.ExecutorTask{ID: id, TeamID: 1, Code: code, Name: name, Enabled: true, Type: kind}
	}
	team := Team{Code: "payments", Name: "Payments"}
	return []ExecutorGroup{
		{Team: team, Name: "ledger-svc", Rows: []sched.ExecutorInfo{
			row("https://ledger-1.internal:8443", 2*time.Second, 100, 7, "3.8.0"), row("https://ledger-2.internal:8443", 9*time.Second, 100, 6, "3.8.0"),
			row("https://ledger-3.internal:8443", 40*time.Second, 50, 12, "3.7.2"),
		}, Tasks: []sched.ExecutorTask{task(1, "ledger.post-journal", "Post the journal", "post-journal"), task(2, "ledger.reconcile-bank", "银行对账", "reconcile")},
			Hour: sched.Rate{Succeeded: 304, Bad: 8}},
		{Team: team, Name: "label-printer", Rows: []sched.ExecutorInfo{gone, left}, Tasks: []sched.ExecutorTask{task(3, "labels.print", "Print labels", "print-labels")}},
		{Team: team, Name: "crm-members", Tasks: []sched.ExecutorTask{task(4, "crm.birthdays", "Birthday vouchers", "birthday-voucher")}},
	}
}

// executorTaskExamples are a form that names an executor, and a broadcast of
// which a part did not succeed.
func executorTaskExamples() []Example {
	form := shownNewTask()
	for _, g := range sampleExecutors()[:2] {
		form.Executors = append(form.Executors, ExecutorOptions(g.Rows)...)
	}
	form.Values.URL, form.Values.Executor, form.Values.Route = "", "crm-members/birthday-voucher", string(sched.Hash)
	v := failedView()
	v.Task.Spec.Target = sched.Target{Kind: sched.TargetHTTP, Executor: "ledger-svc", Type: "reconcile", Route: sched.Broadcast}
	page := InstancePage{View: v, Nodes: runNodes(), Runs: stripRuns(), Again: []sched.Instance{v.Instance}, MayCancel: true, Letter: caseLetter()}
	for i, address := range []string{"https://ledger-1.internal:8443", "https://ledger-2.internal:8443", "https://ledger-3.internal:8443"} {
		page.Shards = append(page.Shards, sched.ShardRun{
			Attempt: 2, Shard: sched.Shard{Index: i, Total: 3}, Executor: "ledger-svc", Address: address, Outcome: sched.OutcomeSucceeded, StatusCode: 200,
			StartedAt: ago(time.Minute), EndedAt: ago(time.Minute - time.Duration(184+i*220)*time.Millisecond),
		})
	}
	page.Shards[1].Outcome, page.Shards[1].StatusCode, page.Shards[1].Error = sched.OutcomeFailed, 500, "answered 500 Internal Server Error: ledger locked 账本已锁定"
	page.Shards[2].Outcome, page.Shards[2].StatusCode, page.Shards[2].EndedAt = "", 0, time.Time{}
	return []Example{
		{Name: "task-new-executor", Component: TaskForm(form)},
		{Name: "instance-broadcast", Component: Instance(page)},
	}
}
