package main

import (
	"maps"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// t0 is the due time of everything in a made run.
var t0 = time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)

// ms is a moment of a made run in seconds after t0.
func ms(seconds float64) int64 { return t0.UnixMilli() + int64(seconds*1000) }

// made adds an instance with its attempts and the calls that they were.
func (e *evidence) made(in instance, behaviour string, statuses ...int) *instance {
	for i, status := range statuses {
		start := ms(0.1 + 5*float64(i))
		outcome := map[int]string{200: "succeeded", 202: "succeeded", 500: "failed", 0: "timed_out"}[status]
		in.Attempts = append(in.Attempts, attempt{Instance: in.ID, No: i + 1, Started: start, Ended: start + 50, Outcome: outcome, Status: status})
		e.calls = append(e.calls, call{
			At: time.UnixMilli(start + 10).UTC().Format(time.RFC3339Nano), Key: in.Task + "/" + in.BizID, Instance: in.ID, Attempt: i + 1, Replay: in.Replay,
			Task: in.Task, BizID: in.BizID, ScheduledAt: stamp(in.Wanted), Behaviour: behaviour, Status: status,
		})
		in.Started, in.Finished = ms(0.1), start+50
	}
	e.instances[in.ID] = &in
	return &in
}

// fine is a small run in which everything agrees.
func fine() *evidence {
	e := &evidence{driven: &driven{}, instances: map[string]*instance{}, received: map[string]int{}}
	for _, b := range []string{behaveOK, behaveFlaky, behaveFail, behaveHang, behaveAccept} {
		t := task{Code: b, Policy: policyOf(b, b), behaviour: b}
		e.driven.tasks = append(e.driven.tasks, taskRun{task: t, from: t0.Add(-time.Minute), until: t0.Add(time.Minute)})
	}
	slotOf := func(id, code string) instance {
		e.slots = append(e.slots, slot{code, ms(0)})
		return instance{ID: id, Task: code, BizID: "@2026-12-01T08:00:00Z", Origin: "schedule", State: "succeeded", Slot: ms(0), Wanted: ms(0)}
	}
	e.made(slotOf("i-ok", behaveOK), behaveOK, 200)
	e.made(slotOf("i-flaky", behaveFlaky), behaveFlaky, 500, 200)
	e.made(slotOf("i-accept", behaveAccept), behaveAccept, 202)
	e.made(slotOf("i-fail", behaveFail), behaveFail, 500, 500, 500).State = "failed"
	e.made(slotOf("i-hang", behaveHang), behaveHang, 0, 0).State = "timed_out"
	again := *e.instances["i-fail"]
	again.ID, again.Origin, again.Replay, again.State, again.Slot, again.Attempts = "i-again", "replay", 1, "succeeded", 0, nil
	e.made(again, behaveFail, 200)
	skipped := slotOf("i-skip", behaveOK)
	skipped.Slot, skipped.Wanted, skipped.BizID, skipped.State = ms(1), ms(1), "@2026-12-01T08:00:01Z", "skipped"
	skipped.Reason, skipped.Finished = "overlap: i-ok has not ended", ms(0.12)
	e.slots[len(e.slots)-1].Slot = ms(1)
	e.made(skipped, behaveOK)
	e.made(instance{ID: "i-order", Task: ordersCode, BizID: "order-1", Origin: "api", State: "succeeded", Wanted: ms(0)}, behaveOK, 200)
	one := placed{order: order{BizID: "order-1", behaviour: behaveOK}, status: 202, ID: "i-order"}
	e.driven.orders = []placed{one}
	one.status, one.Duplicate = 200, true
	e.driven.again = []placed{one}
	e.receipts = []receipt{{Instance: "i-accept", Attempt: 1, Status: 200}}
	e.received[attemptKey("i-accept", 1)] = 1
	e.letters = []deadLetter{{behaveFail, "@2026-12-01T08:00:00Z", "solved", "failed"}, {behaveHang, "@2026-12-01T08:00:00Z", "open", "timed_out"}}
	e.driven.replays = []letter{{ID: 1}}
	return e
}

func TestARunInWhichAllAgreesHasNoFindings(t *testing.T) {
	require.Empty(t, compare(fine()))
}

