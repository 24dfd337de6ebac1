package views

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/sched"
)

func TestAListsAddressHoldsItsFilters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		q := InstanceQuery{
			State: sched.State(text.Draw(t, "state")), Group: sched.Group(text.Draw(t, "group")), Task: text.Draw(t, "task"),
			BizID: text.Draw(t, "biz"), Node: text.Draw(t, "node"), Origin: sched.Origin(text.Draw(t, "origin")),
			Since: text.Draw(t, "since"), Until: text.Draw(t, "until"), After: text.Draw(t, "after"),
		}
		u, err := url.Parse(q.Path())
		require.NoError(t, err)
		require.Equal(t, "/instances", u.Path)
		v := u.Query()
		require.Equal(t, q, InstanceQuery{
			State: sched.State(v.Get("state")), Group: sched.Group(v.Get("group")), Task: v.Get("task"), BizID: v.Get("biz"), Node: v.Get("node"),
			Origin: sched.Origin(v.Get("origin")), Since: v.Get("since"), Until: v.Get("until"), After: v.Get("after"),
		})
	})
}

func TestOnlyWhatHasEndedIsBoundedInTimeByItself(t *testing.T) {
	t.Parallel()
	for q, want := range map[InstanceQuery]string{
		{}: PeriodDefault, {State: sched.Failed}: PeriodDefault, {Group: sched.GroupFailed, Since: "7d"}: "7d",
		{Group: sched.GroupWaiting}: PeriodAll, {State: sched.Running, Since: "1h"}: "1h",
	} {
		require.Equal(t, want, q.Period(), q.Path())
	}
	require.Equal(t, PeriodAll, InstanceQuery{Until: "2026-12-01"}.Period(), "an end alone has no beginning")
	q := InstanceQuery{Group: sched.GroupFailed, Since: "7d", Task: "a", After: "x"}
	require.Equal(t, "/instances?group=waiting&task=a", q.of(sched.GroupWaiting, "").Path(), "a list holds what its count says")
	require.Equal(t, "/instances?since=7d&state=lost&task=a", q.of("", sched.Lost).Path())
}

func TestEveryStateIsInTheRailOnce(t *testing.T) {
	t.Parallel()
	rail := InstancesPage{Counts: map[sched.State]int{sched.Failed: 2, sched.Lost: 1}}.rail(inGallery(t))
	n := 0
	for _, g := range rail {
		n += max(len(g.sub), 1)
	}
	require.Equal(t, len(sched.States()), n)
	require.Equal(t, "3", rail[3].count)
	require.Equal(t, "2", rail[3].sub[0].count)
	require.Empty(t, InstancesPage{}.rail(inGallery(t))[0].count, "not known is not 0")
}

func TestAFormThatWasNotTouchedTakesWhatIsStored(t *testing.T) {
	t.Parallel()
	base := LetterValues{Status: "open", Cause: "data", Solution: "a", Assignee: "x", Version: 1}
	stored := LetterValues{Status: "solved", Cause: "data", Solution: "b", Assignee: "y", Version: 2}
	typed := base
	typed.Solution = "mine"
	require.Equal(t, LetterValues{Status: "solved", Cause: "data", Solution: "mine", Assignee: "y", Version: 2}, typed.Merged(base, stored))
	require.Equal(t, stored, base.Merged(base, stored))
}
