package sched

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
)

type outlookBook struct {
	tasks []Task
	scope access.Scope
}

func (b *outlookBook) CalendarTasks(_ context.Context, s access.Scope, _ string, _ int) ([]Task, error) {
	b.scope = s
	return b.tasks, nil
}

func TestTheOutlookNamesWhatCalendarsDo(t *testing.T) {
	cal := &calendar.Calendar{Code: "cn", Week: calendar.MondayToFriday, Listed: map[calendar.Day]calendar.Entry{
		calendar.Date(2026, 3, 4): {Name: "Holiday"}, calendar.Date(2026, 4, 20): {Name: "too late"},
	}}
	task := func(move CalendarMove) Task {
		s := cronOf("0 9 * * *", "UTC")
		s.Calendar, s.CalendarMode, s.CalendarMove = "cn", OnWorkdays, move
		out := taskOf(s)
		out.Calendar, out.NextFireAt = cal, noon()
		return out
	}
	disabled := task(MoveDrop)
	disabled.Enabled = false
	book := &outlookBook{tasks: []Task{task(MoveNext), task(MoveDrop), disabled}}
	clock := NewClock(noon)
	got, err := NewOutlook(book, clock).DaysOff(t.Context(), access.Actor{Kind: access.User, Roles: map[int64]access.Role{7: access.Viewer}}, access.Scope{})
	require.NoError(t, err)
	require.Equal(t, access.Scope{Teams: []int64{7}}, book.scope)
	nine := func(day int) time.Time { return time.Date(2026, 3, day, 9, 0, 0, 0, time.UTC) }
	require.Len(t, got, 4)
	require.Equal(t, DayOff{Slot: nine(4), Name: "Holiday", To: nine(5), Joins: true}, got[0].DayOff)
	require.Equal(t, DayOff{Slot: nine(4), Name: "Holiday"}, got[1].DayOff)
	require.Equal(t, nine(7), got[2].Slot, "a plain Saturday")
	for range 20 {
		book.tasks = append(book.tasks, task(MoveDrop))
	}
	got, err = NewOutlook(book, clock).DaysOff(t.Context(), access.Actor{Admin: true}, access.Scope{})
	require.NoError(t, err)
	require.Len(t, got, outlookRows)
}

// A change of a calendar is told by the coming slots whose day it turns.
func TestTheEffectOfAChangeIsCounted(t *testing.T) {
	was := &calendar.Calendar{Code: "cn", Week: calendar.MondayToFriday, Listed: map[calendar.Day]calendar.Entry{calendar.Date(2026, 3, 10): {Name: "old name"}}}
	next := &calendar.Calendar{Code: "cn", Week: calendar.MondayToFriday, Listed: map[calendar.Day]calendar.Entry{
		calendar.Date(2026, 2, 27): {}, calendar.Date(2026, 3, 2): {}, calendar.Date(2026, 3, 4): {}, calendar.Date(2026, 3, 7): {Work: true}, calendar.Date(2026, 3, 8): {},
		calendar.Date(2026, 3, 10): {Name: "new name"},
	}}
	follows := func(expr string, mode CalendarMode) Task {
		s := cronOf(expr, "UTC")
		s.Calendar, s.CalendarMode, s.CalendarMove = "cn", mode, MoveDrop
		return taskOf(s)
	}
	effect := func(tasks ...Task) CalendarEffect {
		t.Helper()
		got, err := NewOutlook(&outlookBook{tasks: tasks}, NewClock(noon)).Effect(t.Context(), access.Actor{Admin: true}, was, next, calendar.Diff(was.Listed, next.Listed))
		require.NoError(t, err)
		return got
	}
	require.Equal(t, CalendarEffect{Slots: 5, Tasks: 1}, effect(follows("0 9,15 * * *", OnWorkdays)),
		"15:00 of the 2nd, and both of the 4th and the 7th: not what is past, is off anyhow, or has a new name only")
	require.Equal(t, CalendarEffect{}, effect(follows("0 9 11 * *", OnWorkdays)))
	ended := follows("0 9 * * *", OnWorkdays)
	ended.Spec.Schedule.EndAt = noon().AddDate(0, 0, 3)
	require.Equal(t, CalendarEffect{Slots: 1, Tasks: 1}, effect(ended, follows("0 9 11 * *", OnWorkdays)))

	busy := effect(follows("* * * * * *", OnWorkdays))
	require.True(t, busy.Cut)
	require.LessOrEqual(t, busy.Slots, effectSteps)
	many := make([]Task, outlookTasks+1)
	for i := range many {
		many[i] = follows("0 9 4 3 *", OnWorkdays)
	}
	require.Equal(t, CalendarEffect{Slots: outlookTasks, Tasks: outlookTasks, Cut: true}, effect(many...))
}
