package jobs

import (
	"context"
	"errors"
	"net/http"
	"time"

	"ax/app/sched"
)

// errFirstByte ends a call whose answer did not begin in time.
var errFirstByte = errors.New("no first byte of the answer in time")

// limitsKey finds a call's own limits in its context.
type limitsKey struct{}

// limits of the parts of a call; 0: the whole time limit alone.
type limits struct{ connect, tls, firstByte time.Duration }

func limitsOf(r *sched.HTTPRules) limits {
	if r == nil {
		return limits{}
	}
	return limits{connect: time.Duration(r.ConnectSeconds) * time.Second, tls: time.Duration(r.TLSSeconds) * time.Second, firstByte: time.Duration(r.FirstByteSeconds) * time.Second}
}

// within bounds a part of the connecting.
func within(ctx context.Context, part func(limits) time.Duration) (context.Context, context.CancelFunc) {
	if own, ok := ctx.Value(limitsKey{}).(limits); ok && part(own) > 0 {
		return context.WithTimeout(ctx, part(own))
	}
	return context.WithCancel(ctx)
}

// watch ends the call when its answer doesn't begin in time after the
// connection stood. begin and stop may be called any number of times.
func (l limits) watch(ctx context.Context) (_ context.Context, begin, stop func()) {
	if l.firstByte == 0 {
		return ctx, func() {}, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(l.firstByte, func() { cancel(errFirstByte) })
	timer.Stop()
	return ctx, func() { timer.Reset(l.firstByte) }, func() { timer.Stop() }
}

// wantsQuiet is how long a target that has too much to do asks to be left
// alone; 0: it doesn't.
func wantsQuiet(resp *http.Response, now time.Time) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	return retryAfter(resp.Header, now)
}
