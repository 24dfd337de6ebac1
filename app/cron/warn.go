package cron

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// Note is a remark about a valid expression. Format is an English text that
// serves as the key of its translation, Args are its values in order.
type Note struct {
	Format string
	Args   []any
}

// String gives the English text.
func (n Note) String() string {
	if len(n.Args) == 0 {
		return n.Format
	}
	return fmt.Sprintf(n.Format, n.Args...)
}

// Warnings returns what people often don't mean although it is valid, and what
// the clock changes of loc do to the expression in the year after from.
func (e Expr) Warnings(from time.Time, loc *time.Location) []Note {
	if e.r == nil || e.r.every > 0 {
		return nil
	}
	var notes []Note
	notes = append(notes, e.r.densityNotes()...)
	notes = append(notes, e.r.dayNotes()...)
	return append(notes, e.r.clockChangeNotes(from, orUTC(loc))...)
}

func (r *rule) densityNotes() []Note {
	runs := bits.OnesCount64(r.sec) * bits.OnesCount64(r.min) * bits.OnesCount64(r.hour)
	second, minute, hour := r.fields[0], r.fields[1], r.fields[2]
	open := func(field string, set uint64, all int) bool { return field == "*" || bits.OnesCount64(set) == all }
	switch {
	case second == "*" && !(open(minute, r.min, 60) && open(hour, r.hour, 24)):
		return []Note{{"%d runs a day: the second is *, so it runs in each second of the times named", []any{runs}}}
	case minute == "*" && !open(hour, r.hour, 24):
		return []Note{{"%d runs a day: the minute is *, so it runs in each minute of the hours named", []any{runs}}}
	}
	return nil
}

func (r *rule) dayNotes() []Note {
	if r.days.either {
		return []Note{{"Both day fields are set: it runs on days that match either of them, not only on days that match both", nil}}
	}
	if !r.days.everyDom() && !r.days.everyDow() {
		return []Note{{"Both day fields are set and one begins with *: it runs only on days that match both", nil}}
	}
	return nil
}

// clockChangeNotes tells the first gap and the first fold within a year that
// touch a run.
func (r *rule) clockChangeNotes(from time.Time, loc *time.Location) []Note {
	var notes []Note
	var gap, fold bool
	end := min(from.AddDate(1, 0, 0).Unix(), r.lastSecond())
	for s := segmentAt(from.Unix(), loc); s.end < end && s.end != math.MaxInt64; {
		bound := s.end
		s = segmentAt(bound, loc)
		switch shift := s.offset - s.before; {
		case s.start != bound: // the end of a year, see segmentAt
		case shift > 0 && !gap && r.affected(s.start+s.before, s.start+s.offset):
			gap = true
			notes = append(notes, r.gapNote(s))
		case shift < 0 && !fold && r.affected(s.start+s.offset, s.start+s.before):
			fold = true
			notes = append(notes, r.foldNote(s))
		}
	}
	return slices.Clip(notes)
}

// affected says whether a run falls into the missing or repeated local times
// and the change can be noticed: what runs at the same pace round the clock
// just goes on.
func (r *rule) affected(from, to int64) bool {
	const allHours, allMinutes = 1<<24 - 1, 1<<60 - 1
	steady := r.hour == allHours && ((to-from)%3600 == 0 || r.min == allMinutes)
	if r.realTime && steady {
		return false
	}
	_, ok := r.nextCivil(from, to)
	return ok
}

func (r *rule) gapNote(s segment) Note {
	date, was, now := changeTimes(s)
	if r.realTime {
		return Note{"On %s the clocks go forward from %s to %s: what is due in between does not run that day", []any{date, was, now}}
	}
	return Note{"On %s the clocks go forward from %s to %s: what is due in between runs once, at %s", []any{date, was, now, now}}
}

func (r *rule) foldNote(s segment) Note {
	date, was, now := changeTimes(s)
	if r.realTime {
		return Note{"On %s the clocks go back from %s to %s: what is due in between runs twice", []any{date, was, now}}
	}
	return Note{"On %s the clocks go back from %s to %s: what is due in between runs once, at the first pass", []any{date, was, now}}
}

// changeTimes returns the local date of a clock change and the local times
// before and after it.
func changeTimes(s segment) (date, was, now string) {
	old, changed := time.Unix(s.start+s.before, 0).UTC(), time.Unix(s.start+s.offset, 0).UTC()
	was, now = clockText(old), clockText(changed)
	if old.YearDay() != changed.YearDay() { // over midnight: each with its date
		was, now = old.Format("2006-01-02 ")+was, changed.Format("2006-01-02 ")+now
	}
	return old.Format("2006-01-02"), was, now
}

func clockText(t time.Time) string {
	if t.Second() != 0 {
		return t.Format("15:04:05")
	}
	return t.Format("15:04")
}
