package sched

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

const orderID = "0195f0c0-0000-7000-8000-000000000002"

func TestACancelFreesAPlace(t *testing.T) {
	o := newOffice()
	o.wakes = &Message{InstanceID: "next", Dispatch: 1}
	got, err := o.instances.Cancel(t.Context(), as(access.Operator), orderID, "not needed")
	require.NoError(t, err)
	require.Equal(t, Canceled, got.State)
	require.Equal(t, []int64{3}, o.woken)
	require.Equal(t, []Message{*o.wakes}, o.hands.messages)
	require.Empty(t, o.hands.hints)
	e := o.entries[0]
	require.Equal(t, []any{"instance.cancel", int64(shop), "not needed", noon(), access.Object{Kind: "instance", ID: orderID, Name: "order-17"}}, []any{e.Action, e.TeamID, e.Reason, e.At, e.Object})
}

func TestACancelOfARunningInstanceIsAWish(t *testing.T) {
	o := newOffice()
	o.canceled, o.hands.err = CancelResult{State: Running, Wish: true, TaskID: 3}, errAway
	got, err := o.instances.Cancel(t.Context(), as(access.Operator), orderID, "")
	require.NoError(t, err, "a hint that is lost costs a beat")
	require.True(t, got.Wish)
	require.Equal(t, []string{orderID}, o.hands.hints)
	require.Empty(t, o.woken, "its place is not free yet")
}

func TestACancelThatIsRefusedChangesNothing(t *testing.T) {
	o := newOffice()
	o.fail["Cancel"] = fault.Conflict("The instance has ended already")
	_, err := o.instances.Cancel(t.Context(), as(access.Operator), orderID, "")
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
	require.Empty(t, o.woken)
	require.Empty(t, o.hands.hints)
}

func TestAWakeThatFailsIsLateOnly(t *testing.T) {
	o := newOffice()
	o.fail["Wake"] = errAway
	_, err := o.instances.Cancel(t.Context(), as(access.Operator), orderID, "")
	require.NoError(t, err)
	require.Empty(t, o.hands.messages)
}

func TestAReportFreesAPlace(t *testing.T) {
	for name, c := range map[string]struct {
		outcome  Outcome
		received Received
		err      error
		woken    []int64
	}{
		"a success":                     {OutcomeSucceeded, Received{State: Succeeded, TaskID: 3}, nil, []int64{3}},
		"a failure":                     {OutcomeFailed, Received{State: Failed, TaskID: 3}, nil, []int64{3}},
		"a report of what ended before": {OutcomeSucceeded, Received{Already: true, State: Failed, TaskID: 3}, nil, nil},
		"an older attempt's failure":    {OutcomeFailed, Received{}, fault.Conflict("no"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			o.received, o.fail["Receive"] = c.received, c.err
			got, err := o.instances.Receive(t.Context(), Report{InstanceID: orderID, Attempt: 1, Outcome: c.outcome, Message: "a\nb"})
			require.Equal(t, c.err, err)
			require.Equal(t, c.received, got)
			require.Equal(t, c.woken, o.woken)
			require.Equal(t, "a b", o.reports[0].Message)
			require.Equal(t, c.err != nil, len(o.refused) == 1)
		})
	}
}

func TestAReportIsOfSuccessOrFailure(t *testing.T) {
	for _, outcome := range []Outcome{"", OutcomeAccepted, OutcomeCanceled, OutcomeLost, OutcomeTimedOut, "done"} {
		o := newOffice()
		_, err := o.instances.Receive(t.Context(), Report{InstanceID: orderID, Attempt: 1, Outcome: outcome})
		require.Equal(t, []string{"outcome"}, fieldNames(err), "%q", outcome)
		require.Empty(t, o.reports)
	}
}

func TestALongReportIsCut(t *testing.T) {
	o := newOffice()
	_, err := o.instances.Receive(t.Context(), Report{InstanceID: orderID, Attempt: 1, Outcome: OutcomeFailed, Message: strings.Repeat("x", 9000)})
	require.NoError(t, err)
	require.LessOrEqual(t, len([]rune(o.reports[0].Message)), 500)
}

func TestAPageIsBounded(t *testing.T) {
	for limit, want := range map[int]int{-1: 50, 0: 50, 1: 1, 200: 200, 201: 200} {
		require.Equal(t, want, PageRequest{Limit: limit}.Bounded().Limit, "%d", limit)
	}
}
