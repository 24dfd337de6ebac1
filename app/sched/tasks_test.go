package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

func TestANewTaskIsStoredWithItsFirstSlot(t *testing.T) {
	o := newOffice()
	w := written(KindCron)
	w.Code, w.Note = "another", "for the shop"
	got, err := o.tasks.Create(t.Context(), as(access.Editor), w)
	require.NoError(t, err)
	require.Equal(t, moment("2026-03-02T18:00:00Z"), got.NextFireAt, "02:00 in Shanghai")
	require.Equal(t, []any{int64(shop), 1, "ann", "ann", noon(), noon(), true}, []any{got.TeamID, got.Version, got.CreatedBy, got.UpdatedBy, got.CreatedAt, got.UpdatedAt, got.Enabled})
	e := o.entries[0]
	require.Equal(t, []any{"task.create", noon(), int64(shop), "for the shop", "another"}, []any{e.Action, e.At, e.TeamID, e.Reason, e.Object.Name})
	require.Contains(t, e.Changes, access.Change{Field: "enabled", Old: "false", New: "true"})
	require.Empty(t, o.hands.messages)
}

func TestADisabledNewTaskPlansNothing(t *testing.T) {
	o := newOffice()
	w := written(KindCron)
	w.Code, w.Enabled = "another", new(false)
	got, err := o.tasks.Create(t.Context(), as(access.Editor), w)
	require.NoError(t, err)
	require.False(t, got.Enabled)
	require.Zero(t, got.NextFireAt)
}

func TestANewTaskIsRefused(t *testing.T) {
	bad := func(field string) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			require.Equal(t, fault.KindInvalid, fault.KindOf(err), "%v", err)
			require.Contains(t, fieldNames(err), field)
		}
	}
	for name, c := range map[string]struct {
		change func(*office, *TaskSpec)
		check  func(*testing.T, error)
	}{
		"without a team":      {func(_ *office, w *TaskSpec) { w.Team = "" }, bad("team")},
		"in an unknown team":  {func(_ *office, w *TaskSpec) { w.Team = "nobody" }, bad("team")},
		"in another's team":   {func(_ *office, w *TaskSpec) { w.Team = "depot" }, bad("team")},
		"under a taken code":  {func(_ *office, w *TaskSpec) { w.Code = "close-orders" }, bad("code")},
		"with a bad schedule": {func(_ *office, w *TaskSpec) { w.Schedule.Cron = "61 * * * *" }, bad("schedule.cron")},
		"with team and schedule at once": {func(_ *office, w *TaskSpec) { w.Team, w.Schedule.Cron = "", "" }, func(t *testing.T, err error) {
			require.Equal(t, []string{"schedule.cron", "team"}, fieldNames(err))
		}},
		"while the ledger is away": {func(o *office, _ *TaskSpec) { o.fail["Team"] = errAway }, func(t *testing.T, err error) { require.ErrorIs(t, err, errAway) }},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			w := written(KindCron)
			w.Code = "another"
			c.change(o, &w)
			_, err := o.tasks.Create(t.Context(), as(access.Owner), w)
			c.check(t, err)
			requireUntouched(t, o)
		})
	}
}

// update is a change of the book's task as read at version 1.
func update() TaskSpec {
	w := written(KindCron)
	w.Version, w.Schedule.Cron = 1, "0 5 * * *"
	return w
}

func TestAChangeIsStoredWithWhatItChanged(t *testing.T) {
	o := newOffice()
	w := update()
	w.Note = "later is better"
	got, err := o.tasks.Update(t.Context(), as(access.Editor), "close-orders", w)
	require.NoError(t, err)
	require.Equal(t, 2, got.Version)
	require.Equal(t, moment("2026-03-02T21:00:00Z"), got.NextFireAt, "from now, by the new schedule")
	c := o.changes[0]
	require.Equal(t, []any{"close-orders", noon(), "ann", "later is better"}, []any{c.Code, c.Now, c.By.Name, c.Note})
	require.True(t, c.Version, "claims after it see another version")
	require.True(t, c.Owed, "what the old schedule owed is planned first")
	var fields []string
	for _, change := range o.entries[0].Changes {
		fields = append(fields, change.Field)
	}
	require.Equal(t, []string{"schedule", "target"}, fields)
	require.Equal(t, "task.update", o.entries[0].Action)
	require.Empty(t, o.hands.messages, "the dispatcher takes what the old schedule owed")
}

