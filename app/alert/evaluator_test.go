package alert

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

// scene: one team with one task, the rule of failures in a row, and a channel.
func scene() (*fakeLedger, *wound, *Evaluator) {
	f, c := newFakeLedger(), &wound{now: t0}
	f.rules = []Rule{inARow()}
	f.subs = []Subscription{{ID: 1, TeamID: 1, ChannelID: "ch"}}
	f.tasks = []TaskMark{{ID: 1, TeamID: 1, Code: "a", Name: "A", Owner: "ann", Level: sched.AlertP1, Tags: []string{"pay"}}}
	return f, c, evaluator(f, c)
}

func fails(n int) []Reading {
	return []Reading{{TaskID: 1, TeamID: 1, Value: float64(n), Cause: "unreachable pay.internal", Host: "pay.internal", Detail: "refused"}}
}

func turns(t *testing.T, e *Evaluator, c *wound, steps ...time.Duration) {
	t.Helper()
	for _, d := range steps {
		c.now = c.now.Add(d)
		_, err := e.Tick(t.Context())
		require.NoError(t, err)
	}
}

func TestABreachIsToldAndSoIsItsEnd(t *testing.T) {
	f, c, e := scene()
	f.readings[InARow] = fails(3)
	turns(t, e, c, 0)
	require.Equal(t, Firing, f.one().State, "within one evaluation")
	require.Empty(t, f.sent)
	turns(t, e, c, gather, 5*time.Second)
	require.Equal(t, []MessageKind{Opened}, f.kinds())
	m := f.sent[0].Message
	require.Equal(t, []string{"ann"}, m.Mention)
	require.Equal(t, P1, m.Level, "the task's own")
	require.Equal(t, "Payments", m.Team)
	require.Equal(t, "pay.internal", m.Host)
	require.Equal(t, f.sent[0].ID, m.ID)
	f.readings[InARow] = nil
	turns(t, e, c, 5*time.Second, Hold(0))
	require.Equal(t, Over, f.one().State)
	require.Equal(t, []MessageKind{Opened, Closed}, f.kinds())
	turns(t, e, c, time.Hour)
	require.Len(t, f.sent, 2)
}

func TestABrokenRuleIsShownAndStopsNoOther(t *testing.T) {
	for name, broken := range map[string]error{"an error": errors.New("no such column"), "a panic": errors.New("panic")} {
		t.Run(name, func(t *testing.T) {
			f, c, e := scene()
			f.rules = append([]Rule{{ID: 9, TeamID: 1, Metric: SuccessRate, Scope: Scope{Kind: All}, Window: time.Hour, Threshold: 95}}, f.rules...)
			f.failing[SuccessRate] = broken
			f.readings[InARow] = fails(3)
			turns(t, e, c, 0)
			require.NotEmpty(t, f.broken[9])
			require.Empty(t, f.broken[1])
			require.Len(t, f.incidents, 1)
			delete(f.failing, SuccessRate)
			turns(t, e, c, time.Minute)
			require.Empty(t, f.broken[9])
		})
	}
}

func TestAnIncidentOutlivesATurnInWhichItsRuleIsBroken(t *testing.T) {
	f, c, e := scene()
	f.readings[InARow] = fails(3)
	turns(t, e, c, 0)
	f.failing[InARow] = errors.New("away")
	turns(t, e, c, time.Minute, time.Hour)
	require.Equal(t, Firing, f.one().State)
}

func TestRulesThatAskTheSameShareOneQuestion(t *testing.T) {
	f, c, e := scene()
	for n := range 200 {
		r := inARow()
		r.ID, r.TeamID = int64(n+1), int64(n%20)
		lag := Rule{ID: int64(1000 + n), TeamID: int64(n % 20), Metric: TriggerLag, Window: 5 * time.Minute, Threshold: float64(n), Scope: Scope{Kind: All}}
		f.rules = append(f.rules, r, lag)
	}
	turns(t, e, c, 0)
	require.Len(t, f.asked, 2)
	for _, q := range f.asked {
		if q.Metric == TriggerLag {
			require.Contains(t, q.Steps, 199.0)
			require.IsIncreasing(t, q.Steps)
		}
	}
}

