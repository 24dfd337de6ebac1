package db

import (
	"context"
	"errors"
	"maps"
	"time"

	"gorm.io/gorm"

	"ax/app/calendar"
	"ax/app/fault"
)

// errSeededMeanwhile: another node has just begun the same seed.
var errSeededMeanwhile = errors.New("another node seeds the calendar")

// SeedCalendar makes the calendar once, and later gives it the years that it
// has no day of and was never given. A calendar that somebody deleted is not
// made again, and one of that code that somebody else made is left alone.
// Several nodes may do it at once. It tells whether anything was written.
func (d *DB) SeedCalendar(ctx context.Context, s calendar.Seed, now time.Time) (bool, error) {
	var wrote bool
	seed := func() error {
		return d.tx(ctx, "seed calendar "+s.Code, func(tx *gorm.DB) (err error) {
			wrote, err = d.seed(tx, s, now)
			return err
		})
	}
	err := seed()
	if errors.Is(err, errSeededMeanwhile) { // it has committed: its setting is there
		err = seed()
	}
	return wrote, err
}

func (d *DB) seed(tx *gorm.DB, s calendar.Seed, now time.Time) (bool, error) {
	setting, begun, err := takeSetting(tx, d.dialect.forUpdate, s.Setting())
	if err != nil {
		return false, err
	}
	if !begun {
		return d.beginSeed(tx, s, now)
	}
	given := s.Given(setting)
	remember := s.Remember(given)
	if remember == setting {
		return false, nil
	}
	if err := tx.Exec("UPDATE settings SET value=? WHERE name=?", remember, s.Setting()).Error; err != nil {
		return false, err
	}
	was, err := takeCalendar(tx, s.Code, d.dialect.forUpdate)
	if fault.KindOf(err) == fault.KindNotFound && err != nil {
		return false, nil // somebody deleted it
	}
	if err != nil {
		return false, err
	}
	var maker string
	if err := tx.Raw("SELECT created_by FROM calendars WHERE id=?", was.ID).Row().Scan(&maker); err != nil || maker != s.Make(now).UpdatedBy {
		return false, err // somebody's own of that code
	}
	is := *was
	is.Listed = maps.Clone(was.Listed)
	s.Extend(&is, given)
	if len(is.Listed) == len(was.Listed) || len(is.Listed) > calendar.MaxDays {
		return false, nil
	}
	entry := s.Entry(was, &is, now)
	is.Version, is.UpdatedAt, is.UpdatedBy = was.Version+1, now, entry.Actor.Name
	if err := d.writeCalendar(tx, was, &is); err != nil {
		return false, err
	}
	return true, recordAudit(tx, entry)
}

func (d *DB) beginSeed(tx *gorm.DB, s calendar.Seed, now time.Time) (bool, error) {
	err := tx.Create(&settingRow{Name: s.Setting(), Value: s.Remember(nil)}).Error
	if isDuplicate(err) {
		return false, errSeededMeanwhile
	}
	if err != nil {
		return false, err
	}
	_, err = takeCalendar(tx, s.Code, "")
	if err == nil { // somebody's own of that code
		return false, nil
	}
	if fault.KindOf(err) != fault.KindNotFound {
		return false, err
	}
	c := s.Make(now)
	_, err = addCalendar(tx, c, s.Entry(nil, c, now))
	return err == nil, err
}
