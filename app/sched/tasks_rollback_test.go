package sched

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/fault"
)

// keep puts an earlier version of the one task into the book.
func (b *book) keep(version int, set func(*Task)) {
	t := b.tasks["close-orders"]
	set(&t)
	heading := t.Heading()
	if b.versions == nil {
		b.versions = map[int]TaskVersion{}
	}
	b.versions[version] = TaskVersion{TaskID: t.ID, Version: version, Spec: t.Spec, Heading: &heading, Author: "bob"}
}

// rollable is an office whose task is at version 5; version 2 had another
// schedule, owner and name.
func rollable() *office {
	o := newOffice()
	t := o.book.tasks["close-orders"]
	t.Version = 5
	o.book.tasks[t.Code] = t
	o.keep(2, func(t *Task) {
		t.Name, t.Owner, t.Spec.Schedule.Cron, t.Enabled = "Close", "lin", "0 5 * * *", false
	})
	o.keep(5, func(*Task) {})
	return o
}

func TestARollBackIsANewVersionWithTheOldDefinition(t *testing.T) {
	o := rollable()
	got, err := o.tasks.RollBack(t.Context(), as(access.Editor), "close-orders", RollBack{To: 2, Read: 5, Note: " the new hour was wrong "})
	require.NoError(t, err)
	require.Equal(t, []any{6, "Close", "lin", "0 5 * * *"}, []any{got.Version, got.Name, got.Owner, got.Spec.Schedule.Cron})
	require.True(t, got.Enabled, "a switch is no part of a definition")
	require.Equal(t, moment("2026-03-03T05:00:00Z"), got.NextFireAt)
	c, e := o.changes[0], o.entries[0]
	require.Equal(t, "roll back to v2: the new hour was wrong", c.Note)
	require.True(t, c.Version && c.Owed, "an edit like any other")
	require.Equal(t, []any{"task.update", c.Note, int64(shop)}, []any{e.Action, e.Reason, e.TeamID})
	var fields []string
	for _, change := range e.Changes {
		fields = append(fields, change.Field)
	}
	require.Equal(t, []string{"name", "owner", "schedule"}, fields)
}

func TestARollBackIsRefused(t *testing.T) {
	conflict := func(text string) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			require.Equal(t, fault.KindConflict, fault.KindOf(err), "%v", err)
			require.ErrorContains(t, err, text)
		}
	}
	bad := func(field, text string) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			require.Equal(t, []string{field}, fieldNames(err))
			require.ErrorContains(t, err, text)
		}
	}
	for name, c := range map[string]struct {
		change func(*office, *Task, *RollBack)
		check  func(*testing.T, error)
	}{
		"of what was changed meanwhile": {func(_ *office, t *Task, _ *RollBack) { t.Version, t.UpdatedBy = 6, "bob" }, conflict("bob changed the task meanwhile: it is at version 6, you began from 5")},
		"of an archived task":           {func(_ *office, t *Task, _ *RollBack) { t.ArchivedAt = noon() }, conflict("archived")},
		"to the present version":        {func(_ *office, _ *Task, r *RollBack) { r.To = 5 }, bad("version", "nothing to roll back")},
		"to one that is the same but for the switch": {func(o *office, _ *Task, r *RollBack) {
			o.keep(4, func(t *Task) { t.Enabled = false })
			r.To = 4
		}, bad("version", "Version 4 has the definition of the present one")},
		"to a version that never was":  {func(_ *office, _ *Task, r *RollBack) { r.To = 9 }, bad("version", "There is no version 9")},
		"with a note that is too long": {func(_ *office, _ *Task, r *RollBack) { r.Note = strings.Repeat("n", 501) }, bad("note", "At most 500")},
		"to a calendar that is gone": {func(o *office, _ *Task, r *RollBack) {
			o.keep(3, func(t *Task) { t.Spec.Schedule.Calendar = "cn" })
			r.To = 3
		}, bad("schedule.calendar", `There is no calendar "cn" that this team can use`)},
		"to a calendar of another team": {func(o *office, _ *Task, r *RollBack) {
			o.calendars = map[string]*calendar.Calendar{"cn": {Code: "cn", TeamID: depot}}
			o.keep(3, func(t *Task) { t.Spec.Schedule.Calendar = "cn" })
			r.To = 3
		}, bad("schedule.calendar", `There is no calendar "cn"`)},
		"to a queue that is gone": {func(o *office, _ *Task, r *RollBack) {
			o.keep(3, func(t *Task) { t.Queue = "old" })
			r.To = 3
		}, bad("queue", "")},
		"while versions can't be read": {func(o *office, _ *Task, _ *RollBack) { o.fail["TaskVersion"] = errAway }, func(t *testing.T, err error) { require.ErrorIs(t, err, errAway) }},
	} {
		t.Run(name, func(t *testing.T) {
			o, r := rollable(), RollBack{To: 2, Read: 5}
			task := o.book.tasks["close-orders"]
			c.change(o, &task, &r)
			o.book.tasks[task.Code] = task
			_, err := o.tasks.RollBack(t.Context(), as(access.Owner), "close-orders", r)
			c.check(t, err)
			requireUntouched(t, o)
		})
	}
}

