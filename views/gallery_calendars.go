package views

import (
	"time"

	"ax/app/calendar"
	"ax/app/fault"
	"ax/app/sched"
)

// calendarExamples are the list, a year, the forms and both steps of an import.
func calendarExamples() []Example {
	cn := sampleCalendar()
	row := CalendarRow{Calendar: cn, Tasks: 38, MayEdit: true}
	list := CalendarsPage{MayCreate: true, Rows: []CalendarRow{
		row, {Calendar: sampleBankDays(), Team: "payments", Tasks: 12, MayEdit: true},
		{Calendar: &calendar.Calendar{Code: "retail-old", Name: "Retail calendar, old", Week: 0b1111110, Listed: map[calendar.Day]calendar.Entry{calendar.Date(2023, 5, 1): {}}, UpdatedAt: sampleDay(2024, 1, 2), UpdatedBy: "store-dev"}, Team: "store"},
	}}
	list.Ahead = sampleAhead()
	uses := []calendar.Use{
		{Code: "store.stock", Name: "Store stock snapshot 门店库存快照", Mode: "workdays", Move: "drop"},
		{Code: "ledger.post", Name: "Post journal entries to the general ledger", Mode: "skip_days_off", Move: "drop"},
		{Code: "invoices.send", Name: "Send invoice e-mails for the closed period", Mode: "workdays", Move: "next_workday"},
		{Code: "suppliers.pay", Name: "Pay suppliers 供应商付款", Mode: "workdays", Move: "previous_workday"},
	}
	idle := row
	idle.Tasks = 0
	read := sampleImport(cn)
	looked := CalendarImport{CalendarRow: row, Year: 2027, Mode: calendar.ReplaceYears, Text: sampleLinesOf2027, File: "holiday-2027.csv", Reason: "State Council notice for 2027", Seen: "x", Read: &read, Effect: &sched.CalendarEffect{Slots: 61, Tasks: 12}}
	moved := looked
	moved.Moved = "wei changed the calendar meanwhile: it is at version 4, you began from 3"
	same := looked
	nothing := read
	nothing.Changes, nothing.Bad = nil, nil
	same.Read = &nothing
	unread := CalendarImport{CalendarRow: row, Mode: calendar.AddDays, Text: "hello", Errors: []fault.FieldError{fault.Field("text", "There is no day to read")}}
	return []Example{
		{Name: "calendars", Component: Calendars(list)},
		{Name: "calendars-none", Component: Calendars(CalendarsPage{MayCreate: true})},
		{Name: "calendars-none-to-read", Component: Calendars(CalendarsPage{})},
		{Name: "calendar", Component: Calendar(CalendarPage{CalendarRow: row, Year: 2026, Uses: uses, MayCopy: true, History: ObjectHistory{Entries: calendarHistory(), More: AuditOf("calendar", "3")}})},
		{Name: "calendar-without-data", Component: Calendar(CalendarPage{CalendarRow: idle, Year: 2027, MayCopy: true})},
		{Name: "calendar-to-read", Component: Calendar(CalendarPage{CalendarRow: CalendarRow{Calendar: sampleBankDays(), Team: "payments"}, Year: 2026})},
		{Name: "calendar-new", Component: CalendarNew(CalendarForm{Values: CalendarValues{Week: calendar.MondayToFriday.Names(), Team: "payments"}, Teams: []Team{{"payments", "Payments"}}})},
		{Name: "calendar-copy", Component: CalendarNew(CalendarForm{
			Values: CalendarValues{Code: "A b", Team: "payments"}, Teams: []Team{{"payments", "Payments"}}, From: cn,
			Errors: []fault.FieldError{fault.Field("code", "A calendar's code has 1 to 64 of a–z, 0–9, dot, - and _, begins with a letter or digit, and is not new or import"), fault.Field("name", "A name is needed")},
		})},
		{Name: "calendar-edit", Component: CalendarEditPage(CalendarEdit{CalendarRow: row, Year: 2026, Values: DayValues{Kind: "off"}, Edit: CalendarValues{Name: cn.Name, Week: cn.Week.Names()}})},
		{Name: "calendar-edit-refused", Component: CalendarEditPage(CalendarEdit{
			CalendarRow: row, Year: 2027, Values: DayValues{From: "2027-01-05", To: "2027-01-01", Kind: "work", Name: "元旦"}, Edit: CalendarValues{Name: "", Week: nil},
			Errors: []fault.FieldError{fault.Field("to", "The last day comes before the first"), fault.Field("title", "A name is needed")}, Moved: moved.Moved,
		})},
		{Name: "calendar-choose", Component: CalendarChoosePage(CalendarChoose{Calendars: []CalendarChoice{{"cn-workdays", cn.Name}, {"de-bank", "German bank days"}}})},
		{Name: "calendar-choose-none", Component: CalendarChoosePage(CalendarChoose{})},
		{Name: "calendar-import", Component: CalendarImportPage(CalendarImport{CalendarRow: row, Year: 2027, Mode: calendar.ReplaceYears})},
		{Name: "calendar-import-looked", Component: CalendarImportPage(looked)},
		{Name: "calendar-import-moved", Component: CalendarImportPage(moved)},
		{Name: "calendar-import-same", Component: CalendarImportPage(same)},
		{Name: "calendar-import-unread", Component: CalendarImportPage(unread)},
	}
}

