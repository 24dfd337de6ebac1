package sched

import "time"

// Bounds of planning (design.md section 5, engine-sql.md section 3).
const (
	// PlanHorizon is how far ahead of its time a slot becomes an instance.
	PlanHorizon = 2 * time.Second
	// PlanBudget is how many slots one transaction computes; the rest follows
	// in the next, from where next_fire_at stands.
	PlanBudget = 10_000
)

// MissReason says why slots were recorded instead of run.
type MissReason string

// The reasons.
const (
	MissedMisfire MissReason = "misfire"
	MissedPaused  MissReason = "paused"
)

// MissedRange is a run of consecutive slots that were not run, with the
// reason. MakeUp is the slot that was run in their place, if any.
type MissedRange struct {
	ID         int64
	TaskID     int64
	TeamID     int64
	From, To   time.Time
	Slots      int
	Reason     MissReason
	Policy     Misfire
	MakeUp     time.Time
	InstanceID string
	PlannedBy  string
	CreatedAt  time.Time
	// Follows is the schedule's slot before From: a range that ends there is
	// continued instead of a new one begun.
	Follows time.Time
}

// TaskPlan is what one task's due slots become.
type TaskPlan struct {
	Run    []time.Time // slots that become instances
	Missed []MissedRange
	Next   time.Time // next_fire_at; zero: no slot is left
	Spent  int       // slots computed
}

// PlanTask decides about every slot of t from next_fire_at until the given
// instant, at most budget of them. Slots in a pause are recorded; of slots
// later than MisfireGrace the latest runs and the others are recorded
// (fire_once); all others run.
func PlanTask(t Task, times Times, now, until time.Time, budget int) TaskPlan {
	var p TaskPlan
	book := missBook{task: t, times: times}
	late := now.Add(-MisfireGrace)
	var missed time.Time // latest misfired slot, not yet decided upon
	slot := firstFrom(times, t.NextFireAt)
	for ; !slot.IsZero() && !slot.After(until) && p.Spent < budget; p.Spent++ {
		switch {
		case t.Paused(slot):
			book.add(slot, MissedPaused)
		case slot.Before(late):
			if !missed.IsZero() {
				book.add(missed, MissedMisfire)
			}
			missed = slot
		default:
			p.Run = append(p.Run, slot)
		}
		slot = firstFrom(times, slot.Add(time.Millisecond))
	}
	if !missed.IsZero() {
		// While late slots are left for the next transaction, the latest of
		// all is not known yet. Those in a pause don't count: none of them runs.
		rest := slot
		if t.Paused(rest) {
			rest = firstFrom(times, t.PausedUntil)
		}
		if !rest.IsZero() && rest.Before(late) && !rest.After(until) {
			book.add(missed, MissedMisfire)
		} else {
			p.Run = append([]time.Time{missed}, p.Run...)
			book.makeUp(missed)
		}
	}
	p.Missed, p.Next = book.ranges, slot
	return p
}

// missBook gathers missed slots into ranges of consecutive slots.
type missBook struct {
	task   Task
	times  Times
	ranges []MissedRange
}

func (b *missBook) add(slot time.Time, why MissReason) {
	// A misfired slot is booked when the next one is found, so a paused one may
	// stand between it and its range.
	for i := range b.ranges {
		r := &b.ranges[i]
		if next, ok := b.times.Next(r.To); ok && next.Equal(slot) && r.Reason == why {
			r.To = slot
			r.Slots++
			return
		}
	}
	r := MissedRange{
		TaskID: b.task.ID, TeamID: b.task.TeamID,
		From: slot, To: slot, Slots: 1, Reason: why, Policy: b.task.Spec.Schedule.Misfire,
	}
	if prev, ok := b.times.Prev(slot); ok {
		r.Follows = prev
	}
	b.ranges = append(b.ranges, r)
}

// makeUp notes the slot that runs for the misfired ones.
func (b *missBook) makeUp(slot time.Time) {
	for i := range b.ranges {
		if b.ranges[i].Reason == MissedMisfire {
			b.ranges[i].MakeUp = slot
		}
	}
}
