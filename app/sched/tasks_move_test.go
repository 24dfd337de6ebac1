package sched

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/calendar"
	"ax/app/fault"
)

// inBoth is a person with a role in the shop and one in the depot.
func inBoth(inShop, inDepot access.Role) access.Actor {
	return access.Actor{Kind: access.User, ID: 1, Name: "ann", Roles: map[int64]access.Role{shop: inShop, depot: inDepot}}
}

func TestAMovedTaskIsTheOtherTeams(t *testing.T) {
	o := newOffice()
	before := o.book.tasks["close-orders"]
	o.owed = messagesOf(1)
	got, err := o.tasks.Move(t.Context(), inBoth(access.Editor, access.Editor), "close-orders", TeamMove{Team: "depot", Read: 1, Reason: "the depot runs it now"})
	require.NoError(t, err)
	require.Equal(t, int64(depot), got.TeamID)
	require.Equal(t, 2, got.Version, "whoever has the old one open is told")
	require.Equal(t, before.Spec, got.Spec)
	require.Equal(t, moment("2026-03-03T02:00:00Z"), got.NextFireAt)
	c, e := o.changes[0], o.entries[0]
	require.True(t, c.Owed)
	require.Equal(t, "move from team shop to depot: the depot runs it now", c.Note)
	require.Equal(t, []any{"task.move", int64(depot), "the depot runs it now"}, []any{e.Action, e.TeamID, e.Reason})
	require.Equal(t, []access.Change{{Field: "team", Old: "shop", New: "depot"}}, e.Changes)
	require.Equal(t, messagesOf(1), o.hands.messages, "what was owed until now")

	_, err = o.tasks.Get(t.Context(), as(access.Owner), "close-orders")
	require.Equal(t, fault.KindNotFound, fault.KindOf(err), "the old team sees it no more")
}

// The right is needed in both teams.
func TestWhoMayMoveATask(t *testing.T) {
	admin := access.Actor{Kind: access.User, Admin: true}
	auditor := inBoth(access.Editor, "")
	auditor.Auditor = true
	for name, c := range map[string]struct {
		by   access.Actor
		want fault.Kind
		ok   bool
	}{
		"an editor of both":           {by: inBoth(access.Editor, access.Editor), ok: true},
		"an admin":                    {by: admin, ok: true},
		"an editor and a viewer":      {by: inBoth(access.Editor, access.Viewer), want: fault.KindDenied},
		"a viewer and an editor":      {by: inBoth(access.Viewer, access.Editor), want: fault.KindDenied},
		"an operator of both":         {by: inBoth(access.Operator, access.Operator), want: fault.KindDenied},
		"an editor of the old only":   {by: as(access.Owner), want: fault.KindInvalid},
		"an owner of the new only":    {by: access.Actor{Kind: access.User, Roles: map[int64]access.Role{depot: access.Owner}}, want: fault.KindNotFound},
		"an auditor":                  {by: access.Actor{Kind: access.User, Auditor: true}, want: fault.KindDenied},
		"an editor who may only read": {by: auditor, want: fault.KindDenied},
		"nobody's":                    {by: access.Actor{Kind: access.User}, want: fault.KindNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			_, err := o.tasks.Move(t.Context(), c.by, "close-orders", TeamMove{Team: "depot"})
			if c.ok {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.want, fault.KindOf(err), "%v", err)
			requireUntouched(t, o)
			require.Equal(t, int64(shop), o.book.tasks["close-orders"].TeamID)
		})
	}
}

