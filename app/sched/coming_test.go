package sched

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWhatComesNextPassesOverDaysOff(t *testing.T) {
	task := taskOf(cronOf("0 9 * * *", "UTC"))
	task.Calendar = bankDays()
	s := &task.Spec.Schedule
	s.Calendar, s.CalendarMode, s.CalendarMove = "bank", OnWorkdays, MoveDrop
	task.NextFireAt = moment("2026-12-25T09:00:00Z")
	require.Equal(t, moment("2026-12-28T09:00:00Z"), task.NextStart())

	coming := task.Coming(moment("2026-12-24T10:00:00Z"), 2)
	require.Equal(t, moments("2026-12-28T09:00:00Z", "2026-12-29T09:00:00Z"), coming.Runs)
	require.Equal(t, "Christmas", coming.Off[0].Name)

	task.Enabled = false
	require.Empty(t, task.Coming(noon(), 2))
}

func TestWhatComesNextBeginsAfterTheJitter(t *testing.T) {
	task := taskOf(cronOf("0 9 * * *", "UTC"))
	task.Spec.Schedule.JitterSeconds = 3600
	task.NextFireAt = moment("2026-03-03T09:00:00Z")
	require.NotZero(t, task.Offset())
	require.Equal(t, task.NextFireAt.Add(task.Offset()), task.NextStart())
	require.Equal(t, task.NextStart(), task.Coming(noon(), 1).Runs[0])
	require.Equal(t, task.NextStart(), task.Coming(task.NextFireAt.Add(task.Offset()/2), 1).Runs[0], "a slot that has passed and hasn't begun is still to come")
}

func TestOfAFixedDelayOnlyTheNextRunIsKnown(t *testing.T) {
	s := everyOf(60, noon())
	s.FixedDelay = true
	task := taskOf(s)
	task.NextFireAt = noon().Add(time.Minute)
	require.Equal(t, []time.Time{task.NextFireAt}, task.Coming(noon(), 5).Runs)
}
