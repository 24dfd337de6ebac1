package alert

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

// liveLedger is a fakeLedger that counts incidents, and remembers of what.
type liveLedger struct {
	*fakeLedger
	scope  access.Scope
	since  time.Time
	rules  []int64
	counts map[int64]Count30
	firing FiringCount
}

func (f *liveLedger) RuleCounts(_ context.Context, s access.Scope, rules []int64, since time.Time) (map[int64]Count30, error) {
	f.scope, f.rules, f.since = s, rules, since
	return f.counts, nil
}

func (f *liveLedger) FiringCount(_ context.Context, s access.Scope) (FiringCount, error) {
	f.scope = s
	return f.firing, nil
}

var liveAt = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func liveOf() (*liveLedger, *Live) {
	f := &liveLedger{fakeLedger: newFakeLedger()}
	f.tasks = []TaskMark{
		{ID: 1, TeamID: 1, Code: "pay.a", Name: "Pay a", Tags: []string{"bank"}},
		{ID: 2, TeamID: 1, Code: "pay.b", Name: "Pay b"},
		{ID: 3, TeamID: 2, Code: "store.c", Name: "Store c", Tags: []string{"bank"}},
	}
	return f, NewLive(f, f, func() time.Time { return liveAt })
}

// memberOf is a person with a role in the team.
func memberOf(team int64, role access.Role) access.Actor {
	return access.Actor{Kind: access.User, ID: 7, Name: "ann", Roles: map[int64]access.Role{team: role}}
}

func TestAValueIsTheWorstAndItsTaskIsNamedToItsTeamAlone(t *testing.T) {
	t.Parallel()
	f, live := liveOf()
	f.readings[InARow] = []Reading{{TaskID: 1, TeamID: 1, Value: 4, N: 4}, {TaskID: 3, TeamID: 2, Value: 9, N: 9}, {TaskID: 2, TeamID: 1, Value: 1, N: 1}}
	all := Rule{ID: 1, Metric: InARow, Scope: Scope{Kind: All}, Threshold: 3, Level: P1}
	ours := Rule{ID: 2, TeamID: 1, Metric: InARow, Scope: Scope{Kind: All}, Threshold: 3, Level: P1}
	values, err := live.Values(t.Context(), []Rule{all, ours})
	require.NoError(t, err)
	require.Len(t, f.asked, 1, "both rules ask the same")

	worst := Subject{Kind: TaskSubject, Key: "store.c", Name: "Store c"}
	mine := Subject{Kind: TaskSubject, Key: "pay.a", Name: "Pay a"}
	for name, c := range map[string]struct {
		by  access.Actor
		all Subject
	}{
		"a member of the other team": {memberOf(1, access.Viewer), Subject{}},
		"a member of its team":       {memberOf(2, access.Viewer), worst},
		"an administrator":           {access.Actor{Kind: access.User, ID: 1, Admin: true}, worst},
	} {
		t.Run(name, func(t *testing.T) {
			got := values.For(c.by)
			require.Equal(t, Value{Value: 9, Known: true, N: 2, Team: 2, Of: c.all}, got[1].Value, "the value itself is nobody’s secret")
			require.InDelta(t, 4, got[2].Value.Value, 0)
		})
	}
	require.Equal(t, mine, values.For(memberOf(1, access.Viewer))[2].Of)
	require.Equal(t, Subject{}, values.For(memberOf(2, access.Viewer))[2].Of)
	require.Equal(t, worst, values.For(memberOf(2, access.Viewer))[1].Of, "what was hidden from one is not lost for the next")
}

func TestARuleThatCanNotBeReadKeepsNoOtherFromBeingRead(t *testing.T) {
	t.Parallel()
	f, live := liveOf()
	f.failing[OpenLetters], f.failing[Failures] = errors.New("too slow"), errors.New("panic")
	f.readings[InARow] = []Reading{{TaskID: 1, TeamID: 1, Value: 4, N: 4}}
	rule := func(id int64, m Metric) Rule { return Rule{ID: id, Metric: m, Scope: Scope{Kind: All}, Threshold: 3} }
	values, err := live.Values(t.Context(), []Rule{rule(1, OpenLetters), rule(2, Failures), rule(3, InARow)})
	require.NoError(t, err)
	got := values.For(access.Actor{Admin: true})
	require.ErrorContains(t, got[1].Failed, "too slow")
	require.ErrorContains(t, got[2].Failed, "panic")
	require.NoError(t, got[3].Failed)
	require.True(t, got[3].Known)
}

func TestWhoGoesAwayLeavesNoValuesBehind(t *testing.T) {
	t.Parallel()
	_, live := liveOf()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := live.Values(gone, []Rule{{ID: 1, Metric: InARow, Scope: Scope{Kind: All}}})
	require.ErrorIs(t, err, context.Canceled)
}

func TestWithoutASourceEachValueSaysThatItCanNotBeRead(t *testing.T) {
	t.Parallel()
	f, _ := liveOf()
	values, err := NewLive(f, nil, time.Now).Values(t.Context(), []Rule{{ID: 1}, {ID: 2}})
	require.NoError(t, err)
	got := values.For(access.Actor{})
	require.Len(t, got, 2)
	require.ErrorIs(t, got[2].Failed, ErrNotMine)
}

