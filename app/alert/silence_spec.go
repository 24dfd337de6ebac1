package alert

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"ax/app/access"
	"ax/app/cron"
	"ax/app/fault"
)

// SilenceSpec is a silence as it is written in a form or over the API. Once: from
// StartsAt (zero: now) until EndsAt, or for Lasts. Again and again: Cron, Zone
// and Lasts, within StartsAt and EndsAt (zero: without end).
type SilenceSpec struct {
	Team     string    `json:"team,omitempty"` // code; "": of every team
	Scope    Scope     `json:"scope,omitzero"`
	RuleID   int64     `json:"rule_id,omitempty"`
	Reason   string    `json:"reason"`
	StartsAt time.Time `json:"starts_at,omitzero"`
	EndsAt   time.Time `json:"ends_at,omitzero"`
	Lasts    int       `json:"lasts_seconds,omitempty"`
	Cron     string    `json:"cron,omitempty"`
	Zone     string    `json:"zone,omitempty"`
	Hold     bool      `json:"hold,omitempty"` // pauses the tasks too
}

const (
	minLasts = time.Minute
	maxLasts = 7 * 24 * time.Hour   // of a window that comes again
	maxAhead = 366 * 24 * time.Hour // of anything else
)

// Resolve checks a written silence and gives the one that it describes. The
// error is Invalid with all broken fields.
func (w SilenceSpec) Resolve(team int64, now time.Time) (Silence, error) {
	var bad problems
	s := Silence{TeamID: team, RuleID: w.RuleID, Hold: w.Hold, Cron: strings.TrimSpace(w.Cron), CreatedAt: now}
	s.Scope = bad.scope(w.Scope, All, OfTag, OfGroup, OfTask, OfQueue)
	if s.Reason = bad.line("reason", w.Reason, maxReason); s.Reason == "" {
		bad.add("reason", "Why is it silent? Others want to know")
	}
	if w.Hold && w.RuleID != 0 {
		bad.add("hold", "Runs are held of all that the scope covers, not of a rule: leave the rule out")
	}
	s.StartsAt = bad.start(w.StartsAt, now)
	if s.Cron == "" {
		bad.once(&s, w)
	} else {
		bad.again(&s, w)
	}
	return s, fault.Invalid(bad...)
}

func (p *problems) start(at, now time.Time) time.Time {
	switch {
	case at.IsZero() || at.Before(now):
		return now.UTC().Truncate(time.Millisecond)
	case at.After(now.Add(maxAhead)):
		p.add("starts_at", "At most a year ahead")
	}
	return at.UTC().Truncate(time.Second)
}

func (p *problems) once(s *Silence, w SilenceSpec) {
	if w.Zone != "" {
		p.add("zone", "Only what comes again by a cron line needs a time zone: leave it out")
	}
	s.EndsAt = w.EndsAt.UTC()
	switch {
	case w.Lasts != 0 && !w.EndsAt.IsZero():
		p.add("lasts_seconds", "How long, or until when: leave one of them out")
		return
	case w.Lasts != 0:
		s.EndsAt = s.StartsAt.Add(p.span("lasts_seconds", w.Lasts, minLasts, maxAhead))
	case w.EndsAt.IsZero():
		p.add("ends_at", "How long, or until when? A silence without end is forgotten")
		return
	case !w.EndsAt.After(s.StartsAt):
		p.add("ends_at", "It must end after it begins, and after now")
	case w.EndsAt.After(s.StartsAt.Add(maxAhead)):
		p.add("ends_at", "At most a year")
	}
	s.EndsAt = s.EndsAt.Add(time.Second - 1).Truncate(time.Second) // pauses end at whole seconds
}

// windows is how many windows of a cron line are looked at.
const windows = 50

