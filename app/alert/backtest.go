package alert

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Trial is what a rule would have done.
type Trial struct {
	From, To     time.Time
	Known, Exact time.Time // see Series
	Cut          bool
	Incidents    []TrialIncident // by their start
	Messages     int             // to each channel
}

// TrialIncident is one that a rule would have opened.
type TrialIncident struct {
	Cause    string // empty: the subject stands for itself
	Since    time.Time
	OpenedAt time.Time
	EndedAt  time.Time // zero: it is not over
	Worst    float64
	Subjects []Subject // all that it would have had, by key
	Messages int
}

// Lasted is how long it would have been open until it was over, or until now.
func (i TrialIncident) Lasted(now time.Time) time.Duration {
	if i.EndedAt.IsZero() {
		return now.Sub(i.OpenedAt)
	}
	return i.EndedAt.Sub(i.OpenedAt)
}

// spell is a stretch in which one subject broke the rule.
type spell struct {
	from, to time.Time
	open     bool // it still did at the end
	worst    float64
	subject  Subject
}

// BackTest tells which incidents a rule would have opened over a past, and how
// many messages it would have sent to each channel if nobody had acknowledged
// any: one when it opens, its repeats, and one when it is over. What has one
// cause is one incident.
func BackTest(r Rule, s Series) Trial {
	out := Trial{From: s.From, To: s.To, Known: s.Known, Exact: s.Exact, Cut: s.Cut}
	type key struct {
		team  int64
		cause string
	}
	by := map[key][]spell{}
	for _, line := range s.Lines {
		for cause, spells := range r.spells(line, s.To) {
			k := key{line.TeamID, cause}
			if cause == "" {
				k.cause = "\x00" + line.Subject.key()
			}
			by[k] = append(by[k], spells...)
		}
	}
	for k, spells := range by {
		cause := k.cause
		if cause[0] == 0 {
			cause = ""
		}
		out.Incidents = append(out.Incidents, r.incidents(cause, spells, s.To)...)
	}
	slices.SortFunc(out.Incidents, func(a, b TrialIncident) int {
		return cmp.Or(a.OpenedAt.Compare(b.OpenedAt), cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Subjects[0].key(), b.Subjects[0].key()))
	})
	for _, i := range out.Incidents {
		out.Messages += i.Messages
	}
	return out
}

// spells are the stretches of a line that break the rule, by cause.
func (r Rule) spells(l Track, end time.Time) map[string][]spell {
	m := r.Meter()
	out := map[string][]spell{}
	for i, p := range l.Points {
		until, open := end, true
		if i+1 < len(l.Points) {
			until, open = l.Points[i+1].At, false
		}
		if p.Blank || !m.Breaks(p.Value, r.Threshold) || m.Least && p.N < r.Least || !until.After(p.At) && !open {
			continue
		}
		old := out[p.Cause]
		if n := len(old) - 1; n >= 0 && old[n].to.Equal(p.At) {
			old[n].to, old[n].open, old[n].worst = until, open, m.Worse(old[n].worst, p.Value)
			continue
		}
		out[p.Cause] = append(old, spell{p.At, until, open, p.Value, l.Subject})
	}
	return out
}

// incidents joins the spells of one cause by the rules of Follow: one that has
// opened and is quiet for less than Hold goes on, and what has not opened yet is
// dropped when it is quiet.
func (r Rule) incidents(cause string, spells []spell, end time.Time) []TrialIncident {
	slices.SortStableFunc(spells, func(a, b spell) int { return a.from.Compare(b.from) })
	var out []TrialIncident
	for len(spells) > 0 {
		i := trying{spell: spells[0], names: map[string]Subject{}, told: spells[0].from.Add(r.For)}
		spells = spells[1:]
		for i.take(r, i.spell); len(spells) > 0 && i.goesOn(r, spells[0]); spells = spells[1:] {
			i.take(r, spells[0])
		}
		i.repeat(r, end)
		if !i.lasted(r) {
			continue
		}
		one := TrialIncident{Cause: cause, Since: i.from, OpenedAt: i.from.Add(r.For), Worst: i.worst, Messages: 1 + i.repeats}
		if !i.open {
			one.EndedAt = i.to.Add(Hold(i.quiets))
		}
		if r.Recovery && !i.open {
			one.Messages++
		}
		for _, k := range slices.Sorted(maps.Keys(i.names)) {
			one.Subjects = append(one.Subjects, i.names[k])
		}
		out = append(out, one)
	}
	return out
}

// trying is an incident while its spells are joined.
type trying struct {
	spell
	names   map[string]Subject
	quiets  int
	told    time.Time // the latest message
	repeats int
}

// lasted tells whether it has opened.
func (i *trying) lasted(r Rule) bool { return !i.to.Before(i.from.Add(r.For)) }

// goesOn tells whether the next spell belongs to it.
func (i *trying) goesOn(r Rule, next spell) bool {
	quiet := next.from.Sub(i.to)
	return i.open || quiet <= 0 || i.lasted(r) && quiet < Hold(i.quiets)
}

// take joins a spell. Nothing is repeated while it is quiet in between.
func (i *trying) take(r Rule, next spell) {
	if next.from.After(i.to) {
		i.repeat(r, i.to)
		i.quiets++
	}
	i.names[next.subject.key()] = next.subject
	i.worst, i.open = r.Meter().Worse(i.worst, next.worst), i.open || next.open
	if next.to.After(i.to) {
		i.to = next.to
	}
	if r.Repeat > 0 && next.from.Sub(i.told) >= r.Repeat { // due while it was quiet
		i.told, i.repeats = next.from, i.repeats+1
	}
}

// repeat counts what is told again until it is quiet, or until now.
func (i *trying) repeat(r Rule, end time.Time) {
	until := min(i.to.UnixMilli(), end.UnixMilli())
	for r.Repeat > 0 && i.told.Add(r.Repeat).UnixMilli() < until {
		i.told, i.repeats = i.told.Add(r.Repeat), i.repeats+1
	}
}

// Variants are three neighbours of a rule, to see what other numbers would have
// done: one that tells of more, one of another window or threshold, one of less.
func Variants(r Rule) []Rule {
	with := func(threshold float64, window time.Duration) Rule {
		v := r
		v.Threshold, v.Window = threshold, window
		return v
	}
	m := r.Meter()
	stricter, laxer, far := r.Threshold/2, r.Threshold*2, r.Threshold*4
	switch {
	case m.Unit == Percent && m.Below:
		gap := 100 - r.Threshold
		if gap <= 0 {
			gap = 0.1
		}
		stricter, laxer, far = min(100-gap/2, 99.99), max(100-2*gap, 0), max(100-4*gap, 0)
	case m.Below:
		stricter, laxer, far = r.Threshold*2, r.Threshold/2, r.Threshold/4
	case m.Unit == Count:
		stricter, laxer, far = max(1, float64(int(r.Threshold/2))), r.Threshold*2, r.Threshold*4
		if r.Threshold < 8 {
			stricter, laxer, far = max(1, r.Threshold-1), r.Threshold+1, r.Threshold+3
		}
		if r.Threshold <= 1 {
			stricter = r.Threshold + 2
		}
	}
	out := []Rule{with(stricter, r.Window), with(laxer, r.Window)}
	if !m.Windowed {
		return append(out, with(far, 0))
	}
	wide := r.Window * 4
	if wide > MaxWindow {
		wide = r.Window / 4
	}
	return []Rule{out[0], with(r.Threshold, wide), out[1]}
}
