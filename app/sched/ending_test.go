package sched

import (
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// running is a claimed instance of the first attempt.
func running() Instance {
	in := requestOf(taskOf(Schedule{Kind: KindManual}), noon())
	in.State, in.Attempt, in.NodeID, in.ClaimID = Running, 1, "node", "claim"
	return in
}

func policyOf(idempotent bool, retries int) Policy {
	p := taskOf(Schedule{}).Spec.Policy
	p.Idempotent, p.Retry.Max = idempotent, retries
	return p
}

func TestFinish(t *testing.T) {
	unsafe := policyOf(false, 2)
	unsafe.Retry.Unsafe = true
	for name, c := range map[string]struct {
		wish    bool
		retries int
		policy  Policy
		outcome Outcome
		certain bool
		want    State
	}{
		"a success":                              {policy: policyOf(true, 3), outcome: OutcomeSucceeded, want: Succeeded},
		"a success is one despite a wish":        {wish: true, policy: policyOf(true, 3), outcome: OutcomeSucceeded, want: Succeeded},
		"a failure after a wish is canceled":     {wish: true, policy: policyOf(true, 3), outcome: OutcomeFailed, want: Canceled},
		"a timeout after a wish is canceled":     {wish: true, policy: policyOf(true, 3), outcome: OutcomeTimedOut, want: Canceled},
		"a cut-off call after a wish":            {wish: true, policy: policyOf(false, 0), outcome: OutcomeCanceled, want: Canceled},
		"nobody waits for a report after a wish": {wish: true, policy: policyOf(true, 3), outcome: OutcomeAccepted, want: Canceled},
		"accepted":                               {policy: policyOf(false, 0), outcome: OutcomeAccepted, want: Awaiting},
		"a failure with retries left":            {policy: policyOf(true, 3), outcome: OutcomeFailed, want: Retrying},
		"a failure with one retry left":          {retries: 2, policy: policyOf(true, 3), outcome: OutcomeFailed, want: Retrying},
		"a failure with no retry left":           {retries: 3, policy: policyOf(true, 3), outcome: OutcomeFailed, want: Failed},
		"a timeout with no retry left":           {retries: 3, policy: policyOf(true, 3), outcome: OutcomeTimedOut, want: TimedOut},
		"no retries wanted":                      {policy: policyOf(true, 0), outcome: OutcomeFailed, want: Failed},
		"not idempotent, definite":               {policy: policyOf(false, 2), outcome: OutcomeFailed, certain: true, want: Failed},
		"not idempotent, silence":                {policy: policyOf(false, 2), outcome: OutcomeTimedOut, want: TimedOut},
		"allowed by an owner, definite":          {policy: unsafe, outcome: OutcomeFailed, certain: true, want: Retrying},
		"allowed by an owner, definite, none":    {retries: 2, policy: unsafe, outcome: OutcomeFailed, certain: true, want: Failed},
		"allowed by an owner, silence":           {policy: unsafe, outcome: OutcomeTimedOut, want: TimedOut},
		"allowed by an owner, unsent":            {policy: unsafe, outcome: OutcomeTimedOut, certain: true, want: Retrying},
		"a call cut off by nobody's wish":        {policy: policyOf(true, 0), outcome: OutcomeCanceled, want: Failed},
	} {
		t.Run(name, func(t *testing.T) {
			in := running()
			in.Retries, in.Deaths = c.retries, 1
			if c.wish {
				in.CancelWanted = noon()
			}
			e := in.Finish(Result{Outcome: c.outcome, Definite: c.certain, Error: "HTTP 500"}, c.policy, noon())
			require.Equal(t, c.want, e.To)
			require.Equal(t, 1, e.Deaths, "a result is nobody's death")
			require.False(t, e.Redispatch)
			if e.To == Succeeded {
				require.Empty(t, e.Error)
			} else {
				require.Equal(t, "HTTP 500", e.Error)
			}
		})
	}
}

func TestARetryIsDueAfterItsDelayOnAWholeSecond(t *testing.T) {
	now := noon().Add(300 * time.Millisecond)
	for retries, delay := range []int{10, 30, 120} {
		in := running()
		in.Retries = retries
		e := in.Finish(Result{Outcome: OutcomeFailed}, policyOf(true, 3), now)
		require.Equal(t, noon().Add(time.Duration(delay+1)*time.Second), e.DueAt)
		require.Equal(t, e.DueAt.Add(LookAgain), e.LookAt, "a lost message is noticed")
		require.Equal(t, retries+1, e.Retries)
	}
}

func TestAnAcceptedCallHasADayToReport(t *testing.T) {
	e := running().Finish(Result{Outcome: OutcomeAccepted}, policyOf(true, 3), noon())
	require.Equal(t, noon().Add(24*time.Hour), e.ReceiptDeadline)
	require.True(t, e.DueAt.IsZero())
	require.True(t, e.LookAt.IsZero(), "its deadline alone is watched")
}

// Accepted is no end: an attempt of a canceled instance must not stay open.
func TestAFinalEndingEndsItsAttempt(t *testing.T) {
	in := running()
	in.CancelWanted = noon()
	e := in.Finish(Result{Outcome: OutcomeAccepted}, policyOf(true, 3), noon())
	require.Equal(t, Canceled, e.To)
	require.Equal(t, OutcomeCanceled, e.Outcome)
}

func TestLose(t *testing.T) {
	for name, c := range map[string]struct {
		idempotent, sent, wish, graceful bool
		deaths                           int
		want                             State
		wantDeaths                       int
	}{
		"idempotent":                              {idempotent: true, want: Queued, wantDeaths: 1},
		"idempotent, second death":                {idempotent: true, deaths: 1, want: Queued, wantDeaths: 2},
		"idempotent, third death (RETRY-05)":      {idempotent: true, deaths: 2, want: Lost, wantDeaths: 3},
		"a stop in order is nobody's death":       {idempotent: true, deaths: 2, graceful: true, want: Queued, wantDeaths: 2},
		"not idempotent, unsent (RETRY-03)":       {want: Queued, wantDeaths: 1},
		"not idempotent, sent (RETRY-03)":         {sent: true, want: Lost, wantDeaths: 1},
		"not idempotent, sent, a stop in order":   {sent: true, graceful: true, want: Lost},
		"not idempotent, unsent, third death":     {deaths: 2, want: Lost, wantDeaths: 3},
		"a wish, certainly unsent":                {wish: true, want: Canceled},
		"a wish, sent":                            {wish: true, sent: true, want: Lost},
		"a wish, idempotent: sent or not unknown": {wish: true, idempotent: true, want: Lost},
	} {
		t.Run(name, func(t *testing.T) {
			in := running()
			in.Deaths, in.Retries = c.deaths, 2
			if c.sent {
				in.SentAt = noon()
			}
			if c.wish {
				in.CancelWanted = noon()
			}
			e := in.Lose(policyOf(c.idempotent, 0), c.graceful, noon())
			require.Equal(t, c.want, e.To)
			require.Equal(t, c.wantDeaths, e.Deaths)
			require.Equal(t, 2, e.Retries, "a death is no retry")
			require.Equal(t, OutcomeLost, e.Outcome)
			require.NotEmpty(t, e.Error)
			require.Equal(t, e.To == Queued, e.Redispatch, "the old message must not count as sent")
			if e.To == Queued {
				require.Equal(t, noon(), e.DueAt)
				require.Equal(t, noon().Add(LookAgain), e.LookAt)
			}
		})
	}
}

func TestMissReceipt(t *testing.T) {
	unsafe := policyOf(false, 3)
	unsafe.Retry.Unsafe = true
	for name, c := range map[string]struct {
		policy  Policy
		retries int
		want    State
	}{
		"idempotent with retries left":   {policyOf(true, 3), 0, Retrying},
		"idempotent without":             {policyOf(true, 3), 3, TimedOut},
		"not idempotent":                 {policyOf(false, 3), 0, TimedOut},
		"silence is never definite":      {unsafe, 0, TimedOut},
		"idempotent, no retries allowed": {policyOf(true, 0), 0, TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			in := running()
			in.State, in.Retries, in.Deaths = Awaiting, c.retries, 2
			e := in.MissReceipt(c.policy, noon())
			require.Equal(t, c.want, e.To)
			require.Equal(t, OutcomeTimedOut, e.Outcome)
			require.Equal(t, 2, e.Deaths)
			require.Equal(t, e.To == Retrying, !e.DueAt.IsZero())
			require.True(t, e.ReceiptDeadline.IsZero())
		})
	}
}

