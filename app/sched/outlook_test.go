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

func (b *outlookBook) CalendarTasks(_ context.Context, s access.Scope, _ int) ([]Task, error) {
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
