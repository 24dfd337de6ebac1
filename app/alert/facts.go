package alert

import (
	"fmt"
	"time"

	"ax/app/sched"
)

// Instant is a moment as the API says it: RFC 3339 in UTC with milliseconds, or
// null.
type Instant time.Time

// MarshalJSON implements json.Marshaler.
func (i Instant) MarshalJSON() ([]byte, error) {
	t := time.Time(i)
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(t.UTC().Format(`"2006-01-02T15:04:05.000Z07:00"`)), nil
}

// InstanceFacts is an instance that ended, as webhooks are told of it and as the
// API shows it, without payload. What targets wrote, such as Error, is not to
// be trusted.
type InstanceFacts struct {
	ID          string       `json:"id"`
	Task        string       `json:"task"` // code
	Team        string       `json:"team"` // code
	BizID       string       `json:"biz_id"`
	Key         string       `json:"key"` // the Idempotency-Key that the target got
	Replay      int          `json:"replay"`
	ReplayOf    string       `json:"replay_of"`
	Origin      sched.Origin `json:"origin"`
	RequestedBy string       `json:"requested_by"`
	Queue       string       `json:"queue"`
	State       sched.State  `json:"state"`
	Reason      string       `json:"reason"` // why skipped or canceled
	Error       string       `json:"error"`
	Attempt     int          `json:"attempt"`
	Retries     int          `json:"retries"`
	SlotAt      Instant      `json:"slot_at"`
	WantedAt    Instant      `json:"wanted_at"`
	CreatedAt   Instant      `json:"created_at"`
	StartedAt   Instant      `json:"started_at"`
	FinishedAt  Instant      `json:"finished_at"`
}

// FactsOfInstance shows an instance of the task and the team with the codes.
func FactsOfInstance(in sched.Instance, task, team string) InstanceFacts {
	return InstanceFacts{
		ID: in.ID, Task: task, Team: team, BizID: in.BizID, Key: in.Key(task), Replay: in.Replay, ReplayOf: in.ReplayOf,
		Origin: in.Origin, RequestedBy: in.RequestedBy, Queue: in.Queue, State: in.State, Reason: in.Reason, Error: in.Error,
		Attempt: in.Attempt, Retries: in.Retries, SlotAt: Instant(in.SlotAt), WantedAt: Instant(in.WantedAt),
		CreatedAt: Instant(in.CreatedAt), StartedAt: Instant(in.StartedAt), FinishedAt: Instant(in.FinishedAt),
	}
}

// Dedupe is of the message that it ended: nothing ends twice.
func (f InstanceFacts) Dedupe() string { return f.ID }

// LetterFacts is a dead letter, as webhooks are told of it and as the API shows
// it.
type LetterFacts struct {
	ID          int64              `json:"id"`
	Task        string             `json:"task"` // code
	Team        string             `json:"team"` // code
	BizID       string             `json:"biz_id"`
	Key         string             `json:"key"`
	InstanceID  string             `json:"instance_id"` // the latest that ended badly
	Replay      int                `json:"replay"`
	Status      sched.LetterStatus `json:"status"`
	Outcome     sched.Outcome      `json:"outcome"`
	Error       string             `json:"error"`
	Fingerprint string             `json:"fingerprint"`
	Cause       string             `json:"cause"`
	Solution    string             `json:"solution"`
	Assignee    string             `json:"assignee"` // login
	Opens       int                `json:"opens"`
	OpenedAt    Instant            `json:"opened_at"`
	ClosedAt    Instant            `json:"closed_at"`
	ClosedBy    string             `json:"closed_by"`
	Version     int                `json:"version"`
}

// FactsOfLetter shows a dead letter of the task and the team with the codes.
func FactsOfLetter(l sched.Letter, task, team string) LetterFacts {
	return LetterFacts{
		ID: l.ID, Task: task, Team: team, BizID: l.BizID, Key: sched.Instance{BizID: l.BizID}.Key(task), InstanceID: l.InstanceID,
		Replay: l.Replay, Status: l.Status, Outcome: l.Outcome, Error: l.Error, Fingerprint: l.Fingerprint, Cause: l.Cause,
		Solution: l.Solution, Assignee: l.Assignee, Opens: l.Opens, OpenedAt: Instant(l.OpenedAt), ClosedAt: Instant(l.ClosedAt),
		ClosedBy: l.ClosedBy, Version: l.Version,
	}
}

// OpenedDedupe is of the message that a letter opened for the n-th time.
func OpenedDedupe(id int64, opens int) string { return fmt.Sprintf("letter/%d/%d/opened", id, opens) }

// SolvedDedupe is of the message that a letter was closed at that moment: the
// same letter may be opened by hand and closed again.
func SolvedDedupe(id int64, at time.Time) string {
	return fmt.Sprintf("letter/%d/%d/solved", id, at.UnixMilli())
}

func (f LetterFacts) happened(event EventType, at Instant) happening {
	h := happening{event, time.Time(at), fmt.Sprintf("letter/%d", f.ID), OpenedDedupe(f.ID, f.Opens), f}
	if event == LetterSolved {
		h.dedupe = SolvedDedupe(f.ID, h.at)
	}
	return h
}
