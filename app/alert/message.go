package alert

import (
	"encoding/json"
	"time"
)

// MessageKind says why somebody is told.
type MessageKind string

// The kinds of message.
const (
	Opened    MessageKind = "opened"
	Repeated  MessageKind = "repeated"  // still so, and nobody acknowledged
	Grown     MessageKind = "grown"     // many more members than the last message told of
	Escalated MessageKind = "escalated" // to who is told when nobody acknowledges
	Closed    MessageKind = "closed"
	Test      MessageKind = "test"
	Summing   MessageKind = "digest"
	Event     MessageKind = "event" // to webhooks alone
	Ran       MessageKind = "run"   // the hook of a task tells of an end
)

// Message is what a delivery says, as facts. Each channel words it in its own
// language when it is sent.
type Message struct {
	ID         string      `json:"id"` // of the delivery: the same at each try
	Kind       MessageKind `json:"kind"`
	At         time.Time   `json:"at"` // when it was decided
	IncidentID string      `json:"incident_id,omitempty"`
	Rule       string      `json:"rule,omitempty"`
	Metric     Metric      `json:"metric,omitempty"`
	Level      Level       `json:"level,omitempty"`
	Team       string      `json:"team,omitempty"`  // name; empty: the installation
	Scope      Scope       `json:"scope,omitzero"`  // of the rule
	Value      float64     `json:"value,omitempty"` // in the metric's unit
	Worst      float64     `json:"worst,omitempty"`
	Threshold  float64     `json:"threshold,omitempty"`
	Host       string      `json:"host,omitempty"`
	Since      time.Time   `json:"since,omitzero"`
	EndedAt    time.Time   `json:"ended_at,omitzero"`
	Members    []Member    `json:"members,omitempty"` // at most MaxNamed, the worst first
	Count      int         `json:"count,omitempty"`   // of all members
	Mention    []string    `json:"mention,omitempty"` // logins of owners
	Note       string      `json:"note,omitempty"`
	Path       string      `json:"path,omitempty"`   // of the console's page: "/alerts/incidents/…"
	Digest     *Summary    `json:"digest,omitempty"` // of digests
	Run        *RunFacts   `json:"run,omitempty"`    // of the hook of a task
	// Event of a webhook: its type and its object as the API shows it.
	Event  EventType       `json:"event,omitempty"`
	Object json.RawMessage `json:"object,omitempty"`
}

// MaxNamed is how many members a message names; the page has all of them.
const MaxNamed = 10

// Summary is what a digest tells of a team's day or week.
type Summary struct {
	From    time.Time     `json:"from"`
	To      time.Time     `json:"to"`
	Zone    string        `json:"zone"` // that times are told in
	Good    int           `json:"good"`
	Bad     int           `json:"bad"`
	NotRun  int           `json:"not_run"`
	Opened  int           `json:"opened"` // dead letters
	Closed  int           `json:"closed"`
	Open    int           `json:"open"` // at the end
	Oldest  time.Time     `json:"oldest,omitzero"`
	Worst   []SummaryLine `json:"worst,omitempty"`  // tasks by failures
	Letters []SummaryLine `json:"errors,omitempty"` // open dead letters by error
	Alerts  []SummaryLine `json:"alerts,omitempty"` // incidents by rule
}

// SummaryLine is a name with its number.
type SummaryLine struct {
	Name string `json:"name"`
	N    int    `json:"n"`
	More string `json:"more,omitempty"`
}

// Person is somebody to mention, with their ids at the robots.
type Person struct {
	Login string
	Name  string
	Email string
	IDs   map[ChannelKind]string
}

// DeliveryState says what became of a message.
type DeliveryState string

// The states of a delivery. Waiting is not sent yet, or will be tried again.
const (
	Waiting   DeliveryState = "waiting"
	Delivered DeliveryState = "delivered"
	Refused   DeliveryState = "refused" // given up: see the answer
)

// Delivery is one message on its way to one channel.
type Delivery struct {
	ID         string // UUIDv7, sent along: the receiver's key against repeats
	TeamID     int64
	ChannelID  string
	IncidentID string
	Object     string // what it tells of: those of one object go in order
	Dedupe     string // of what it tells: a channel has each once
	Kind       MessageKind
	Message    Message
	State      DeliveryState
	CreatedAt  time.Time
	DueAt      time.Time // of the next try
	Tries      int
	SentAt     time.Time // the latest try
	EndedAt    time.Time
	MergedInto string // the delivery whose message told of this one too
	Answer     Answer
	ReplayOf   string // the delivery that a person had sent again
}

// Verdict is what an answer means.
type Verdict string

// The verdicts. TurnOff: no later message could do better, so the channel is
// switched off and says why. GiveUp: this message can't be taken, others may.
const (
	Accepted Verdict = "accepted"
	Again    Verdict = "again"
	GiveUp   Verdict = "give_up"
	TurnOff  Verdict = "turn_off"
)

// Answer is what came back, with secrets masked.
type Answer struct {
	Verdict Verdict
	Status  int           // HTTP or SMTP; 0: none came
	Code    string        // the robot's own, from the body: it decides
	Body    string        // excerpt, at most 500 characters, one line
	Wait    time.Duration // what the receiver asks to wait; 0: nothing
	Took    time.Duration
}

// TryFor is how long a message is tried before it is given up.
const TryFor = 24 * time.Hour

// Backoff is the wait after the n-th failed try, n from 1.
func Backoff(n int) time.Duration {
	steps := []time.Duration{10 * time.Second, 30 * time.Second, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, time.Hour}
	return steps[min(max(n, 1), len(steps))-1]
}
