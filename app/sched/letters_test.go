package sched

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

func edited(t *testing.T, o *office, e LetterEdit) (Letter, error) {
	return o.letters.Edit(t.Context(), as(access.Operator), 5, e)
}

func TestAnEditChangesOnlyWhatItNames(t *testing.T) {
	o := newOffice()
	_, err := edited(t, o, LetterEdit{Status: new(LetterTaken), Solution: new("look at\nthe disk"), Cause: new("disk full"), Assignee: new("bob")})
	require.NoError(t, err)
	got, err := edited(t, o, LetterEdit{Cause: new("disk full again")})
	require.NoError(t, err)
	require.Equal(t, Letter{
		ID: 5, TaskID: 3, TeamID: shop, BizID: "order-17", InstanceID: orderID, Status: LetterTaken, Solution: "look at\nthe disk",
		Cause: "disk full again", AssigneeID: 12, Assignee: "bob", Version: 4,
	}, got)
	require.Equal(t, []access.Change{
		{Field: "status", Old: "open", New: "taken"}, {Field: "solution", New: "look at\nthe disk"},
		{Field: "cause", New: "disk full"}, {Field: "assignee", New: "bob"},
	}, o.entries[0].Changes)
	require.Equal(t, []access.Change{{Field: "cause", Old: "disk full", New: "disk full again"}}, o.entries[1].Changes)
	require.Equal(t, access.Object{Kind: "dead_letter", ID: "5", Name: "order-17"}, o.entries[0].Object)
	got, err = edited(t, o, LetterEdit{Assignee: new("")})
	require.NoError(t, err)
	require.Zero(t, got.AssigneeID)
	require.Empty(t, got.Assignee)
}

func TestClosingALetterNamesWhoAndWhen(t *testing.T) {
	o := newOffice()
	for _, status := range []LetterStatus{LetterSolved, LetterWontFix} {
		got, err := edited(t, o, LetterEdit{Status: new(status)})
		require.NoError(t, err)
		require.Equal(t, []any{status, noon(), "ann"}, []any{got.Status, got.ClosedAt, got.ClosedBy})
		require.True(t, status.Closed())
	}
	got, err := edited(t, o, LetterEdit{Status: new(LetterOpen)})
	require.NoError(t, err)
	require.Equal(t, []any{LetterOpen, "", true}, []any{got.Status, got.ClosedBy, got.ClosedAt.IsZero()}, "open again")
	require.False(t, LetterOpen.Closed() || LetterTaken.Closed())
}

func TestTheSameStatusAgainKeepsWhoClosedIt(t *testing.T) {
	o := newOffice()
	l := o.book.letters[5]
	l.Status, l.ClosedBy, l.ClosedAt = LetterSolved, "bob", noon().AddDate(0, -1, 0)
	o.book.letters[5] = l
	got, err := edited(t, o, LetterEdit{Status: new(LetterSolved), Solution: new("new words")})
	require.NoError(t, err)
	require.Equal(t, []any{"bob", noon().AddDate(0, -1, 0)}, []any{got.ClosedBy, got.ClosedAt})
}

func TestAnEditIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		edit   LetterEdit
		fields []string
	}{
		"a status there is not":        {LetterEdit{Status: new(LetterStatus("done"))}, []string{"status"}},
		"no status":                    {LetterEdit{Status: new(LetterStatus(""))}, []string{"status"}},
		"a solution beyond its length": {LetterEdit{Solution: new(strings.Repeat("界", 6667))}, []string{"solution"}},
		"a solution of broken text":    {LetterEdit{Solution: new("a\xff")}, []string{"solution"}},
		"a cause of two lines":         {LetterEdit{Cause: new("a\nb")}, []string{"cause"}},
		"a cause of 65":                {LetterEdit{Cause: new(strings.Repeat("c", 65))}, []string{"cause"}},
		"somebody else's colleague":    {LetterEdit{Assignee: new("eve")}, []string{"assignee"}},
		"all at once": {
			LetterEdit{Status: new(LetterStatus("x")), Solution: new(strings.Repeat("s", 20_001)), Cause: new("\x00"), Assignee: new("eve")},
			[]string{"status", "solution", "cause", "assignee"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			_, err := edited(t, o, c.edit)
			require.Equal(t, c.fields, fieldNames(err))
			requireUntouched(t, o)
		})
	}
}

func TestAStaleEditIsAConflict(t *testing.T) {
	o := newOffice()
	_, err := edited(t, o, LetterEdit{Status: new(LetterTaken), Version: 1})
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
	require.ErrorContains(t, err, "it is at version 2, you began from 1")
	requireUntouched(t, o)
	_, err = edited(t, o, LetterEdit{Status: new(LetterTaken), Version: 2})
	require.NoError(t, err)
}

// A database that is away doesn't make a colleague a stranger.
func TestAnAssigneeThatCannotBeReadIsNoStranger(t *testing.T) {
	o := newOffice()
	o.fail["Member"] = errAway
	_, err := edited(t, o, LetterEdit{Assignee: new("bob")})
	require.ErrorIs(t, err, errAway)
	requireUntouched(t, o)
}

func TestAReplayIsHandedOverAtOnce(t *testing.T) {
	o := newOffice()
	o.hands.err = errAway // a dispatcher repeats it
	in, err := o.letters.Replay(t.Context(), as(access.Operator), 5, "the disk is free again")
	require.NoError(t, err)
	require.Equal(t, []any{"new-1", "order-17", orderID, FromReplay, "ann", noon()}, []any{in.ID, in.BizID, in.ReplayOf, in.Origin, in.RequestedBy, in.DueAt})
	require.Equal(t, []Message{{InstanceID: "new-1", Queue: "default", DueAt: noon()}}, o.hands.messages)
}

func TestAReplayThatIsRefusedIsNotHandedOver(t *testing.T) {
	o := newOffice()
	o.fail["Replay"] = fault.Conflict("A replay of this letter is under way already")
	_, err := o.letters.Replay(t.Context(), as(access.Operator), 5, "")
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
	require.Empty(t, o.hands.messages)
}

func TestTheStatusesOfALetter(t *testing.T) {
	for _, s := range LetterStatuses() {
		require.True(t, s.Valid())
	}
	require.False(t, LetterStatus("").Valid())
}
