package alert

import (
	"slices"
	"time"

	"ax/app/sched"
)

// Holding asks for the pause of a task over a window of a silence.
type Holding struct {
	Task      TaskMark
	SilenceID int64
	From      time.Time
	Until     time.Time // the window's end, which tells it from later ones
	Reason    string
}

// Held is what is remembered of a task that a silence holds, until the window is
// over: it is held once per window, so that whoever resumes it by hand has the
// last word.
type Held struct {
	TaskID    int64
	SilenceID int64
	Until     time.Time // the window's end
	SetUntil  time.Time // the pause that was set; zero: a longer one was left alone
	Person    time.Time // until when a person had paused the task; zero: they had not
}

// ceilSecond rounds up to the whole seconds at which pauses end.
func ceilSecond(t time.Time) time.Time {
	if u := t.Truncate(time.Second); u.Before(t) {
		return u.Add(time.Second)
	}
	return t
}

func laterOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// isOurs tells whether the task's pause ends when one that was held set it to.
func isOurs(t sched.Task, held []Held) bool {
	return slices.ContainsFunc(held, func(h Held) bool { return !h.SetUntil.IsZero() && h.SetUntil.Equal(t.PausedUntil) })
}

// Pause gives the task as it is to be, and what is to be remembered; others are
// what other silences remember of it. A pause that is longer stays as it is.
func (h Holding) Pause(t sched.Task, others []Held, now time.Time) (sched.Task, Held) {
	held := Held{TaskID: t.ID, SilenceID: h.SilenceID, Until: h.Until}
	from, until := laterOf(h.From, now), ceilSecond(h.Until)
	for _, o := range others {
		held.Person = laterOf(held.Person, o.Person)
	}
	if t.PausedUntil.After(now) {
		if !isOurs(t, others) {
			held.Person = t.PausedUntil
		}
		if !t.PausedUntil.Before(until) && !t.PausedFrom.After(from) {
			return t, held
		}
		if t.PausedFrom.Before(from) {
			from = t.PausedFrom
		}
		until = laterOf(until, t.PausedUntil)
	}
	t.PausedFrom, t.PausedUntil, held.SetUntil = from, until, until
	return t, held
}

// Release gives the task as it is to be when the silence holds it no longer:
// paused as long as a person or another silence wants it. A pause that somebody
// changed meanwhile stays as it is.
func (h Held) Release(t sched.Task, others []Held, now time.Time) sched.Task {
	if !t.PausedUntil.After(now) || !isOurs(t, append(slices.Clone(others), h)) {
		return t
	}
	until := laterOf(now, h.Person)
	for _, o := range others {
		until = laterOf(until, laterOf(o.Person, ceilSecond(o.Until)))
	}
	if until.Before(t.PausedUntil) {
		t.PausedUntil = until
	}
	return t
}

// Wants tells whether the silence's own pause ends at until.
func (h Held) Wants(until time.Time) bool { return ceilSecond(h.Until).Equal(until) }

// window gives the silence's window at now, or the one that begins within ahead.
func (s Silence) window(now time.Time, ahead time.Duration) (from, until time.Time, ok bool) {
	for _, at := range []time.Time{now, now.Add(ahead)} {
		if until, ok = s.Active(at); !ok {
			continue
		}
		from = s.StartsAt
		if s.Cron != "" {
			if start, began := s.began(at); began {
				from = laterOf(from, start)
			}
		}
		return from, until, true
	}
	return from, until, false
}
