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
	MissedMisfire  MissReason = "misfire"
	MissedPaused   MissReason = "paused"
	MissedCalendar MissReason = "calendar"
)

// MissedRange is a run of consecutive slots that were not run, with the
// reason and what the schedule says of such slots: its misfire policy, or where
// its calendar moves them. MakeUp is the slot that was run in their place, if
// any.
type MissedRange struct {
	ID         int64
	TaskID     int64
	TeamID     int64
	From, To   time.Time
	Slots      int
	Reason     MissReason
	Policy     string
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
	MakeUp time.Time // the first slot that runs though it has misfired; zero: none
	Next   time.Time // next_fire_at; zero: no slot is left
	Spent  int       // slots computed
}

// PlanTask decides about every slot of t from next_fire_at until the given
// instant, at most budget of them. Slots in a pause and on days off are
// recorded. A slot that is due later than its grace ago has misfired: the
// latest of them run, as many as the schedule says, the others are recorded.
// All others run.
func PlanTask(t Task, times Times, now, until time.Time, budget int) TaskPlan {
	var p TaskPlan
	book := missBook{task: t, times: times}
	late := now.Add(-t.Spec.Schedule.Grace() - t.Offset())
	kept := t.firstKept(times, late)
	slot := firstFrom(times, t.NextFireAt)
	for ; !slot.IsZero() && !slot.After(until) && p.Spent < budget; p.Spent++ {
		switch {
		case t.Paused(slot):
			book.add(slot, MissedPaused)
		case times.Off(slot):
			book.add(slot, MissedCalendar)
		case slot.Before(late) && (kept.IsZero() || slot.Before(kept)):
			book.add(slot, MissedMisfire)
		default:
			if slot.Before(late) && p.MakeUp.IsZero() {
				p.MakeUp = slot
			}
			p.Run = append(p.Run, slot)
		}
		slot = firstFrom(times, slot.Add(time.Millisecond))
	}
	book.makeUp(p.MakeUp)
	p.Missed, p.Next = book.ranges, slot
	return p
}

// firstKept is the first of the misfired slots that run; zero: none does.
func (t Task) firstKept(times Times, late time.Time) time.Time {
	var kept time.Time
	slot := late
	for n := t.Spec.Schedule.catchUp(); n > 0; {
		var ok bool
		if slot, ok = times.prevRun(slot, t.NextFireAt); !ok {
			break
		}
		if t.Paused(slot) {
			slot = t.PausedFrom
			continue
		}
		kept = slot
		n--
	}
	return kept
}

// missBook gathers missed slots into ranges of consecutive slots.
type missBook struct {
	task   Task
	times  Times
	ranges []MissedRange
}

func (b *missBook) add(slot time.Time, why MissReason) {
	if n := len(b.ranges) - 1; n >= 0 {
		r := &b.ranges[n]
		if next, ok := b.times.Next(r.To); ok && next.Equal(slot) && r.Reason == why {
			r.To = slot
			r.Slots++
			return
		}
	}
	policy := string(b.task.Spec.Schedule.Misfire)
	if why == MissedCalendar {
		policy = string(b.task.Spec.Schedule.CalendarMove)
	}
	r := MissedRange{
		TaskID: b.task.ID, TeamID: b.task.TeamID,
		From: slot, To: slot, Slots: 1, Reason: why, Policy: policy,
	}
	if prev, ok := b.times.Prev(slot); ok {
		r.Follows = prev
	}
	b.ranges = append(b.ranges, r)
}

// makeUp notes the slot that runs for the misfired ones, if any does.
func (b *missBook) makeUp(slot time.Time) {
	for i := range b.ranges {
		if b.ranges[i].Reason == MissedMisfire {
			b.ranges[i].MakeUp = slot
		}
	}
}
