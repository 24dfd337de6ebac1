package app

import (
	"strconv"
	"time"

	"ax/app/calendar"
	"ax/app/fault"
)

// calendarBody is a calendar as the API shows it.
type calendarBody struct {
	Code       string   `json:"code" example:"cn-workdays"`
	Name       string   `json:"name" example:"China statutory workdays 中国法定工作日"`
	Team       string   `json:"team" doc:"Code of the owning team; empty: the whole installation" example:"payments"`
	Week       []string `json:"week" nullable:"false" doc:"The workdays of a week without listed days" example:"[\"mon\",\"tue\"]"`
	FirstYear  *int     `json:"first_year" doc:"First year with listed days; null: none is"`
	LastYear   *int     `json:"last_year" doc:"Last year with listed days"`
	NoDataYear *int     `json:"no_data_year" doc:"This year, or the next from 60 days before it, when no day of it is listed: it goes by the week alone. null: nothing is lacking"`
	Workdays   int      `json:"workdays" doc:"Of this year"`
	DaysOff    int      `json:"days_off" doc:"Of this year, weekends too"`
	Worked     int      `json:"worked" doc:"Weekend days of this year that are worked"`
	NextDayOff string   `json:"next_day_off" doc:"From today on, weekends too; empty: none within a year" example:"2026-12-05"`
	Tasks      int      `json:"tasks" doc:"Tasks of your teams that go by it"`
	Version    int      `json:"version" doc:"Raised by every change; send it back with one"`
	UpdatedAt  instant  `json:"updated_at" nullable:"false"`
	UpdatedBy  string   `json:"updated_by"`
}

func calendarShape(c *calendar.Calendar, tasks int, team string, now time.Time) calendarBody {
	n := c.Count(now.Year())
	out := calendarBody{
		Code: c.Code, Name: c.Name, Team: team, Week: c.Week.Names(), NoDataYear: yearOrNull(c.NoData(now)),
		Workdays: n.Workdays, DaysOff: n.Off, Worked: n.Worked, Tasks: tasks,
		Version: c.Version, UpdatedAt: instant(c.UpdatedAt), UpdatedBy: c.UpdatedBy,
	}
	first, last := c.Years()
	out.FirstYear, out.LastYear = yearOrNull(first), yearOrNull(last)
	if d, ok := c.NextOff(calendar.DayOf(now)); ok {
		out.NextDayOff = d.String()
	}
	return out
}

func yearOrNull(y int) *int {
	if y == 0 {
		return nil
	}
	return &y
}

// calendarNew is what it takes to make a calendar.
type calendarNew struct {
	Code   string   `json:"code" doc:"Name for machines: unique in the installation, never changes; a–z, 0–9 and . _ -, at most 64" example:"store-days"`
	Name   string   `json:"name,omitempty" doc:"Name for people, at most 200 characters; left out: the code" example:"Store days 门店营业日"`
	Team   string   `json:"team,omitempty" doc:"Code of the owning team; left out: the whole installation, which only administrators may" example:"payments"`
	Week   []string `json:"week,omitempty" doc:"The workdays: mon, tue, wed, thu, fri, sat, sun; left out: Monday to Friday" example:"[\"mon\",\"tue\",\"wed\"]"`
	From   string   `json:"from,omitempty" doc:"Code of a calendar whose week and days are copied" example:"cn-workdays"`
	Reason string   `json:"reason,omitempty" doc:"Why, at most 500 characters; kept in the audit" example:"New shops"`
}

func (in calendarNew) week() (calendar.Week, error) {
	if in.Week == nil {
		return calendar.MondayToFriday, nil
	}
	return calendar.ReadWeek(in.Week)
}

// calendarEdit is a calendar's name and week.
type calendarEdit struct {
	Name    string   `json:"name" doc:"Name for people, at most 200 characters" example:"Store days 门店营业日"`
	Week    []string `json:"week" nullable:"false" doc:"The workdays: mon, tue, wed, thu, fri, sat, sun" example:"[\"mon\",\"tue\",\"wed\"]"`
	Version int      `json:"version" doc:"The version that was read: 409 when it is stale" example:"3"`
	Reason  string   `json:"reason,omitempty" doc:"Why, at most 500 characters; kept in the audit" example:"Saturdays too"`
}

// dayBody is a listed day.
type dayBody struct {
	Date string `json:"date" doc:"The day" example:"2027-01-01"`
	Kind string `json:"kind" enum:"off,workday" doc:"off, or workday: worked though the week says not" example:"off"`
	Name string `json:"name,omitempty" doc:"Of the holiday, at most 100 characters" example:"元旦"`
}

func dayShape(d calendar.Day, e calendar.Entry) dayBody {
	out := dayBody{Date: d.String(), Kind: "off", Name: e.Name}
	if e.Work {
		out.Kind = "workday"
	}
	return out
}