func TestAChangeIsRefused(t *testing.T) {
	conflict := func(text string) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			require.Equal(t, fault.KindConflict, fault.KindOf(err), "%v", err)
			require.ErrorContains(t, err, text)
		}
	}
	bad := func(field string) func(*testing.T, error) {
		return func(t *testing.T, err error) { require.Equal(t, []string{field}, fieldNames(err)) }
	}
	for name, c := range map[string]struct {
		change func(*office, *TaskSpec, *Task)
		check  func(*testing.T, error)
	}{
		"by a stale version": {
			func(_ *office, _ *TaskSpec, t *Task) { t.Version, t.UpdatedBy = 3, "bob" },
			conflict("bob changed the task meanwhile: it is at version 3, you began from 1"),
		},
		"of an archived task":          {func(_ *office, _ *TaskSpec, t *Task) { t.ArchivedAt = noon() }, conflict("archived")},
		"without a version":            {func(_ *office, w *TaskSpec, _ *Task) { w.Version = 0 }, bad("version")},
		"to another team":              {func(_ *office, w *TaskSpec, _ *Task) { w.Team = "depot" }, bad("team")},
		"to an unknown team":           {func(_ *office, w *TaskSpec, _ *Task) { w.Team = "nobody" }, bad("team")},
		"of the code":                  {func(_ *office, w *TaskSpec, _ *Task) { w.Code = "another" }, bad("code")},
		"to a bad schedule":            {func(_ *office, w *TaskSpec, _ *Task) { w.Schedule.Cron = "" }, bad("schedule.cron")},
		"while teams can't be read":    {func(o *office, _ *TaskSpec, _ *Task) { o.fail["Team"] = errAway }, func(t *testing.T, err error) { require.ErrorIs(t, err, errAway) }},
		"while it can't be written":    {func(o *office, _ *TaskSpec, _ *Task) { o.fail["ChangeTask"] = errAway }, func(t *testing.T, err error) { require.ErrorIs(t, err, errAway) }},
		"while the task can't be read": {func(o *office, _ *TaskSpec, _ *Task) { o.fail["Task"] = errAway }, func(t *testing.T, err error) { require.ErrorIs(t, err, errAway) }},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			w, task := update(), o.book.tasks["close-orders"]
			c.change(o, &w, &task)
			o.book.tasks[task.Code] = task
			_, err := o.tasks.Update(t.Context(), as(access.Owner), "close-orders", w)
			c.check(t, err)
			requireUntouched(t, o)
		})
	}
}

// What an owner allowed once, an editor may keep; not turn on.
func TestAnEditorKeepsWhatAnOwnerAllowed(t *testing.T) {
	o := newOffice()
	w := update()
	w.Policy.Idempotent, w.Policy.Retry = new(false), &RetrySpec{Max: new(2), Unsafe: true}
	_, err := o.tasks.Update(t.Context(), as(access.Editor), "close-orders", w)
	require.Equal(t, fault.KindDenied, fault.KindOf(err))
	require.ErrorContains(t, err, "owner")
	_, err = o.tasks.Update(t.Context(), as(access.Owner), "close-orders", w)
	require.NoError(t, err)
	w.Version, w.Name = 2, "Close all orders"
	_, err = o.tasks.Update(t.Context(), as(access.Editor), "close-orders", w)
	require.NoError(t, err)
}

func TestATaskIsEnabledFromNowOn(t *testing.T) {
	o := newOffice()
	task := o.book.tasks["close-orders"]
	task.Enabled, task.NextFireAt, task.PlanError = false, time.Time{}, "it could not be read"
	o.book.tasks[task.Code] = task
	got, err := o.tasks.SetEnabled(t.Context(), as(access.Operator), "close-orders", true, "again")
	require.NoError(t, err)
	require.True(t, got.Enabled)
	require.Equal(t, moment("2026-03-03T02:00:00Z"), got.NextFireAt)
	require.Empty(t, got.PlanError)
	require.Equal(t, 2, got.Version)
	require.Equal(t, "task.enable", o.entries[0].Action)
	require.Equal(t, []access.Change{{Field: "enabled", Old: "false", New: "true"}}, o.entries[0].Changes)
	require.Equal(t, "again", o.entries[0].Reason)
}

func TestATaskThatCannotBePlannedIsNotEnabled(t *testing.T) {
	o := newOffice()
	task := o.book.tasks["close-orders"]
	task.Enabled, task.Spec.Schedule.Timezone = false, "Mars/Base"
	o.book.tasks[task.Code] = task
	_, err := o.tasks.SetEnabled(t.Context(), as(access.Operator), "close-orders", true, "")
	require.Equal(t, []string{"schedule.timezone"}, fieldNames(err))
	_, err = o.tasks.SetEnabled(t.Context(), as(access.Operator), "close-orders", false, "")
	require.NoError(t, err, "but it may be disabled")
}

