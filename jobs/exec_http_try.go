package jobs

import (
	"context"
	"sync"
	"time"

	"ax/app/sched"
)

// watchKey finds the watch of a test call in its context. A nil watch watches
// nothing.
type watchKey struct{}

// watch notes what a test call tells besides its result. Connections are made
// beside the call, and may outlast it.
type watch struct {
	now   func() time.Time
	mu    sync.Mutex
	since time.Time // the connection stood
	told  sched.Tried
}

func watchOf(ctx context.Context) *watch {
	w, _ := ctx.Value(watchKey{}).(*watch)
	return w
}

// Try makes a test call: it is Execute, and tells what was sent and how long
// each part took.
func (h *HTTP) Try(ctx context.Context, call sched.Call) sched.Tried {
	w := &watch{now: h.o.Local}
	began := w.now()
	r := h.Execute(context.WithValue(ctx, watchKey{}, w), call)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told.Result, w.told.Parts.Whole = r, w.now().Sub(began)
	return w.told
}

// sends notes the body, as far as it is shown.
func (w *watch) sends(body []byte) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	whole := readable(string(body))
	if w.told.Body = firstBytes(whole, keptBody); len(w.told.Body) < len(whole) {
		w.told.Body += "\n[truncated]"
	}
}

// measure adds the time until its answer is called to a part.
func (w *watch) measure(part func(*sched.CallParts) *time.Duration) (end func()) {
	if w == nil {
		return func() {}
	}
	began := w.now()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		*part(&w.told.Parts) += w.now().Sub(began)
	}
}

func (w *watch) connected(kept bool) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.since, w.told.Parts.Kept = w.now(), kept
}

func (w *watch) answers() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told.Parts.FirstByte += w.now().Sub(w.since)
}
