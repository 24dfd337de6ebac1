package db

import (
	"context"
	"encoding/json"
	"fmt"

	"gorm.io/gorm"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/fault"
	"ax/app/sched"
)

// visibleCalendars limits a query to the calendars of the scope and of the
// installation.
func visibleCalendars(s access.Scope) *where {
	w := &where{}
	w.shared("team_id", s)
	return w
}

// Calendars lists the calendars of the scope and of the installation by code.
func (d *DB) Calendars(ctx context.Context, s access.Scope) ([]calendar.Listing, error) {
	w := visibleCalendars(s)
	var out []calendar.Listing
	err := d.view(ctx).Raw("SELECT id, team_id, code, name FROM calendars"+w.sql()+" ORDER BY code", w.args...).Scan(&out).Error
	if err != nil {
		return nil, fmt.Errorf("list calendars: %w", away(err))
	}
	return out, nil
}

// CalendarsWithDays is Calendars with their days, and with how many tasks of
// the scope go by each.
func (d *DB) CalendarsWithDays(ctx context.Context, s access.Scope) ([]calendar.Overview, error) {
	w := visibleCalendars(s)
	var rows []calendarRow
	if err := d.view(ctx).Raw("SELECT * FROM calendars"+w.sql()+" ORDER BY code", w.args...).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("list calendars: %w", away(err))
	}
	if len(rows) == 0 {
		return nil, nil
	}
	counts, err := d.calendarCounts(ctx, s)
	if err != nil {
		return nil, err
	}
	out := make([]calendar.Overview, len(rows))
	ids, byID := make([]int64, len(rows)), make(map[int64]*calendar.Calendar, len(rows))
	for i, r := range rows {
		out[i] = calendar.Overview{Calendar: r.calendar(), Tasks: counts[r.Code]}
		ids[i], byID[r.ID] = r.ID, out[i].Calendar
	}
	var days []dayRow
	if err := d.view(ctx).Raw("SELECT * FROM calendar_days WHERE calendar_id IN ?", ids).Scan(&days).Error; err != nil {
		return nil, fmt.Errorf("list the days of calendars: %w", away(err))
	}
	for _, r := range days {
		byID[r.CalendarID].Listed[calendar.Day(r.Day)] = calendar.Entry{Work: r.Work, Name: r.Name}
	}
	return out, nil
}

// calendarCounts counts the tasks of the scope by the calendar that they go by.
func (d *DB) calendarCounts(ctx context.Context, s access.Scope) (map[string]int, error) {
	w := &where{}
	w.scope("t.team_id", s)
	var rows []struct {
		Code string
		N    int
	}
	err := d.view(ctx).Raw("SELECT c.code AS code, COUNT(*) AS n FROM calendar_tasks c JOIN tasks t ON t.id=c.task_id"+
		w.sql()+" GROUP BY c.code", w.args...).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("count the tasks of calendars: %w", away(err))
	}
	out := make(map[string]int, len(rows))
	for _, r := range rows {
		out[r.Code] = r.N
	}
	return out, nil
}

// CalendarUses gives the first tasks of the scope that go by the calendar, by
// code, and how many there are.
func (d *DB) CalendarUses(ctx context.Context, code string, s access.Scope, limit int) ([]calendar.Use, int, error) {
	w := &where{}
	w.and("c.code=?", code)
	w.scope("t.team_id", s)
	from := " FROM calendar_tasks c JOIN tasks t ON t.id=c.task_id" + w.sql()
	var n int
	if err := d.view(ctx).Raw("SELECT COUNT(*)"+from, w.args...).Scan(&n).Error; err != nil {
		return nil, 0, fmt.Errorf("count the tasks of calendar %s: %w", code, away(err))
	}
	var rows []taskRow
	if err := d.view(ctx).Raw("SELECT t.*"+from+" ORDER BY t.code LIMIT ?", append(w.args, limit)...).Scan(&rows).Error; err != nil {
		return nil, 0, fmt.Errorf("list the tasks of calendar %s: %w", code, away(err))
	}
	out := make([]calendar.Use, len(rows))
	for i, r := range rows {
		out[i] = calendar.Use{Code: r.Code, Name: r.Name, TeamID: r.TeamID}
		var spec sched.Spec
		if json.Unmarshal([]byte(r.Spec), &spec) == nil { // else the task's own page says so
			out[i].Mode, out[i].Move = string(spec.Schedule.CalendarMode), string(spec.Schedule.CalendarMove)
		}
	}
	return out, n, nil
}

// CreateCalendar stores a new calendar with its days and the audit row.
// Faults: Invalid at "code" when it is taken, Conflict when there are too many.
func (d *DB) CreateCalendar(ctx context.Context, c *calendar.Calendar, e access.Entry) (*calendar.Calendar, error) {
	var made *calendar.Calendar
	err := d.tx(ctx, "create calendar "+c.Code, func(tx *gorm.DB) (err error) {
		made, err = addCalendar(tx, c, e)
		return err
	})
	return made, err
}

