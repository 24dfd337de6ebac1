package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// logEvery bounds the lines of a loop that fails at every turn.
const logEvery = 10 * time.Second

// Loop is work that is done again and again: one turn at once, then the next
// one Every after its end. Again tells that more waits: the next turn follows
// at once. A loop never overlaps itself.
type Loop struct {
	Name  string
	Every time.Duration
	Tick  func(ctx context.Context) (again bool, err error)
}

// Watched puts watch around each turn of the loops.
func Watched(watch func(name string, tick func(context.Context) (bool, error)) func(context.Context) (bool, error), loops []Loop) []Loop {
	out := make([]Loop, len(loops))
	for i, l := range loops {
		out[i] = Loop{Name: l.Name, Every: l.Every, Tick: watch(l.Name, l.Tick)}
	}
	return out
}

// RunLoops runs the loops side by side until ctx is done and each has ended
// its turn. An error or a panic of one turn is logged and ends that turn only.
func RunLoops(ctx context.Context, log *slog.Logger, loops ...Loop) {
	var all sync.WaitGroup
	for _, l := range loops {
		all.Go(func() { l.run(ctx, log.With("loop", l.Name)) })
	}
	all.Wait()
}

func (l Loop) run(ctx context.Context, log *slog.Logger) {
	wait := time.NewTimer(0)
	defer wait.Stop()
	trouble := trouble{log: log}
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		for again := true; again && ctx.Err() == nil; {
			var err error
			again, err = l.turn(ctx)
			// More work behind an error can wait: no hot loop.
			again = again && err == nil
			if ctx.Err() == nil {
				trouble.note(err)
			}
		}
		wait.Reset(l.Every)
	}
}

func (l Loop) turn(ctx context.Context) (again bool, err error) {
	defer func() {
		if x := recover(); x != nil {
			again, err = false, fmt.Errorf("panic: %v\n%s", x, debug.Stack())
		}
	}()
	return l.Tick(ctx)
}

// trouble logs the first error of a row, then one every 10 s, then the end.
type trouble struct {
	log    *slog.Logger
	failed int // turns in this row
	logged time.Time
}

func (t *trouble) note(err error) {
	switch {
	case err == nil && t.failed > 0:
		t.log.Info("loop works again", "failed_turns", t.failed)
		t.failed = 0
	case err != nil:
		t.failed++
		if now := time.Now(); t.failed == 1 || now.Sub(t.logged) >= logEvery {
			t.log.Error("loop failed", "error", err, "failed_turns", t.failed)
			t.logged = now
		}
	}
}
