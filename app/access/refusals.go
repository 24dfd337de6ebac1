package access

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// What one process remembers of refusals.
const (
	// refusalsFor is how long repeated refusals of the same actor at the same
	// door are only counted.
	refusalsFor = time.Minute
	// maxRefusals bounds the memory: actors and doors that are remembered.
	maxRefusals = 2000
)

// refusalStore keeps audit rows.
type refusalStore interface {
	RecordAudit(ctx context.Context, e Entry) error
}

// Refusals put into the audit what ax did not let an actor do. The answer
// doesn't wait for the ledger: Note remembers, Flush writes. Of one actor at
// one door there are at most two rows a minute: the first refusal, and how
// many more there were. What isn't flushed when a process dies is lost.
type Refusals struct {
	store refusalStore
	now   func() time.Time

	mu   sync.Mutex
	kept map[door]*knocks
	over int // refusals for which there was no room
}

// door is who was refused, and at what.
type door struct {
	kind ActorKind
	id   int64
	what string
}

// knocks are the refusals of a door.
type knocks struct {
	first, last Entry
	since       time.Time
	written     bool // the first one is in the audit
	more        int  // besides the first
}

// NewRefusals writes to the store.
func NewRefusals(store refusalStore, now func() time.Time) *Refusals {
	return &Refusals{store: store, now: now, kept: map[door]*knocks{}}
}

// Refusal is what an actor was refused. Why is a fault; a Denial says of which
// team.
type Refusal struct {
	Actor  Actor
	Method string // "POST"
	Route  string // "/tasks/:code/run": repeated refusals are told by it
	Path   string // "/tasks/orders.send/run"
	Team   int64  // 0: not known
	Verb   Verb   // "" : not known
	Why    string
}

func (r Refusal) entry(now time.Time) Entry {
	e := Entry{
		At: now, Actor: r.Actor, Action: "access" + refusing, TeamID: r.Team, Reason: r.Why,
		Object: Object{Kind: "route", ID: clip(r.Method+" "+r.Route, 100), Name: clip(r.Method+" "+r.Path, 200)},
	}
	if r.Verb != "" {
		e.Changes = []Change{{Field: "right", New: string(r.Verb)}}
	}
	return e
}

// Note remembers a refusal; it never waits.
func (r *Refusals) Note(in Refusal) {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	at := door{in.Actor.Kind, in.Actor.ID, in.Method + " " + in.Route}
	if k := r.kept[at]; k != nil {
		k.more++
		k.last = in.entry(now)
		return
	}
	if len(r.kept) >= maxRefusals {
		r.over++
		return
	}
	r.kept[at] = &knocks{first: in.entry(now), since: now}
}

// Flush writes what is to be written: to be called every second or so. It has
// the shape of a loop's turn; the error is of the first row that could not be
// written, and the rows are tried again.
func (r *Refusals) Flush(ctx context.Context) (again bool, err error) {
	for _, at := range r.due() {
		e, n, ok := r.next(at)
		if !ok {
			continue
		}
		if err := r.store.RecordAudit(ctx, e); err != nil {
			return false, fmt.Errorf("record a refusal: %w", err)
		}
		r.wrote(at, n)
	}
	return false, r.tellOver(ctx)
}

// due are the doors at which something is to be written, oldest first.
func (r *Refusals) due() []door {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []door
	for at, k := range r.kept {
		if !k.written || now.Sub(k.since).Abs() >= refusalsFor {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b door) int {
		return cmp.Or(r.kept[a].since.Compare(r.kept[b].since), cmp.Compare(a.id, b.id), strings.Compare(a.what, b.what))
	})
	return out
}

// next is the row to write for the door, and how many refusals besides the
// first it tells of; none, and the door is forgotten, when its minute is over
// and nothing came after the first.
func (r *Refusals) next(at door) (e Entry, n int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kept[at]
	switch {
	case !k.written:
		return k.first, 0, true
	case k.more == 0:
		delete(r.kept, at)
		return Entry{}, 0, false
	}
	e = k.last
	e.Changes = append(slices.Clone(e.Changes), times(k.more))
	return e, k.more, true
}

// times tells how many refusals a row stands for.
func times(n int) Change { return Change{Field: TimesField, New: strconv.Itoa(n)} }

// TimesField is the field of an entry's changes that says of how many
// refusals it tells, when it is not one.
const TimesField = "times"

// wrote notes what stands in the audit by now. Refusals go on beside the
// writing, and begin the next minute.
func (r *Refusals) wrote(at door, n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.kept[at]
	switch k.more -= n; {
	case !k.written:
		k.written = true
	case k.more == 0:
		delete(r.kept, at)
	default:
		k.since = r.now()
	}
}

// tellOver writes how many refusals there was no room for.
func (r *Refusals) tellOver(ctx context.Context) error {
	r.mu.Lock()
	n := r.over
	r.mu.Unlock()
	if n == 0 {
		return nil
	}
	e := Refusal{Actor: Actor{Kind: System, Name: "ax"}, Method: "*", Route: "*", Path: "*"}.entry(r.now())
	e.Changes = []Change{times(n)}
	if err := r.store.RecordAudit(ctx, e); err != nil {
		return fmt.Errorf("record refusals: %w", err)
	}
	r.mu.Lock()
	r.over -= n
	r.mu.Unlock()
	return nil
}
