package calendar

import (
	"context"
	"maps"

	"ax/app/access"
	"ax/app/fault"
)

// Mode says what becomes of the days that a calendar has of the years of a file.
type Mode string

// The modes.
const (
	ReplaceYears Mode = "replace" // the years that the file has days of are made anew
	AddDays      Mode = "add"     // only the days of the file change
)

// Import is a file to be taken over.
type Import struct {
	Text    string
	Format  Format // "" tells it by the text
	Mode    Mode
	Version int // as it was read; 0: whatever it is
	Reason  string
}

// Imported is what an import changes, or has changed.
type Imported struct {
	Reading
	Calendar *Calendar // as it is to be, or is
	Was      *Calendar // as it was before
	Changes  []DayChange
}

// Import takes over the days of a file. What can't be read of it is left out
// and told; nothing readable at all is Invalid at "text". With dry, nothing is
// stored.
func (s *Calendars) Import(ctx context.Context, by access.Actor, code string, w Import, dry bool) (Imported, error) {
	was, err := s.editable(ctx, by, code)
	if err != nil {
		return Imported{}, err
	}
	out, err := w.read()
	out.Was = was
	if err != nil {
		return out, err
	}
	next := *was
	next.Listed = maps.Clone(was.Listed)
	w.apply(&next, out.Days)
	out.Calendar, out.Changes = &next, Diff(was.Listed, next.Listed)
	if err := fault.Invalid(checkDays(next.Listed)...); err != nil {
		return out, err
	}
	if dry {
		return out, was.fresh(w.Version)
	}
	out.Calendar, err = s.change(ctx, by, code, "calendar.import", w.Version, w.Reason, nil, func(c *Calendar) error {
		w.apply(c, out.Days)
		return nil
	})
	return out, err
}

func (w Import) read() (out Imported, err error) {
	switch {
	case w.Mode != ReplaceYears && w.Mode != AddDays:
		return out, fault.Invalid(fault.Field("mode", "One of replace and add is needed"))
	case w.Format == "":
		out.Reading, err = Read(w.Text)
	case w.Format == CSV:
		out.Reading, err = ReadCSV(w.Text)
	case w.Format == ICS:
		out.Reading, err = ReadICS(w.Text)
	default:
		return out, fault.Invalid(fault.Field("format", "One of csv and ics is needed"))
	}
	if err == nil && len(out.Days) == 0 {
		bad := []fault.FieldError{fault.Field("text", "There is no day to read")}
		for _, b := range out.Bad {
			bad = append(bad, fault.FieldError{Name: "text", Text: b.Words()})
		}
		err = fault.Invalid(bad...)
	}
	return out, err
}

func (w Import) apply(c *Calendar, days map[Day]Entry) {
	years := map[int]bool{}
	if w.Mode == ReplaceYears {
		for d := range days {
			years[d.Year()] = true
		}
	}
	c.replace(years, days)
}
