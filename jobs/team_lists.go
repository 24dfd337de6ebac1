package jobs

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"ax/app/access"
)

// How old the list of a team may be. A range that is taken out is closed
// within ListFresh on every node; while the ledger can't be read, within
// ListKept, after which nothing of the list is open. A range that is added is
// open within ListMissed.
const (
	ListFresh  = 5 * time.Second
	ListMissed = time.Second
	ListKept   = time.Minute
	// listWait bounds one reading of the ledger, and listPause is between two
	// that failed: calls must not wait for it one after the other.
	listWait  = 2 * time.Second
	listPause = time.Second
)

// allowances reads which ranges are open to a team.
type allowances interface {
	Allowances(ctx context.Context, team int64) ([]access.Allowance, error)
}

// TeamLists remember for a moment which ranges each team may call.
type TeamLists struct {
	read allowances
	now  func() time.Time

	mu    sync.Mutex
	teams map[int64]*teamList
}

// NewTeamLists reads lists from the ledger. now must not step back: the time
// of this machine, not the ledger's.
func NewTeamLists(read allowances, now func() time.Time) *TeamLists {
	return &TeamLists{read: read, now: now, teams: map[int64]*teamList{}}
}

// teamList is what was read last of one team. Whoever holds turn reads it and
// the rest.
type teamList struct {
	turn  chan struct{}
	open  []netip.Prefix
	at    time.Time // when open was asked for; zero: never
	tried time.Time // when a reading failed last
	err   error     // of it
}

// holds tells whether one of the team's ranges holds the address. The error is
// that of the last reading, when what is remembered is too old to go by.
func (l *TeamLists) holds(ctx context.Context, team int64, addr netip.Addr) (bool, error) {
	t := l.team(team)
	select {
	case t.turn <- struct{}{}:
		defer func() { <-t.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	now := l.now()
	age := now.Sub(t.at)
	old := t.at.IsZero() || age >= ListFresh || age >= ListMissed && !contains(t.open, addr)
	if old && (t.err == nil || now.Sub(t.tried) >= listPause) {
		l.refresh(ctx, team, t, now)
	}
	if t.err != nil && (t.at.IsZero() || age >= ListKept) {
		return false, t.err
	}
	return contains(t.open, addr), nil
}

// refresh reads the list, whenever the call that wants it ends: others wait
// for it too.
func (l *TeamLists) refresh(ctx context.Context, team int64, t *teamList, now time.Time) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), listWait)
	defer cancel()
	open, err := l.ask(ctx, team)
	if t.err = err; err != nil {
		t.tried = l.now()
		return
	}
	t.open, t.at = open, now
}

// ask reads the list from the ledger. What can't be opened isn't, whoever
// wrote it there.
func (l *TeamLists) ask(ctx context.Context, team int64) ([]netip.Prefix, error) {
	rows, err := l.read.Allowances(ctx, team)
	if err != nil {
		return nil, err
	}
	var open []netip.Prefix
	for _, r := range rows {
		if access.Within(r.Prefix) {
			open = append(open, r.Prefix)
		}
	}
	return open, nil
}

func contains(list []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(addr) })
}

func (l *TeamLists) team(id int64) *teamList {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.teams[id]
	if t == nil {
		t = &teamList{turn: make(chan struct{}, 1)}
		l.teams[id] = t
	}
	return t
}
