package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
	"ax/jobs"
)

// drawer holds secrets by name, for any destination.
type drawer map[string]string

func (d drawer) Reveal(_ context.Context, team int64, name string, to access.Destination) (string, error) {
	if value, ok := d[name]; ok {
		return value, nil
	}
	return "", fault.NotFound("the team %d has no secret %s for %s", team, name, to.Host)
}

// with is the executor with a drawer.
func with(t *testing.T, d drawer) *jobs.HTTP {
	t.Helper()
	return callerWith(t, jobs.HTTPOptions{Secrets: d})
}

func TestATargetGetsItsHeadersAndTheSecretsThatTheyName(t *testing.T) {
	t.Parallel()
	var got http.Header
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
	t.Cleanup(target.Close)
	call := callTo(target.URL)
	call.Target.Headers = map[string]string{"X-Shop": "17", "Authorization": "Bearer {{secret:PAY_TOKEN}}", "X-Both": "{{secret:PAY_TOKEN}}/{{secret:OTHER}}"}
	r := with(t, drawer{"PAY_TOKEN": "canary-of-pay", "OTHER": "canary-of-other"}).Execute(within(t, 5*time.Second), call)
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	require.Equal(t, "17", got.Get("X-Shop"))
	require.Equal(t, "Bearer canary-of-pay", got.Get("Authorization"))
	require.Equal(t, "canary-of-pay/canary-of-other", got.Get("X-Both"))
	require.Contains(t, r.Request, "Authorization: Bearer ***\n")
	require.Contains(t, r.Request, "X-Both: ***/***\n")
	require.Contains(t, r.Request, "X-Shop: 17")
}

func TestWithoutItsSecretNothingIsSent(t *testing.T) {
	t.Parallel()
	called := false
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	t.Cleanup(target.Close)
	call := callTo(target.URL)
	call.TeamID, call.Target.Headers = 7, map[string]string{"Authorization": "{{secret:GONE}}"}
	for name, h := range map[string]*jobs.HTTP{"it is gone": with(t, drawer{}), "there is no drawer": caller(t)} {
		r := h.Execute(within(t, 5*time.Second), call)
		require.Equal(t, sched.OutcomeFailed, r.Outcome, name)
		require.True(t, r.Definite, name)
		require.Contains(t, r.Error, "header Authorization: ", name)
	}
	require.False(t, called)
	r := with(t, drawer{}).Execute(within(t, 5*time.Second), call)
	require.Contains(t, r.Error, "the team 7 has no secret GONE for 127.0.0.1")
}

// A target that sends back what it got, whole, cut, escaped or again and
// again, shows nothing of a secret.
func TestNothingOfASecretIsStored(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("s3cr3t-", 400) // 2,800 bytes
	for name, c := range map[string]struct{ secret, answer string }{
		"as it is":                     {"canary-77-secret", "you sent Bearer canary-77-secret"},
		"at the end of what is stored": {"canary-77-secret", strings.Repeat("x", jobs.KeptBody-5) + "canary-77-secret"},
		"longer than what is stored":   {long, strings.Repeat("x", jobs.KeptBody-100) + long + "y"},
		"many times over":              {long, strings.Repeat(long, 4)},
		"escaped in JSON":              {`canary"77\secret`, `{"sent": "canary\"77\\secret"}`},
		"escaped in an address":        {"canary+77/secret=", "https://x/?t=canary%2B77%2Fsecret%3D"},
		"decoded":                      {"YWRhOmNhbmFyeS03Ny1zZWNyZXQ=", "user ada, password canary-77-secret"},
		"inside another":               {"canary-77-secret", "canary-77-secret-and-more"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Echo", r.Header.Get("X-Token"))
				w.WriteHeader(http.StatusInternalServerError)
				_, _ = io.WriteString(w, c.answer)
			}))
			t.Cleanup(target.Close)
			call := callTo(target.URL)
			call.Target.Headers = map[string]string{"X-Token": "{{secret:A}}", "X-Other": "{{secret:B}}"}
			r := with(t, drawer{"A": c.secret, "B": "canary-77-secret-and-more"}).Execute(within(t, 5*time.Second), call)
			require.Equal(t, 500, r.StatusCode, r.Error)
			for _, text := range []string{r.Request, r.Response, r.Error} {
				for _, part := range []string{"canary", "s3cr3t", "and-more", "YWRh"} {
					require.NotContains(t, text, part)
				}
			}
			require.Contains(t, r.Response, "***")
		})
	}
}

func TestAnErrorOfTheLedgerSendsNothing(t *testing.T) {
	t.Parallel()
	h := callerWith(t, jobs.HTTPOptions{Secrets: brokenDrawer{}})
	call := callTo("http://127.0.0.1:1/")
	call.Target.Headers = map[string]string{"X-Token": "{{secret:A}}"}
	r := h.Execute(within(t, 5*time.Second), call)
	require.True(t, r.Definite)
	require.Contains(t, r.Error, "the ledger is away")
}

type brokenDrawer struct{}

func (brokenDrawer) Reveal(context.Context, int64, string, access.Destination) (string, error) {
	return "", fmt.Errorf("read secret A: %w", errors.New("the ledger is away"))
}
