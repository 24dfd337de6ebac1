package alert

import (
	"time"

	"ax/app/cron"
)

// Silence is a time in which messages are held back: once, or again and again
// (a maintenance window). Incidents open and close meanwhile, and stand in the
// console; what is still wrong at the end is told then.
type Silence struct {
	ID     int64
	TeamID int64 // 0: of every team
	Scope  Scope
	RuleID int64 // 0: of every rule
	Reason string
	// Once: from StartsAt until EndsAt. Recurring: for Lasts from each moment of
	// Cron in Zone, within StartsAt and EndsAt (zero: without end).
	StartsAt time.Time
	EndsAt   time.Time
	Cron     string
	Zone     string
	Lasts    time.Duration
	// Hold also pauses the tasks that it covers, until it is over.
	Hold      bool
	CreatedBy string
	CreatedAt time.Time
	EndedAt   time.Time // by a person, before its time
}

// Active gives the end of the time at now; ok is false outside of it. A cron
// line that can't be read is never active: it was read when it was stored.
func (s Silence) Active(now time.Time) (until time.Time, ok bool) {
	if !s.EndedAt.IsZero() && !now.Before(s.EndedAt) || now.Before(s.StartsAt) || !s.EndsAt.IsZero() && !now.Before(s.EndsAt) {
		return time.Time{}, false
	}
	if s.Cron == "" {
		return s.EndsAt, true
	}
	start, ok := s.began(now)
	if !ok {
		return time.Time{}, false
	}
	until = start.Add(s.Lasts)
	if !s.EndsAt.IsZero() && s.EndsAt.Before(until) {
		until = s.EndsAt
	}
	return until, true
}

// began is the latest start of a recurring silence within Lasts before now.
func (s Silence) began(now time.Time) (time.Time, bool) {
	expr, err := cron.Parse(s.Cron)
	if err != nil {
		return time.Time{}, false
	}
	zone, err := cron.LoadZone(s.Zone)
	if err != nil {
		return time.Time{}, false
	}
	start, ok := expr.Prev(now.Add(time.Millisecond), zone)
	return start, ok && now.Sub(start) < s.Lasts
}

// Holds tells whether the silence holds back messages about a task of a team,
// under a rule.
func (s Silence) Holds(rule, team int64, t TaskMark) bool {
	return (s.TeamID == 0 || s.TeamID == team) && (s.RuleID == 0 || s.RuleID == rule) && s.Scope.Covers(t)
}
