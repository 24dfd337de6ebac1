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
	// maxStrangers bounds the addresses among them: whoever has many must not
	// fill the ledger, nor hide what people are refused.
	maxStrangers = 100
)

// refusalStore keeps audit rows.
type refusalStore interface {
	RecordAudit(ctx context.Context, e Entry) error
}

// Refusals put into the audit what ax did not let an actor do. The answer
// doesn't wait for the ledger: Note remembers, Flush writes. Of one actor at
// one door there are at most two rows a minute: the first refusal, and how
// many more there were; of an address alone, at most one. What isn't flushed when a process dies is lost.
type Refusals struct {
	store refusalStore
	now   func() time.Time

	mu   sync.Mutex
	kept map[door]*knocks
	over int       // refusals for which there was no room
	told time.Time // when it was told how many those were
	// strangers is how many of the doors are addresses.
	strangers int
}

// door is who was refused, and at what: an actor at a route, or an address.
type door struct {
	kind    ActorKind
	id      int64
	what    string
	address string
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
	r.note(door{kind: in.Actor.Kind, id: in.Actor.ID, what: in.Method + " " + in.Route}, in.entry(r.now()))
}

// NoteForged remembers that an address showed a receipt's token that ax never
// made for what the path names; it never waits.
func (r *Refusals) NoteForged(address, method, path string) {
	r.note(door{address: address}, Entry{
		At: r.now(), Actor: Actor{Kind: User, Address: address}, Action: "receipt.refuse",
		Object: Object{Kind: "route", ID: clip(method+" receipt", 100), Name: clip(method+" "+path, 200)},
	})
}

func (r *Refusals) note(at door, e Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k := r.kept[at]; k != nil {
		k.more++
		k.last = e
		return
	}
	stranger := at.address != ""
	if len(r.kept) >= maxRefusals || stranger && r.strangers >= maxStrangers {
		r.over++
		return
	}
	if stranger {
		r.strangers++
	}
	r.kept[at] = &knocks{first: e, since: e.At}
}

// forget drops a door.
func (r *Refusals) forget(at door) {
	delete(r.kept, at)
	if at.address != "" {
		r.strangers--
	}
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
		return cmp.Or(r.kept[a].since.Compare(r.kept[b].since), cmp.Compare(a.id, b.id), strings.Compare(a.what+a.address, b.what+b.address))
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
		r.forget(at)
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
	case k.more == 0 && at.address == "":
		r.forget(at)
	default: // of an address this begins a minute, whether more came or not
		k.since = r.now()
	}
}

// tellOver writes how many refusals there was no room for, once a minute.
func (r *Refusals) tellOver(ctx context.Context) error {
	now := r.now()
	r.mu.Lock()
	n, early := r.over, now.Sub(r.told).Abs() < refusalsFor
	r.mu.Unlock()
	if n == 0 || early {
		return nil
	}
	e := Refusal{Actor: Actor{Kind: System, Name: "ax"}, Method: "*", Route: "*", Path: "*"}.entry(now)
	e.Changes = []Change{times(n)}
	if err := r.store.RecordAudit(ctx, e); err != nil {
		return fmt.Errorf("record refusals: %w", err)
	}
	r.mu.Lock()
	r.over -= n
	r.told = now
	r.mu.Unlock()
	return nil
}
