package access

// Verb is one thing that a person or a token can do to an object of a team.
type Verb string

// The verbs. Each route names one.
const (
	Read        Verb = "read"
	RunTask     Verb = "task.run"   // run now, trigger
	PauseTask   Verb = "task.pause" // pause, resume, enable, disable
	Cancel      Verb = "instance.cancel"
	Replay      Verb = "letter.replay"
	Solve       Verb = "letter.solve" // status, solution, assignee
	EditTask    Verb = "task.edit"    // create, change, archive
	RetryUnsafe Verb = "task.retry_unsafe"
	ManageTeam  Verb = "team.manage" // members, tokens
	Administer  Verb = "admin"       // users, teams: admins only
)

// minRole is the matrix of design.md section 7; a verb that is not here is
// the admin's alone.
var minRole = map[Verb]Role{
	Read:        Viewer,
	RunTask:     Operator,
	PauseTask:   Operator,
	Cancel:      Operator,
	Replay:      Operator,
	Solve:       Operator,
	EditTask:    Editor,
	RetryUnsafe: Owner,
	ManageTeam:  Owner,
}

func (v Verb) reads() bool { return v == Read }
