package jobs_test

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"ax/app/access"
	"ax/jobs"

	"github.com/stretchr/testify/require"
)

// lists is a ledger with the ranges that are open to teams.
type lists struct {
	mu   sync.Mutex
	open map[int64][]netip.Prefix
	away error
	asks int
	hold func() // when set: what a reading waits for
}

func (l *lists) Allowances(_ context.Context, team int64) ([]access.Allowance, error) {
	if l.hold != nil {
		l.hold()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asks++
	var out []access.Allowance
	for _, p := range l.open[team] {
		out = append(out, access.Allowance{TeamID: team, Prefix: p})
	}
	return out, l.away
}

func (l *lists) set(team int64, prefixes ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = map[int64][]netip.Prefix{}
	for _, p := range prefixes {
		l.open[team] = append(l.open[team], netip.MustParsePrefix(p))
	}
}

// office is an egress by the lists of a ledger, and a clock that a test moves.
type office struct {
	*lists
	t  *testing.T
	at time.Time
	e  *jobs.Egress
}

func newOffice(t *testing.T) *office {
	o := &office{lists: &lists{}, t: t, at: time.Unix(sentAt, 0)}
	o.e = jobs.NewEgress(jobs.EgressPolicy{Teams: jobs.NewTeamLists(o.lists, func() time.Time { return o.at })})
	o.set(7, "10.1.0.0/16")
	return o
}

func (o *office) check(addr string) error {
	return o.e.Check(o.t.Context(), 7, netip.AddrPortFrom(netip.MustParseAddr(addr), 80))
}

var errAway = errors.New("the database is away")

func TestARangeThatIsTakenOutIsClosedWithinSeconds(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	require.NoError(t, o.check("10.1.0.1"))
	o.set(7)
	o.at = o.at.Add(jobs.ListFresh - 1)
	require.NoError(t, o.check("10.1.0.1"), "remembered")
	require.Equal(t, 1, o.asks)
	o.at = o.at.Add(1)
	require.ErrorContains(t, o.check("10.1.0.1"), "10.1.0.1: the address rules")
}

func TestARangeThatIsAddedIsOpenWithinASecond(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	require.Error(t, o.check("10.2.0.1"))
	o.set(7, "10.2.0.0/16")
	require.Error(t, o.check("10.2.0.1"), "remembered")
	require.Equal(t, 1, o.asks, "a target that is refused often is no load")
	o.at = o.at.Add(jobs.ListMissed)
	require.NoError(t, o.check("10.2.0.1"))
	may, err := o.e.MayCall(t.Context(), 7, netip.MustParseAddr("10.2.0.1"))
	require.NoError(t, err)
	require.True(t, may)
	o.set(7)
	may, err = o.e.MayCall(t.Context(), 7, netip.MustParseAddr("10.2.0.1"))
	require.NoError(t, err)
	require.False(t, may, "who writes a task is told by the ledger as it is")
}

func TestWhatIsOpenAnywayDoesNotAskTheLedger(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.away = errAway
	require.NoError(t, o.check("8.8.8.8"))
	require.Error(t, o.check("169.254.169.254"))
	require.Error(t, o.check("224.0.0.1"))
	require.Zero(t, o.asks)
}

func TestWithoutTheLedgerTheLastListHoldsForAMinute(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	require.NoError(t, o.check("10.1.0.1"))
	o.away = errAway
	o.at = o.at.Add(jobs.ListKept - 1)
	require.NoError(t, o.check("10.1.0.1"))
	require.Error(t, o.check("10.2.0.1"))
	asks := o.asks
	o.at = o.at.Add(1)
	err := o.check("10.1.0.1")
	require.ErrorContains(t, err, "the team's list of ranges can't be read (the database is away), and without it the address rules of this installation forbid it")
	require.Equal(t, asks, o.asks, "not asked again at once")
	o.away = nil
	o.at = o.at.Add(time.Second)
	require.NoError(t, o.check("10.1.0.1"))

	o = newOffice(t)
	o.away = errAway
	require.ErrorIs(t, o.check("10.1.0.1"), errAway, "and without a last one nothing is open")
	_, err = o.e.MayCall(t.Context(), 7, netip.MustParseAddr("10.1.0.1"))
	require.ErrorIs(t, err, errAway)
}

func TestACallThatEndsDoesNotWaitForTheList(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	reading, release, first := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	o.hold = func() { close(reading); <-release }
	go func() { first <- o.check("10.1.0.1") }()
	<-reading
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, o.e.Check(over, 7, netip.MustParseAddrPort("10.1.0.1:80")), context.Canceled)
	close(release)
	require.NoError(t, <-first)
}
