package app_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/sched"
)

// heard is the answer to a receipt.
type heard struct {
	State   sched.State
	Already bool
}

// say sends a receipt and gives its status and answer.
func (h *house) say(id, token, outcome string) (int, heard) {
	h.t.Helper()
	got := h.browser().json(http.MethodPost, receiptPath(id), `{"token": "`+token+`", "outcome": "`+outcome+`", "message": "said"}`)
	var out heard
	if got.status == http.StatusOK {
		require.NoError(h.t, json.Unmarshal([]byte(got.body), &out))
	}
	return got.status, out
}

// F31: each kind of receipt has one effect, and what has ended stays so.
func TestEachKindOfReceiptHasOneEffect(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	h.task("orders.again", func(w *sched.TaskSpec) { w.Policy.Retry = &sched.RetrySpec{Max: new(1), DelaysSeconds: []int{1}} })

	t.Run("fifty at once", func(t *testing.T) {
		in := h.accepted("orders.send", "crowd")
		token := h.signer.ReceiptToken(in.ID, 1)
		var mu sync.Mutex
		var first int
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				status, got := h.say(in.ID, token, []string{"succeeded", "failed"}[i%2])
				mu.Lock()
				defer mu.Unlock()
				if status == http.StatusOK && !got.Already {
					first++
				}
			})
		}
		all.Wait()
		require.Equal(t, 1, first, "one of them counts")
		v := h.api(access.Viewer).instance(in.ID)
		require.Len(t, v.Attempts, 1)
		_, got := h.say(in.ID, token, "succeeded")
		require.Equal(t, heard{sched.State(v.State), true}, got)
	})

	t.Run("late after a timeout", func(t *testing.T) {
		v := h.run(h.trigger("orders.send", "late").ID, sched.Result{Outcome: sched.OutcomeTimedOut, Error: "no answer in time"})
		require.Equal(t, sched.TimedOut, v.State)
		status, got := h.say(v.ID, h.signer.ReceiptToken(v.ID, 1), "succeeded")
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, heard{sched.TimedOut, true}, got)
		after := h.api(access.Viewer).instance(v.ID)
		require.Equal(t, "refused_receipt", string(after.Events[len(after.Events)-1].Kind))
		require.Equal(t, v.Letter, *after.DeadLetter, "the letter is open as before")
	})

	t.Run("after a replay", func(t *testing.T) {
		l := h.letter("orders.send", "twice", "no")
		again, err := h.opt.Letters.Replay(t.Context(), root, l.ID, "once more")
		require.NoError(t, err)
		old := h.signer.ReceiptToken(l.InstanceID, 1)
		status, _ := h.say(again.ID, old, "succeeded")
		require.Equal(t, http.StatusNotFound, status, "a token is of one instance")
		_, got := h.say(l.InstanceID, old, "succeeded")
		require.Equal(t, heard{sched.Failed, true}, got, "the run before has ended")
		v := h.run(again.ID, sched.Result{Outcome: sched.OutcomeAccepted, Definite: true, StatusCode: 202})
		require.Equal(t, sched.Awaiting, v.State, "and the replay goes on")
		_, got = h.say(again.ID, h.signer.ReceiptToken(again.ID, 1), "succeeded")
		require.Equal(t, heard{sched.Succeeded, false}, got)
	})

	t.Run("of an attempt before", func(t *testing.T) {
		in := h.trigger("orders.again", "second")
		require.Equal(t, sched.Retrying, h.run(in.ID, sched.Result{Outcome: sched.OutcomeTimedOut, Error: "no answer in time"}).State)
		h.forward(10 * time.Second)
		require.Equal(t, sched.Awaiting, h.run(in.ID, sched.Result{Outcome: sched.OutcomeAccepted, Definite: true, StatusCode: 202}).State)
		first := h.signer.ReceiptToken(in.ID, 1)
		status, _ := h.say(in.ID, first, "failed")
		require.Equal(t, http.StatusConflict, status, "its failure is of no interest any more")
		_, got := h.say(in.ID, first, "succeeded")
		require.Equal(t, heard{sched.Succeeded, false}, got, "its success is")
	})
}

