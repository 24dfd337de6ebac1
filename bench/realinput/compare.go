package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// findings are disagreements by kind, each in a line.
type findings map[string][]string

func (f findings) add(kind, format string, args ...any) {
	f[kind] = append(f[kind], fmt.Sprintf(format, args...))
}

// Kinds of disagreement.
const (
	noCall     = "attempt of the ledger that the target did not log"
	noAttempt  = "call of the target that the ledger has no attempt for"
	callTwice  = "attempt that the target logged more than once"
	otherWords = "call whose key, task, biz_id, replay or time is not the instance's"
	otherEnd   = "attempt whose outcome doesn't fit the status that was sent"
	tooEarly   = "attempt or call before it was due"
	bizTwice   = "business action in the ledger more than once"
	orderLost  = "order that was accepted and isn't in the ledger, or under another id"
	slotLost   = "slot that the oracle wants and the ledger neither ran nor recorded"
	slotOdd    = "slot in the ledger that the oracle doesn't want"
	wrongEnd   = "instance whose end the target's behaviour doesn't ask for"
	oddSkip    = "slot skipped without a good reason"
	noReceipt  = "accepted call without exactly one receipt on both sides"
	oddLetter  = "dead letter that should not be, or is missing, or has another status"
	unsound    = "ax verify"
)

// compare holds ledger, target's log and oracle against each other.
func compare(e *evidence) findings {
	f := findings{}
	e.compareCalls(f)
	e.compareBiz(f)
	e.compareOrders(f)
	e.compareSlots(f)
	e.compareEnds(f)
	e.compareReceipts(f)
	e.compareLetters(f)
	if e.verify != "" {
		f.add(unsound, "%s", e.verify)
	}
	return f
}

// compareCalls pairs every attempt with every call.
func (e *evidence) compareCalls(f findings) {
	calls := map[string][]call{}
	for _, c := range e.calls {
		key := attemptKey(c.Instance, c.Attempt)
		calls[key] = append(calls[key], c)
	}
	for _, in := range e.instances {
		for i, a := range in.Attempts {
			key := attemptKey(in.ID, a.No)
			got := calls[key]
			delete(calls, key)
			switch len(got) {
			case 0:
				f.add(noCall, "%s of %s: %s %s", key, in.Task, a.Outcome, a.Error)
			case 1:
				f.compareCall(in, i, got[0])
			default:
				f.add(callTwice, "%s of %s: %d times", key, in.Task, len(got))
			}
		}
	}
	for key, got := range calls {
		f.add(noAttempt, "%s: %d of %s at %s", key, got[0].Status, got[0].Task, got[0].At)
	}
}

// compareCall compares one attempt with its call.
func (f findings) compareCall(in *instance, i int, c call) {
	a, where := in.Attempts[i], attemptKey(in.ID, in.Attempts[i].No)+" of "+in.Task
	scheduled := time.UnixMilli(in.Wanted).UTC().Format("2006-01-02T15:04:05.000Z")
	want := call{Key: in.Task + "/" + in.BizID, Task: in.Task, BizID: in.BizID, Replay: in.Replay, ScheduledAt: scheduled}
	if got := (call{Key: c.Key, Task: c.Task, BizID: c.BizID, Replay: c.Replay, ScheduledAt: c.ScheduledAt}); got != want {
		f.add(otherWords, "%s: %+v, not %+v", where, got, want)
	}
	outcome, status := map[int]string{200: "succeeded", 202: "succeeded", 500: "failed", 0: "timed_out"}[c.Status], c.Status
	if a.Outcome != outcome || a.Status != status || a.Ended == 0 {
		f.add(otherEnd, "%s: %q with %d, and %d was sent (%s)", where, a.Outcome, a.Status, c.Status, a.Error)
	}
	at, err := time.Parse(time.RFC3339, c.At)
	if err != nil || at.UnixMilli() < in.Wanted || a.Started < in.Wanted {
		f.add(tooEarly, "%s: wanted at %s, started at %d, called at %s", where, scheduled, a.Started, c.At)
	}
}

// compareBiz looks for business actions that are there twice.
func (e *evidence) compareBiz(f findings) {
	n := map[string]int{}
	for _, in := range e.instances {
		n[fmt.Sprintf("%s/%s replay %d", in.Task, in.BizID, in.Replay)]++
	}
	for key, times := range n {
		if times > 1 {
			f.add(bizTwice, "%s: %d times", key, times)
		}
	}
}

func (e *evidence) compareOrders(f findings) {
	ids := map[string]string{}
	for _, in := range e.instances {
		if in.Task == ordersCode && in.Replay == 0 {
			ids[in.BizID] = in.ID
		}
	}
	for _, p := range e.driven.orders {
		if ids[p.order.BizID] != p.ID || p.Duplicate || p.status != 202 {
			f.add(orderLost, "%s: answered %d with %s, ledger %q", p.order.BizID, p.status, p.ID, ids[p.order.BizID])
		}
	}
	for _, p := range e.driven.again {
		if ids[p.order.BizID] != p.ID || !p.Duplicate || p.status != 200 {
			f.add(orderLost, "%s placed again: answered %d with %s, ledger %q", p.order.BizID, p.status, p.ID, ids[p.order.BizID])
		}
	}
	if len(ids) != len(e.driven.orders) {
		f.add(orderLost, "%d orders are in the ledger, %d were placed", len(ids), len(e.driven.orders))
	}
}

