package views

import (
	"context"

	"ax/app/sched"
)

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

// missedTotals are all slots that did not run, by reason, however long ago.
func (p TaskPage) missedTotals(ctx context.Context) []string {
	var out []string
	for _, why := range []sched.MissReason{sched.MissedMisfire, sched.MissedPaused, sched.MissedCalendar} {
		if all := p.Report.MissedTotals[why]; all.Ranges > 1 {
			out = append(out, missedCount(ctx, why, all.Slots))
		}
	}
	return out
}

// missedSub says how much of the past the list holds, when that isn't all.
func (p TaskPage) missedSub(ctx context.Context) string {
	ranges := 0
	for _, all := range p.Report.MissedTotals {
		ranges += all.Ranges
	}
	if ranges <= len(p.Report.Missed) {
		return ""
	}
	return t(ctx, "the latest %d of %s ranges", len(p.Report.Missed), number(ranges))
}
