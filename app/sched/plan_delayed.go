package sched

import "time"

// lookDelayed is how often the planner looks whether the run has ended that
// the next slot of a fixed delay follows. It never looks later than the delay,
// so no slot is late by it.
const lookDelayed = 5 * time.Second

// LastSlot is the latest slot of a task with a fixed delay.
type LastSlot struct {
	State   State // empty: there was none
	EndedAt time.Time
}

// PlanDelayed decides about the next slot of a task with a fixed delay: as long
// after the end of the latest slot's instance as the schedule says, and not
// before next_fire_at. While that instance is open there is no next slot, only
// the next look. In a pause there are no slots; the first is at its end.
func PlanDelayed(t Task, last LastSlot, now, until time.Time) TaskPlan {
	s := t.Spec.Schedule
	every := time.Duration(s.EverySeconds) * time.Second
	p := TaskPlan{Spent: 1}
	if last.State != "" && !last.State.Final() {
		p.Next = ceilSecond(now.Add(min(every, lookDelayed)))
		return p
	}
	slot := latest(t.NextFireAt, ceilSecond(last.EndedAt.Add(every)))
	slot = latest(slot, ceilSecond(s.StartAt))
	if t.Paused(slot) {
		slot = t.PausedUntil
	}
	switch {
	case !s.EndAt.IsZero() && slot.After(s.EndAt):
	case slot.After(until):
		p.Next = slot
	case s.catchUp() == 0 && slot.Before(now.Add(-s.Grace()-t.Offset())):
		p.Missed = []MissedRange{{
			TaskID: t.ID, TeamID: t.TeamID, From: slot, To: slot, Slots: 1, Reason: MissedMisfire, Policy: string(s.Misfire),
		}}
		p.Next = ceilSecond(now)
	default:
		p.Run, p.Next = []time.Time{slot}, slot.Add(every)
	}
	return p
}
