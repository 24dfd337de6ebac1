package sched

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/fault"
)

// TaskChange is a change of one task in one transaction. Apply gets the row as
// it is under its lock and gives the row as it is to be; it must be pure. An
// error of Apply undoes everything.
type TaskChange struct {
	Code    string
	Now     time.Time
	By      access.Actor
	Note    string
	Version bool // raise the version and keep the definition
	Owed    bool // plan what the old schedule owed until now, first
	Apply   func(old Task) (Task, access.Entry, error)
}

// TaskFilter narrows a list of tasks. Empty fields don't.
type TaskFilter struct {
	Scope    access.Scope
	Text     string // part of the code or name
	Tag      string
	Group    string
	Owner    string
	Kind     ScheduleKind
	Calendar string // code or name of the one that they go by
	Enabled  *bool
	Troubled bool      // only tasks that can't be planned
	PausedAt time.Time // only tasks that are paused at this moment
	Archived bool      // only archived ones, instead of none
}

// taskStore is what the task use cases need of the ledger.
type taskStore interface {
	Team(ctx context.Context, code string) (access.Team, error)
	Teams(ctx context.Context, s access.Scope) ([]access.Team, error)
	CreateTask(ctx context.Context, t Task, note string, e access.Entry) (Task, error)
	ChangeTask(ctx context.Context, c TaskChange) (Task, []Message, error)
	Task(ctx context.Context, code string) (Task, error)
	Tasks(ctx context.Context, f TaskFilter, p PageRequest) (PageOf[Task], error)
	TaskVersions(ctx context.Context, taskID int64, limit int) ([]TaskVersion, error)
	// TaskVersion is NotFound when the task has none of the number.
	TaskVersion(ctx context.Context, taskID int64, version int) (TaskVersion, error)
	Trigger(ctx context.Context, in Instance, e access.Entry) (Instance, bool, error)
	Calendar(ctx context.Context, code string) (*calendar.Calendar, error)
	Secrets(ctx context.Context, team int64) ([]access.Secret, error)
	// RunsCommands tells whether tasks of the team may run commands.
	RunsCommands(ctx context.Context, team int64) (bool, error)
	Brokers(ctx context.Context, team int64) ([]access.Broker, error)
	// HookChannels are the channels that hooks of the team can name, by name.
	HookChannels(ctx context.Context, team int64) ([]HookChannel, error)
}

// handover sends what a use case just committed.
type handover interface {
	HandOver(ctx context.Context, messages []Message) (int, error)
}

// targets tell whether tasks of a team may call an address.
type targets interface {
	MayCall(ctx context.Context, team int64, addr netip.Addr) (bool, error)
}

// Tasks are the use cases of tasks. Each checks the actor's right itself.
type Tasks struct {
	store    taskStore
	hand     handover
	targets  targets
	clock    *Clock
	newID    func() string
	defaults Defaults
}

// NewTasks makes the use cases.
func NewTasks(store taskStore, hand handover, to targets, clock *Clock, newID func() string, d Defaults) *Tasks {
	return &Tasks{store: store, hand: hand, targets: to, clock: clock, newID: newID, defaults: d}
}

// Defaults that a new task gets.
func (s *Tasks) Defaults() Defaults { return s.defaults }

// Get gives a task that the actor may see; NotFound otherwise.
func (s *Tasks) Get(ctx context.Context, by access.Actor, code string) (Task, error) {
	return s.may(ctx, by, access.Read, code)
}

// may reads a task and checks one right on it.
func (s *Tasks) may(ctx context.Context, by access.Actor, v access.Verb, code string) (Task, error) {
	t, err := s.store.Task(ctx, code)
	if err != nil {
		return Task{}, err
	}
	return t, by.Check(v, t.TeamID)
}

// List gives a page of the tasks that the actor may see, by code.
func (s *Tasks) List(ctx context.Context, by access.Actor, f TaskFilter, p PageRequest) (PageOf[Task], error) {
	f.Scope = by.Scope().Narrow(f.Scope)
	return s.store.Tasks(ctx, f, p.Bounded())
}

