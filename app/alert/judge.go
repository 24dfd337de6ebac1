package alert

import (
	"slices"
	"time"
)

// Times of the judge.
const (
	// gather is how long the first message of a breach by tasks waits, so that
	// what fails by one cause within the same seconds is one message.
	gather = 10 * time.Second
	// holdFirst is how long an incident must be quiet before it is over; each
	// time that it breaks again meanwhile doubles it, up to holdMost.
	holdFirst = 30 * time.Second
	holdMost  = 15 * time.Minute
	// growEvery is the least time between two messages about more members.
	growEvery = 5 * time.Minute
)

// Hold is how long an incident that came back so often must be quiet before it
// is over: what flaps stays one incident.
func Hold(quiets int) time.Duration { return min(holdFirst<<min(quiets, 10), holdMost) }

// Follow gives the incident as it is after a turn in which its rule broke by b,
// or did not (nil). drop: it was pending, and nobody need know of it.
func (i Incident) Follow(r Rule, b *Breach, now time.Time) (is Incident, drop bool) {
	switch {
	case b == nil && i.State == Pending:
		return i, true
	case b == nil:
		if i.QuietSince.IsZero() {
			i.QuietSince = now
		}
		if now.Sub(i.QuietSince) >= Hold(i.Quiets) {
			i.State, i.EndedAt, i.Silenced = Over, now, false
		}
		return i, false
	}
	if !i.QuietSince.IsZero() {
		i.QuietSince = time.Time{}
		i.Quiets++
	}
	i.Value, i.Worst, i.Level, i.Threshold = b.Value, r.Meter().Worse(i.Worst, b.Value), b.Level, r.Threshold
	i.Host = b.Host
	i.Everyone += len(b.Members) - common(i.Members, b.Members)
	i.Members = b.Members
	if i.State == Pending && now.Sub(i.Since) >= r.For {
		i.State, i.OpenedAt, i.TellAt = Firing, now, now
		if r.Meter().Per == PerTask {
			i.TellAt = now.Add(gather)
		}
	}
	return i, false
}

// Begin is the incident of a breach that has none.
func Begin(id string, r Rule, b Breach, now time.Time) Incident {
	i := Incident{
		ID: id, RuleID: r.ID, RuleName: r.Name, Metric: r.Metric, TeamID: b.TeamID, Fingerprint: b.Fingerprint,
		State: Pending, Since: now, Worst: b.Value,
	}
	i, _ = i.Follow(r, &b, now)
	return i
}

// common counts the subjects of b that a has too.
func common(a, b []Member) (n int) {
	had := make(map[string]bool, len(a))
	for _, m := range a {
		had[m.Subject.key()] = true
	}
	for _, m := range b {
		if had[m.Subject.key()] {
			n++
		}
	}
	return n
}

// Telling is a message that is due: its kind, and which subscriptions get it,
// by how long they wait for an acknowledgement: more than Over, up to UpTo.
type Telling struct {
	Kind       MessageKind
	Over, UpTo time.Duration
}

// gets tells whether a subscription with that wait is told.
func (t Telling) gets(after time.Duration) bool { return after > t.Over && after <= t.UpTo }

// everybody is below each wait.
const everybody = time.Duration(-1)

// Due decides what is to be told of the incident now, and notes it as told.
// waits are those of the subscriptions that listen; without any, nothing is
// noted, so that who subscribes to what still burns is told of it.
func (i Incident) Due(r Rule, waits []time.Duration, now time.Time) (Incident, []Telling) {
	if len(waits) == 0 {
		return i, nil
	}
	switch {
	case i.State == Over && i.Told > 0 && r.Recovery:
		return i, []Telling{{Closed, everybody, i.Escalated}}
	case i.State != Firing || i.Silenced || !i.QuietSince.IsZero():
		return i, nil
	case i.Told == 0:
		return i.tellFirst(slices.Min(waits), now)
	case i.Acked():
		return i, nil
	}
	var out []Telling
	if upTo := i.reached(waits, now); upTo > i.Escalated {
		out = append(out, Telling{Escalated, i.Escalated, upTo})
	}
	switch since := now.Sub(i.ToldAt); {
	case r.Repeat > 0 && since >= r.Repeat:
		out = append(out, Telling{Repeated, everybody, i.Escalated})
		i = i.told(now)
	case since >= growEvery && len(i.Members) >= max(2*i.ToldOf, i.ToldOf+2):
		out = append(out, Telling{Grown, everybody, i.Escalated})
		i = i.told(now)
	}
	i.Escalated = max(i.Escalated, i.reached(waits, now))
	return i, out
}

// tellFirst tells those who wait the least: at once, as a rule.
func (i Incident) tellFirst(wait time.Duration, now time.Time) (Incident, []Telling) {
	if now.Before(i.TellAt) || now.Sub(i.OpenedAt) < wait {
		return i, nil
	}
	kind := Opened
	if i.ToldFirst = now; wait > 0 {
		kind, i.ToldFirst = Escalated, i.OpenedAt
	}
	i.Escalated = wait
	return i.told(now), []Telling{{kind, everybody, wait}}
}

func (i Incident) told(now time.Time) Incident {
	i.ToldAt, i.ToldOf = now, len(i.Members)
	i.Told++
	return i
}

// reached is the longest wait that is over.
func (i Incident) reached(waits []time.Duration, now time.Time) (most time.Duration) {
	for _, w := range waits {
		if w <= now.Sub(i.ToldFirst) {
			most = max(most, w)
		}
	}
	return most
}
