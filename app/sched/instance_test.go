package sched

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryOpenStateIsLeftAndNoFinalOneIs(t *testing.T) {
	left, reached := map[State]bool{}, map[State]bool{Pending: true}
	for _, m := range Moves() {
		for _, from := range m.From {
			require.True(t, from.Valid(), "%s: %q", m.Event, from)
			left[from] = true
		}
		for _, to := range m.To {
			require.True(t, to.Valid(), "%s: %q", m.Event, to)
			reached[to] = true
		}
	}
	for _, s := range States() {
		require.Equal(t, !s.Final(), left[s], "%s is left", s)
		require.True(t, reached[s], "%s is reached", s)
	}
	require.False(t, State("done").Valid())
}

func TestOneLetterForEachBadEndAndNoOther(t *testing.T) {
	bad := map[State]bool{Failed: true, TimedOut: true, Lost: true}
	for _, s := range States() {
		require.Equal(t, bad[s], s.Bad(), "%s", s)
		require.True(t, !s.Bad() || s.Final(), "%s is bad but not final", s)
	}
}

func TestEachStateIsInOneGroup(t *testing.T) {
	var all []State
	for _, g := range Groups() {
		all = append(all, g.States()...)
		for _, s := range g.States() {
			require.Equal(t, g == GroupWaiting || g == GroupRunning, !s.Final(), "%s in %s", s, g)
		}
	}
	require.ElementsMatch(t, States(), all)
	require.Nil(t, Group("other").States())
	require.Equal(t, Claimable(), GroupWaiting.States(), "what waits is what a worker may take")
}

// The document's table is the code's: a reader of either knows both.
func TestTheDocumentShowsTheMoves(t *testing.T) {
	raw, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	_, rest, begun := strings.Cut(string(raw), "<!-- moves -->\n")
	table, _, ended := strings.Cut(rest, "<!-- /moves -->")
	require.True(t, begun && ended, "ARCHITECTURE.md has no table between <!-- moves --> and <!-- /moves -->")
	require.Equal(t, movesTable(), strings.TrimSpace(table), "write this into ARCHITECTURE.md:\n%s", movesTable())
}

func movesTable() string {
	names := func(states []State) string {
		var out []string
		for _, s := range states {
			out = append(out, "`"+string(s)+"`")
		}
		return strings.Join(out, ", ")
	}
	lines := []string{"| event | from | to |", "|---|---|---|"}
	for _, m := range Moves() {
		lines = append(lines, "| "+string(m.Event)+" | "+names(m.From)+" | "+names(m.To)+" |")
	}
	return strings.Join(lines, "\n")
}

// allowed tells whether the state table has the move.
func allowed(e Event, from, to State) bool {
	return slices.ContainsFunc(Moves(), func(m Move) bool {
		return m.Event == e && slices.Contains(m.From, from) && slices.Contains(m.To, to)
	})
}

func TestAReplayIsTheSameBusinessActionUnderANewNumber(t *testing.T) {
	old := requestOf(taskOf(Schedule{Kind: KindManual}), noon())
	old.State, old.Attempt, old.Retries, old.Deaths, old.Payload = Failed, 4, 3, 1, []byte(`{"order":17}`)
	old.SentAt, old.CancelWanted, old.Error, old.Dispatch = noon(), noon(), "gone wrong", 9
	now := noon().Add(time.Hour)
	got := old.Again("new", 2, "ann", now)
	require.Equal(t, old.Key("close-orders"), got.Key("close-orders"))
	require.Equal(t, "close-orders/order-17", got.Key("close-orders"))
	require.Equal(t, Instance{
		ID: "new", TaskID: old.TaskID, TeamID: old.TeamID, Queue: old.Queue, BizID: old.BizID, Replay: 2, ReplayOf: old.ID,
		Origin: FromReplay, RequestedBy: "ann", Payload: old.Payload, WantedAt: now, DueAt: now, State: Pending, CreatedAt: now,
	}, got)
	require.True(t, got.Request(), "a replay is never skipped")
}

func TestOnlySlotsAreNoRequests(t *testing.T) {
	for origin, request := range map[Origin]bool{FromSchedule: false, FromAPI: true, FromPerson: true, FromReplay: true} {
		require.Equal(t, request, Instance{Origin: origin}.Request(), "%s", origin)
	}
}
