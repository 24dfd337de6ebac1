package sched

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"ax/app/access"
	"ax/app/fault"
)

// maxSwitchReason bounds the reason of a switch, in characters.
const maxSwitchReason = 500

// switchStore is what the switches need of the ledger.
type switchStore interface {
	Teams(ctx context.Context, s access.Scope) ([]access.Team, error)
	// SetDraining is NotFound when no node that lives has the id. It asks for
	// the audit row of what it found, and changes nothing when nothing changes.
	SetDraining(ctx context.Context, id string, on bool, entry func(NodeInfo) access.Entry) error
	// SetQueuePaused notes it with its audit row, and does what makes it so in
	// the same transaction; doing it twice must be as doing it once.
	SetQueuePaused(ctx context.Context, queue string, on bool, e access.Entry, do func() error) error
	PausedQueues(ctx context.Context) ([]string, error)
	// WhilePaused does something if the queue is noted as paused, and keeps the
	// note from being taken away meanwhile.
	WhilePaused(ctx context.Context, queue string, do func() error) error
}

// queueSwitch is the carrier's.
type queueSwitch interface {
	// Pause and Unpause change nothing twice. Faults: NotFound, Unavailable.
	Pause(ctx context.Context, queue string) error
	Unpause(ctx context.Context, queue string) error
}

// Switches stop and start what carries the work of all teams: queues and nodes.
type Switches struct {
	store   switchStore
	carrier queueSwitch
	clock   *Clock
}

// NewSwitches makes the switches.
func NewSwitches(store switchStore, carrier queueSwitch, clock *Clock) *Switches {
	return &Switches{store: store, carrier: carrier, clock: clock}
}

// May tells whether the actor may use them: who may pause the tasks of every
// team.
func (s *Switches) May(ctx context.Context, by access.Actor) (bool, error) {
	err := s.Check(ctx, by)
	if fault.KindOf(err) == fault.KindDenied {
		return false, nil
	}
	return err == nil, err
}

// Check is May as an error. Faults: Denied.
func (s *Switches) Check(ctx context.Context, by access.Actor) error {
	teams, err := s.store.Teams(ctx, access.Scope{All: true})
	if err != nil {
		return err
	}
	return by.CheckAll(access.PauseTask, teams)
}

// admit checks the right and the reason.
func (s *Switches) admit(ctx context.Context, by access.Actor, reason string, needed bool) (string, error) {
	if err := s.Check(ctx, by); err != nil {
		return "", err
	}
	switch reason = strings.TrimSpace(reason); {
	case needed && reason == "":
		return "", fault.Invalid(fault.Field("reason", "A reason is needed: the audit keeps it"))
	case utf8.RuneCountInString(reason) > maxSwitchReason:
		return "", fault.Invalid(fault.Field("reason", "At most %d characters", maxSwitchReason))
	}
	return reason, nil
}

// PauseQueue stops all nodes from taking work of the queue; it gathers.
// Faults: Denied, Invalid (reason), NotFound, Unavailable (the carrier is away).
func (s *Switches) PauseQueue(ctx context.Context, by access.Actor, queue, reason string) error {
	reason, err := s.admit(ctx, by, reason, true)
	if err != nil {
		return err
	}
	do := func() error { return s.carrier.Pause(ctx, queue) }
	if err := s.store.SetQueuePaused(ctx, queue, true, s.entry(by, "queue.pause", "queue", queue, queue, reason), do); err != nil {
		return fmt.Errorf("pause queue %s: %w", queue, err)
	}
	return nil
}

// ResumeQueue lets nodes take work of the queue again. Faults: those of
// PauseQueue.
func (s *Switches) ResumeQueue(ctx context.Context, by access.Actor, queue, reason string) error {
	reason, err := s.admit(ctx, by, reason, false)
	if err != nil {
		return err
	}
	do := func() error { return s.carrier.Unpause(ctx, queue) }
	if err := s.store.SetQueuePaused(ctx, queue, false, s.entry(by, "queue.resume", "queue", queue, queue, reason), do); err != nil {
		return fmt.Errorf("resume queue %s: %w", queue, err)
	}
	return nil
}

// Drain wishes that a node takes no new work, from its next beat on; what it
// runs goes on. Faults: Denied, Invalid (reason), NotFound.
func (s *Switches) Drain(ctx context.Context, by access.Actor, node, reason string) error {
	return s.drain(ctx, by, node, reason, true)
}

// StopDraining wishes that a node takes work again. Faults: those of Drain.
func (s *Switches) StopDraining(ctx context.Context, by access.Actor, node, reason string) error {
	return s.drain(ctx, by, node, reason, false)
}

func (s *Switches) drain(ctx context.Context, by access.Actor, node, reason string, on bool) error {
	reason, err := s.admit(ctx, by, reason, on)
	if err != nil {
		return err
	}
	action := "node.drain"
	if !on {
		action = "node.resume"
	}
	err = s.store.SetDraining(ctx, node, on, func(n NodeInfo) access.Entry {
		return s.entry(by, action, "node", n.ID, n.Name(), reason)
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", action, node, err)
	}
	return nil
}

func (s *Switches) entry(by access.Actor, action, kind, id, name, reason string) access.Entry {
	return access.Entry{At: s.clock.Now(), Actor: by, Action: action, Object: access.Object{Kind: kind, ID: id, Name: name}, Reason: reason}
}

// Hold pauses in the carrier what the ledger says is paused: a carrier that
// was wiped knows nothing of it. It is a loop's tick.
func (s *Switches) Hold(ctx context.Context) (bool, error) {
	queues, err := s.store.PausedQueues(ctx)
	if err != nil {
		return false, err
	}
	return false, each(ctx, queues, func(queue string) error {
		err := s.store.WhilePaused(ctx, queue, func() error { return s.carrier.Pause(ctx, queue) })
		if fault.KindOf(err) == fault.KindNotFound { // the configuration has it no more
			return nil
		}
		return err
	})
}

// HoldEvery is the pause between two turns of Hold.
const HoldEvery = 10 * time.Second