// F31: a forged word is refused and stands in the audit, a row a minute of an
// address, whichever way it came.
func TestAForgedWordIsRefusedAndAudited(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in, other := h.accepted("orders.send", "o-1"), h.accepted("orders.send", "o-2")
	foreign := h.signer.ReceiptToken(other.ID, 1)
	forged := func() []access.Entry {
		_, err := h.opt.Refusals.Flush(t.Context())
		require.NoError(t, err)
		all, err := h.ledger.Audit(t.Context(), access.Scope{All: true}, access.AuditFilter{}, 0, 500)
		require.NoError(t, err)
		return slices.DeleteFunc(all, func(e access.Entry) bool { return e.Action != "receipt.refuse" })
	}
	for range 3 {
		for _, path := range []string{receiptPath(in.ID), progressPath(in.ID)} {
			require.Equal(t, http.StatusNotFound, h.browser().json("POST", path, `{"token": "1.AAAA", "outcome": "succeeded"}`).status)
			require.Equal(t, http.StatusNotFound, h.browser().with("Ax-Receipt-Token", foreign).json("POST", path, `{}`).status)
		}
	}
	rows := forged()
	require.Len(t, rows, 1, "of one address")
	require.True(t, rows[0].Refused())
	require.Equal(t, "192.0.2.1", rows[0].Actor.Address)
	require.Contains(t, rows[0].Object.Name, receiptPath(in.ID))
	require.NotContains(t, rows[0].Object.Name+rows[0].Reason, "AAAA", "no token")

	elsewhere := h.browser()
	elsewhere.address = "192.0.2.99:1"
	require.Equal(t, http.StatusNotFound, elsewhere.json("POST", progressPath(in.ID), `{"token": "1.AAAA"}`).status)
	require.Len(t, forged(), 2)

	page := h.as("admin").get("/audit")
	require.True(t, strings.Contains(page.body, "Refused a word with a forged token"))
	require.Equal(t, "awaiting", h.api(access.Viewer).instance(in.ID).State)
}

// What a target is told stands on the page and in the API, for who may see the
// instance.
func TestWhatATargetIsToldStandsOnThePage(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send", func(w *sched.TaskSpec) {
		w.Target.HTTP = &sched.HTTPRules{CancelURL: "https://target.example.com/stop"}
	})
	in := h.accepted("orders.send", "o-1")
	page := h.as("operator").get("/instances/" + in.ID)
	require.Contains(t, page.body, "The target is told to stop.")
	require.Empty(t, page.text("[data-test=told]"))
	h.api(access.Operator).wants(v1+"/instances/"+in.ID+"/cancel", `{"reason": "not needed"}`, 200)
	require.Equal(t, "it is being sent", h.as("viewer").get("/instances/"+in.ID).text("[data-test=told]"))

	due, err := h.ledger.DueCancels(t.Context(), h.local(), 10)
	require.NoError(t, err)
	require.Len(t, due, 1)
	o, ok, err := h.ledger.TakeCancel(t.Context(), due[0], h.local(), h.local().Add(time.Minute))
	require.NoError(t, err)
	require.True(t, ok)
	o.DueAt, o.EndedAt, o.StatusCode = time.Time{}, h.local(), 200
	require.NoError(t, h.ledger.SettleCancel(t.Context(), o.CancelCall))
	require.Equal(t, "it answered 200, after 1 try", h.as("viewer").get("/instances/"+in.ID).text("[data-test=told]"))
	var got struct {
		CancelCall map[string]any `json:"cancel_call"`
	}
	require.NoError(t, json.Unmarshal([]byte(h.api(access.Viewer).get(v1+"/instances/"+in.ID).body), &got))
	require.Equal(t, "told", got.CancelCall["state"])
	require.Equal(t, "test-operator", got.CancelCall["by"])
	require.EqualValues(t, 1, got.CancelCall["tries"])
}
