package sched

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// zonedBook holds tasks with a zone beside those that are noted.
type zonedBook struct {
	replanBook
	tasks    []Task
	listed   int
	failNote error
}

func (b *zonedBook) ZonedTasks(_ context.Context, after int64, limit int) ([]Task, int64, error) {
	b.listed++
	var out []Task
	for _, t := range b.tasks {
		if t.ID > after && len(out) < limit {
			out = append(out, t)
		}
	}
	if len(out) < limit {
		return out, 0, nil
	}
	return out, out[limit-1].ID, nil
}

func (b *zonedBook) NoteReplans(_ context.Context, ids []int64) error {
	if b.failNote == nil {
		b.noted = append(b.noted, ids...)
	}
	return b.failNote
}

// shanghaiAt is a daily task whose next slot was found to be at a time.
func shanghaiAt(id int64, next time.Time) Task {
	t := taskOf(cronOf("0 22 * * *", "Asia/Shanghai")) // 14:00 in UTC
	t.ID, t.NextFireAt = id, next
	return t
}

func TestNextSlotsAreLookedOverAtTheStartAndOnceAnHour(t *testing.T) {
	now := noon()
	right, wrong := now.Add(2*time.Hour), now.Add(3*time.Hour)
	b := &zonedBook{failNote: errBroken}
	for id := range int64(recheckBatch + 2) {
		b.tasks = append(b.tasks, shanghaiAt(id+1, right))
	}
	b.tasks[0].NextFireAt, b.tasks[recheckBatch+1].NextFireAt = wrong, wrong
	r := NewReplanner(b, nil, NewClock(func() time.Time { return now }), quiet())
	more, err := r.Tick(t.Context())
	require.ErrorIs(t, err, errBroken)
	require.False(t, more)
	b.failNote = nil

	more, err = r.Tick(t.Context())
	require.NoError(t, err)
	require.True(t, more, "others follow")
	require.Equal(t, []int64{1}, b.tried)
	more, err = r.Tick(t.Context())
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, []int64{1, recheckBatch + 2}, b.tried)

	listed := b.listed
	_, err = r.Tick(t.Context())
	require.NoError(t, err)
	require.Equal(t, listed, b.listed, "not at each tick")
	now = now.Add(recheckEvery)
	_, err = r.Tick(t.Context())
	require.NoError(t, err)
	require.Greater(t, b.listed, listed, "a node with other data may have been there until now")
}

func TestATaskIsAstrayWhenItsScheduleHasAnotherNextSlot(t *testing.T) {
	now := noon()
	two := now.Add(2 * time.Hour)
	for name, c := range map[string]struct {
		change func(*Task)
		want   bool
	}{
		"as it should be":                 {func(*Task) {}, false},
		"too late":                        {func(t *Task) { t.NextFireAt = two.Add(time.Hour) }, true},
		"too early":                       {func(t *Task) { t.NextFireAt = two.Add(-time.Hour) }, true},
		"none, but there is one":          {func(t *Task) { t.NextFireAt = time.Time{} }, true},
		"owed":                            {func(t *Task) { t.NextFireAt = now.Add(-time.Hour) }, false},
		"about to be planned":             {func(t *Task) { t.NextFireAt = now.Add(PlanHorizon) }, false},
		"planned ahead a moment ago":      {func(t *Task) { t.Spec.Schedule.Cron = "* * * * *"; t.NextFireAt = now.Add(time.Minute) }, false},
		"after the end":                   {func(t *Task) { t.Spec.Schedule.EndAt = now; t.NextFireAt = time.Time{} }, false},
		"could not be planned, now can":   {func(t *Task) { t.NextFireAt, t.PlanError = time.Time{}, "zone is not known" }, true},
		"a zone that is gone":             {func(t *Task) { t.Spec.Schedule.Timezone = "Mars/Base" }, true},
		"that was found already":          {func(t *Task) { t.Spec.Schedule.Timezone, t.PlanError = "Mars/Base", "zone is not known" }, false},
		"a fixed delay follows its run's": {func(t *Task) { t.Spec.Schedule.FixedDelay = true; t.NextFireAt = two.Add(time.Hour) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			task := shanghaiAt(1, two)
			c.change(&task)
			require.Equal(t, c.want, task.astray(now))
		})
	}
}

func TestASlotThatOtherZoneDataPlannedIsSkippedWithThatReason(t *testing.T) {
	planned := noon().Add(-time.Minute)
	for name, c := range map[string]struct {
		change func(*ClaimView)
		want   string
	}{
		"nobody touched the task": {func(*ClaimView) {}, ReasonZone},
		"it was edited since":     {func(v *ClaimView) { v.Task.UpdatedAt = planned.Add(time.Second) }, ReasonEdited},
		"it goes by a calendar":   {func(v *ClaimView) { v.Task.Spec.Schedule.Calendar = "cn" }, ReasonEdited},
		"UTC has no rules":        {func(v *ClaimView) { v.Task.Spec.Schedule.Timezone = "UTC" }, ReasonEdited},
		"the zone is gone":        {func(v *ClaimView) { v.Task.Spec.Schedule.Timezone = "Mars/Base" }, ReasonEdited},
	} {
		t.Run(name, func(t *testing.T) {
			v := ClaimView{Task: shanghaiAt(1, noon())}
			v.Instance = slotOf(v.Task, noon())
			v.Task.UpdatedAt, v.Instance.CreatedAt = planned, planned
			c.change(&v)
			require.Equal(t, ClaimVerdict{Kind: ClaimSkip, Reason: c.want}, DecideClaim(v, noon()))
		})
	}
}