// readDays reads the days of a body; a day may stand there once.
func readDays(days []dayBody) (map[calendar.Day]calendar.Entry, error) {
	out := map[calendar.Day]calendar.Entry{}
	var bad []fault.FieldError
	for i, in := range days {
		at := func(field string) string { return "days[" + strconv.Itoa(i) + "]." + field }
		d, err := calendar.ParseDay(in.Date)
		for _, f := range fault.Fields(err) {
			f.Name = at("date")
			bad = append(bad, f)
		}
		if in.Kind != "off" && in.Kind != "workday" {
			bad = append(bad, fault.Field(at("kind"), "One of off and workday is needed"))
		}
		if _, twice := out[d]; twice && err == nil {
			bad = append(bad, fault.Field(at("date"), "This day stands here twice"))
		}
		if err == nil {
			out[d] = calendar.Entry{Work: in.Kind == "workday", Name: in.Name}
		}
	}
	if len(bad) > 50 {
		bad = bad[:50]
	}
	return out, fault.Invalid(bad...)
}

// calendarDays are the listed days of a year that is written anew.
type calendarDays struct {
	Year    int       `json:"year" doc:"The year that gets these days, and no others" example:"2027"`
	Days    []dayBody `json:"days" nullable:"false" doc:"Its listed days"`
	Version int       `json:"version" doc:"The version that was read: 409 when it is stale" example:"3"`
	Reason  string    `json:"reason,omitempty" doc:"Why, at most 500 characters; kept in the audit" example:"State Council notice"`
}

// calendarImport is a file to be taken over.
type calendarImport struct {
	Text    string `json:"text" doc:"The file: lines such as 2027-01-01,off,元旦, or iCalendar; at most 512 KB" example:"2027-01-01,off,元旦"`
	Format  string `json:"format,omitempty" enum:"csv,ics" doc:"Left out: told by the text" example:"csv"`
	Mode    string `json:"mode,omitempty" enum:"replace,add" doc:"replace (the default): the years of the file get its days and no others; add: other days stay" example:"replace"`
	DryRun  bool   `json:"dry_run,omitempty" doc:"Say what changes, and store nothing" example:"true"`
	Version int    `json:"version,omitempty" doc:"The version that was read: 409 when it is stale; left out: whatever it is" example:"3"`
	Reason  string `json:"reason,omitempty" doc:"Why, at most 500 characters; kept in the audit" example:"State Council notice"`
}

// importBody is what an import changes, or has changed.
type importBody struct {
	DryRun   bool            `json:"dry_run" doc:"true: nothing was stored"`
	Version  int             `json:"version" doc:"Of the calendar, now"`
	Read     int             `json:"read" doc:"Days that were read"`
	Changes  []dayChangeBody `json:"changes" nullable:"false" doc:"Days that differ, in order"`
	Bad      []badLineBody   `json:"bad_lines" nullable:"false" doc:"Lines that were left out, the first 50"`
	BadLines int             `json:"bad_line_count" doc:"How many lines were left out"`
}

// dayChangeBody is a day that differs. "week" is one that is not listed.
type dayChangeBody struct {
	Date    string `json:"date" example:"2027-01-01"`
	Was     string `json:"was" enum:"off,workday,week" doc:"week: it was not listed" example:"week"`
	WasName string `json:"was_name,omitempty"`
	Now     string `json:"now" enum:"off,workday,week" doc:"week: it is listed no longer" example:"off"`
	NowName string `json:"now_name,omitempty" example:"元旦"`
}

type badLineBody struct {
	Line   int    `json:"line" example:"19"`
	Text   string `json:"text" doc:"Its beginning"`
	Reason string `json:"reason" example:"\"2027-02-30\" is not a date; write it as 2026-10-01"`
}

func importShape(in calendar.Imported, dry bool) importBody {
	out := importBody{
		DryRun: dry, Version: in.Calendar.Version, Read: len(in.Days), Changes: []dayChangeBody{}, Bad: []badLineBody{}, BadLines: in.BadLines(),
	}
	for _, c := range in.Changes {
		change := dayChangeBody{Date: c.Day.String(), Was: "week", Now: "week"}
		if c.Was != nil {
			was := dayShape(c.Day, *c.Was)
			change.Was, change.WasName = was.Kind, was.Name
		}
		if c.Now != nil {
			is := dayShape(c.Day, *c.Now)
			change.Now, change.NowName = is.Kind, is.Name
		}
		out.Changes = append(out.Changes, change)
	}
	for _, b := range in.Bad {
		out.Bad = append(out.Bad, badLineBody{Line: b.Number, Text: b.Text, Reason: b.Why.String()})
	}
	return out
}