// Retries of non-idempotent work come back by an owner's hand only.
func TestARollBackIsNoWayAroundTheOwner(t *testing.T) {
	o := rollable()
	o.keep(1, func(t *Task) {
		t.Spec.Policy.Idempotent, t.Spec.Policy.Retry.Unsafe = false, true
	})
	_, err := o.tasks.RollBack(t.Context(), as(access.Editor), "close-orders", RollBack{To: 1})
	require.Equal(t, fault.KindDenied, fault.KindOf(err))
	requireUntouched(t, o)
	_, err = o.tasks.RollBack(t.Context(), as(access.Owner), "close-orders", RollBack{To: 1})
	require.NoError(t, err)
}

// A version of an older release kept no name and the like.
func TestWhatAVersionDidNotKeepStaysAsItIs(t *testing.T) {
	o := rollable()
	v := o.versions[2]
	v.Heading = nil
	o.versions[2] = v
	got, err := o.tasks.RollBack(t.Context(), as(access.Editor), "close-orders", RollBack{To: 2})
	require.NoError(t, err)
	require.Equal(t, []any{"Close orders", "0 5 * * *"}, []any{got.Name, got.Spec.Schedule.Cron})
	require.Equal(t, "roll back to v2", o.changes[0].Note)
}

func TestANoteIsCutToWhatItsColumnHolds(t *testing.T) {
	o := rollable()
	_, err := o.tasks.RollBack(t.Context(), as(access.Editor), "close-orders", RollBack{To: 2, Note: strings.Repeat("清", 500)})
	require.NoError(t, err)
	require.Len(t, []rune(o.changes[0].Note), 500)
}

// The task may be given away between the reading and the lock.
func TestARightIsAskedForAgainUnderTheLock(t *testing.T) {
	for name, do := range map[string]func(*office) error{
		"roll back": func(o *office) error {
			_, err := o.tasks.RollBack(t.Context(), as(access.Owner), "close-orders", RollBack{To: 2})
			return err
		},
		"pause": func(o *office) error {
			_, err := o.tasks.Pause(t.Context(), as(access.Owner), "close-orders", noon().Add(time.Hour), "")
			return err
		},
		"move": func(o *office) error {
			_, err := o.tasks.Move(t.Context(), inBoth(access.Owner, access.Owner), "close-orders", TeamMove{Team: "depot"})
			return err
		},
	} {
		o := rollable()
		o.before = func() {
			task := o.book.tasks["close-orders"]
			task.TeamID, task.Version = 99, 6
			o.book.tasks[task.Code] = task
		}
		require.Equal(t, fault.KindNotFound, fault.KindOf(do(o)), name)
		requireUntouched(t, o)
	}
}
