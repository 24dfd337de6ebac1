package alert

import (
	"fmt"
	"slices"
	"time"
)

// driftEvery is how often an incident is stored of which nothing changed but
// values: those of some metrics are others at each turn.
const driftEvery = 30 * time.Second

// drift remembers, by the incident's id, when its values were first not stored,
// and the worst of them meanwhile. A node that takes over the turns loses
// nothing but the worst of some seconds.
type drift map[string]drifted

type drifted struct {
	since, seen time.Time
	worst       float64
}

// of gives the incident with the worst value that was not stored yet.
func (d drift) of(i Incident, m Meter) Incident {
	if x, ok := d[i.ID]; ok {
		i.Worst = m.Worse(i.Worst, x.worst)
	}
	return i
}

// waits tells whether the incident need not be stored now: nothing changed, or
// values alone that were stored lately.
func (d drift) waits(was, is Incident, now time.Time) bool {
	if same(was, is) && sameMembers(was.Members, is.Members) {
		delete(d, is.ID)
		return true
	}
	x, ok := d[is.ID]
	if !ok {
		x.since = now
	}
	if !sameButValues(was, is) || now.Sub(x.since) >= driftEvery || now.Before(x.since) {
		delete(d, is.ID)
		return false
	}
	x.worst, x.seen = is.Worst, now
	d[is.ID] = x
	return true
}

// forget drops what no turn has seen for long, of incidents that are over.
func (d drift) forget(now time.Time) {
	for id, x := range d {
		if now.Sub(x.seen) > 2*driftEvery {
			delete(d, id)
		}
	}
}

// same compares all but the members.
func same(a, b Incident) bool {
	a.Members, b.Members = nil, nil
	return fmt.Sprint(a) == fmt.Sprint(b)
}

func sameMembers(a, b []Member) bool {
	return slices.EqualFunc(a, b, func(x, y Member) bool {
		return x.Subject == y.Subject && x.Value == y.Value && x.Detail == y.Detail && x.Instance == y.Instance && x.Level == y.Level
	})
}

// sameButValues compares who is a member, and all of the incident but how bad it
// is and what shows it.
func sameButValues(a, b Incident) bool {
	level := make(map[Subject]Level, len(a.Members))
	for _, m := range a.Members {
		level[m.Subject] = m.Level
	}
	if len(level) != len(b.Members) || slices.ContainsFunc(b.Members, func(m Member) bool { return level[m.Subject] != m.Level }) {
		return false
	}
	a.Value, a.Worst, b.Value, b.Worst = 0, 0, 0, 0
	return same(a, b)
}
