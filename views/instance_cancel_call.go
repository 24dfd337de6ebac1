package views

import (
	"context"

	"ax/app/sched"
)

// stopText says what became of telling a target to stop.
func stopText(ctx context.Context, c sched.CancelCall) string {
	tries := tn(ctx, "after %d tries", c.Tries)
	switch {
	case c.Told() && c.StatusCode != 0:
		return t(ctx, "it answered %s, %s", number(c.StatusCode), tries)
	case c.Told():
		return t(ctx, "the broker took the message, %s", tries)
	case !c.Waiting():
		return t(ctx, "given up %s: %s", tries, errorText(ctx, c.Error))
	case c.Error == "":
		return t(ctx, "it is being sent")
	}
	return t(ctx, "not yet, %s: %s. The next try is at %s.", tries, errorText(ctx, c.Error), clock(ctx, c.DueAt))
}

// stopWhy says why a target is told to stop.
func stopWhy(ctx context.Context, c sched.CancelCall) string {
	switch {
	case c.Reason == sched.BecauseTimedOut:
		return t(ctx, "the time was over")
	case c.By == "":
		return canceledText(ctx, sched.ByOverlap, "")
	}
	return canceledText(ctx, c.By, "")
}

// awaitingEffect is what follows when accepted work is canceled.
func awaitingEffect(ctx context.Context, to sched.Target) string {
	switch {
	case to.TakesCancel():
		return t(ctx, "It ends as canceled; a receipt that still comes changes nothing. The target is told to stop.")
	case to.Executor != "":
		return t(ctx, "It ends as canceled; a receipt that still comes changes nothing. The executor is told to stop, if it can be told.")
	}
	return t(ctx, "It ends as canceled; a receipt that still comes changes nothing. The target itself is not stopped.")
}
