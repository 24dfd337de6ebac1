package views

import (
	"context"

	"ax/app/sched"
)

// latestMissed is how many ranges the page gets: when it has as many, older
// ones may be left out.
const latestMissed = 20

// missedOpen is how many ranges stand open; the others are folded away.
const missedOpen = 5

// missedWords says what a range of slots that didn't run is, and what its
// schedule does with such slots.
func missedWords(ctx context.Context, m sched.MissedRange) string {
	said := missedCount(ctx, m.Reason, m.Slots)
	if policy := missedPolicy(ctx, m); policy != "" && m.Reason != sched.MissedPaused {
		return t(ctx, "%s: %s|slots, policy", said, policy)
	}
	return said
}

func missedCount(ctx context.Context, why sched.MissReason, slots int) string {
	switch why {
	case sched.MissedPaused:
		return tn(ctx, "%d slots in a pause", slots)
	case sched.MissedCalendar:
		return tn(ctx, "%d slots on days off", slots)
	}
	return tn(ctx, "%d slots missed, too late to run", slots)
}

// missedPolicy says what the schedule does with such slots.
func missedPolicy(ctx context.Context, m sched.MissedRange) string {
	switch m.Policy {
	case string(sched.MoveDrop):
		return t(ctx, "dropped")
	case string(sched.MoveNext):
		return t(ctx, "moved to the next workday")
	case string(sched.MovePrevious):
		return t(ctx, "moved to the workday before")
	case string(sched.FireOnce):
		return t(ctx, "fire once")
	case string(sched.FireAll):
		return t(ctx, "fire all")
	case string(sched.SkipAll):
		return t(ctx, "not made up")
	}
	return ""
}

// missedTotals sums up the ranges shown by reason, in the order of the list.
func (p TaskPage) missedTotals(ctx context.Context) []string {
	var out []string
	for _, why := range []sched.MissReason{sched.MissedMisfire, sched.MissedPaused, sched.MissedCalendar} {
		slots, ranges := 0, 0
		for _, m := range p.Report.Missed {
			if m.Reason == why {
				slots += m.Slots
				ranges++
			}
		}
		if ranges > 1 {
			out = append(out, missedCount(ctx, why, slots))
		}
	}
	return out
}

// missedSub says how much of the past the list holds.
func (p TaskPage) missedSub(ctx context.Context) string {
	if len(p.Report.Missed) < latestMissed {
		return ""
	}
	return t(ctx, "the latest %d ranges; older ones are not counted here", len(p.Report.Missed))
}
