package sched

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// walk is one instance on a random way, and a small model of its own beside
// it: what really happened, counted by hand and never read from the row.
type walk struct {
	r    *rapid.T
	now  time.Time
	task Task
	in   Instance

	claims, failures, deaths, returns int // returns: handed back, or its node stopped in order
	sent                              bool
	sends                             []bool // of ended attempts that were sent: was the end definite?
	letters                           int
	ended                             State
}

func newWalk(r *rapid.T) *walk {
	w := &walk{r: r, now: noon(), task: taskOf(cronOf("* * * * *", "UTC"))}
	w.task.Spec.Policy = anyPolicy(r)
	w.in = slotOf(w.task, noon())
	if rapid.Bool().Draw(r, "request") {
		w.in = requestOf(w.task, noon())
	}
	w.in.State = Pending
	return w
}

// move changes the state as the event asks, if the table has such a move.
func (w *walk) move(e Event, to State) {
	switch {
	case w.ended != "":
		w.r.Fatalf("%s moves %s, which is final", e, w.ended)
	case !allowed(e, w.in.State, to):
		w.r.Fatalf("%s: from %s to %s is no move", e, w.in.State, to)
	}
	w.in.State = to
	switch to {
	case Failed, TimedOut, Lost:
		w.letters++
		w.ended = to
	case Succeeded, Skipped, Canceled:
		w.ended = to
	}
}

// steps are what may happen to an instance in its present state.
func (w *walk) steps() map[string]func() {
	wait := map[string]func(){"message": w.message, "cancel": w.rarely(w.cancel), "report": w.rarely(w.reportWaiting)}
	switch w.in.State {
	case Pending:
		wait["hand over"] = func() { w.move(EventHandOver, Queued) }
		return wait
	case Queued, Retrying:
		return wait
	case Running:
		return map[string]func(){
			"message": w.message, "send": w.send, "answer": w.answer, "another answer": w.answer, "node dies": func() { w.lose(false) },
			"node stops": func() { w.lose(true) }, "hand back": w.handBack, "report": w.rarely(w.reportRunning),
			"wish": w.rarely(func() { w.in.CancelWanted = w.now }),
		}
	case Awaiting:
		return map[string]func(){
			"message": w.message, "no receipt": w.missReceipt, "report": w.reportRunning, "cancel": w.rarely(w.cancel),
		}
	default:
		return map[string]func(){"message": w.message}
	}
}

// rarely keeps what ends a walk from ending most of them early.
func (w *walk) rarely(do func()) func() {
	return func() {
		if rapid.IntRange(0, 9).Draw(w.r, "rarely") == 9 {
			do()
		}
	}
}

func (w *walk) cancel() { w.move(EventCancel, Canceled) }

func (w *walk) step() {
	steps := w.steps()
	var names []string
	for name := range steps {
		names = append(names, name)
	}
	slices.Sort(names)
	w.now = w.now.Add(time.Duration(rapid.IntRange(0, 90_000).Draw(w.r, "ms")) * time.Millisecond)
	steps[rapid.SampledFrom(names).Draw(w.r, "step")]()
}

// message delivers a message, which may be late, early or one of many.
func (w *walk) message() {
	v := ClaimView{Instance: w.in, Task: w.task}
	v.NodeGone = rapid.IntRange(0, 9).Draw(w.r, "node") == 9
	v.Task.Enabled = rapid.IntRange(0, 9).Draw(w.r, "enabled") < 9
	v.Started = max(0, rapid.IntRange(-2, 2).Draw(w.r, "started"))
	v.Busy = rapid.IntRange(0, v.Started).Draw(w.r, "busy")
	if rapid.IntRange(0, 9).Draw(w.r, "paused") == 9 {
		v.Task.PausedFrom, v.Task.PausedUntil = w.now, w.now.Add(time.Minute)
	}
	w.judge(v, DecideClaim(v, w.now))
}