// Versions gives the latest definitions of a task, newest first.
func (s *Tasks) Versions(ctx context.Context, by access.Actor, code string, limit int) ([]TaskVersion, error) {
	t, err := s.Get(ctx, by, code)
	if err != nil {
		return nil, err
	}
	return s.store.TaskVersions(ctx, t.ID, limit)
}

// Create makes a task. Errors: Invalid with all broken fields, Denied, and
// Invalid at "code" when it is taken.
func (s *Tasks) Create(ctx context.Context, by access.Actor, w TaskSpec) (Task, error) {
	now := s.clock.Now()
	t, err := w.Resolve(Task{}, s.defaults, now)
	team, teamErr := s.teamFor(ctx, by, w.Team)
	if teamErr != nil && fault.KindOf(teamErr) != fault.KindInvalid {
		return Task{}, teamErr
	}
	cal, calErr := s.calendarFor(ctx, team.ID, w.Schedule.Calendar)
	if calErr != nil && fault.KindOf(calErr) != fault.KindInvalid {
		return Task{}, calErr
	}
	toBad, other := alongside(s.targetFor(ctx, team.ID, w.Target), s.hooksFor(ctx, team.ID, w.Hooks))
	if other != nil {
		return Task{}, other
	}
	if fields := slices.Concat(fault.Fields(err), fault.Fields(teamErr), fault.Fields(calErr), toBad); len(fields) > 0 {
		return Task{}, fault.Invalid(fields...)
	}
	if err := cmp.Or(s.unsafeAllowed(by, team.ID, Task{}, t), shellAllowed(by, team.ID, Task{}, t)); err != nil {
		return Task{}, err
	}
	t.TeamID, t.Version, t.Calendar = team.ID, 1, cal
	t.CreatedAt, t.UpdatedAt, t.CreatedBy, t.UpdatedBy = now, now, by.Name, by.Name
	if err := t.reschedule(now); err != nil {
		return Task{}, err
	}
	return s.store.CreateTask(ctx, t, w.Note, taskEntry(by, now, "task.create", Task{}, t, w.Note))
}

// alongside gives the broken fields of several looks; or the first error that
// isn't about fields.
func alongside(errs ...error) (bad []fault.FieldError, err error) {
	for _, err := range errs {
		if err != nil && fault.KindOf(err) != fault.KindInvalid {
			return nil, err
		}
		bad = append(bad, fault.Fields(err)...)
	}
	return bad, nil
}

// teamFor finds the team that a new task goes to and checks the right in it.
func (s *Tasks) teamFor(ctx context.Context, by access.Actor, code string) (access.Team, error) {
	if code == "" {
		return access.Team{}, fault.Invalid(fault.Field("team", "A team is needed"))
	}
	team, err := s.store.Team(ctx, code)
	if err == nil && !by.Sees(team.ID) {
		err = fault.NotFound("There is no such team")
	}
	if fault.KindOf(err) == fault.KindNotFound && err != nil {
		return access.Team{}, fault.Invalid(fault.Field("team", "There is no team %q that you can see", code))
	}
	if err != nil {
		return access.Team{}, err
	}
	return team, by.Check(access.EditTask, team.ID)
}

// calendarFor finds the calendar that a task of the team is to go by: the
// team's own or one of the installation; nil for none.
func (s *Tasks) calendarFor(ctx context.Context, team int64, code string) (*calendar.Calendar, error) {
	if code == "" {
		return nil, nil //nolint:nilnil // no calendar is named
	}
	c, err := s.store.Calendar(ctx, code)
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return nil, err
	}
	if err != nil || c.TeamID != 0 && team != 0 && c.TeamID != team {
		return nil, fault.Invalid(fault.Field("schedule.calendar", "There is no calendar %q that this team can use", code))
	}
	return c, nil
}

// Preview explains a written schedule and gives its next runs after from. It
// goes by the calendar that it names, if the actor may see it.
func (s *Tasks) Preview(ctx context.Context, by access.Actor, w ScheduleSpec, from time.Time, count int) (Preview, error) {
	c, err := s.calendarFor(ctx, 0, w.Calendar)
	if err == nil && c != nil && c.TeamID != 0 && !by.Sees(c.TeamID) {
		err = fault.Invalid(fault.Field("schedule.calendar", "There is no calendar %q that you can see", w.Calendar))
	}
	if err != nil {
		return Preview{}, err
	}
	return PreviewSchedule(w, c, from, count)
}

