package main

// broken is a configuration with something taken away.
type broken struct {
	name, cfg string
	p         P
	hold      bool // a second line: the rest holds without it
	flaws     []int
	note      string
}

// brokenList takes one thing away from the repaired protocol in each line, or
// puts the first draft's wording back (draft/…).
var brokenList = []broken{
	// the draft's wording
	{name: "draft/claim-not-from-pending", cfg: "plain", p: P{NoClaimPending: true, NoSweepQueued: true}, flaws: []int{1}, note: "without faults the sweeper is needed: the message is taken before the row says queued"},
	{name: "draft/dispatch-equality", cfg: "redis", p: P{DispEqual: true}, hold: true, flaws: []int{2}, note: "safe, but see backlog"},
	{name: "draft/no-due-guard", cfg: "plain", p: P{NoDueGuard: true, DispEqual: true}, flaws: []int{3}, note: "retry brought early (whole seconds cut)"},
	{name: "draft/early-message-dropped", cfg: "plain", p: P{EarlyDrop: true, NoSweepQueued: true}, flaws: []int{3}},
	{name: "draft/no-audit-no-readback", cfg: "unknown0", p: P{NoAudit: true, NoReadback: true}, flaws: []int{4}},
	{name: "draft/no-audit-panic", cfg: "panic", p: P{NoAudit: true}, flaws: []int{4}},
	{name: "draft/receipt-only-awaiting", cfg: "await", p: P{ReceiptOnlyAwaiting: true}, flaws: []int{5}},
	{name: "draft/receipt-this-attempt-only", cfg: "await", p: P{ReceiptThisAttempt: true}, flaws: []int{5}},
	{name: "draft/cancel-running-at-once", cfg: "limit-cancel", p: P{CancelAtOnce: true}, flaws: []int{6}},
	{name: "draft/cancel-forgotten-by-sweeper", cfg: "cancel", p: P{LostIgnoresCancel: true}, flaws: []int{7}},
	{name: "draft/no-sent-mark", cfg: "nonidem", p: P{NoSentMark: true}, flaws: []int{8}, note: "contradicts crash point C08"},
	{name: "draft/hand-back-same-dispatch", cfg: "stop0", p: P{HandBackSameDispatch: true, NoSweepQueued: true}, flaws: []int{9}},
	{name: "draft/hand-back-after-send", cfg: "nonidem-stop", p: P{HandBackAfterSend: true}, flaws: []int{10}},
	{name: "draft/sweep-same-id", cfg: "orphan", p: P{SweepSameID: true}, flaws: []int{11}, note: "conflict counts as sent, for ever"},
	{name: "draft/limit-blocked-dropped", cfg: "limit", p: P{LimitDrop: true, NoSweepQueued: true}, flaws: []int{12}},
	{name: "draft/overlap-judges-retries", cfg: "overlap-skip", p: P{SkipStarted: true}, flaws: []int{13}},
	{name: "draft/awaiting-not-counted", cfg: "limit-await", p: P{AwaitNotCounted: true}, flaws: []int{14}},
	{name: "draft/replay-unguarded", cfg: "replay", p: P{ReplayUnguarded: true}, flaws: []int{15}},
	{name: "draft/batch-counts-rows", cfg: "batch", p: P{BatchDup: true}, flaws: []int{16}, note: "two messages of one instance in one group claim"},
	{name: "draft/dead-node-scanned-once", cfg: "freeze1", p: P{DeadScannedOnce: true, SplitClaim: true}, flaws: []int{17}, note: "the claim was in flight when the node was declared dead"},
	{name: "draft/sent-mark-kept-at-claim", cfg: "allow", p: P{SentKept: true}, flaws: []int{23}, note: "a permitted retry can never send"},
	{name: "draft/mark-refused-is-final", cfg: "late-nonidem", p: P{MarkNoReread: true}, flaws: []int{25}, note: "0 rows: do not send"},
	{name: "draft/plain-read-back", cfg: "late0", p: P{PlainReadback: true, KeepClaimID: true}, flaws: []int{26}, note: "the claim lands after the read; its claim_id stays in memory"},
	{name: "draft/overdue-by-any-sweeper", cfg: "over", p: P{OverSweep: true}, flaws: []int{27}, note: "an outage longer than 60 s: answers wait in the handlers"},
	// guards
	{name: "guard/read-back-locks", cfg: "late0", p: P{PlainReadback: true}, hold: true, note: "the audit repairs it, at the price of a death"},
	{name: "guard/claim-id-forgotten", cfg: "late0", p: P{KeepClaimID: true}, hold: true, note: "holds while the read back locks"},
	{name: "guard/mark-assumed", cfg: "late-nonidem", p: P{MarkAssumed: true}},
	{name: "guard/mark-not-null", cfg: "late-nonidem", p: P{MarkNoNull: true}, hold: true, note: "one owner"},
	{name: "guard/no-answer-is-final", cfg: "allow", p: P{RetryUnknown: true}, flaws: []int{24}},
	{name: "guard/awaiting-deadline-is-final", cfg: "allow-await", p: P{TmoRetriesAll: true}, flaws: []int{24}},
	{name: "guard/receipt-older-attempt", cfg: "await", p: P{ReceiptAnyAttempt: true}},
	{name: "guard/overdue", cfg: "over", p: P{NoOver: true}},
	{name: "guard/overdue-conditional", cfg: "over", p: P{OverBlind: true}},
	{name: "guard/overdue-sees-wish", cfg: "over", p: P{OverIgnoresCancel: true}},
	{name: "guard/overdue-sent-is-final", cfg: "over-allow", p: P{OverRetries: true}, flaws: []int{24}},
	{name: "guard/no-send-after-deadline", cfg: "over", p: P{SendAfterDeadline: true}, flaws: []int{28}},
	{name: "guard/request-not-skipped", cfg: "overlap-request", p: P{RequestSkipped: true}, flaws: []int{33}},
	{name: "guard/early-claims-again", cfg: "early", p: P{EarlyNoRecheck: true}},
	{name: "guard/claim-state", cfg: "redis", p: P{ClaimBlind: true}},
	{name: "guard/claim-node-alive", cfg: "freeze", p: P{NoNodeAlive: true}},
	{name: "guard/claim-due", cfg: "plain", p: P{NoDueGuard: true}},
	{name: "guard/claim-task-lock", cfg: "limit", p: P{SplitClaim: true}},
	{name: "guard/claim-readback", cfg: "unknown0", p: P{NoReadback: true}, hold: true, note: "the audit repairs it, one heartbeat later"},
	{name: "guard/settle-state", cfg: "cancel", p: P{NoSettleState: true, NoSettleNode: true}},
	{name: "guard/settle-state-only", cfg: "cancel", p: P{NoSettleState: true}, hold: true, note: "the node column is empty unless running"},
	{name: "guard/settle-attempt", cfg: "freeze0", p: P{NoSettleAttempt: true, NoSettleNode: true}},
	{name: "guard/settle-attempt-only", cfg: "freeze0", p: P{NoSettleAttempt: true}, hold: true},
	{name: "guard/settle-node-only", cfg: "freeze0", p: P{NoSettleNode: true}, hold: true, note: "second line while attempt numbers only rise"},
	{name: "guard/attempt-rises", cfg: "freeze0", p: P{LostSameAttempt: true, NoSettleNode: true}, note: "a lost attempt's number is given out again"},
	{name: "guard/attempt-rises-only", cfg: "freeze0", p: P{LostSameAttempt: true}, hold: true, note: "the node column is the second line"},
	{name: "guard/mark-queued-state", cfg: "plain", p: P{MarkBlind: true}},
	{name: "guard/sweep-conditional", cfg: "plain", p: P{SweepBlind: true}},
	{name: "guard/lost-conditional", cfg: "freeze", p: P{LostBlind: true}},
	{name: "guard/timeout-conditional", cfg: "await", p: P{TmoBlind: true}},
	{name: "guard/bump-before-enqueue", cfg: "redis", p: P{EnqueueBeforeBump: true, DispEqual: true}, hold: true, note: "late only"},
	{name: "guard/lost-raises-dispatch", cfg: "crash1", p: P{OldKeepsDispatch: true}, hold: true, note: "late only: the old message is still active"},
	{name: "guard/sent-mark-conditional", cfg: "nonidem", p: P{SentMarkBlind: true}},
	{name: "guard/nonidem-lost-is-final", cfg: "nonidem", p: P{NoSentMark: true, LostAlwaysRetried: true}},
	{name: "guard/receipt-not-final", cfg: "await", p: P{ReceiptBlind: true}},
	{name: "guard/cancel-not-final", cfg: "cancel", p: P{CancelBlind: true}},
	{name: "guard/dead-letter-same-tx", cfg: "crash1", p: P{TwoStepDeadLetter: true}},
	{name: "guard/sweep-queued", cfg: "redis", p: P{NoSweepQueued: true}},
	{name: "guard/sweep-running", cfg: "crash1", p: P{NoSweepRunning: true}},
	{name: "guard/sweep-awaiting", cfg: "await", p: P{NoSweepAwaiting: true}},
	{name: "guard/register-anew", cfg: "freeze1", p: P{NoReregister: true}},
	{name: "guard/dead-node-scanned-again", cfg: "freeze1", p: P{DeadScannedOnce: true}, hold: true, note: "holds only if the claim locks the node row"},
}

func brokenCases() []Case {
	var out []Case
	for _, b := range brokenList {
		c := runCase(b.name, base[b.cfg], b.p, b.hold).about(b.note)
		if b.hold {
			c = c.mayHold(b.flaws...)
		} else {
			c = c.breaks(b.flaws...)
		}
		out = append(out, c)
	}
	return out
}