// compareSlots holds the ledger's slots against the oracle's. After a task was
// disabled the slots planned ahead may be there, as skipped.
func (e *evidence) compareSlots(f findings) {
	have := map[slot]*instance{}
	for _, in := range e.instances {
		if in.Origin == "schedule" {
			have[slot{in.Task, in.Slot}] = in
		}
	}
	for _, s := range e.slots {
		recorded := slices.ContainsFunc(e.missed, func(m missed) bool { return m.Task == s.Code && m.From <= s.Slot && s.Slot <= m.To })
		if have[s] == nil && !recorded {
			f.add(slotLost, "%s %s", s.Code, stamp(s.Slot))
		}
		delete(have, s)
	}
	until := map[string]int64{}
	for _, t := range e.driven.tasks {
		until[t.Code] = t.until.UnixMilli()
	}
	for s, in := range have {
		if in.State != "skipped" || s.Slot < until[s.Code] {
			f.add(slotOdd, "%s %s: %s", s.Code, stamp(s.Slot), in.State)
		}
	}
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// compareEnds checks that each instance ended as its target's behaviour and
// its policy ask for, with the attempts and pauses that they ask for.
func (e *evidence) compareEnds(f findings) {
	tasks := map[string]taskRun{}
	for _, t := range e.driven.tasks {
		tasks[t.Code] = t
	}
	orders := map[string]string{}
	for _, p := range e.driven.orders {
		orders[p.order.BizID] = p.order.behaviour
	}
	for _, in := range e.instances {
		t := tasks[in.Task]
		if in.Task == ordersCode {
			t.behaviour = orders[in.BizID]
		}
		if in.State == "skipped" {
			e.checkSkip(f, in, t)
			continue
		}
		state, attempts := expected(t, in.Replay)
		if in.State != state || len(in.Attempts) != attempts {
			f.add(wrongEnd, "%s of %s: %s after %d attempts, not %s after %d", in.ID, in.Task, in.State, len(in.Attempts), state, attempts)
		}
		f.checkPauses(in, t)
	}
}

// expected is how an instance ends.
func expected(t taskRun, replay int) (state string, attempts int) {
	retries := t.Policy.Retry.Max
	switch {
	case t.behaviour == behaveFail && replay == 0:
		return "failed", 1 + retries
	case t.behaviour == behaveHang:
		return "timed_out", 1 + retries
	case t.behaviour == behaveFlaky:
		return "succeeded", 2
	}
	return "succeeded", 1
}

// checkPauses checks that no retry came before its delay was over.
func (f findings) checkPauses(in *instance, t taskRun) {
	for i := 1; i < len(in.Attempts); i++ {
		delays := t.Policy.Retry.Delays
		pause := in.Attempts[i].Started - in.Attempts[i-1].Ended
		if want := int64(delays[min(i, len(delays))-1]) * 1000; pause < want {
			f.add(tooEarly, "%s of %s began %d ms after the one before, not %d", attemptKey(in.ID, i+1), in.Task, pause, want)
		}
	}
}

// skipSlack is how far apart the moment of a skip and that of an end may seem:
// each was taken before its transaction waited for its locks.
const skipSlack = 2000

// checkSkip accepts that another instance of the task was not over, or that
// the task had been disabled.
func (e *evidence) checkSkip(f findings, in *instance, t taskRun) {
	if in.Reason == "the task was disabled" && in.Finished >= t.until.UnixMilli() {
		return
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(in.Reason, "overlap: "), " ")
	other := e.instances[id]
	if other == nil || other.Task != in.Task || other.ID == in.ID || len(in.Attempts) > 0 ||
		other.Started > in.Finished || other.Finished+skipSlack < in.Finished {
		f.add(oddSkip, "%s of %s, slot %s: %q", in.ID, in.Task, stamp(in.Slot), in.Reason)
	}
}

// compareReceipts checks that each accepted call was reported once and the
// report taken once.
func (e *evidence) compareReceipts(f findings) {
	sent := map[string][]receipt{}
	for _, r := range e.receipts {
		key := attemptKey(r.Instance, r.Attempt)
		sent[key] = append(sent[key], r)
	}
	for _, c := range e.calls {
		if c.Status != 202 {
			continue
		}
		key := attemptKey(c.Instance, c.Attempt)
		if got := sent[key]; len(got) != 1 || got[0].Status != 200 || e.received[key] != 1 {
			f.add(noReceipt, "%s: sent %+v, in the ledger %d", key, got, e.received[key])
		}
		delete(sent, key)
		delete(e.received, key)
	}
	if len(sent)+len(e.received) > 0 {
		f.add(noReceipt, "%d sent and %d received without an accepted call", len(sent), len(e.received))
	}
}

// compareLetters checks that exactly what ended badly has a letter, and that a
// replay that succeeded solved it.
func (e *evidence) compareLetters(f findings) {
	want := map[string]deadLetter{}
	solved := map[string]bool{}
	for _, in := range e.instances {
		key := in.Task + "/" + in.BizID
		switch {
		case slices.Contains([]string{"failed", "timed_out", "lost"}, in.State):
			want[key] = deadLetter{in.Task, in.BizID, "open", in.State}
		case in.Replay > 0 && in.State == "succeeded":
			solved[key] = true
		}
	}
	for key := range solved {
		l := want[key]
		l.Status = "solved"
		want[key] = l
	}
	for _, l := range e.letters {
		key := l.Task + "/" + l.BizID
		if want[key] != l {
			f.add(oddLetter, "%+v, not %+v", l, want[key])
		}
		delete(want, key)
	}
	for key := range want {
		f.add(oddLetter, "%s has none", key)
	}
	if n := len(solved); n != len(e.driven.replays) {
		f.add(oddLetter, "%d replays were asked for, %d succeeded", len(e.driven.replays), n)
	}
}