func TestASilenceHoldsMessagesBackUntilItEnds(t *testing.T) {
	for name, s := range map[string]Silence{
		"of the task":  {TeamID: 1, Scope: Scope{OfTask, "a"}},
		"of the tag":   {TeamID: 1, Scope: Scope{OfTag, "pay"}},
		"of the team":  {TeamID: 1, Scope: Scope{Kind: All}},
		"of all":       {Scope: Scope{Kind: All}},
		"of the rule":  {TeamID: 1, RuleID: 1, Scope: Scope{Kind: All}},
		"again weekly": {TeamID: 1, Scope: Scope{Kind: All}, Cron: "0 3 * * 2", Zone: "UTC", Lasts: 20 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			f, c, e := scene()
			s.StartsAt = t0.Add(-time.Hour)
			if s.Cron == "" {
				s.EndsAt = t0.Add(20 * time.Minute)
			}
			f.silences = []Silence{s}
			f.readings[InARow] = fails(3)
			turns(t, e, c, 0, 19*time.Minute)
			require.Empty(t, f.sent)
			require.True(t, f.one().Silenced)
			turns(t, e, c, time.Minute)
			require.Equal(t, []MessageKind{Opened}, f.kinds())
		})
	}
}

func TestASilenceOfSomethingElseHoldsNothingBack(t *testing.T) {
	for name, s := range map[string]Silence{
		"another task": {TeamID: 1, Scope: Scope{OfTask, "b"}},
		"another team": {TeamID: 2, Scope: Scope{Kind: All}},
		"another rule": {TeamID: 1, RuleID: 2, Scope: Scope{Kind: All}},
		"ended":        {TeamID: 1, Scope: Scope{Kind: All}, EndedAt: t0.Add(-time.Minute)},
		"not begun":    {TeamID: 1, Scope: Scope{Kind: All}, StartsAt: t0.Add(time.Hour), EndsAt: t0.Add(2 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			f, c, e := scene()
			if s.EndsAt.IsZero() {
				s.StartsAt, s.EndsAt = t0.Add(-time.Hour), t0.Add(time.Hour)
			}
			f.silences = []Silence{s}
			f.readings[InARow] = fails(3)
			turns(t, e, c, 0, gather)
			require.Equal(t, []MessageKind{Opened}, f.kinds())
		})
	}
}

func TestAnIncidentOfARuleThatIsGoneEnds(t *testing.T) {
	f, c, e := scene()
	f.readings[InARow] = fails(3)
	turns(t, e, c, 0, gather)
	f.rules = nil
	turns(t, e, c, 5*time.Second)
	require.Equal(t, Over, f.one().State)
	require.Equal(t, "rule", f.one().EndedBy)
	require.Equal(t, []MessageKind{Opened, Closed}, f.kinds())
}

func TestAChannelThatListensTwiceHearsOnce(t *testing.T) {
	f, c, e := scene()
	f.subs = append(f.subs, Subscription{ID: 2, TeamID: 1, ChannelID: "ch", RuleID: 1}, Subscription{ID: 3, TeamID: 1, ChannelID: "other", Level: P1})
	f.readings[InARow] = fails(3)
	turns(t, e, c, 0, gather)
	require.Len(t, f.sent, 2)
	require.ElementsMatch(t, []string{"ch", "other"}, []string{f.sent[0].ChannelID, f.sent[1].ChannelID})
}

func TestAWebhookIsToldOfBeginAndEndEvenInASilence(t *testing.T) {
	f, c, e := scene()
	f.silences = []Silence{{TeamID: 1, Scope: Scope{Kind: All}, StartsAt: t0.Add(-time.Hour), EndsAt: t0.Add(time.Hour)}}
	f.subs = []Subscription{{ID: 1, TeamID: 1, ChannelID: "hook", Events: []EventType{IncidentOpened, IncidentClosed}}}
	f.readings[InARow] = fails(3)
	turns(t, e, c, 0, 5*time.Second)
	f.readings[InARow] = nil
	turns(t, e, c, 5*time.Second, time.Minute, time.Minute)
	require.Len(t, f.sent, 2)
	require.Equal(t, []EventType{IncidentOpened, IncidentClosed}, []EventType{f.sent[0].Message.Event, f.sent[1].Message.Event})
	var facts IncidentFacts
	require.NoError(t, json.Unmarshal(f.sent[0].Message.Object, &facts))
	require.Equal(t, f.one().ID, facts.ID)
	require.Equal(t, f.sent[0].Object, f.sent[1].Object, "in order")
}

func TestWhatStaysAsItWasIsNotWrittenAgain(t *testing.T) {
	f, c, e := scene()
	f.readings[InARow] = fails(3)
	turns(t, e, c, 0, gather)
	version := f.one().Version
	turns(t, e, c, 5*time.Second, 5*time.Second)
	require.Equal(t, version, f.one().Version)
}