func TestOneLine(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"text stays":              {"HTTP 500 Internal Server Error", "HTTP 500 Internal Server Error"},
		"lines are joined":        {"a\r\nb\tc", "a  b c"},
		"edges are trimmed":       {"  \n a \n", "a"},
		"broken text is replaced": {"a\xff\xfeb", "a�b"},
		"an emoji stays":          {"👇 done", "👇 done"},
		"controls of both kinds":  {"a\x00b\x7fc\u0085d\u009be\u2028f\u2029g", "a b c d e f g"},
		"nothing":                 {"", ""},
		"500 characters stay":     {strings.Repeat("界", 500), strings.Repeat("界", 500)},
		"501 are cut":             {strings.Repeat("界", 501), strings.Repeat("界", 499) + "…"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, OneLine(c.in)) })
	}
}

func TestOneLineFitsTheColumn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		raw := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(r, "bytes")
		for _, s := range []string{string(raw), rapid.String().Draw(r, "text")} {
			got := OneLine(s)
			require.True(r, utf8.ValidString(got))
			require.LessOrEqual(r, utf8.RuneCountInString(got), 500)
			require.False(r, strings.ContainsFunc(got, unicode.IsControl), "%q", got)
			require.Equal(r, got, OneLine(got))
		}
	})
}
