package sched

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

func TestASignOfLifeIsCheckedAndHandedOn(t *testing.T) {
	o := newOffice()
	for _, percent := range []int{-1, 101} {
		_, err := o.instances.Sign(t.Context(), Sign{InstanceID: "i", Attempt: 1, Percent: &percent})
		require.Equal(t, "percent", fault.Fields(err)[0].Name)
	}
	require.Empty(t, o.signs)
	got, err := o.instances.Sign(t.Context(), Sign{InstanceID: "i", Attempt: 1, Percent: new(100), Message: strings.Repeat("x", 900) + "\n"})
	require.NoError(t, err)
	require.True(t, got.Stored)
	require.Len(t, []rune(o.signs[0].Message), 500)
}

func TestHowLongAcceptedWorkMayTake(t *testing.T) {
	now := noon()
	for name, c := range map[string]struct {
		policy Policy
		by     time.Duration
		until  time.Duration
	}{
		"nothing is said":          {Policy{TimeoutSeconds: 30}, 24 * time.Hour, 24 * time.Hour},
		"a whole deadline":         {Policy{TimeoutSeconds: 30, AwaitSeconds: 600}, 10 * time.Minute, 10 * time.Minute},
		"heartbeats":               {Policy{TimeoutSeconds: 30, AwaitSeconds: 600, HeartbeatSeconds: 15}, 15 * time.Second, 10 * time.Minute},
		"heartbeats within a day":  {Policy{TimeoutSeconds: 30, HeartbeatSeconds: 15}, 15 * time.Second, 24 * time.Hour},
		"a deadline before a sign": {Policy{TimeoutSeconds: 30, AwaitSeconds: 10, HeartbeatSeconds: 15}, 10 * time.Second, 10 * time.Second},
	} {
		require.Equal(t, now.Add(c.by), c.policy.ReceiptBy(now), name)
		require.Equal(t, now.Add(c.until), c.policy.AwaitUntil(now.Add(c.by)), name)
		e := running().Finish(Result{Outcome: OutcomeAccepted}, c.policy, now)
		require.Equal(t, now.Add(c.by), e.ReceiptDeadline, name)
	}
	require.Equal(t, "no receipt came in time, or no sign of life for 15 s", running().MissReceipt(Policy{HeartbeatSeconds: 15}, now).Error)
}

func TestLimitsOfAcceptedWorkAreRefusedAtTheirFields(t *testing.T) {
	for name, c := range map[string]struct {
		await, heartbeat *int
		field            string
	}{
		"no time":              {new(0), nil, "await_seconds"},
		"too short":            {new(4), nil, "await_seconds"},
		"too long":             {new(30*86_400 + 1), nil, "await_seconds"},
		"a heart that races":   {nil, new(4), "heartbeat_seconds"},
		"a beat after the end": {new(60), new(61), "heartbeat_seconds"},
		"a beat after the day": {nil, new(86_401), "heartbeat_seconds"},
	} {
		w := written(KindCron)
		w.Policy.AwaitSeconds, w.Policy.HeartbeatSeconds = c.await, c.heartbeat
		_, err := w.Resolve(Task{}, defaults(), noon())
		require.Len(t, fault.Fields(err), 1, name)
		require.Equal(t, "policy."+c.field, fault.Fields(err)[0].Name, name)
	}
	w := written(KindCron)
	w.Policy.AwaitSeconds, w.Policy.HeartbeatSeconds = new(60), new(60)
	task, err := w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, 60, task.Spec.Policy.HeartbeatSeconds)
	require.Equal(t, w.Policy.AwaitSeconds, task.Written("shop").Policy.AwaitSeconds, "and is written so again")
}