func TestADisabledTaskHasNoNextSlot(t *testing.T) {
	o := newOffice()
	o.owed = messagesOf(1)
	got, err := o.tasks.SetEnabled(t.Context(), as(access.Operator), "close-orders", false, "")
	require.NoError(t, err)
	require.False(t, got.Enabled)
	require.Zero(t, got.NextFireAt)
	require.Equal(t, "task.disable", o.entries[0].Action)
	require.True(t, o.changes[0].Owed)
	require.Equal(t, messagesOf(1), o.hands.messages, "what was owed until now")
}

func TestAnArchivedTaskIsOver(t *testing.T) {
	o := newOffice()
	got, err := o.tasks.Archive(t.Context(), as(access.Editor), "close-orders", "replaced")
	require.NoError(t, err)
	require.False(t, got.Enabled)
	require.Equal(t, noon(), got.ArchivedAt)
	require.Zero(t, got.NextFireAt)
	require.Equal(t, "task.archive", o.entries[0].Action)
	for name, do := range map[string]func() error{
		"enable": func() error {
			_, err := o.tasks.SetEnabled(t.Context(), as(access.Owner), "close-orders", true, "")
			return err
		},
		"archive": func() error { _, err := o.tasks.Archive(t.Context(), as(access.Owner), "close-orders", ""); return err },
		"pause": func() error {
			_, err := o.tasks.Pause(t.Context(), as(access.Owner), "close-orders", noon().Add(time.Hour), "")
			return err
		},
		"trigger": func() error {
			_, _, err := o.tasks.Trigger(t.Context(), as(access.Owner), "close-orders", TriggerRequest{})
			return err
		},
	} {
		require.Equal(t, fault.KindConflict, fault.KindOf(do()), name)
	}
}

func TestAPauseBeginsNowAndHasAnEnd(t *testing.T) {
	o := newOffice()
	got, err := o.tasks.Pause(t.Context(), as(access.Operator), "close-orders", noon().Add(1500*time.Millisecond), "stocktaking")
	require.NoError(t, err)
	require.Equal(t, noon(), got.PausedFrom)
	require.Equal(t, noon().Add(2*time.Second), got.PausedUntil)
	require.Equal(t, 1, got.Version, "the definition is the same")
	require.True(t, got.Enabled)
	require.Equal(t, []any{"task.pause", "stocktaking"}, []any{o.entries[0].Action, o.entries[0].Reason})

	task := o.book.tasks["close-orders"]
	task.PausedFrom = noon().Add(-time.Hour)
	o.book.tasks[task.Code] = task
	got, err = o.tasks.Pause(t.Context(), as(access.Operator), "close-orders", noon().Add(time.Hour), "")
	require.NoError(t, err)
	require.Equal(t, noon().Add(-time.Hour), got.PausedFrom, "a pause that is made longer keeps its beginning")
	require.Equal(t, noon().Add(time.Hour), got.PausedUntil)
}

func TestAPauseEndsAfterNowAndWithinAYear(t *testing.T) {
	for name, until := range map[string]time.Time{
		"now": noon(), "before": noon().Add(-time.Second), "never": {}, "in two years": noon().AddDate(2, 0, 0),
	} {
		o := newOffice()
		_, err := o.tasks.Pause(t.Context(), as(access.Operator), "close-orders", until, "")
		require.Equal(t, []string{"until"}, fieldNames(err), name)
		requireUntouched(t, o)
	}
}

func TestAPauseIsEndedNow(t *testing.T) {
	o := newOffice()
	_, err := o.tasks.Resume(t.Context(), as(access.Operator), "close-orders", "")
	require.Equal(t, fault.KindConflict, fault.KindOf(err), "it is not paused")
	task := o.book.tasks["close-orders"]
	task.PausedFrom, task.PausedUntil = noon().Add(-time.Hour), noon().Add(time.Hour)
	o.book.tasks[task.Code] = task
	got, err := o.tasks.Resume(t.Context(), as(access.Operator), "close-orders", "done")
	require.NoError(t, err)
	require.False(t, got.Paused(noon()))
	require.True(t, got.Paused(noon().Add(-time.Millisecond)), "its slots until now stay recorded")
	require.Equal(t, "task.resume", o.entries[0].Action)
}

// The change is committed: a hand-over that fails is repeated by a dispatcher.
func TestAFailedHandOverIsNoFailedChange(t *testing.T) {
	o := newOffice()
	o.owed, o.hands.err = messagesOf(2), errAway
	_, err := o.tasks.SetEnabled(t.Context(), as(access.Operator), "close-orders", false, "")
	require.NoError(t, err)
}

func TestDefaultsAreForForms(t *testing.T) {
	require.Equal(t, defaults(), newOffice().tasks.Defaults())
}
