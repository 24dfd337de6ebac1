package jobs_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
)

func TestATestCallTellsItsPartsAndItsBody(t *testing.T) {
	t.Parallel()
	var mark string
	target, roots, _ := modern(t, func(_ http.ResponseWriter, r *http.Request) {
		mark = r.Header.Get("Ax-Test")
		time.Sleep(30 * time.Millisecond)
	})
	h := callerWith(t, jobs.HTTPOptions{RootCAs: roots})
	call := callTo(target.URL)
	call.Test, call.Payload = true, json.RawMessage(`"`+strings.Repeat("x", 10_000)+`"`)
	first := h.Try(within(t, 5*time.Second), call)
	require.Equal(t, sched.OutcomeSucceeded, first.Outcome, first.Error)
	require.Equal(t, "1", mark)
	p := first.Parts
	require.False(t, p.Kept)
	require.Positive(t, p.Connect)
	require.Positive(t, p.TLS)
	require.GreaterOrEqual(t, p.FirstByte, 30*time.Millisecond)
	require.GreaterOrEqual(t, p.Whole, p.Connect+p.TLS+p.FirstByte)
	require.Less(t, len(first.Body), 5000)
	require.Contains(t, first.Body, "[truncated]")

	again := h.Try(within(t, 5*time.Second), call)
	require.True(t, again.Parts.Kept)
	require.Zero(t, again.Parts.Connect+again.Parts.TLS)

	call.Test = false
	require.Equal(t, sched.OutcomeSucceeded, h.Execute(within(t, 5*time.Second), call).Outcome)
	require.Empty(t, mark)
}

func TestTheTokenOfATestCallIsNoReceipts(t *testing.T) {
	t.Parallel()
	s := signer(t)
	token := s.TestToken(instanceID)
	require.True(t, s.IsTest(token, instanceID))
	require.False(t, s.IsTest(token, "0193b1f0-7d3a-7c4e-8a51-000000000000"))
	require.False(t, s.IsTest(token+"x", instanceID))
	_, ok := s.CheckReceipt(token, instanceID)
	require.False(t, ok)
	require.False(t, s.IsTest(s.ReceiptToken(instanceID, 1), instanceID))
}
