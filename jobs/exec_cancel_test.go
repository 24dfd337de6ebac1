package jobs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
	"ax/jobs/mq/mqtest"
	"ax/jobs/redistest"
)

// cancelOrder is the cancel call of a call.
func cancelOrder(call sched.Call) sched.CancelOrder {
	call.ReceiptURL, call.ReceiptToken = "", ""
	return sched.CancelOrder{Call: call, CancelCall: sched.CancelCall{InstanceID: call.InstanceID, Attempt: call.Attempt, Reason: sched.BecauseCanceled, By: "lin 林"}}
}

func TestATargetIsToldToStopAsItIsCalled(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(target.Close)
	call := callTo("http://192.0.2.1/never-called")
	call.Target.Headers = map[string]string{"Authorization": "Bearer {{secret:PAY_TOKEN}}"}
	call.Target.HTTP = &sched.HTTPRules{Method: "PUT", Body: `{"x": 1}`, Statuses: "404", Await: true, CancelURL: target.URL + "/stop"}
	r := jobs.Cancels{HTTP: with(t, drawer{"PAY_TOKEN": "canary-of-pay"})}.Tell(within(t, 5*time.Second), cancelOrder(call))
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	require.Equal(t, 204, r.StatusCode)
	require.Equal(t, "POST /stop", got.Method+" "+got.RequestURI)
	require.JSONEq(t, `{"instance_id":"`+instanceID+`","task":"close-order","biz_id":"order-7","attempt":2,"reason":"canceled","by":"lin 林"}`, string(body))
	for name, want := range map[string]string{
		"Idempotency-Key": "close-order/order-7:cancel", "Ax-Instance": instanceID, "Ax-Attempt": "2", "Authorization": "Bearer canary-of-pay",
		"Ax-Signature": signer(t).Sign(time.Unix(sentAt, 0), instanceID, body), "Ax-Receipt-Token": "", "Ax-Receipt-Url": "",
	} {
		require.Equal(t, want, got.Header.Get(name), name)
	}

	late := cancelOrder(call)
	late.Reason, late.By = sched.BecauseTimedOut, ""
	require.Equal(t, 204, jobs.Cancels{HTTP: with(t, drawer{"PAY_TOKEN": "canary-of-pay"})}.Tell(within(t, 5*time.Second), late).StatusCode)
	require.JSONEq(t, `{"instance_id":"`+instanceID+`","task":"close-order","biz_id":"order-7","attempt":2,"reason":"timed_out"}`, string(body))
}

// The rules of addresses hold for cancel calls, and no secret goes where it is
// not for.
func TestACancelCallGoesOnlyWhereCallsMay(t *testing.T) {
	t.Parallel()
	called := false
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	t.Cleanup(target.Close)
	call := callTo("https://orders.example")
	call.Target.HTTP = &sched.HTTPRules{CancelURL: target.URL}
	closed := callerWith(t, jobs.HTTPOptions{Egress: jobs.NewEgress(jobs.EgressPolicy{})})
	r := jobs.Cancels{HTTP: closed}.Tell(within(t, 5*time.Second), cancelOrder(call))
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	call.Target.Headers = map[string]string{"Authorization": "Bearer {{secret:OTHER}}"}
	r = jobs.Cancels{HTTP: with(t, drawer{})}.Tell(within(t, 5*time.Second), cancelOrder(call))
	require.Contains(t, r.Error, "no secret OTHER")
	require.False(t, called)
}

func TestAnExecutorIsToldToStopBesideItsAddress(t *testing.T) {
	t.Parallel()
	c := newCrew()
	s := c.add(t, status(202))
	c.all[0].Cancel = true
	routed := c.routed(t, redistest.Embedded(t))
	r := routed.Execute(within(t, 5*time.Second), routedCall(sched.RoundRobin))
	require.Equal(t, sched.OutcomeAccepted, r.Outcome, r.Error)
	require.Equal(t, s.URL+"/ax/close-day/cancel", r.CancelURL)
	o := cancelOrder(routedCall(sched.RoundRobin))
	o.URL = r.CancelURL
	require.Equal(t, 202, jobs.Cancels{HTTP: caller(t)}.Tell(within(t, 5*time.Second), o).StatusCode)
	got := c.seen()[1]
	require.Equal(t, "POST /ax/close-day/cancel", got.Method+" "+got.RequestURI)
	require.Equal(t, "billing", got.Header.Get("Ax-Executor"))

	c.all[0].Cancel = false
	require.Empty(t, routed.Execute(within(t, 5*time.Second), routedCall(sched.RoundRobin)).CancelURL, "it never said that it can be told")
}

func TestAMessageSaysThatARunIsToStop(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.stop", "exec-stop", nil)
	call := messageTo("orders", "order.close")
	call.Target.CancelRoutingKey = "order.stop"
	x := poster(t, brokerShelf{"rabbit": rabbitAt(b.Addr, "orders order.*")})
	r := jobs.Cancels{MQ: x}.Tell(t.Context(), cancelOrder(call))
	require.Equal(t, sched.OutcomeAccepted, r.Outcome, r.Error)
	got := b.Take(t, "exec-stop")
	require.Len(t, got, 1)
	d := got[0]
	require.Equal(t, "close-order/order-7:cancel", d.MessageId)
	require.Equal(t, "ax.cancel", d.Type)
	require.Equal(t, "order.stop", d.RoutingKey)
	require.NotContains(t, d.Headers, "ax-receipt-token")
	require.Equal(t, signer(t).Sign(time.Unix(sentAt, 0), instanceID, d.Body), d.Headers["ax-signature"])

	narrowed := poster(t, brokerShelf{"rabbit": rabbitAt(b.Addr, "orders order.close")})
	require.Contains(t, jobs.Cancels{MQ: narrowed}.Tell(t.Context(), cancelOrder(call)).Error, "not on the list")
}