func TestIncidentsAreCountedOf30DaysAndOfWhatTheActorSees(t *testing.T) {
	t.Parallel()
	f, live := liveOf()
	f.counts = map[int64]Count30{5: {Times: 2, Acted: 1}}
	got, err := live.Counts(t.Context(), memberOf(1, access.Viewer), []Rule{{ID: 5}, {ID: 6}})
	require.NoError(t, err)
	require.Equal(t, f.counts, got)
	require.Equal(t, []int64{5, 6}, f.rules)
	require.Equal(t, access.Scope{Teams: []int64{1}}, f.scope)
	require.Equal(t, liveAt.AddDate(0, 0, -30), f.since)
}

func TestTheChannelsThatListenAreThoseOfTheSubscriptions(t *testing.T) {
	t.Parallel()
	f, live := liveOf()
	f.subs = []Subscription{
		{ID: 1, TeamID: 1, ChannelID: "late", After: time.Minute},
		{ID: 2, TeamID: 1, ChannelID: "loud", Level: P1},
		{ID: 3, TeamID: 1, ChannelID: "one", RuleID: 9},
		{ID: 4, TeamID: 1, ChannelID: "late", Level: P1},
		{ID: 5, TeamID: 2, ChannelID: "theirs"},
		{ID: 6, TeamID: 1, ChannelID: "digest", Events: []EventType{DigestDaily}},
	}
	got, err := live.Listening(t.Context(), []Incident{
		{ID: "p1", TeamID: 1, RuleID: 4, Level: P1}, {ID: "p2", TeamID: 1, RuleID: 4, Level: P2}, {ID: "named", TeamID: 1, RuleID: 9, Level: P2}, {ID: "none", TeamID: 3, Level: P1},
	})
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"p1": {"loud", "late"}, "p2": {"late"}, "named": {"one", "late"}}, got)
}

func TestWhatFiresIsCountedOfTheAskedTeamsThatOneSees(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by    access.Actor
		asked access.Scope
		want  access.Scope
		n     int
	}{
		"a member who asks for all":         {memberOf(1, access.Viewer), access.Scope{All: true}, access.Scope{Teams: []int64{1}}, 5},
		"an administrator who asks for one": {access.Actor{Kind: access.User, ID: 1, Admin: true}, access.Scope{Teams: []int64{2}}, access.Scope{Teams: []int64{2}}, 5},
		"somebody in no team":               {access.Actor{Kind: access.User, ID: 7}, access.Scope{}, access.Scope{}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, live := liveOf()
			f.firing = FiringCount{P1: 2, P2: 3}
			got, err := live.Firing(t.Context(), c.by, c.asked)
			require.NoError(t, err)
			require.Equal(t, c.n, got.All())
			require.Equal(t, c.want, f.scope)
		})
	}
}

func TestASilenceCountsTheTasksThatItCovers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		s    Silence
		want int
	}{
		"all of a team":            {Silence{TeamID: 1, Scope: Scope{Kind: All}}, 2},
		"everything":               {Silence{Scope: Scope{Kind: All}}, 3},
		"a tag in every team":      {Silence{Scope: Scope{Kind: OfTag, Value: "bank"}}, 2},
		"a tag in one team":        {Silence{TeamID: 2, Scope: Scope{Kind: OfTag, Value: "bank"}}, 1},
		"one task under one rule":  {Silence{TeamID: 1, RuleID: 4, Scope: Scope{Kind: OfTask, Value: "pay.a"}}, 1},
		"a task of another team":   {Silence{TeamID: 1, Scope: Scope{Kind: OfTask, Value: "store.c"}}, 0},
		"a group that nobody has":  {Silence{TeamID: 1, Scope: Scope{Kind: OfGroup, Value: "x"}}, 0},
		"a queue that nobody uses": {Silence{Scope: Scope{Kind: OfQueue, Value: "x"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, live := liveOf()
			got, err := live.Covered(t.Context(), c.s)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestASilenceHoldsBackWhatItCoversWhole(t *testing.T) {
	t.Parallel()
	_, live := liveOf()
	of := func(state IncidentState, rule int64, codes ...string) Incident {
		i := Incident{State: state, RuleID: rule, TeamID: 1}
		for _, code := range codes {
			i.Members = append(i.Members, Member{Subject: Subject{Kind: TaskSubject, Key: code}})
		}
		return i
	}
	silent := of(Firing, 4, "pay.a")
	silent.Silenced = true
	open := []Incident{of(Firing, 4, "pay.a"), of(Firing, 5, "pay.a"), of(Firing, 4, "pay.a", "pay.b"), of(Pending, 4, "pay.a"), silent}
	for name, c := range map[string]struct {
		s    Silence
		want int
	}{
		"the one task":             {Silence{TeamID: 1, Scope: Scope{Kind: OfTask, Value: "pay.a"}}, 2},
		"the task under one rule":  {Silence{TeamID: 1, RuleID: 4, Scope: Scope{Kind: OfTask, Value: "pay.a"}}, 1},
		"all of the team":          {Silence{TeamID: 1, Scope: Scope{Kind: All}}, 3},
		"all of the team’s others": {Silence{TeamID: 2, Scope: Scope{Kind: All}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := live.HeldBack(t.Context(), c.s, open)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}
