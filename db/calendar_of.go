package db

import (
	"context"
	"database/sql"
	"errors"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/fault"
	"ax/app/sched"
)

// calendarRow is a row of calendars.
type calendarRow struct {
	ID        int64
	TeamID    int64
	Code      string
	Name      string
	Week      int
	Version   int
	CreatedAt Millis
	CreatedBy string
	UpdatedAt Millis
	UpdatedBy string
}

// TableName is read by GORM.
func (calendarRow) TableName() string { return "calendars" }

func (r calendarRow) calendar() *calendar.Calendar {
	return &calendar.Calendar{
		ID: r.ID, TeamID: r.TeamID, Code: r.Code, Name: r.Name, Week: calendar.Week(r.Week), //nolint:gosec // seven bits
		Listed: map[calendar.Day]calendar.Entry{}, Version: r.Version, UpdatedAt: r.UpdatedAt.Time, UpdatedBy: r.UpdatedBy,
	}
}

// dayRow is a row of calendar_days.
type dayRow struct {
	CalendarID int64
	Day        int
	Work       bool
	Name       string
}

// TableName is read by GORM.
func (dayRow) TableName() string { return "calendar_days" }

// Calendar reads a calendar with its days; NotFound when there is none.
func (d *DB) Calendar(ctx context.Context, code string) (*calendar.Calendar, error) {
	return takeCalendar(d.view(ctx), code, "")
}

// takeCalendar reads a calendar with its days; NotFound when there is none.
func takeCalendar(tx *gorm.DB, code, lock string) (*calendar.Calendar, error) {
	var r calendarRow
	err := tx.Raw("SELECT * FROM calendars WHERE code=?"+lock, code).Take(&r).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, access.NoObject()
	}
	if err != nil {
		return nil, err
	}
	var rows []dayRow
	if err := tx.Raw("SELECT * FROM calendar_days WHERE calendar_id=?", r.ID).Scan(&rows).Error; err != nil {
		return nil, err
	}
	c := r.calendar()
	for _, day := range rows {
		c.Listed[calendar.Day(day.Day)] = calendar.Entry{Work: day.Work, Name: day.Name}
	}
	return c, nil
}

// calendars gives tasks the calendars that they name, each read once. One that
// is gone leaves its tasks without: they can't be planned then.
type calendars struct {
	tx    *gorm.DB
	known map[string]*calendar.Calendar
}

func calendarsIn(tx *gorm.DB) *calendars {
	return &calendars{tx: tx, known: map[string]*calendar.Calendar{}}
}

func (c *calendars) give(t *sched.Task) error {
	code := t.Spec.Schedule.Calendar
	if code == "" {
		return nil
	}
	cal, ok := c.known[code]
	if !ok {
		var err error
		if cal, err = takeCalendar(c.tx, code, ""); err != nil && fault.KindOf(err) != fault.KindNotFound {
			return err
		}
		c.known[code] = cal
	}
	t.Calendar = cal
	return nil
}

// noteCalendar keeps the list of tasks that go by a calendar in step with a
// task's definition.
func (d *DB) noteCalendar(tx *gorm.DB, old, next sched.Task) error {
	from, to := old.Spec.Schedule.Calendar, next.Spec.Schedule.Calendar
	if !next.ArchivedAt.IsZero() {
		to = ""
	}
	if from != to {
		if err := tx.Exec("DELETE FROM calendar_tasks WHERE task_id=?", next.ID).Error; err != nil {
			return err
		}
	}
	if to == "" {
		return nil
	}
	if from != to {
		if err := tx.Exec("INSERT INTO calendar_tasks (code, task_id) VALUES (?,?)", to, next.ID).Error; err != nil {
			return err
		}
	}
	return d.holdCalendar(tx, next)
}

// holdCalendar sees to it that the calendar neither goes nor changes while a
// task takes it: after the locks of task and gate comes that of the calendar.
// When its days have changed since the next slot was found, the task is noted
// to be planned anew.
func (d *DB) holdCalendar(tx *gorm.DB, t sched.Task) error {
	code := t.Spec.Schedule.Calendar
	var version int
	err := tx.Raw("SELECT version FROM calendars WHERE code=?"+d.dialect.forShare, code).Row().Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return fault.Invalid(fault.Field("schedule.calendar", "There is no calendar %q that this team can use", code))
	}
	if err != nil || t.Calendar != nil && t.Calendar.Version == version {
		return err
	}
	return tx.Exec("INSERT INTO calendar_replans (task_id, code) VALUES (?,?) "+d.dialect.upsert("task_id", "code"), t.ID, code).Error
}