// unsafeAllowed lets only owners turn on retries of non-idempotent work.
func (s *Tasks) unsafeAllowed(by access.Actor, team int64, old, t Task) error {
	if !t.Spec.Policy.Retry.Unsafe || old.Spec.Policy.Retry.Unsafe {
		return nil
	}
	return by.Check(access.RetryUnsafe, team)
}

// shellAllowed lets only owners make and change tasks that run commands, and
// make one of another task, or another of it.
func shellAllowed(by access.Actor, team int64, old, t Task) error {
	if old.Spec.Target.Kind != TargetShell && t.Spec.Target.Kind != TargetShell {
		return nil
	}
	return by.Check(access.EditShell, team)
}

// Update changes a task. version is the one that the caller read: a stale one
// is a Conflict that names who changed it; 0 is not accepted.
func (s *Tasks) Update(ctx context.Context, by access.Actor, code string, w TaskSpec) (Task, error) {
	old, err := s.may(ctx, by, access.EditTask, code)
	if err != nil {
		return Task{}, err
	}
	if w.Version == 0 {
		return Task{}, fault.Invalid(fault.Field("version", "The version that you read is needed, so that nobody's change is overwritten"))
	}
	if w.Team != "" {
		team, err := s.store.Team(ctx, w.Team)
		if err != nil && fault.KindOf(err) != fault.KindNotFound {
			return Task{}, err
		}
		if err != nil || team.ID != old.TeamID {
			return Task{}, fault.Invalid(fault.Field("team", "An edit leaves the team as it is: moving a task to another one is an action of its own"))
		}
	}
	return s.update(ctx, by, old, w, func(_, _ Task) error { return nil })
}

// update is the one way to another definition, of an edit and of a roll-back.
// The right is asked for again under the lock: the task may have been moved to
// another team since it was read. So does also, of what is and what is to be.
func (s *Tasks) update(ctx context.Context, by access.Actor, read Task, w TaskSpec, also func(old, t Task) error) (Task, error) {
	cal, calErr := s.calendarFor(ctx, read.TeamID, w.Schedule.Calendar)
	if calErr != nil && fault.KindOf(calErr) != fault.KindInvalid {
		return Task{}, calErr
	}
	toBad, err := alongside(s.targetChange(ctx, read, w.Target), s.hooksChange(ctx, read, w.Hooks))
	if err != nil {
		return Task{}, err
	}
	now := s.clock.Now()
	t, _, err := s.store.ChangeTask(ctx, TaskChange{
		Code: read.Code, Now: now, By: by, Note: w.Note, Version: true, Owed: true,
		Apply: func(old Task) (Task, access.Entry, error) {
			if err := cmp.Or(by.Check(access.EditTask, old.TeamID), old.fresh(w.Version)); err != nil {
				return Task{}, access.Entry{}, err
			}
			t, err := w.Resolve(old, s.defaults, now)
			if fields := slices.Concat(fault.Fields(err), fault.Fields(calErr), toBad); len(fields) > 0 {
				return Task{}, access.Entry{}, fault.Invalid(fields...)
			}
			t.Calendar = cal
			if err := cmp.Or(also(old, t), s.unsafeAllowed(by, old.TeamID, old, t), shellAllowed(by, old.TeamID, old, t)); err != nil {
				return Task{}, access.Entry{}, err
			}
			return t, taskEntry(by, now, "task.update", old, t, w.Note), t.reschedule(now)
		},
	})
	return t, err
}

// fresh refuses a change of what somebody else changed meanwhile.
func (t Task) fresh(version int) error {
	switch {
	case !t.ArchivedAt.IsZero():
		return fault.Conflict("The task is archived and can't be changed")
	case version != 0 && version != t.Version:
		return fault.Conflict("%s changed the task meanwhile: it is at version %d, you began from %d", t.UpdatedBy, t.Version, version)
	}
	return nil
}

