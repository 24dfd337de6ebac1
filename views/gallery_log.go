package views

import (
	"fmt"
	"time"

	"ax/app/sched"
)

// logExamples are the states of a log.
func logExamples() []Example {
	searched := commandPage(false)
	searched.Ask = LogAsk{Words: "refunds", Sources: []sched.LogSource{sched.LogStdout}}
	searched.Log.Entries, searched.Log.Earlier, searched.Log.Matches = searched.Log.Entries[4:24], true, 8_214
	nothing := commandPage(false)
	nothing.Ask = LogAsk{Words: "<script>alert(1)</script>"}
	nothing.Log.Entries = nil
	quiet := commandPage(true)
	quiet.Ask.Sources, quiet.Log.Entries = []sched.LogSource{sched.LogStderr}, nil
	overdue := workingPage()
	overdue.View.ReceiptDeadline = sampleTime(12 * time.Second)
	overdue.Log = calledPage().Log
	overdue.Log.Attempt, overdue.Log.Ended, overdue.Log.Entries = overdue.View.Attempt, false, overdue.Log.Entries[:6]
	long := commandPage(false)
	long.Log.Entries = append(long.Log.Entries[:8:8], wordEntry(3*time.Second, sched.LogStdout, fmt.Sprintf("%01200d", 7)))
	long.Ask.Whole = true
	return []Example{
		{Name: "log-running", Component: Instance(commandPage(true))},
		{Name: "log-search", Component: Instance(searched)},
		{Name: "log-no-match", Component: Instance(nothing)},
		{Name: "log-nothing-yet", Component: Instance(quiet)},
		{Name: "log-long-line", Component: Instance(long)},
		{Name: "log-heartbeat-overdue", Component: Instance(overdue)},
		{Name: "log-call", Component: Instance(calledPage())},
	}
}

func wordEntry(ago time.Duration, source sched.LogSource, text string) sched.LogEntry {
	return sched.LogEntry{At: sampleTime(ago), Source: source, Text: text}
}

func saidEntry(ago time.Duration, format string, args ...any) sched.LogEntry {
	e := wordEntry(ago, sched.LogAx, "")
	e.Say.Format, e.Say.Args = format, args
	return e
}

// commandLog is the log of a command; of one that ended the middle is cut.
func commandLog(running bool) sched.LogPage {
	p := sched.LogPage{Attempt: 1, Entries: []sched.LogEntry{
		saidEntry(52*time.Second, "Attempt %s began on node %s, with definition version %s", "1", sched.NodeID("n-hz-1"), "7"),
	}}
	add := func(e ...sched.LogEntry) { p.Entries = append(p.Entries, e...) }
	if !running {
		add(wordEntry(52*time.Second, sched.LogRequest, "/opt/jobs/close-day.sh\n\"--shops\"\n\"all open; 全部门店\"\n\ninput: stdin, 42 bytes"))
	}
	add(wordEntry(51*time.Second, sched.LogStdout, "begin <b>2026-12-02</b>"), wordEntry(51*time.Second, sched.LogStderr, "warning: price list of yesterday is used for SHOP-4410"))
	for i := range 30 {
		e := wordEntry(time.Duration(40-i)*time.Second, sched.LogStdout, fmt.Sprintf("closing shop %04d: %d orders, %d refunds 门店结账", 42+i, 118+7*i%40, i%5))
		if i == 0 && !running {
			e.Skipped = 8_875_824
		}
		add(e)
	}
	if running {
		return p
	}
	add(wordEntry(5*time.Second, sched.LogStderr, "shop 0117 has no cash report"), wordEntry(4*time.Second, sched.LogAnswer, "exit code 4 after 48.2s\n2 processes that it left behind were ended"))
	end := saidEntry(4*time.Second, "The attempt failed")
	end.Text = "exit code 4: shop 0117 has no cash report"
	add(end)
	p.Ended, p.Earlier = true, true
	return p
}

// calledPage is a call that was accepted and told of itself, to the end.
func calledPage() InstancePage {
	a := runAttempt(1, 300*time.Second, 290*time.Second, sched.OutcomeSucceeded, 202, "", "HTTP/1.1 202 Accepted\n\n{\"job\":\"job-88213\"}")
	v := viewOf(sched.Succeeded, a)
	words := wordEntry(40*time.Second, sched.LogProgress, "80 % · 963 of 1,204 shops 门店")
	words.Dropped = 61
	receipt := wordEntry(10*time.Second, sched.LogReceipt, "succeeded 1,204 shops settled")
	receipt.Say.Format, receipt.Say.Args = "A receipt from %s ended it", []any{"10.20.7.31"}
	again := wordEntry(2*time.Second, sched.LogReceipt, "succeeded 1,204 shops settled")
	again.Say.Format, again.Say.Args = "A receipt from %s came after the end and changed nothing", []any{"10.20.7.31"}
	return InstancePage{
		View: v, Nodes: runNodes(), Runs: stripRuns(), Again: []sched.Instance{v.Instance},
		Log: sched.LogPage{Attempt: 1, Ended: true, Entries: []sched.LogEntry{
			saidEntry(300*time.Second, "Attempt %s began on node %s, with definition version %s", "1", sched.NodeID("n-hz-1"), "7"),
			wordEntry(300*time.Second, sched.LogRequest, a.Request), wordEntry(299*time.Second, sched.LogAnswer, a.Response),
			saidEntry(299*time.Second, "The target accepted the work; its receipt is waited for"),
			wordEntry(280*time.Second, sched.LogProgress, "5 %"), words, receipt, saidEntry(10*time.Second, "The attempt succeeded"), again,
		}},
	}
}