func (w *walk) judge(v ClaimView, got ClaimVerdict) {
	open := w.in.State == Pending || w.in.State == Queued || w.in.State == Retrying
	if !open && got.Kind != ClaimDrop && !v.NodeGone {
		w.r.Fatalf("%s is claimed: %v", w.in.State, got)
	}
	switch got.Kind {
	case ClaimTake:
		w.take(v, got)
	case ClaimSkip:
		if w.claims > 0 || w.in.Request() {
			w.r.Fatalf("skipped after %d claims, request: %v", w.claims, w.in.Request())
		}
		w.move(EventSkip, Skipped)
	case ClaimDefer:
		w.move(EventDefer, w.in.State)
		w.in.DueAt = got.Due
		w.in.Defers++
	case ClaimBack, ClaimWait:
		if !got.Due.After(w.now) {
			w.r.Fatalf("back at %s, which has passed", got.Due)
		}
	}
}

func (w *walk) take(v ClaimView, got ClaimVerdict) {
	limit := w.task.Spec.Policy.MaxConcurrent
	switch {
	case w.in.DueAt.After(w.now):
		w.r.Fatalf("claimed %s early", w.in.DueAt.Sub(w.now))
	case limit > 0 && v.Busy >= limit:
		w.r.Fatalf("%d are busy, the limit is %d", v.Busy, limit)
	case v.NodeGone || v.Task.Paused(w.now):
		w.r.Fatalf("claimed by a node that is gone, or in a pause")
	case !w.in.CancelWanted.IsZero():
		w.r.Fatalf("claimed again after a wish to cancel")
	}
	w.move(EventClaim, Running)
	w.claims++
	w.sent = false
	w.in.Attempt++
	w.in.Defers, w.in.SentAt, w.in.DeadlineAt = 0, time.Time{}, got.Deadline
}

// send is the moment at which the target may first notice.
func (w *walk) send() {
	p := w.task.Spec.Policy
	if !p.Idempotent {
		w.in.SentAt = w.now
		for _, definite := range w.sends {
			if !definite || !p.Retry.Unsafe {
				w.r.Fatalf("non-idempotent work is sent again after ends %v, permission: %v", w.sends, p.Retry.Unsafe)
			}
		}
	}
	w.sent = true
}

// answer is a result of the executor, which tells nothing but facts.
func (w *walk) answer() {
	res := Result{Outcome: OutcomeTimedOut, Definite: !w.sent, Error: "no"}
	if w.sent {
		res.Outcome = rapid.SampledFrom([]Outcome{OutcomeSucceeded, OutcomeFailed, OutcomeTimedOut, OutcomeAccepted, OutcomeCanceled}).Draw(w.r, "outcome")
		res.Definite = res.Outcome == OutcomeFailed && rapid.Bool().Draw(w.r, "definite")
	}
	e := w.in.Finish(res, w.task.Spec.Policy, w.now)
	if want := w.foresee(res); e.To != want {
		w.r.Fatalf("%+v makes %s, not %s", res, e.To, want)
	}
	w.end(e, res.Definite, map[State]Event{
		Succeeded: EventSucceed, Awaiting: EventAccept, Retrying: EventRetry, Failed: EventFail, TimedOut: EventFail, Canceled: EventCancel,
	}[e.To])
}

// foresee says what protocol.md makes of a result, from the model alone.
func (w *walk) foresee(res Result) State {
	p := w.task.Spec.Policy
	repeat := p.Idempotent || p.Retry.Unsafe && res.Definite
	for _, rule := range []struct {
		holds bool
		to    State
	}{
		{res.Outcome == OutcomeSucceeded, Succeeded},
		{!w.in.CancelWanted.IsZero(), Canceled},
		{res.Outcome == OutcomeAccepted, Awaiting},
		{repeat && w.failures < p.Retry.Max, Retrying},
		{res.Outcome == OutcomeTimedOut, TimedOut},
	} {
		if rule.holds {
			return rule.to
		}
	}
	return Failed
}

func (w *walk) lose(graceful bool) {
	e := w.in.Lose(w.task.Spec.Policy, graceful, w.now)
	switch {
	case graceful || !w.in.CancelWanted.IsZero():
		w.returns++
	default:
		w.deaths++
	}
	if e.To == Queued && !e.Redispatch {
		w.r.Fatal("its old message would count as sent")
	}
	w.end(e, false, EventLose)
}

func (w *walk) missReceipt() {
	e := w.in.MissReceipt(w.task.Spec.Policy, w.now)
	w.end(e, false, map[State]Event{Retrying: EventRetry, TimedOut: EventFail}[e.To])
}