// reschedule sets next_fire_at to the first wanted slot at or after now.
func (t *Task) reschedule(now time.Time) error {
	t.NextFireAt, t.PlanError = time.Time{}, ""
	if !t.Enabled || !t.ArchivedAt.IsZero() {
		return nil
	}
	times, err := t.Times()
	if err != nil {
		return err
	}
	t.NextFireAt = firstFrom(times, now)
	if t.Spec.Schedule.FixedDelay {
		t.NextFireAt = latest(latest(ceilSecond(now), t.Spec.Schedule.Anchor), ceilSecond(t.Spec.Schedule.StartAt))
	}
	return nil
}

// SetEnabled enables or disables a task. Disabled: no new slots, triggers get
// a Conflict, accepted work still runs. Enabled: it plans from now.
func (s *Tasks) SetEnabled(ctx context.Context, by access.Actor, code string, on bool, reason string) (Task, error) {
	action := map[bool]string{true: "task.enable", false: "task.disable"}[on]
	return s.act(ctx, by, code, TaskChange{Note: reason, Version: true, Owed: true}, access.PauseTask, action,
		func(t *Task, _ time.Time) error { t.Enabled = on; return nil })
}

// Pause lets nothing of the task start before until: accepted work waits,
// slots in that time are recorded.
func (s *Tasks) Pause(ctx context.Context, by access.Actor, code string, until time.Time, reason string) (Task, error) {
	return s.act(ctx, by, code, TaskChange{Note: reason}, access.PauseTask, "task.pause",
		func(t *Task, now time.Time) error {
			if !until.After(now) || until.After(now.AddDate(1, 0, 0)) {
				return fault.Invalid(fault.Field("until", "A moment after now is needed, at most a year ahead"))
			}
			if !t.Paused(now) {
				t.PausedFrom = now
			}
			t.PausedUntil = ceilSecond(until.UTC())
			return nil
		})
}

// Resume ends a pause now; what waits becomes due at once.
func (s *Tasks) Resume(ctx context.Context, by access.Actor, code, reason string) (Task, error) {
	return s.act(ctx, by, code, TaskChange{Note: reason}, access.PauseTask, "task.resume",
		func(t *Task, now time.Time) error {
			if !t.Paused(now) {
				return fault.Conflict("The task is not paused")
			}
			t.PausedUntil = now
			return nil
		})
}

// Archive ends a task for good: it is disabled, and its history stays.
func (s *Tasks) Archive(ctx context.Context, by access.Actor, code, reason string) (Task, error) {
	return s.act(ctx, by, code, TaskChange{Note: reason, Version: true, Owed: true}, access.EditTask, "task.archive",
		func(t *Task, now time.Time) error { t.Enabled, t.ArchivedAt = false, now; return nil })
}

// act is the one shape of all discrete changes.
func (s *Tasks) act(ctx context.Context, by access.Actor, code string, c TaskChange, v access.Verb, action string, set func(*Task, time.Time) error) (Task, error) {
	if _, err := s.may(ctx, by, v, code); err != nil {
		return Task{}, err
	}
	now := s.clock.Now()
	c.Code, c.Now, c.By = code, now, by
	c.Apply = func(old Task) (Task, access.Entry, error) {
		if err := cmp.Or(by.Check(v, old.TeamID), old.fresh(0)); err != nil {
			return Task{}, access.Entry{}, err
		}
		t := old
		if err := set(&t, now); err != nil {
			return Task{}, access.Entry{}, err
		}
		var err error
		if v == access.EditTask {
			if err = shellAllowed(by, old.TeamID, old, t); err != nil {
				return Task{}, access.Entry{}, err
			}
		}
		if c.Version {
			err = t.reschedule(now)
		}
		return t, taskEntry(by, now, action, old, t, c.Note), err
	}
	t, due, err := s.store.ChangeTask(ctx, c)
	if err == nil && len(due) > 0 {
		_, _ = s.hand.HandOver(ctx, due) // the dispatcher repeats what failed
	}
	return t, err
}
