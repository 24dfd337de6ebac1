package alert

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	// holdAhead is how long before a window begins its tasks get their pause, so
	// that none starts between the begin and the next tick.
	holdAhead = 30 * time.Second
	// holdBatch is how many tasks one tick pauses or releases.
	holdBatch = 500
)

// holdBook is what the holder needs of the ledger.
type holdBook interface {
	// HoldingSilences are those with Hold that are not over.
	HoldingSilences(ctx context.Context, now time.Time) ([]Silence, error)
	HeldTasks(ctx context.Context) ([]Held, error)
	TaskMarks(ctx context.Context) ([]TaskMark, error)
	// HoldTask pauses a task as Holding.Pause says, once per window, with an audit
	// row; false when it was done already or the task is gone.
	HoldTask(ctx context.Context, h Holding, now time.Time) (bool, error)
	// ReleaseTask resumes a task as Held.Release says, with an audit row, and
	// forgets that it was held; false when somebody else did.
	ReleaseTask(ctx context.Context, h Held, now time.Time) (bool, error)
	// ForgetHeld drops what was held until now: those pauses are over by
	// themselves.
	ForgetHeld(ctx context.Context, now time.Time) error
}

// Holder pauses the tasks that silences with Hold cover, and resumes them when
// such a silence is ended before its time. Several nodes may run it at once.
type Holder struct {
	book holdBook
	log  *slog.Logger
	now  func() time.Time
}

// NewHolder makes the loop.
func NewHolder(b holdBook, log *slog.Logger, now func() time.Time) *Holder {
	return &Holder{book: b, log: log, now: now}
}

// claim is one task under one silence.
type claim struct{ task, silence int64 }

// Tick brings the pauses of tasks in line with the silences once. more tells
// that there was more than one tick does. One task that can't be changed does
// not stop the others.
func (h *Holder) Tick(ctx context.Context) (more bool, err error) {
	now := h.now()
	silences, err := h.book.HoldingSilences(ctx, now)
	if err != nil {
		return false, fmt.Errorf("read the silences that hold: %w", err)
	}
	held, err := h.book.HeldTasks(ctx)
	if err != nil {
		return false, fmt.Errorf("read the held tasks: %w", err)
	}
	if len(silences) == 0 && len(held) == 0 {
		return false, nil
	}
	if err := h.book.ForgetHeld(ctx, now); err != nil {
		return false, fmt.Errorf("forget tasks that were held: %w", err)
	}
	wanted, err := h.wanted(ctx, silences, now)
	if err != nil {
		return false, err
	}
	left := holdBatch
	if left, err = h.release(ctx, held, wanted, now, left); err == nil && left > 0 {
		left, err = h.hold(ctx, held, wanted, now, left)
	}
	return left <= 0, err
}

// wanted gives what the windows at now, or soon, cover.
func (h *Holder) wanted(ctx context.Context, silences []Silence, now time.Time) (map[claim]Holding, error) {
	var marks []TaskMark
	out := map[claim]Holding{}
	for _, s := range silences {
		from, until, ok := s.window(now, holdAhead)
		if !ok {
			continue
		}
		if marks == nil {
			var err error
			if marks, err = h.book.TaskMarks(ctx); err != nil {
				return nil, fmt.Errorf("read the tasks to hold: %w", err)
			}
		}
		for _, t := range marks {
			if s.Holds(0, t.TeamID, t) {
				out[claim{t.ID, s.ID}] = Holding{Task: t, SilenceID: s.ID, From: from, Until: until, Reason: s.Reason}
			}
		}
	}
	return out, nil
}

// release resumes what is held and not wanted any more.
func (h *Holder) release(ctx context.Context, held []Held, wanted map[claim]Holding, now time.Time, left int) (int, error) {
	for _, x := range held {
		w, still := wanted[claim{x.TaskID, x.SilenceID}]
		if still && w.Until.Equal(x.Until) || !x.Until.After(now) {
			continue
		}
		if left--; left <= 0 {
			return 0, nil
		}
		if _, err := h.book.ReleaseTask(ctx, x, now); err != nil {
			if ctx.Err() != nil {
				return left, err
			}
			h.log.WarnContext(ctx, "a task that a silence held could not be resumed", "task", x.TaskID, "silence", x.SilenceID, "error", err)
		}
	}
	return left, nil
}

// hold pauses what is wanted and not held yet.
func (h *Holder) hold(ctx context.Context, held []Held, wanted map[claim]Holding, now time.Time, left int) (int, error) {
	for _, x := range held {
		if w, ok := wanted[claim{x.TaskID, x.SilenceID}]; ok && w.Until.Equal(x.Until) {
			delete(wanted, claim{x.TaskID, x.SilenceID})
		}
	}
	for _, w := range wanted {
		if left--; left <= 0 {
			return 0, nil
		}
		if _, err := h.book.HoldTask(ctx, w, now); err != nil {
			if ctx.Err() != nil {
				return left, err
			}
			h.log.WarnContext(ctx, "a task could not be held for a silence", "task", w.Task.Code, "silence", w.SilenceID, "error", err)
		}
	}
	return left, nil
}
