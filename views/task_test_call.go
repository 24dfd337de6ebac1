package views

import (
	"context"
	"strings"
	"time"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views/ui"
)

// TestCallView is what became of a test call of the form's task: an answer, or
// the reasons why none was made.
type TestCallView struct {
	Call   sched.TestCall
	Errors []fault.FieldError // of what is called; nothing was sent then
}

// testAction is where the form's values are sent to be tried.
func (p TaskFormPage) testAction() string {
	if p.fresh() {
		return "/tasks/new/test-call"
	}
	return taskURL(p.Stored.Code) + "/test-call"
}

// bad tells whether a run would not have come to a good end, or none yet.
func (v TestCallView) bad() bool {
	return len(v.Errors) > 0 || v.Call.Ending.To != sched.Succeeded && v.Call.Ending.To != sched.Awaiting
}

func (v TestCallView) icon() string {
	switch {
	case v.bad():
		return "circle-x"
	case v.Call.Ending.To == sched.Awaiting:
		return "hourglass"
	}
	return "circle-check"
}

// verdict says what would have become of a run.
func (v TestCallView) verdict(ctx context.Context) string {
	c := v.Call
	if c.Outcome == sched.OutcomeTimedOut && v.short() {
		return t(ctx, "No whole answer within %s, which is as long as a test waits. A run would wait %s.", duration(ctx, c.Limit), viewer(ctx).Exactly(c.Policy.TimeoutSeconds))
	}
	switch c.Ending.To {
	case sched.Succeeded:
		return t(ctx, "A run would have succeeded.")
	case sched.Awaiting:
		return t(ctx, "Accepted: a run would wait for its receipt, for %s at most.", viewer(ctx).Span(c.Ending.ReceiptDeadline.Sub(c.At).Round(time.Minute)))
	case sched.Retrying:
		if c.Outcome == sched.OutcomeTimedOut {
			return t(ctx, "Timed out: a run would be tried again after %s.", viewer(ctx).Span(c.Ending.DueAt.Sub(c.At)))
		}
		return t(ctx, "Failed: a run would be tried again after %s.", viewer(ctx).Span(c.Ending.DueAt.Sub(c.At)))
	case sched.TimedOut:
		return t(ctx, "Timed out: a run would end so and become a dead letter.")
	}
	return t(ctx, "Failed: a run would end so and become a dead letter.")
}

// short tells whether the test had less time than a run.
func (v TestCallView) short() bool {
	return v.Call.Limit < time.Duration(v.Call.Policy.TimeoutSeconds)*time.Second
}

// unsure says what isn't known of a call that failed.
func (v TestCallView) unsure(ctx context.Context) string {
	if r := v.Call.Result; v.bad() && !r.Definite {
		return t(ctx, "Whether the target did the work can’t be told.")
	} else if r.Unreached() {
		return t(ctx, "Surely nothing was sent.")
	}
	return ""
}

// parts are the times of a call, in the order in which they passed.
func (v TestCallView) parts(ctx context.Context) string {
	p := v.Call.Parts
	var out []string
	if p.Kept {
		out = append(out, t(ctx, "by a connection that stood already"))
	}
	for _, part := range []struct {
		took  time.Duration
		words string
	}{{p.Connect, msg("connected in %s")}, {p.TLS, msg("encrypted in %s")}, {p.FirstByte, msg("first byte after %s")}} {
		if part.took > 0 {
			out = append(out, t(ctx, part.words, duration(ctx, part.took)))
		}
	}
	return strings.Join(append(out, t(ctx, "%s in all", duration(ctx, p.Whole))), " · ")
}

// sent is the request with its body, as an attempt stores both.
func (v TestCallView) sent() string {
	if v.Call.Body == "" {
		return v.Call.Request
	}
	return v.Call.Request + "\n\n" + v.Call.Body
}

// fieldLink leads to the field of an error.
func (v TestCallView) fieldLink(e fault.FieldError) string {
	return "#" + (ui.Field{Name: e.Name}).ID()
}
