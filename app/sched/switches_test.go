package sched

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// board is the ledger and the carrier of the switches' tests.
type board struct {
	teams   []access.Team
	paused  []string
	entries []access.Entry
	calls   []string
	fail    map[string]error
}

func (b *board) Teams(context.Context, access.Scope) ([]access.Team, error) {
	return b.teams, b.fail["Teams"]
}

func (b *board) SetDraining(_ context.Context, id string, on bool, entry func(NodeInfo) access.Entry) error {
	if err := b.fail["SetDraining"]; err != nil {
		return err
	}
	b.entries = append(b.entries, entry(NodeInfo{ID: id, Host: "wk", PID: 3, Draining: !on}))
	return nil
}

func (b *board) SetQueuePaused(_ context.Context, queue string, on bool, e access.Entry, do func() error) error {
	b.entries = append(b.entries, e)
	return do()
}

func (b *board) PausedQueues(context.Context) ([]string, error) {
	return b.paused, b.fail["PausedQueues"]
}

func (b *board) WhilePaused(_ context.Context, _ string, do func() error) error { return do() }

func (b *board) Pause(_ context.Context, queue string) error {
	b.calls = append(b.calls, "pause "+queue)
	return b.fail[queue]
}

func (b *board) Unpause(_ context.Context, queue string) error {
	b.calls = append(b.calls, "unpause "+queue)
	return b.fail[queue]
}

func TestWhatAllTeamsShareIsStoppedByWhoMayPauseAllTheirTasks(t *testing.T) {
	b := &board{teams: []access.Team{{ID: 1}, {ID: 2}}}
	s := NewSwitches(b, b, NewClock(noon))
	in := func(one, two access.Role) access.Actor {
		return access.Actor{Kind: access.User, Roles: map[int64]access.Role{1: one, 2: two}}
	}
	for name, c := range map[string]struct {
		by  access.Actor
		may bool
	}{
		"an administrator":           {access.Actor{Admin: true}, true},
		"an operator of all teams":   {in(access.Operator, access.Owner), true},
		"an owner of one of them":    {access.Actor{Roles: map[int64]access.Role{1: access.Owner}}, false},
		"an operator, a viewer":      {in(access.Operator, access.Viewer), false},
		"an auditor":                 {access.Actor{Auditor: true}, false},
		"somebody who is in no team": {access.Actor{}, false},
	} {
		may, err := s.May(t.Context(), c.by)
		require.NoError(t, err, name)
		require.Equal(t, c.may, may, name)
		for _, err := range []error{
			s.PauseQueue(t.Context(), c.by, "q", "r"), s.ResumeQueue(t.Context(), c.by, "q", ""),
			s.Drain(t.Context(), c.by, "n", "r"), s.StopDraining(t.Context(), c.by, "n", ""),
		} {
			if c.may {
				require.NoError(t, err, name)
			} else {
				require.Equal(t, fault.KindDenied, fault.KindOf(err), name)
			}
		}
	}
	b.teams = nil
	may, err := s.May(t.Context(), in(access.Owner, access.Owner))
	require.NoError(t, err)
	require.False(t, may, "where there is no team, an administrator is asked")
	b.fail = map[string]error{"Teams": errAway}
	_, err = s.May(t.Context(), in(access.Owner, access.Owner))
	require.ErrorIs(t, err, errAway)
}

func TestASwitchIsAuditedWithItsReason(t *testing.T) {
	b := &board{}
	s, by := NewSwitches(b, b, NewClock(noon)), access.Actor{Admin: true, Name: "ada"}
	require.NoError(t, s.PauseQueue(t.Context(), by, "slow", " release "))
	require.NoError(t, s.ResumeQueue(t.Context(), by, "slow", ""))
	require.NoError(t, s.Drain(t.Context(), by, "n1", "kernel"))
	require.NoError(t, s.StopDraining(t.Context(), by, "n1", ""))
	require.Equal(t, []string{"pause slow", "unpause slow"}, b.calls)
	queue, node := access.Object{Kind: "queue", ID: "slow", Name: "slow"}, access.Object{Kind: "node", ID: "n1", Name: "wk:3"}
	require.Equal(t, []access.Entry{
		{At: noon(), Actor: by, Action: "queue.pause", Object: queue, Reason: "release"}, {At: noon(), Actor: by, Action: "queue.resume", Object: queue},
		{At: noon(), Actor: by, Action: "node.drain", Object: node, Reason: "kernel"}, {At: noon(), Actor: by, Action: "node.resume", Object: node},
	}, b.entries)
	for _, err := range []error{s.PauseQueue(t.Context(), by, "slow", " "), s.Drain(t.Context(), by, "n1", "")} {
		require.Equal(t, "reason", fault.Fields(err)[0].Name)
	}
	b.fail = map[string]error{"slow": errAway, "SetDraining": errAway}
	for _, err := range []error{
		s.PauseQueue(t.Context(), by, "slow", "x"), s.ResumeQueue(t.Context(), by, "slow", ""), s.Drain(t.Context(), by, "n1", "x"),
	} {
		require.ErrorIs(t, err, errAway)
	}
}

// Redis was wiped, and knows of no pause.
func TestWhatTheLedgerSaysIsPausedIsPausedAgain(t *testing.T) {
	b := &board{paused: []string{"gone", "import", "slow"}, fail: map[string]error{"gone": fault.NotFound("no such queue")}}
	s := NewSwitches(b, b, NewClock(noon))
	_, err := s.Hold(t.Context())
	require.NoError(t, err, "a queue that isn't configured any more is nobody's fault")
	require.Equal(t, []string{"pause gone", "pause import", "pause slow"}, b.calls)
	b.fail["import"] = errAway
	_, err = s.Hold(t.Context())
	require.ErrorIs(t, err, errAway)
	b.fail = map[string]error{"PausedQueues": errAway}
	_, err = s.Hold(t.Context())
	require.ErrorIs(t, err, errAway)
}
