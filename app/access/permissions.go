package access

import "ax/app/fault"

// Verb is one thing that a person or a token can do to an object of a team.
type Verb string

// The verbs. Each route names one.
const (
	Read           Verb = "read"
	RunTask        Verb = "task.run"   // run now, trigger
	PauseTask      Verb = "task.pause" // pause, resume, enable, disable
	Cancel         Verb = "instance.cancel"
	Replay         Verb = "letter.replay"
	Solve          Verb = "letter.solve"      // status, solution, assignee
	Register       Verb = "executor.register" // by tokens, for the names that they are bound to
	Acknowledge    Verb = "alert.acknowledge" // of incidents: acknowledge, assign, note, end
	Silence        Verb = "alert.silence"
	EditTask       Verb = "task.edit"     // create, change, roll back, archive; move: in both teams
	EditCalendar   Verb = "calendar.edit" // create, change, delete
	EditRule       Verb = "alert.rule"    // rules, and which channel is told of them
	EditShell      Verb = "task.shell"    // create and change tasks that run commands
	RetryUnsafe    Verb = "task.retry_unsafe"
	ReadAudit      Verb = "audit.read"
	ManageTeam     Verb = "team.manage"    // members, tokens
	ManageSecrets  Verb = "secret.manage"  // make, change and remove; nobody reads them
	ManageChannels Verb = "channel.manage" // where messages go: create, change, switch, delete
	Administer     Verb = "admin"          // users, teams: admins only
)

// minRole is the matrix of design.md section 7; a verb that is not here is
// the admin's alone.
var minRole = map[Verb]Role{
	Read:           Viewer,
	RunTask:        Operator,
	PauseTask:      Operator,
	Cancel:         Operator,
	Replay:         Operator,
	Solve:          Operator,
	Register:       Operator,
	Acknowledge:    Operator,
	Silence:        Operator,
	EditTask:       Editor,
	EditCalendar:   Editor,
	EditRule:       Editor,
	EditShell:      Owner,
	RetryUnsafe:    Owner,
	ReadAudit:      Owner,
	ManageTeam:     Owner,
	ManageSecrets:  Owner,
	ManageChannels: Owner,
}

func (v Verb) reads() bool { return v == Read || v == ReadAudit }

// Right is one line of the matrix of roles, in words for people.
type Right struct {
	Verb  Verb
	Words fault.Text
	Min   Role // weakest role that has it; "" means administrators only
}

// Has tells whether a member with the role has the right.
func (r Right) Has(role Role) bool { return r.Min != "" && role.rank() >= r.Min.rank() }

// Matrix is the whole table of rights, weakest first, as a page shows it.
func Matrix() []Right {
	rows := []Right{
		{Verb: Read, Words: fault.Text{Format: "See everything of the team"}},
		{Verb: RunTask, Words: fault.Text{Format: "Run a task now"}},
		{Verb: PauseTask, Words: fault.Text{Format: "Pause, resume, enable and disable a task"}},
		{Verb: Cancel, Words: fault.Text{Format: "Cancel an instance"}},
		{Verb: Replay, Words: fault.Text{Format: "Replay a dead letter"}},
		{Verb: Solve, Words: fault.Text{Format: "Take a dead letter and write its solution"}},
		{Verb: Register, Words: fault.Text{Format: "Register executors, by tokens bound to them"}},
		{Verb: Acknowledge, Words: fault.Text{Format: "Acknowledge and assign an incident"}},
		{Verb: Silence, Words: fault.Text{Format: "Silence alerts for a time"}},
		{Verb: EditTask, Words: fault.Text{Format: "Create, change and archive tasks"}},
		{Verb: EditCalendar, Words: fault.Text{Format: "Create, change and delete calendars"}},
		{Verb: EditRule, Words: fault.Text{Format: "Set alert rules and who is told"}},
		{Verb: EditShell, Words: fault.Text{Format: "Create and change tasks that run commands"}},
		{Verb: RetryUnsafe, Words: fault.Text{Format: "Allow retries of non-idempotent tasks"}},
		{Verb: ReadAudit, Words: fault.Text{Format: "Read the audit of the team"}},
		{Verb: ManageTeam, Words: fault.Text{Format: "Manage members and tokens of the team"}},
		{Verb: ManageSecrets, Words: fault.Text{Format: "Set secrets, which nobody can read again"}},
		{Verb: ManageChannels, Words: fault.Text{Format: "Set the channels that messages go to"}},
		{Verb: Administer, Words: fault.Text{Format: "Manage people and teams of the installation"}},
	}
	for i := range rows {
		rows[i].Min = minRole[rows[i].Verb]
	}
	return rows
}
