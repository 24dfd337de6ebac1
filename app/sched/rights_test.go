package sched

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// deeds are all the use cases, with the weakest role that may do each.
func deeds() map[string]struct {
	min access.Role
	do  func(ctx context.Context, o *office, by access.Actor) error
} {
	const code, id = "close-orders", "0195f0c0-0000-7000-8000-000000000002"
	return map[string]struct {
		min access.Role
		do  func(ctx context.Context, o *office, by access.Actor) error
	}{
		"see a task": {access.Viewer, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.tasks.Get(ctx, by, code)
			return err
		}},
		"see its versions": {access.Viewer, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.tasks.Versions(ctx, by, code, 5)
			return err
		}},
		"see an instance": {access.Viewer, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.instances.Get(ctx, by, id)
			return err
		}},
		"see a log": {access.Viewer, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.instances.Log(ctx, by, logged(o), LogQuery{Attempt: 1, Limit: 1})
			return err
		}},
		"see whether a log moved": {access.Viewer, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.instances.LogMark(ctx, by, logged(o), 1)
			return err
		}},
		"see the end of a log": {access.Viewer, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.instances.LogTail(ctx, by, logged(o), LogQuery{Attempt: 1, Limit: 1}, 1)
			return err
		}},
		"see a letter": {access.Viewer, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.letters.Get(ctx, by, 5)
			return err
		}},
		"trigger": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			_, _, err := o.tasks.Trigger(ctx, by, code, TriggerRequest{})
			return err
		}},
		"enable": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.tasks.SetEnabled(ctx, by, code, true, "")
			return err
		}},
		"pause": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.tasks.Pause(ctx, by, code, noon().Add(time.Hour), "")
			return err
		}},
		"resume": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			t := o.book.tasks[code]
			t.PausedFrom, t.PausedUntil = noon(), noon().Add(time.Hour)
			o.book.tasks[code] = t
			_, err := o.tasks.Resume(ctx, by, code, "")
			return err
		}},
		"cancel": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.instances.Cancel(ctx, by, id, "")
			return err
		}},
		"work on a letter": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.letters.Edit(ctx, by, 5, LetterEdit{Status: new(LetterTaken)})
			return err
		}},
		"replay": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.letters.Replay(ctx, by, 5, "")
			return err
		}},
		"change a task": {access.Editor, func(ctx context.Context, o *office, by access.Actor) error {
			w := written(KindCron)
			w.Version, w.Team = 1, ""
			_, err := o.tasks.Update(ctx, by, code, w)
			return err
		}},
		"archive a task": {access.Editor, func(ctx context.Context, o *office, by access.Actor) error {
			_, err := o.tasks.Archive(ctx, by, code, "")
			return err
		}},
		"roll a task back": {access.Editor, func(ctx context.Context, o *office, by access.Actor) error {
			o.keep(0, func(t *Task) { t.Name = "Close" })
			_, err := o.tasks.RollBack(ctx, by, code, RollBack{To: 0})
			return err
		}},
		"create a task": {access.Editor, func(ctx context.Context, o *office, by access.Actor) error {
			w := written(KindCron)
			w.Code = "another"
			_, err := o.tasks.Create(ctx, by, w)
			return err
		}},
		"allow unsafe retries": {access.Owner, func(ctx context.Context, o *office, by access.Actor) error {
			w := written(KindCron)
			w.Version, w.Policy.Idempotent, w.Policy.Retry = 1, new(false), &RetrySpec{Max: new(1), Unsafe: true}
			_, err := o.tasks.Update(ctx, by, code, w)
			return err
		}},
		"create with unsafe retries": {access.Owner, func(ctx context.Context, o *office, by access.Actor) error {
			w := written(KindCron)
			w.Code, w.Policy.Idempotent, w.Policy.Retry = "another", new(false), &RetrySpec{Max: new(1), Unsafe: true}
			_, err := o.tasks.Create(ctx, by, w)
			return err
		}},
	}
}

func TestEachRoleDoesWhatItMay(t *testing.T) {
	for name, deed := range deeds() {
		for _, role := range access.Roles() {
			o := newOffice()
			err := deed.do(t.Context(), o, as(role))
			if slices.Index(access.Roles(), role) >= slices.Index(access.Roles(), deed.min) {
				require.NoError(t, err, "%s as %s", name, role)
				continue
			}
			require.Equal(t, fault.KindDenied, fault.KindOf(err), "%s as %s: %v", name, role, err)
			requireUntouched(t, o)
		}
	}
}

