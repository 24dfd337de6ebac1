package sched

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// triggered runs the use case on a task of the kind, as a token.
func triggered(t *testing.T, o *office, s Schedule, r TriggerRequest) (Instance, bool, error) {
	task := o.book.tasks["close-orders"]
	task.Spec.Schedule = s
	o.book.tasks[task.Code] = task
	by := as(access.Operator)
	by.Kind, by.Name = access.Token, "billing"
	return o.tasks.Trigger(t.Context(), by, "close-orders", r)
}

func TestWhenARequestIsDue(t *testing.T) {
	manual, delay := Schedule{Kind: KindManual}, Schedule{Kind: KindDelay, DelaySeconds: 1800}
	for name, c := range map[string]struct {
		schedule Schedule
		request  TriggerRequest
		due      time.Duration // after noon
		handed   bool
	}{
		"now":                               {manual, TriggerRequest{}, 0, true},
		"now, beside the slots of a cron":   {cronOf("0 2 * * *", "UTC"), TriggerRequest{}, 0, true},
		"after the task's delay":            {delay, TriggerRequest{}, 30 * time.Minute, false},
		"after a delay of its own":          {delay, TriggerRequest{DelaySeconds: 60}, time.Minute, false},
		"after a delay within the horizon":  {manual, TriggerRequest{DelaySeconds: 2}, 2 * time.Second, true},
		"after a delay beyond it":           {manual, TriggerRequest{DelaySeconds: 3}, 3 * time.Second, false},
		"after the longest delay":           {manual, TriggerRequest{DelaySeconds: 31_536_000}, 31_536_000 * time.Second, false},
		"at a moment, rounded up":           {manual, TriggerRequest{RunAt: noon().Add(100 * time.Millisecond)}, time.Second, true},
		"at a moment instead of its delay":  {delay, TriggerRequest{RunAt: noon().Add(time.Hour)}, time.Hour, false},
		"at this very moment":               {manual, TriggerRequest{RunAt: noon()}, 0, true},
		"at a moment told in another place": {manual, TriggerRequest{RunAt: noon().Add(time.Hour).In(time.FixedZone("", 3600))}, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			in, created, err := triggered(t, o, c.schedule, c.request)
			require.NoError(t, err)
			require.True(t, created)
			require.Equal(t, noon().Add(c.due), in.DueAt)
			require.Equal(t, in.DueAt, in.WantedAt)
			if c.handed {
				require.Equal(t, []Message{{InstanceID: in.ID, Queue: "default", DueAt: in.DueAt}}, o.hands.messages)
			} else {
				require.Empty(t, o.hands.messages, "it waits in the ledger")
			}
		})
	}
}

func TestARequestIsStoredAsItWasMade(t *testing.T) {
	o := newOffice()
	in, _, err := triggered(t, o, Schedule{Kind: KindManual}, TriggerRequest{BizID: "order-99", Payload: json.RawMessage(`{ "n": 1 }`)})
	require.NoError(t, err)
	require.Equal(t, Instance{
		ID: "new-1", TaskID: 3, TeamID: shop, Queue: "default", BizID: "order-99", Origin: FromAPI, RequestedBy: "billing",
		Payload: json.RawMessage(`{"n":1}`), WantedAt: noon(), DueAt: noon(), State: Pending, CreatedAt: noon(),
	}, in)
	e := o.entries[0]
	require.Equal(t, []any{"task.trigger", "new-1", "close-orders/order-99", int64(shop)}, []any{e.Action, e.Object.ID, e.Object.Name, e.TeamID})
	require.Equal(t, []access.Change{{Field: "due_at", New: "2026-03-02T12:00:00Z"}}, e.Changes)
}

func TestAPersonsRequestIsAPersons(t *testing.T) {
	o := newOffice()
	in, _, err := o.tasks.Trigger(t.Context(), as(access.Operator), "close-orders", TriggerRequest{})
	require.NoError(t, err)
	require.Equal(t, FromPerson, in.Origin)
	require.Equal(t, "new-2", in.BizID, "a name of its own, since none was given")
}

