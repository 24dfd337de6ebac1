package jobs_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
)

// asking is the question of a hook.
func asking(url, method, statuses string) sched.Call {
	return sched.Call{
		InstanceID: instanceID, TeamID: 1, TaskCode: "close-orders", BizID: "order-7", Idempotent: true, Probe: true,
		Target: sched.Target{
			Kind: sched.TargetHTTP, URL: url, Headers: map[string]string{"X-Token": "{{secret:HOOK}}"},
			HTTP: &sched.HTTPRules{Method: method, Statuses: statuses},
		},
	}
}

// Whoever answers a key again with what it said before must not take the
// question for the work.
func TestTheQuestionOfAHookCarriesNoKeyOfTheWork(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "HEAD"} {
		t.Run(method, func(t *testing.T) {
			var got *http.Request
			var body []byte
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				w.Header().Set("X-Echo", r.Header.Get("X-Token"))
				_, _ = w.Write([]byte("token " + r.Header.Get("X-Token")))
			}))
			t.Cleanup(target.Close)
			r := with(t, drawer{"HOOK": "canary-of-hook"}).Execute(within(t, 5*time.Second), asking(target.URL+"/ready", method, ""))
			require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
			require.Equal(t, method, got.Method)
			require.Empty(t, body)
			require.Equal(t, "canary-of-hook", got.Header.Get("X-Token"))
			require.Equal(t, "before", got.Header.Get("Ax-Hook"))
			require.Equal(t, instanceID, got.Header.Get("Ax-Instance"))
			for _, name := range []string{"Idempotency-Key", "Ax-Signature", "Ax-Receipt-Token", "Ax-Attempt", "Content-Type"} {
				require.Empty(t, got.Header.Get(name), name)
			}
			require.NotContains(t, r.Request+r.Response+r.Error, "canary")
		})
	}
}

func TestAnAnswerThatIsNotReadyIsShownWithoutSecrets(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte("not for " + r.Header.Get("X-Token")))
	}))
	t.Cleanup(target.Close)
	r := with(t, drawer{"HOOK": "canary-of-hook"}).Execute(within(t, 5*time.Second), asking(target.URL, "GET", ""))
	require.Equal(t, "answered 503 Service Unavailable: not for ***", r.Error)
	r = with(t, drawer{"HOOK": "canary-of-hook"}).Execute(within(t, 5*time.Second), asking(target.URL, "GET", "503"))
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, "a status of the hook's own")
	blocked := with(t, drawer{"HOOK": "canary-of-hook"}).Execute(within(t, 5*time.Second), asking("http://169.254.169.254/", "GET", ""))
	require.Equal(t, sched.OutcomeFailed, blocked.Outcome)
	require.True(t, blocked.Definite)
}
