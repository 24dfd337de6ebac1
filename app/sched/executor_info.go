package sched

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/access"
)

// The life of an executor: it beats every ExecutorBeat, and is out after three
// missed beats, by the ledger's clock.
const (
	ExecutorBeat = 5 * time.Second
	ExecutorDead = 15 * time.Second
	// ExecutorKept is how long one that is out stays listed.
	ExecutorKept = 24 * time.Hour
)

// ExecutorWeight is the weight of an executor that names none.
const ExecutorWeight = 100

// TaskType is one kind of work that an executor offers.
type TaskType struct {
	Type        string `json:"type" doc:"Lower-case letters, digits, dots, hyphens and underscores" example:"close-day"`
	Description string `json:"description,omitempty" example:"Closes the books of a day"`
}

// ExecutorInfo is one address of a business service that registered itself.
// Name and address are one row: whoever registers them again replaces it.
type ExecutorInfo struct {
	ID           string
	TeamID       int64
	Name         string
	Address      string // base of what is called, without a slash at its end
	Types        []TaskType
	Weight       int // 1 to 100
	Version      string
	Cancel       bool   // it can be told to stop what it works on
	Running      int    // as it said with its last beat
	TokenID      int64  // that it registered with
	Token        string // name of that token
	RegisteredAt time.Time
	BeatAt       time.Time
	ClosedAt     time.Time // it left in order; zero: it did not
}

// Object of the executor in an audit row.
func (e ExecutorInfo) Object() access.Object {
	return access.Object{Kind: "executor", ID: e.ID, Name: e.Name + " " + e.Address}
}

// Online tells whether it takes calls at now.
func (e ExecutorInfo) Online(now time.Time) bool {
	return e.ClosedAt.IsZero() && now.Sub(e.BeatAt) < ExecutorDead
}

// Offers tells whether it takes work of the type.
func (e ExecutorInfo) Offers(kind string) bool {
	return slices.ContainsFunc(e.Types, func(t TaskType) bool { return t.Type == kind })
}

// LastSign is when it left, or was last heard of.
func (e ExecutorInfo) LastSign() time.Time {
	if e.ClosedAt.IsZero() {
		return e.BeatAt
	}
	return e.ClosedAt
}

// CallURL is where work of a type goes.
func (e ExecutorInfo) CallURL(kind string) string { return e.Address + "/ax/" + kind }

// CancelURL is where it is told to stop work of a type; empty: it can't be.
func (e ExecutorInfo) CancelURL(kind string) string {
	if !e.Cancel {
		return ""
	}
	return e.CallURL(kind) + "/cancel"
}

// OnlineFor gives the executors that are online and offer the type, by
// address, so that every node sees them in one order.
func OnlineFor(all []ExecutorInfo, kind string, now time.Time) []ExecutorInfo {
	var out []ExecutorInfo
	for _, e := range all {
		if e.Online(now) && e.Offers(kind) {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b ExecutorInfo) int { return strings.Compare(a.Address, b.Address) })
	return out
}

// Shard is one part of a broadcast.
type Shard struct {
	Index int `json:"index"` // from 0
	Total int `json:"total"`
}

// String is "0/3".
func (s Shard) String() string { return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Total) }

// ShardRun is what became of one part of a broadcast in one attempt.
type ShardRun struct {
	Attempt int
	Shard
	Executor   string // name
	Address    string
	Outcome    Outcome // empty while it runs, or when nobody lived to write it
	StatusCode int
	Error      string
	StartedAt  time.Time
	EndedAt    time.Time
}

// Took is how long it ran; 0 when it hasn't ended.
func (s ShardRun) Took() time.Duration {
	if s.EndedAt.IsZero() {
		return 0
	}
	return s.EndedAt.Sub(s.StartedAt)
}
