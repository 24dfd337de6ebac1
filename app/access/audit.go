package access

import "time"

// Change is one field's old and new value, as text, secrets already masked.
type Change struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// Object names what an audit row is about.
type Object struct {
	Kind string // task, instance, dead_letter, user, token, team
	ID   string
	Name string
}

// Entry is one row of the audit, written in the transaction of the change it
// tells of.
type Entry struct {
	ID      int64
	At      time.Time
	Actor   Actor
	Action  string // verb in the past of the object: "task.create", "letter.replay"
	Object  Object
	TeamID  int64
	Changes []Change
	Reason  string
}
