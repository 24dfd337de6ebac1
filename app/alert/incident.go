package alert

import "time"

// IncidentState says where an incident stands.
type IncidentState string

// The states. Pending is a breach that has not lasted long enough yet: nobody
// is told of it. Over is final; the same cause again is another incident.
const (
	Pending IncidentState = "pending"
	Firing  IncidentState = "firing"
	Over    IncidentState = "over"
)

// Incident is a breach of a rule by one cause, from its start to its end. At
// most one of a fingerprint is not over.
type Incident struct {
	ID          string // UUIDv7
	RuleID      int64
	RuleName    string // as it was when it opened
	Metric      Metric
	TeamID      int64 // 0: the installation's
	Fingerprint string
	State       IncidentState
	Level       Level
	Host        string // what its members have in common
	Threshold   float64
	Value       float64   // now, or the last one
	Worst       float64   // since it opened
	Since       time.Time // the breach's start
	OpenedAt    time.Time // when it had lasted long enough
	QuietSince  time.Time // since when nothing breaks the rule; it is over after a while
	Quiets      int       // how often it was quiet and broke again
	EndedAt     time.Time
	EndedBy     string // who ended it by hand; empty: it was over
	Members     []Member
	// Everyone counts who was ever a member, beyond those that Members holds.
	Everyone int

	AckedBy  string
	AckedAt  time.Time
	Assignee string // login
	Note     string

	Silenced  bool      // messages were held back at the last turn
	TellAt    time.Time // when the first message may go
	ToldAt    time.Time // the latest message; zero: nobody was told yet
	ToldFirst time.Time
	Told      int           // messages, each to all of its channels
	ToldOf    int           // members that the latest message told of
	Escalated time.Duration // the longest wait of a subscription that was told
	Version   int           // guards every change
}

// Open tells whether it is not over.
func (i Incident) Open() bool { return i.State != Over }

// Acked tells whether somebody said that they are on it.
func (i Incident) Acked() bool { return !i.AckedAt.IsZero() }