func addCalendar(tx *gorm.DB, c *calendar.Calendar, e access.Entry) (*calendar.Calendar, error) {
	var n int
	if err := tx.Raw("SELECT COUNT(*) FROM calendars").Scan(&n).Error; err != nil {
		return nil, err
	}
	if n >= calendar.MaxCalendars {
		return nil, fault.Conflict("There are %d calendars, and no more are kept", n)
	}
	r := calendarRow{
		TeamID: c.TeamID, Code: c.Code, Name: c.Name, Week: int(c.Week), Version: 1,
		CreatedAt: at(c.UpdatedAt), CreatedBy: clip(c.UpdatedBy, 100), UpdatedAt: at(c.UpdatedAt), UpdatedBy: clip(c.UpdatedBy, 100),
	}
	if err := tx.Create(&r).Error; err != nil {
		if isDuplicate(err) {
			return nil, fault.Invalid(fault.Field("code", "There is a calendar with the code %q already", c.Code))
		}
		return nil, err
	}
	made := r.calendar()
	if err := writeDays(tx, r.ID, calendar.Diff(nil, c.Listed)); err != nil {
		return nil, err
	}
	made.Listed = c.Listed
	e.Object.ID = fmt.Sprint(r.ID)
	return made, recordAudit(tx, e)
}

// ChangeCalendar changes one calendar under the lock of its row, and notes its
// tasks as to be planned anew. It takes no lock of a task: whoever holds one
// may wait for this.
func (d *DB) ChangeCalendar(ctx context.Context, c calendar.Change) (*calendar.Calendar, error) {
	var changed *calendar.Calendar
	err := d.tx(ctx, "change calendar "+c.Code, func(tx *gorm.DB) error {
		stands, err := takeCalendar(tx, c.Code, d.dialect.forUpdate)
		if err != nil {
			return err
		}
		next, err := takeCalendar(tx, c.Code, "")
		if err != nil {
			return err
		}
		entry, err := c.Apply(next)
		if err != nil {
			return err
		}
		next.Version, next.UpdatedAt, next.UpdatedBy = stands.Version+1, c.Now, c.By.Name
		if err := d.writeCalendar(tx, stands, next); err != nil {
			return err
		}
		changed = next
		return recordAudit(tx, entry)
	})
	return changed, err
}

// writeCalendar writes what differs, and notes the tasks when their slots may.
func (d *DB) writeCalendar(tx *gorm.DB, was, is *calendar.Calendar) error {
	err := tx.Exec("UPDATE calendars SET name=?, week=?, version=?, updated_at=?, updated_by=? WHERE id=?",
		is.Name, int(is.Week), is.Version, at(is.UpdatedAt), clip(is.UpdatedBy, 100), was.ID).Error
	if err != nil {
		return err
	}
	days := calendar.Diff(was.Listed, is.Listed)
	if err := writeDays(tx, was.ID, days); err != nil {
		return err
	}
	if len(days) == 0 && was.Week == is.Week {
		return nil
	}
	return d.noteReplans(tx, was.Code)
}

// writeDays writes changed days, those that are listed no longer first.
func writeDays(tx *gorm.DB, id int64, days []calendar.DayChange) error {
	gone := make([]int, 0, len(days))
	var rows []dayRow
	for _, c := range days {
		if c.Was != nil {
			gone = append(gone, int(c.Day))
		}
		if c.Now != nil {
			rows = append(rows, dayRow{CalendarID: id, Day: int(c.Day), Work: c.Now.Work, Name: c.Now.Name})
		}
	}
	for len(gone) > 0 {
		n := min(len(gone), 500)
		if err := tx.Exec("DELETE FROM calendar_days WHERE calendar_id=? AND day IN ?", id, gone[:n]).Error; err != nil {
			return err
		}
		gone = gone[n:]
	}
	if len(rows) == 0 {
		return nil
	}
	return tx.CreateInBatches(rows, 200).Error
}

// DeleteCalendar removes a calendar with its days. Conflict while tasks go by
// it: those of other teams count too.
func (d *DB) DeleteCalendar(ctx context.Context, code string, check func(*calendar.Calendar) (access.Entry, error)) error {
	return d.tx(ctx, "delete calendar "+code, func(tx *gorm.DB) error {
		c, err := takeCalendar(tx, code, d.dialect.forUpdate)
		if err != nil {
			return err
		}
		entry, err := check(c)
		if err != nil {
			return err
		}
		var n int
		if err := tx.Raw("SELECT COUNT(*) FROM calendar_tasks WHERE code=?", code).Scan(&n).Error; err != nil {
			return err
		}
		if n > 0 {
			return fault.Conflict("%d tasks go by this calendar: give them another one, or none, first", n)
		}
		for _, sql := range []string{"DELETE FROM calendar_days WHERE calendar_id=?", "DELETE FROM calendars WHERE id=?"} {
			if err := tx.Exec(sql, c.ID).Error; err != nil {
				return err
			}
		}
		return recordAudit(tx, entry)
	})
}
