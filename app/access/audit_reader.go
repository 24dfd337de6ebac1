package access

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Outcome narrows a list of audit rows to what happened or what was refused.
type Outcome string

// The outcomes; "" is both.
const (
	Done    Outcome = "done"
	Refused Outcome = "refused"
)

// AuditFilter narrows a list of audit rows; zero fields don't.
type AuditFilter struct {
	Actor      string // name, exactly
	Action     string // exactly, or a prefix that ends in a dot: "task."
	ObjectKind string
	ObjectID   string
	Words      string // somewhere in the object's name
	Outcome    Outcome
	Team       int64
	Since      time.Time // at or after
	Until      time.Time // before
}

// valid drops what no stored text has: a database may refuse to compare with
// bytes that are no UTF-8.
func (f AuditFilter) valid() AuditFilter {
	for _, s := range []*string{&f.Actor, &f.Action, &f.ObjectKind, &f.ObjectID, &f.Words} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	return f
}

// AuditPage is one page of audit rows, newest first. Next and Prev go into
// another call as cursor; 0 is an end.
type AuditPage struct {
	Entries []Entry
	Next    int64 // to what is older
	Prev    int64 // to what is newer
}

// Chain is what a glance at the hash chain tells: how far it goes, and whether
// its last links hold. Only a walk over all of it can tell that the audit is
// as it was written; ax verify does that.
type Chain struct {
	Seals    int64     // in the chain
	Hash     string    // of the last one
	SealedAt time.Time // of the last one
	Looked   int       // how many of the last links were looked at
	Waiting  int       // entries that are newer than the last one sealed, at most MaxWaiting
	Problems []string  // in English, as ax verify prints them
}

// MaxWaiting is where counting entries that wait for their seal ends.
const MaxWaiting = 1000

// auditStore gives the rows with an id below cursor, newest first (0: from
// the newest); of a negative cursor those right above its absolute value,
// oldest first.
type auditStore interface {
	Audit(ctx context.Context, s Scope, f AuditFilter, cursor int64, limit int) ([]Entry, error)
	AuditChain(ctx context.Context) (Chain, error)
}

// Reader shows the audit to those who may read it.
type Reader struct{ store auditStore }

// NewReader reads from the store.
func NewReader(store auditStore) *Reader { return &Reader{store: store} }

// The bounds of a page of audit rows.
const (
	auditPage = 50
	// MaxAuditPage is the most entries of one page.
	MaxAuditPage = 200
)

// List gives the rows of the teams whose audit the actor may read; the rows
// of the installation itself (people, teams) only to admins and auditors. A
// limit outside of 1–200 becomes 50.
func (r *Reader) List(ctx context.Context, a Actor, f AuditFilter, cursor int64, limit int) (AuditPage, error) {
	scope := a.ScopeFor(ReadAudit)
	if f.Team != 0 {
		scope = scope.Only(f.Team)
	}
	return r.page(ctx, scope, f, cursor, limit)
}

func (r *Reader) page(ctx context.Context, scope Scope, f AuditFilter, cursor int64, limit int) (AuditPage, error) {
	if limit < 1 || limit > MaxAuditPage {
		limit = auditPage
	}
	rows, err := r.store.Audit(ctx, scope, f.valid(), cursor, limit+1)
	if err != nil {
		return AuditPage{}, fmt.Errorf("list the audit: %w", err)
	}
	more := len(rows) > limit
	if more {
		rows = rows[:limit]
	}
	if cursor < 0 {
		slices.Reverse(rows)
	}
	page := AuditPage{Entries: rows}
	if n := len(rows); n > 0 {
		if more || cursor < 0 {
			page.Next = rows[n-1].ID
		}
		if cursor > 0 || cursor < 0 && more {
			page.Prev = rows[0].ID
		}
	}
	return page, nil
}

// HistoryLength is how many entries the history of an object shows.
const HistoryLength = 8

// History gives the last entries about one object of a team to whoever may
// see the object: what was done to it is part of it. From where it was done is
// left out. Team 0: an object of the installation that everybody may see.
// Fault: NotFound.
func (r *Reader) History(ctx context.Context, a Actor, team int64, kind string, id int64) (AuditPage, error) {
	scope := Scope{All: true} // the object is named by its id
	if team != 0 {
		if err := a.Check(Read, team); err != nil {
			return AuditPage{}, err
		}
		scope = Scope{Teams: []int64{team}}
	}
	page, err := r.page(ctx, scope, AuditFilter{ObjectKind: kind, ObjectID: strconv.FormatInt(id, 10)}, 0, HistoryLength)
	for i := range page.Entries {
		page.Entries[i].Actor.Address = ""
	}
	return page, err
}

// Chain tells how far the entries are sealed. Whoever may read an audit.
func (r *Reader) Chain(ctx context.Context) (Chain, error) {
	c, err := r.store.AuditChain(ctx)
	if err != nil {
		return Chain{}, fmt.Errorf("look at the audit's chain: %w", err)
	}
	return c, nil
}
