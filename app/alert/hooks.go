package alert

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"ax/app/fail"
	"ax/app/sched"
)

// RunFacts are an end that the hook of a task tells of. What targets wrote, such
// as Error, is not to be trusted.
type RunFacts struct {
	On         sched.HookOn `json:"on"`
	InstanceID string       `json:"instance_id"`
	Task       string       `json:"task"` // code
	Name       string       `json:"name"` // of the task
	BizID      string       `json:"biz_id"`
	State      sched.State  `json:"state"`
	Changed    bool         `json:"changed"` // the end before was of the other kind
	Error      string       `json:"error,omitempty"`
	Attempt    int          `json:"attempt"`
	StartedAt  time.Time    `json:"started_at,omitzero"` // zero: it never began
	FinishedAt time.Time    `json:"finished_at"`
}

// took is from its first attempt to its end.
func (r RunFacts) took() time.Duration {
	if r.StartedAt.IsZero() {
		return 0
	}
	return r.FinishedAt.Sub(r.StartedAt)
}

// HookEnd is an end with the channel that a hook names for it.
type HookEnd struct {
	ChannelID string
	TaskID    int64
	TeamID    int64
	Team      string // name
	Run       RunFacts
}

// Dedupe is of the message: a hook tells of an end once.
func (h HookEnd) Dedupe() string { return HookDedupe(h.Run.On, h.Run.InstanceID) }

// HookDedupe is of the message of a hook about an instance.
func HookDedupe(on sched.HookOn, instance string) string {
	return "hook/" + string(on) + "/" + instance
}

// hooks makes the messages of the hooks of tasks, round by round; false when
// there is more than a turn takes.
func (e *Events) hooks(ctx context.Context, from, now time.Time) (all bool, err error) {
	for range eventsRounds {
		ends, err := e.o.Box.UntoldEnds(ctx, from, eventsMost)
		if err != nil {
			return false, fmt.Errorf("look what hooks tell: %w", err)
		}
		out := make([]Delivery, len(ends))
		for i, h := range ends {
			id := e.o.NewID()
			m := Message{ID: id, Kind: Ran, At: now, Team: h.Team, Path: "/instances/" + h.Run.InstanceID, Run: &h.Run}
			out[i] = Delivery{
				ID: id, TeamID: h.TeamID, ChannelID: h.ChannelID, Object: "task/" + strconv.FormatInt(h.TaskID, 10), Dedupe: h.Dedupe(),
				Kind: Ran, Message: m, State: Waiting, CreatedAt: now, DueAt: now,
			}
		}
		if len(out) > 0 {
			if err := fail.At("hooks.found"); err != nil {
				return false, err
			}
			if err := e.o.Box.InsertDeliveries(ctx, out); err != nil {
				return false, err
			}
		}
		if len(ends) < eventsMost {
			return true, nil
		}
	}
	return false, nil
}
