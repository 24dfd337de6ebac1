package alert

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Member is one subject of a breach or an incident.
type Member struct {
	Subject  Subject   `json:"subject"`
	Value    float64   `json:"value"`
	Since    time.Time `json:"since,omitzero"`
	Detail   string    `json:"detail,omitempty"`
	Instance string    `json:"instance,omitempty"`
	Owner    string    `json:"owner,omitempty"` // login of the task's owner
	Level    Level     `json:"level"`
}

// Breach is what breaks a rule at one moment, with one cause.
type Breach struct {
	Fingerprint string // of rule, team and cause; the same as long as the cause is
	TeamID      int64  // whose work it is; 0: the installation's
	Level       Level  // the loudest of the members
	Value       float64
	Host        string // what the members have in common, if it is a host
	Members     []Member
}

// fingerprint of a cause under a rule.
func fingerprint(rule, team int64, cause string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%d\x00%s", rule, team, cause))
	return hex.EncodeToString(sum[:16])
}

// key of a subject within its rule.
func (s Subject) key() string { return string(s.Kind) + "\x00" + s.Key }

// breaches groups what breaks the rule by its cause. A subject that is in an
// open incident of the rule stays in it, whatever its error says by now: at
// names the fingerprint of that incident by the subject's key.
func (r Rule) breaches(all []taken, at map[string]string) []Breach {
	meter := r.Meter()
	found := map[string]*Breach{}
	for _, x := range all {
		if !meter.Breaks(x.Value, r.Threshold) {
			continue
		}
		cause := cmp.Or(x.Cause, "\x00"+x.Subject.key())
		mark := cmp.Or(at[x.Subject.key()], fingerprint(r.ID, x.team, cause))
		b := found[mark]
		if b == nil {
			b = &Breach{Fingerprint: mark, TeamID: x.team, Level: x.level, Value: x.Value, Host: x.Host}
			found[mark] = b
		}
		if x.level.worse(b.Level) {
			b.Level = x.level
		}
		if b.Host != x.Host {
			b.Host = ""
		}
		b.Value = meter.Worse(b.Value, x.Value)
		b.Members = append(b.Members, Member{
			Subject: x.Subject, Value: x.Value, Since: x.Since, Detail: x.Detail, Instance: x.Instance, Owner: x.owner, Level: x.level,
		})
	}
	out := make([]Breach, 0, len(found))
	for _, b := range found {
		meter.sort(b.Members)
		out = append(out, *b)
	}
	slices.SortFunc(out, func(a, c Breach) int { return cmp.Compare(a.Fingerprint, c.Fingerprint) })
	return out
}

// sort puts the worst first.
func (m Meter) sort(all []Member) {
	slices.SortFunc(all, func(a, b Member) int {
		if m.Below {
			return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Subject.Key, b.Subject.Key))
		}
		return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Subject.Key, b.Subject.Key))
	})
}

// SortMembers puts the worst first.
func (i Incident) SortMembers() {
	m, _ := MeterOf(i.Metric)
	m.sort(i.Members)
}
