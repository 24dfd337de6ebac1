package sched

import (
	"context"
	"slices"
	"time"

	"ax/app/access"
)

const (
	// outlookTasks is how many tasks are looked at, those with the next slots.
	outlookTasks = 100
	// outlookDays is how far ahead.
	outlookDays = 30
	// outlookRows is how many days off are named.
	outlookRows = 12
)

// TaskDayOff is a day on which a task doesn't run.
type TaskDayOff struct {
	Task Task
	DayOff
}

// outlookStore gives tasks that go by a calendar, with their calendars, those
// with the next slots first; of one calendar when it is named.
type outlookStore interface {
	CalendarTasks(ctx context.Context, s access.Scope, calendar string, limit int) ([]Task, error)
}

// Outlook tells what calendars will do to slots.
type Outlook struct {
	store outlookStore
	clock *Clock
}

// NewOutlook makes it.
func NewOutlook(store outlookStore, clock *Clock) *Outlook { return &Outlook{store, clock} }

// DaysOff names the next days of a month on which a slot of a task in the scope
// is dropped or moved, by time: of each task its next listed days off, and one
// plain weekend day.
func (o *Outlook) DaysOff(ctx context.Context, by access.Actor, s access.Scope) ([]TaskDayOff, error) {
	tasks, err := o.store.CalendarTasks(ctx, by.Scope().Narrow(s), "", outlookTasks)
	if err != nil {
		return nil, err
	}
	return daysOffOf(tasks, o.clock.Now()), nil
}

func daysOffOf(tasks []Task, now time.Time) []TaskDayOff {
	var out []TaskDayOff
	until := now.AddDate(0, 0, outlookDays)
	for _, t := range tasks {
		for _, d := range t.Coming(now, 0).Off {
			if d.Slot.Before(until) {
				out = append(out, TaskDayOff{t, d})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b TaskDayOff) int { return a.Slot.Compare(b.Slot) })
	return out[:min(len(out), outlookRows)]
}