// end writes an ending as the store does.
func (w *walk) end(e Ending, definite bool, event Event) {
	if e.Outcome == OutcomeAccepted != (e.To == Awaiting) {
		w.r.Fatalf("an attempt of %s ends %s", e.To, e.Outcome)
	}
	if e.To != Awaiting && w.sent {
		w.sends = append(w.sends, definite)
	}
	if e.To == Retrying {
		w.failures++
		if e.DueAt.Before(w.now) || e.DueAt.Nanosecond() != 0 || !e.LookAt.After(e.DueAt) {
			w.r.Fatalf("a retry due at %s, looked at at %s", e.DueAt, e.LookAt)
		}
	}
	w.in.Retries, w.in.Deaths = e.Retries, e.Deaths
	if !e.DueAt.IsZero() {
		w.in.DueAt = e.DueAt
	}
	w.move(event, e.To)
}

// handBack: what somebody wants canceled is ended instead.
func (w *walk) handBack() {
	if w.sent || !w.in.CancelWanted.IsZero() {
		return
	}
	w.returns++
	w.move(EventHandBack, Pending)
}

// reportWaiting: an earlier attempt's success is the truth, too.
func (w *walk) reportWaiting() {
	if w.claims > 0 && len(w.sends) > 0 {
		w.move(EventReceive, Succeeded)
	}
}

func (w *walk) reportRunning() {
	if w.sent {
		w.move(EventReceive, rapid.SampledFrom([]State{Succeeded, Failed}).Draw(w.r, "report"))
	}
}

// check compares the row with the model after each step.
func (w *walk) check() {
	p := w.task.Spec.Policy
	want := 0
	if w.ended == Failed || w.ended == TimedOut || w.ended == Lost {
		want = 1
	}
	switch {
	case w.ended != "" && w.in.State != w.ended:
		w.r.Fatalf("%s became %s", w.ended, w.in.State)
	case w.in.Attempt != w.claims:
		w.r.Fatalf("attempt %d after %d claims", w.in.Attempt, w.claims)
	case w.in.Retries != w.failures || w.failures > p.Retry.Max:
		w.r.Fatalf("%d retries by the row, %d by the model, %d allowed", w.in.Retries, w.failures, p.Retry.Max)
	case w.in.Deaths != w.deaths || w.deaths > MaxDeaths:
		w.r.Fatalf("%d deaths by the row, %d by the model", w.in.Deaths, w.deaths)
	case w.deaths == MaxDeaths && w.ended == "":
		w.r.Fatalf("open after %d deaths", w.deaths)
	case w.claims > 1+p.Retry.Max+MaxDeaths-1+w.returns:
		w.r.Fatalf("%d claims", w.claims)
	case w.letters != want:
		w.r.Fatalf("%d letters for the end %q", w.letters, w.ended)
	}
}

// finish shows that a success stays within reach of every open state.
func (w *walk) finish() {
	for range 4 {
		w.now = w.now.Add(48 * time.Hour)
		v := ClaimView{Instance: w.in, Task: w.task}
		switch w.in.State {
		case Pending, Queued, Retrying:
			w.judge(v, DecideClaim(v, w.now))
		case Running:
			w.send()
			w.end(w.in.Finish(Result{Outcome: OutcomeSucceeded}, w.task.Spec.Policy, w.now), true, EventSucceed)
		case Awaiting:
			w.reportRunning()
		}
		w.check()
	}
	if w.ended == "" {
		w.r.Fatalf("still %s", w.in.State)
	}
}

func TestAnInstanceMovesByTheTableAlone(t *testing.T) {
	t.Parallel()
	seen := map[State]int{}
	rapid.Check(t, func(r *rapid.T) {
		for range 8 {
			w := newWalk(r)
			for range rapid.IntRange(1, 60).Draw(r, "steps") {
				w.step()
				w.check()
			}
			if rapid.Bool().Draw(r, "to its end") {
				w.finish()
			}
			seen[w.ended]++
		}
	})
	for _, s := range States() {
		if s.Final() && seen[s] == 0 {
			t.Errorf("no walk ended %s: %v", s, seen)
		}
	}
}