// DUP-11: the same biz_id again gives the same instance.
func TestTheSameRequestAgainIsTheSameInstance(t *testing.T) {
	o := newOffice()
	first, created, err := triggered(t, o, Schedule{Kind: KindManual}, TriggerRequest{BizID: "order-99"})
	require.NoError(t, err)
	require.True(t, created)
	for range 2 {
		again, created, err := triggered(t, o, Schedule{Kind: KindManual}, TriggerRequest{BizID: "order-99"})
		require.NoError(t, err)
		require.False(t, created)
		require.Equal(t, first, again)
	}
	require.Len(t, o.hands.messages, 1, "handed over once")
	require.Len(t, o.entries, 1)
}

// protocol.md (flaw 22): nobody may take a slot's name.
func TestARequestIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		request TriggerRequest
		fields  []string
	}{
		"a biz_id of a slot":          {TriggerRequest{BizID: "@2026-12-01T00:00:00Z"}, []string{"biz_id"}},
		"a biz_id that is only @":     {TriggerRequest{BizID: "@"}, []string{"biz_id"}},
		"a biz_id of 65":              {TriggerRequest{BizID: strings.Repeat("a", 65)}, []string{"biz_id"}},
		"a biz_id with a blank":       {TriggerRequest{BizID: "order 17"}, []string{"biz_id"}},
		"a biz_id beyond ASCII":       {TriggerRequest{BizID: "订单17"}, []string{"biz_id"}},
		"a biz_id with a line end":    {TriggerRequest{BizID: "order\n"}, []string{"biz_id"}},
		"a biz_id of broken text":     {TriggerRequest{BizID: "order\xff"}, []string{"biz_id"}},
		"a payload that is not JSON":  {TriggerRequest{Payload: json.RawMessage(`{`)}, []string{"payload"}},
		"a delay and a moment":        {TriggerRequest{DelaySeconds: 1, RunAt: noon().Add(time.Hour)}, []string{"run_at"}},
		"a delay below nothing":       {TriggerRequest{DelaySeconds: -1}, []string{"delay_seconds"}},
		"a delay beyond a year":       {TriggerRequest{DelaySeconds: 31_536_001}, []string{"delay_seconds"}},
		"a moment that passed":        {TriggerRequest{RunAt: noon().Add(-time.Millisecond)}, []string{"run_at"}},
		"a moment beyond a year":      {TriggerRequest{RunAt: noon().AddDate(1, 0, 1)}, []string{"run_at"}},
		"everything that is bad":      {TriggerRequest{BizID: "@", Payload: json.RawMessage("x"), DelaySeconds: -1}, []string{"biz_id", "payload", "delay_seconds"}},
		"a biz_id of 64 is the most":  {TriggerRequest{BizID: strings.Repeat("~", 64)}, nil},
		"a biz_id with an @ later on": {TriggerRequest{BizID: "order@17"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			_, _, err := triggered(t, o, Schedule{Kind: KindManual}, c.request)
			require.Equal(t, c.fields, fieldNames(err))
			if c.fields != nil {
				require.Equal(t, fault.KindInvalid, fault.KindOf(err))
				requireUntouched(t, o)
			}
		})
	}
}

func TestADisabledTaskTakesNoRequests(t *testing.T) {
	o := newOffice()
	task := o.book.tasks["close-orders"]
	task.Enabled = false
	o.book.tasks[task.Code] = task
	_, _, err := o.tasks.Trigger(t.Context(), as(access.Owner), "close-orders", TriggerRequest{BizID: "@"})
	require.Equal(t, fault.KindConflict, fault.KindOf(err))
	requireUntouched(t, o)
}

func TestARequestThatIsNotCommittedIsNotHandedOver(t *testing.T) {
	o := newOffice()
	o.fail["Trigger"] = errAway
	_, created, err := triggered(t, o, Schedule{Kind: KindManual}, TriggerRequest{})
	require.ErrorIs(t, err, errAway)
	require.False(t, created)
	require.Empty(t, o.hands.messages)
}

func TestACommittedRequestIsAcceptedThoughItsHandOverFails(t *testing.T) {
	o := newOffice()
	o.hands.err = errAway
	_, created, err := triggered(t, o, Schedule{Kind: KindManual}, TriggerRequest{})
	require.NoError(t, err)
	require.True(t, created)
}