func TestAMoveIsRefused(t *testing.T) {
	bad := func(text string) func(*testing.T, error) {
		return func(t *testing.T, err error) {
			require.Equal(t, []string{"team"}, fieldNames(err))
			require.ErrorContains(t, err, text)
		}
	}
	conflict := func(t *testing.T, err error) { require.Equal(t, fault.KindConflict, fault.KindOf(err), "%v", err) }
	away := func(t *testing.T, err error) { require.ErrorIs(t, err, errAway) }
	follows := func(c *calendar.Calendar) func(*office, *Task, *TeamMove) {
		return func(_ *office, t *Task, _ *TeamMove) { t.Calendar, t.Spec.Schedule.Calendar = c, c.Code }
	}
	for name, c := range map[string]struct {
		change func(*office, *Task, *TeamMove)
		check  func(*testing.T, error)
	}{
		"to no team":                     {func(_ *office, _ *Task, m *TeamMove) { m.Team = "" }, bad("A team is needed")},
		"to a team that isn't there":     {func(_ *office, _ *Task, m *TeamMove) { m.Team = "nobody" }, bad("There is no team")},
		"to its own team":                {func(_ *office, _ *Task, m *TeamMove) { m.Team = "shop" }, bad("belongs to this team already")},
		"away from its calendar":         {follows(&calendar.Calendar{Code: "cn", TeamID: shop}), bad(`goes by the calendar "cn", which the team "depot" can't use`)},
		"of what was changed meanwhile":  {func(_ *office, t *Task, _ *TeamMove) { t.Version = 4 }, conflict},
		"of an archived task":            {func(_ *office, t *Task, _ *TeamMove) { t.ArchivedAt = noon() }, conflict},
		"while teams can't be read":      {func(o *office, _ *Task, _ *TeamMove) { o.fail["Teams"] = errAway }, away},
		"while it can't be written":      {func(o *office, _ *Task, _ *TeamMove) { o.fail["ChangeTask"] = errAway }, away},
		"while the team can't be looked": {func(o *office, _ *Task, _ *TeamMove) { o.fail["Team"] = errAway }, away},
	} {
		t.Run(name, func(t *testing.T) {
			o, m := newOffice(), TeamMove{Team: "depot", Read: 1}
			task := o.book.tasks["close-orders"]
			c.change(o, &task, &m)
			o.book.tasks[task.Code] = task
			_, err := o.tasks.Move(t.Context(), inBoth(access.Owner, access.Owner), "close-orders", m)
			c.check(t, err)
			requireUntouched(t, o)
		})
	}
}

// A task isn't given to a team that may not call what it calls.
func TestATaskMovesOnlyWhereItsTargetMayBeCalled(t *testing.T) {
	o := newOffice()
	task := o.book.tasks["close-orders"]
	task.Spec.Target.URL = "http://10.1.2.3/x" // open to the shop alone
	o.book.tasks["close-orders"] = task
	_, err := o.tasks.Move(t.Context(), inBoth(access.Owner, access.Owner), "close-orders", TeamMove{Team: "depot"})
	require.Equal(t, []string{"team"}, fieldNames(err))
	require.ErrorContains(t, err, "This team may not call 10.1.2.3")
	require.Equal(t, int64(shop), o.book.tasks["close-orders"].TeamID)
	o.fail["MayCall"] = errors.New("the ledger is away")
	_, err = o.tasks.Move(t.Context(), inBoth(access.Owner, access.Owner), "close-orders", TeamMove{Team: "depot"})
	require.ErrorContains(t, err, "the ledger is away")
}

func TestACalendarOfAllMovesAlong(t *testing.T) {
	for name, team := range map[string]int64{"of the installation": 0, "of the team that gets it": depot} {
		o := newOffice()
		task := o.book.tasks["close-orders"]
		task.Calendar = &calendar.Calendar{Code: "cn", TeamID: team, Week: calendar.MondayToFriday}
		task.Spec.Schedule.Calendar = "cn"
		o.book.tasks[task.Code] = task
		_, err := o.tasks.Move(t.Context(), inBoth(access.Editor, access.Editor), "close-orders", TeamMove{Team: "depot"})
		require.NoError(t, err, name)
	}
}

// What an owner of one team allowed, an owner of the other allows anew.
func TestUnsafeRetriesAreForTheOwnersOfTheNewTeam(t *testing.T) {
	o := newOffice()
	task := o.book.tasks["close-orders"]
	task.Spec.Policy.Idempotent, task.Spec.Policy.Retry.Unsafe = false, true
	o.book.tasks[task.Code] = task
	_, err := o.tasks.Move(t.Context(), inBoth(access.Owner, access.Editor), "close-orders", TeamMove{Team: "depot"})
	require.Equal(t, fault.KindDenied, fault.KindOf(err))
	requireUntouched(t, o)
	_, err = o.tasks.Move(t.Context(), inBoth(access.Editor, access.Owner), "close-orders", TeamMove{Team: "depot"})
	require.NoError(t, err)
}

// A task that can't be planned can be given to those who will mend it.
func TestATaskThatCannotBePlannedCanBeMoved(t *testing.T) {
	o := newOffice()
	task := o.book.tasks["close-orders"]
	task.Spec.Schedule.Timezone = "Mars/Base"
	o.book.tasks[task.Code] = task
	got, err := o.tasks.Move(t.Context(), inBoth(access.Editor, access.Editor), "close-orders", TeamMove{Team: "depot"})
	require.NoError(t, err)
	require.NotEmpty(t, got.PlanError)
	require.Zero(t, got.NextFireAt)
}