func (p *problems) again(s *Silence, w SilenceSpec) {
	s.EndsAt, s.Zone = w.EndsAt.UTC().Truncate(time.Second), w.Zone
	if w.EndsAt.IsZero() {
		s.EndsAt = time.Time{}
	}
	s.Lasts = p.span("lasts_seconds", w.Lasts, minLasts, maxLasts)
	if !s.EndsAt.IsZero() && !s.EndsAt.After(s.StartsAt) {
		p.add("ends_at", "It must end after it begins, and after now")
	}
	if w.Zone == "" {
		p.add("zone", "In which time zone is the cron line? Such as Asia/Shanghai")
		return
	}
	zone := p.loads("zone", w.Zone)
	expr, err := cron.Parse(s.Cron)
	if err != nil {
		*p = append(*p, cronField(err))
		return
	}
	if zone == nil {
		return
	}
	at, ok := expr.Next(s.StartsAt.Add(-time.Millisecond), zone)
	if !ok || !s.EndsAt.IsZero() && !at.Before(s.EndsAt) {
		p.add("cron", "It never begins between start and end")
		return
	}
	for range windows {
		next, ok := expr.Next(at, zone)
		if !ok {
			return
		}
		if !next.After(at.Add(s.Lasts)) {
			p.add("lasts_seconds", "It begins again after %d seconds, before it is over: nothing would ever be told", int(next.Sub(at)/time.Second))
			return
		}
		at = next
	}
}

// cronField tells what is wrong with a cron line.
func cronField(err error) fault.FieldError {
	if e, ok := errors.AsType[*cron.Error](err); ok {
		return fault.Field("cron", e.Format, e.Args...)
	}
	return fault.Field("cron", "This is not a cron line")
}

// SilenceState says where a silence stands.
type SilenceState string

// The states. A silence that comes again is coming between its windows.
const (
	SilenceActive SilenceState = "active"
	SilenceComing SilenceState = "coming"
	SilenceEnded  SilenceState = "ended"
)

// State of the silence at now.
func (s Silence) State(now time.Time) SilenceState {
	if _, ok := s.Active(now); ok {
		return SilenceActive
	}
	if _, ok := s.NextStart(now); ok {
		return SilenceComing
	}
	return SilenceEnded
}

// Over tells whether the silence will never be active again by its own bounds.
func (s Silence) Over(now time.Time) bool {
	return !s.EndedAt.IsZero() && !now.Before(s.EndedAt) || !s.EndsAt.IsZero() && !now.Before(s.EndsAt)
}

// NextStart is when the silence begins next, after now; ok is false when it
// does not.
func (s Silence) NextStart(now time.Time) (time.Time, bool) {
	if s.Over(now) {
		return time.Time{}, false
	}
	if s.Cron == "" {
		return s.StartsAt, now.Before(s.StartsAt)
	}
	expr, err := cron.Parse(s.Cron)
	if err != nil {
		return time.Time{}, false
	}
	zone, err := cron.LoadZone(s.Zone)
	if err != nil {
		return time.Time{}, false
	}
	from := now
	if from.Before(s.StartsAt) {
		from = s.StartsAt.Add(-time.Millisecond)
	}
	at, ok := expr.Next(from, zone)
	return at, ok && (s.EndsAt.IsZero() || at.Before(s.EndsAt))
}

// Object of the silence in an audit row.
func (s Silence) Object() access.Object { return object("silence", s.ID, s.Scope.String()) }

func diffSilences(was, is Silence) []access.Change {
	var c []access.Change
	c = differ(c, "scope", was.Scope.String(), is.Scope.String())
	c = differ(c, "rule_id", idText(was.RuleID), idText(is.RuleID))
	c = differ(c, "starts_at", stamp(was.StartsAt), stamp(is.StartsAt))
	c = differ(c, "ends_at", stamp(was.EndsAt), stamp(is.EndsAt))
	c = differ(c, "cron", was.Cron, is.Cron)
	c = differ(c, "zone", was.Zone, is.Zone)
	c = differ(c, "lasts_seconds", seconds(was.Lasts), seconds(is.Lasts))
	c = differ(c, "hold", strconv.FormatBool(was.Hold), strconv.FormatBool(is.Hold))
	return differ(c, "ended_at", stamp(was.EndedAt), stamp(is.EndedAt))
}

// idText tells an id in an audit row; "" is none.
func idText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