// requireUntouched: nothing was stored, sent or hinted.
func requireUntouched(t *testing.T, o *office) {
	t.Helper()
	require.Empty(t, o.changes)
	require.Empty(t, o.created)
	require.Empty(t, o.entries)
	require.Empty(t, o.hands.messages)
	require.Empty(t, o.hands.hints)
}

// What belongs to others is not there at all; a new task's team is a field.
func TestOtherTeamsSeeNothing(t *testing.T) {
	for name, deed := range deeds() {
		for what, by := range map[string]access.Actor{
			"the owner of another team": {Kind: access.User, Roles: map[int64]access.Role{depot: access.Owner}},
			"a person without a team":   {Kind: access.User},
		} {
			o := newOffice()
			err := deed.do(t.Context(), o, by)
			if slices.Contains(fieldNames(err), "team") {
				require.Equal(t, fault.KindInvalid, fault.KindOf(err))
			} else {
				require.Equal(t, fault.KindNotFound, fault.KindOf(err), "%s as %s: %v", name, what, err)
			}
			requireUntouched(t, o)
		}
	}
}

func TestAdminsDoEverythingAndAuditorsRead(t *testing.T) {
	for name, deed := range deeds() {
		require.NoError(t, deed.do(t.Context(), newOffice(), access.Actor{Kind: access.User, Admin: true}), name)
		require.NoError(t, deed.do(t.Context(), newOffice(), access.Actor{Kind: access.System}), name)
		err := deed.do(t.Context(), newOffice(), access.Actor{Kind: access.User, Auditor: true})
		if deed.min == access.Viewer {
			require.NoError(t, err, name)
		} else {
			require.Equal(t, fault.KindDenied, fault.KindOf(err), name)
		}
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	o, owner := newOffice(), as(access.Owner)
	_, err := o.tasks.Get(t.Context(), owner, "nothing")
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	_, err = o.tasks.Versions(t.Context(), owner, "nothing", 1)
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	_, err = o.tasks.Update(t.Context(), owner, "nothing", written(KindCron))
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	_, err = o.instances.Get(t.Context(), owner, "nothing")
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	_, err = o.instances.Cancel(t.Context(), owner, "nothing", "")
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	_, err = o.letters.Edit(t.Context(), owner, 6, LetterEdit{})
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
	_, err = o.letters.Replay(t.Context(), owner, 6, "")
	require.Equal(t, fault.KindNotFound, fault.KindOf(err))
}

// A list never shows more than the actor may read, whatever was asked for.
func TestAListKeepsToTheActorsTeams(t *testing.T) {
	two := access.Actor{Kind: access.User, Roles: map[int64]access.Role{shop: access.Viewer, 9: access.Owner}}
	admin := access.Actor{Kind: access.User, Admin: true}
	for name, c := range map[string]struct {
		by    access.Actor
		asked access.Scope
		want  access.Scope
	}{
		"nothing asked: all of one's own": {two, access.Scope{}, access.Scope{Teams: []int64{shop, 9}}},
		"one team of one's own":           {two, access.Scope{Teams: []int64{9}}, access.Scope{Teams: []int64{9}}},
		"another's team":                  {two, access.Scope{Teams: []int64{depot}}, access.Scope{}},
		"one's own and another's":         {two, access.Scope{Teams: []int64{shop, depot}}, access.Scope{Teams: []int64{shop}}},
		"everything":                      {two, access.Scope{All: true}, access.Scope{Teams: []int64{shop, 9}}},
		"nobody's":                        {access.Actor{}, access.Scope{}, access.Scope{}},
		"nobody asks for a team":          {access.Actor{}, access.Scope{Teams: []int64{shop}}, access.Scope{}},
		"an admin sees all":               {admin, access.Scope{}, access.Scope{All: true}},
		"an admin asks for one team":      {admin, access.Scope{Teams: []int64{depot}}, access.Scope{Teams: []int64{depot}}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			_, err := o.tasks.List(t.Context(), c.by, TaskFilter{Scope: c.asked}, PageRequest{})
			require.NoError(t, err)
			_, err = o.instances.List(t.Context(), c.by, InstanceFilter{Scope: c.asked}, PageRequest{Limit: 500})
			require.NoError(t, err)
			_, err = o.letters.List(t.Context(), c.by, LetterFilter{Scope: c.asked}, PageRequest{Limit: 3, After: "k"})
			require.NoError(t, err)
			require.Equal(t, []access.Scope{c.want, c.want, c.want}, o.scopes)
			require.Equal(t, []PageRequest{{Limit: 50}, {Limit: 200}, {Limit: 3, After: "k"}}, o.pages)
		})
	}
}
