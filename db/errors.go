package db

import (
	"errors"
	"fmt"

	"gorm.io/gorm"

	"ax/app/fault"
	"ax/app/sched"
)

// Sentinels of this package, for errors.Is.
var (
	// ErrCommitUnknown: the connection broke during COMMIT; the transaction may
	// stand or not. Read the row back, locking it. Of kind fault.KindUnavailable.
	ErrCommitUnknown = fault.Unavailable(sched.ErrCommitUnknown, "The database did not confirm the change")
	// ErrAway: the database can't be reached, or the connection broke before
	// COMMIT. Nothing was changed. Of kind fault.KindUnavailable.
	ErrAway = fault.Unavailable(nil, "The database can't be reached")
	// ErrRefused: the database is there, but can't take this now: it is
	// read-only, its disk is full, or its connections are all taken. Nothing was
	// changed. Of kind fault.KindUnavailable. A row that others keep locked is
	// not meant: the rows beside it can be changed.
	ErrRefused = fault.Unavailable(nil, "The database can't take this now")
	// ErrNewerSchema: a newer ax has migrated this ledger.
	ErrNewerSchema = errors.New("the ledger's schema is newer than this program")
	// ErrPendingMigrations: the schema is older than this program.
	ErrPendingMigrations = errors.New("the ledger's schema is older than this program: run migrate")
	// ErrCharset: a column can't hold every character, or compares codes as text.
	ErrCharset = errors.New("a table of the ledger has another character set than ax gave it")
)

// away marks an error of a broken connection with ErrAway, and one of a
// database that can't take it now with ErrRefused: neither is a fault of ax or
// of the request, and callers try again.
func away(err error) error {
	switch {
	case err == nil || errors.Is(err, ErrAway) || errors.Is(err, ErrRefused):
		return err
	case isLost(err):
		return fmt.Errorf("%w: %w", ErrAway, err)
	case isRefusal(err):
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// marking is a GORM dialect that marks the errors of a database that is away
// or refuses, so that no query can forget to.
type marking struct{ gorm.Dialector }

// Initialize implements gorm.Dialector. GORM hands the error of a query for
// rows on untranslated.
func (m marking) Initialize(g *gorm.DB) error {
	if err := m.Dialector.Initialize(g); err != nil {
		return err
	}
	return g.Callback().Row().After("gorm:row").Register("ax:away", func(g *gorm.DB) { g.Error = away(g.Error) })
}

// Translate implements gorm.ErrorTranslator.
func (m marking) Translate(err error) error {
	if t, ok := m.Dialector.(gorm.ErrorTranslator); ok {
		err = t.Translate(err)
	}
	return away(err)
}

// isNotFound tells that a query for one row found none.
func isNotFound(err error) bool { return errors.Is(err, gorm.ErrRecordNotFound) }