func sampleDay(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 6, 0, 0, 0, time.UTC)
}

// sampleCalendar has the statutory days of 2026, and New Year's Day of two years
// before.
func sampleCalendar() *calendar.Calendar {
	c := &calendar.Calendar{
		ID: 1, Code: "cn-workdays", Name: "China statutory workdays 中国法定工作日", Week: calendar.MondayToFriday, Version: 3,
		Listed:    map[calendar.Day]calendar.Entry{calendar.Date(2024, 1, 1): {Name: "New Year 元旦"}, calendar.Date(2025, 1, 1): {Name: "New Year 元旦"}},
		UpdatedAt: sampleDay(2026, 11, 12), UpdatedBy: "ops-lead",
	}
	for _, s := range []struct {
		month time.Month
		day   int
		days  calendar.Day
		name  string
	}{
		{1, 1, 3, "New Year 元旦"}, {2, 15, 9, "Spring Festival 春节"}, {4, 4, 3, "Qingming 清明节"}, {5, 1, 5, "Labour Day 劳动节"},
		{6, 19, 3, "Dragon Boat 端午节"}, {9, 25, 3, "Mid-Autumn 中秋节"}, {10, 1, 7, "National Day 国庆节"},
	} {
		for d := range s.days {
			c.Listed[calendar.Date(2026, s.month, s.day)+d] = calendar.Entry{Name: s.name}
		}
	}
	for _, d := range []calendar.Day{
		calendar.Date(2026, 1, 4), calendar.Date(2026, 2, 14), calendar.Date(2026, 2, 28), calendar.Date(2026, 5, 9), calendar.Date(2026, 9, 20), calendar.Date(2026, 10, 10),
	} {
		c.Listed[d] = calendar.Entry{Work: true}
	}
	return c
}

func sampleBankDays() *calendar.Calendar {
	c := &calendar.Calendar{ID: 2, Code: "de-bank", Name: "German bank days", Week: calendar.MondayToFriday, Listed: map[calendar.Day]calendar.Entry{}, Version: 1, UpdatedAt: sampleDay(2026, 2, 3), UpdatedBy: "ledger-dev"}
	for year := 2024; year <= 2028; year++ {
		for _, d := range []calendar.Day{calendar.Date(year, 1, 1), calendar.Date(year, 5, 1), calendar.Date(year, 12, 25), calendar.Date(year, 12, 26)} {
			c.Listed[d] = calendar.Entry{Name: "TARGET closing day"}
		}
	}
	return c
}

func sampleAhead() []sched.TaskDayOff {
	task := func(name, code, zone, cal string) sched.Task {
		return sched.Task{Code: code, Name: name, Spec: sched.Spec{Schedule: sched.Schedule{Kind: sched.KindCron, Timezone: zone, Calendar: cal}}, Calendar: &calendar.Calendar{Code: cal, Name: cal}}
	}
	return []sched.TaskDayOff{
		{Task: task("Store stock snapshot 门店库存快照", "store.stock", "Asia/Shanghai", "cn-workdays"), DayOff: sched.DayOff{Slot: sampleDay(2026, 12, 5)}},
		{Task: task("Reconcile bank statements (12 house banks, EMEA)", "bank.reconcile", "Europe/Berlin", "de-bank"), DayOff: sched.DayOff{Slot: sampleDay(2026, 12, 25), Name: "TARGET closing day", To: sampleDay(2026, 12, 28), Joins: true}},
		{Task: task("Send invoice e-mails for the closed period", "invoices.send", "Asia/Shanghai", "cn-workdays"), DayOff: sched.DayOff{Slot: sampleDay(2027, 1, 1), Name: "New Year 元旦", To: sampleDay(2027, 1, 4)}},
	}
}

const sampleLinesOf2027 = "2027-01-01,off,元旦\n2027-01-02,off,元旦\n2027-01-03,off,元旦\n2027-02-05,off,春节\n2027-02-06,off,春节\n2027-02-30,off,春节\n2027-02-14,workday,春节调休\n2027-10-01,off,国庆节"

func sampleImport(c *calendar.Calendar) calendar.Imported {
	read, err := calendar.Read(sampleLinesOf2027)
	if err != nil {
		panic(err)
	}
	next := *c
	next.Listed = map[calendar.Day]calendar.Entry{}
	for d, e := range c.Listed {
		next.Listed[d] = e
	}
	for d, e := range read.Days {
		next.Listed[d] = e
	}
	return calendar.Imported{Reading: read, Calendar: &next, Was: c, Changes: calendar.Diff(c.Listed, next.Listed)}
}