// Each case spoils one row of a run that agrees.
func TestEveryDisagreementIsFound(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(e *evidence)
		kinds []string
	}{
		"the target missed a call":       {func(e *evidence) { e.calls = e.calls[1:] }, []string{noCall}},
		"the target was called twice":    {func(e *evidence) { e.calls = append(e.calls, e.calls[0]) }, []string{callTwice}},
		"the ledger has no such attempt": {func(e *evidence) { e.calls[0].Attempt = 7 }, []string{noCall, noAttempt}},
		"the ledger lost an attempt":     {func(e *evidence) { in := e.instances["i-flaky"]; in.Attempts = in.Attempts[1:] }, []string{noAttempt, wrongEnd}},
		"the key is another":             {func(e *evidence) { e.calls[0].Key = "ok/other" }, []string{otherWords}},
		"the time is another":            {func(e *evidence) { e.calls[0].ScheduledAt = stamp(ms(1)) }, []string{otherWords}},
		"the replay number is another":   {func(e *evidence) { e.calls[0].Replay = 1 }, []string{otherWords}},
		"a failure is told as success":   {func(e *evidence) { e.calls[0].Status = 500 }, []string{otherEnd}},
		"a call was refused":             {func(e *evidence) { e.calls[0].Status = 401 }, []string{otherEnd}},
		"an attempt never ended":         {func(e *evidence) { e.instances["i-ok"].Attempts[0].Ended = 0 }, []string{otherEnd}},
		"the call came early":            {func(e *evidence) { e.calls[0].At = stamp(ms(-0.001)) }, []string{tooEarly}},
		"the attempt began early":        {func(e *evidence) { e.instances["i-ok"].Attempts[0].Started = ms(-0.001) }, []string{tooEarly}},
		"the retry came early":           {func(e *evidence) { e.instances["i-flaky"].Attempts[1].Started = ms(1) }, []string{tooEarly}},
		"a business action is there twice": {func(e *evidence) {
			in := *e.instances["i-ok"]
			in.ID, in.Attempts = "i-two", nil
			e.instances["i-two"] = &in
		}, []string{bizTwice, wrongEnd}},
		"an order is gone":                 {func(e *evidence) { e.instances["i-order"].BizID = "order-2" }, []string{orderLost, otherWords}},
		"an order got another instance":    {func(e *evidence) { e.driven.orders[0].ID = "i-x" }, []string{orderLost}},
		"a repeat was taken for a new one": {func(e *evidence) { e.driven.again[0].Duplicate = false }, []string{orderLost}},
		"a slot has no trace":              {func(e *evidence) { e.slots = append(e.slots, slot{behaveOK, ms(2)}) }, []string{slotLost}},
		"a slot is nobody's":               {func(e *evidence) { e.slots = e.slots[1:] }, []string{slotOdd}},
		"an instance didn't end":           {func(e *evidence) { e.instances["i-ok"].State = "running" }, []string{wrongEnd}},
		"a failure was not retried":        {func(e *evidence) { e.driven.tasks[2].Policy.Retry.Max = 3 }, []string{wrongEnd}},
		"a skip names what isn't there":    {func(e *evidence) { e.instances["i-skip"].Reason = "overlap: i-nobody has not ended" }, []string{oddSkip}},
		"a skip names what was long over":  {func(e *evidence) { e.instances["i-skip"].Finished = ms(4) }, []string{oddSkip}},
		"a skip names what began later":    {func(e *evidence) { e.instances["i-skip"].Finished = ms(0) }, []string{oddSkip}},
		"a skip before it was disabled":    {func(e *evidence) { e.instances["i-skip"].Reason = "the task was disabled" }, []string{oddSkip}},
		"a receipt was not sent":           {func(e *evidence) { e.receipts = nil }, []string{noReceipt}},
		"a receipt was refused":            {func(e *evidence) { e.receipts[0].Status = 404 }, []string{noReceipt}},
		"a receipt was counted twice":      {func(e *evidence) { e.received[attemptKey("i-accept", 1)] = 2 }, []string{noReceipt}},
		"a receipt for nothing":            {func(e *evidence) { e.received["x"] = 1 }, []string{noReceipt}},
		"a letter is missing":              {func(e *evidence) { e.letters = e.letters[1:] }, []string{oddLetter}},
		"a letter stayed open":             {func(e *evidence) { e.letters[0].Status = "open" }, []string{oddLetter}},
		"a letter for what went well":      {func(e *evidence) { e.letters = append(e.letters, deadLetter{behaveOK, "x", "open", "failed"}) }, []string{oddLetter}},
		"a replay did not come":            {func(e *evidence) { e.driven.replays = nil }, []string{oddLetter}},
		"the ledger breaks its own rules":  {func(e *evidence) { e.verify = "early\ti-ok" }, []string{unsound}},
		"a recorded slot": {func(e *evidence) {
			e.slots = append(e.slots, slot{behaveOK, ms(2)})
			e.missed = []missed{{behaveOK, ms(2), ms(2)}}
		}, nil},
		"a slot planned ahead of a disable": {aheadOfDisable, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := fine()
			tc.spoil(e)
			require.Equal(t, slices.Sorted(slices.Values(tc.kinds)), slices.Sorted(maps.Keys(compare(e))), "%v", compare(e))
		})
	}
}

// aheadOfDisable is what the planner had made already when the task was
// disabled.
func aheadOfDisable(e *evidence) {
	until := e.driven.tasks[0].until
	e.instances["i-ahead"] = &instance{
		ID: "i-ahead", Task: behaveOK, BizID: "@" + strconv.FormatInt(until.Unix(), 10), Origin: "schedule", State: "skipped", Reason: "the task was disabled",
		Slot: until.UnixMilli() + 1000, Wanted: until.UnixMilli() + 1000, Finished: until.UnixMilli() + 1100,
	}
}
