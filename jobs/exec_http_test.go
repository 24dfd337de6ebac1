package jobs_test

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"ax/app/sched"
	"ax/jobs"

	"github.com/stretchr/testify/require"
)

const (
	instanceID = "0193b1f0-7d3a-7c4e-8a51-0123456789ab"
	sentAt     = 1_796_000_000
)

func signer(t *testing.T) *jobs.Signer {
	t.Helper()
	s, err := jobs.NewSigner([]byte("a secret of this installation"))
	require.NoError(t, err)
	return s
}

// caller calls targets on loopback.
func caller(t *testing.T) *jobs.HTTP {
	t.Helper()
	return callerWith(t, jobs.HTTPOptions{})
}

func callerWith(t *testing.T, o jobs.HTTPOptions) *jobs.HTTP {
	t.Helper()
	if o.Egress == nil {
		o.Egress = jobs.NewEgress(jobs.EgressPolicy{Allow: jobs.PrivateNetworks()})
	}
	o.Signer, o.Version = signer(t), "1.2.3"
	o.Now = func() time.Time { return time.Unix(sentAt, 0) }
	h := jobs.NewHTTP(o)
	t.Cleanup(h.Close)
	return h
}

func callTo(url string) sched.Call {
	return sched.Call{
		Idempotent: true,
		InstanceID: instanceID, TaskCode: "close-order", BizID: "order-7", Key: "close-order/order-7",
		Attempt: 2, Replay: 1, ScheduledAt: time.UnixMilli(1_796_000_000_123), Payload: json.RawMessage(`{"n":12345678901234567890,"s":"<&>"}`),
		Target: sched.Target{Kind: sched.TargetHTTP, URL: url},
	}
}

// within bounds a call like the runner does.
func within(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestTheTargetGetsWhatTheContractSays(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, "done")
	}))
	t.Cleanup(target.Close)
	call := callTo(target.URL + "/close?region=eu")
	call.ReceiptURL, call.ReceiptToken = "https://ax.example/receipt", "2.secret-token"
	r := caller(t).Execute(within(t, 5*time.Second), call)

	require.Equal(t, sched.OutcomeSucceeded, r.Outcome)
	require.True(t, r.Definite)
	require.Equal(t, 200, r.StatusCode)
	require.Empty(t, r.Error)
	require.EqualValues(t, 4, r.ResponseBytes)

	require.Equal(t, http.MethodPost, got.Method)
	require.Equal(t, "/close?region=eu", got.RequestURI)
	require.Equal(t, `{"instance_id":"`+instanceID+`","task":"close-order","biz_id":"order-7","attempt":2,`+
		`"scheduled_at":"2026-11-30T00:53:20.123Z","payload":{"n":12345678901234567890,"s":"<&>"}}`, string(body))
	for name, want := range map[string]string{
		"Content-Type": "application/json", "User-Agent": "ax/1.2.3", "Idempotency-Key": "close-order/order-7",
		"Ax-Instance": instanceID, "Ax-Attempt": "2", "Ax-Replay": "1", "Ax-Timestamp": "1796000000",
		"Ax-Signature":   signer(t).Sign(time.Unix(sentAt, 0), instanceID, body),
		"Ax-Receipt-Url": "https://ax.example/receipt", "Ax-Receipt-Token": "2.secret-token", "Accept-Encoding": "identity",
	} {
		require.Equal(t, want, got.Header.Get(name), name)
	}
	require.Regexp(t, `^00-0193b1f07d3a7c4e8a510123456789ab-[0-9a-f]{16}-01$`, got.Header.Get("Traceparent"))
}

func TestWhatIsStoredOfTheRequestHoldsNoSecrets(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "session=target-secret")
		w.Header().Set("X-Echo", r.Header.Get("Ax-Receipt-Token"))
		_, _ = io.WriteString(w, "you sent "+r.Header.Get("Ax-Signature")+" and "+r.Header.Get("Ax-Receipt-Token"))
	}))
	t.Cleanup(target.Close)
	call := callTo(target.URL + "/a?b=c")
	call.ReceiptURL, call.ReceiptToken = "https://ax.example/receipt", "2.secret-token"
	r := caller(t).Execute(within(t, 5*time.Second), call)
	require.True(t, strings.HasPrefix(r.Request, "POST "+target.URL+"/a?b=c\n"), r.Request)
	require.Contains(t, r.Request, "Ax-Signature: ***")
	require.Contains(t, r.Request, "Ax-Receipt-Token: ***")
	require.Contains(t, r.Request, "Idempotency-Key: close-order/order-7")
	require.Contains(t, r.Response, "you sent *** and ***")
	require.Contains(t, r.Response, "Set-Cookie: ***")
	for _, text := range []string{r.Request, r.Response} {
		require.NotContains(t, text, "v1=")
		require.NotContains(t, text, "secret")
	}
}

func TestTheStatusDecidesAfterAWholeAnswer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status  int
		body    string
		outcome sched.Outcome
		err     string
	}{
		"200":                 {200, "ok", sched.OutcomeSucceeded, ""},
		"204 without a body":  {204, "", sched.OutcomeSucceeded, ""},
		"an unknown 2xx":      {299, "", sched.OutcomeSucceeded, ""},
		"202 without receipt": {202, "", sched.OutcomeAccepted, ""},
		"404":                 {404, "no such order\n", sched.OutcomeFailed, "answered 404 Not Found: no such order"},
		"500 without a body":  {500, "", sched.OutcomeFailed, "answered 500 Internal Server Error"},
		"429":                 {429, "", sched.OutcomeFailed, "answered 429 Too Many Requests"},
		"markup is only text": {500, "<script>alert(1)</script>", sched.OutcomeFailed, "answered 500 Internal Server Error: <script>alert(1)</script>"},
		"an unknown code":     {799, "", sched.OutcomeFailed, "answered 799"},
		"a lone surrogate and an emoji": {500, "\\ud83d \xed\xa0\xbd \U0001F468\u200d\U0001F4BB\x00", sched.OutcomeFailed,
			"answered 500 Internal Server Error: \\ud83d \ufffd\ufffd\ufffd \U0001F468\u200d\U0001F4BB␀"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			t.Cleanup(target.Close)
			r := caller(t).Execute(within(t, 5*time.Second), callTo(target.URL))
			require.Equal(t, c.outcome, r.Outcome)
			require.Equal(t, c.err, r.Error)
			require.Equal(t, c.status, r.StatusCode)
			require.True(t, r.Definite)
		})
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"/elsewhere", "http://169.254.169.254/", "file:///etc/passwd"} {
		for _, code := range []int{301, 302, 303, 307, 308} {
			var calls atomic.Int64
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.Header().Set("Location", to)
				w.WriteHeader(code)
			}))
			r := caller(t).Execute(within(t, 5*time.Second), callTo(target.URL))
			target.Close()
			require.Equal(t, sched.OutcomeFailed, r.Outcome)
			require.True(t, r.Definite)
			require.Contains(t, r.Error, "redirects are not followed")
			require.EqualValues(t, 1, calls.Load())
		}
	}
}

func TestAddressesThatCannotBeCalledAreDefiniteFailures(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]string{
		"file":               "file:///etc/passwd",
		"gopher":             "gopher://127.0.0.1:70/",
		"unix":               "unix:///run/docker.sock",
		"no host":            "http:///path",
		"user and password":  "http://a:b@127.0.0.1/",
		"not an address":     "http://[::1",
		"nothing":            "",
		"refused":            "http://127.0.0.1:1/",
		"no such host":       "http://nosuch.invalid/",
		"blocked":            "http://169.254.169.254/latest/meta-data",
		"blocked in decimal": "http://2852039166/",
		"blocked in hex":     "http://0xa9fea9fe/",
		"blocked in octal":   "http://0251.0376.0251.0376/",
		"blocked in short":   "http://169.16689662/",
		"blocked as mapped":  "http://[::ffff:169.254.169.254]/",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := caller(t).Execute(within(t, 10*time.Second), callTo(url))
			require.Equal(t, sched.OutcomeFailed, r.Outcome, r.Error)
			require.True(t, r.Definite)
			require.NotEmpty(t, r.Error)
			require.Zero(t, r.StatusCode)
		})
	}
}

func TestTheProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	var proxied atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Store(true) }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL)
	r := caller(t).Execute(within(t, 5*time.Second), callTo("http://nosuch.invalid/"))
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	require.False(t, proxied.Load())
}

func TestLoopbackIsBlockedUnlessAllowed(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("was called") }))
	t.Cleanup(target.Close)
	for name, host := range map[string]string{"address": "127.0.0.1", "name": "localhost"} {
		t.Run(name, func(t *testing.T) {
			strict := callerWith(t, jobs.HTTPOptions{Egress: jobs.NewEgress(jobs.EgressPolicy{Allow: []netip.Prefix{}})})
			r := strict.Execute(within(t, 5*time.Second), callTo(strings.Replace(target.URL, "127.0.0.1", host, 1)))
			require.Equal(t, sched.OutcomeFailed, r.Outcome)
			require.True(t, r.Definite)
			require.Contains(t, r.Error, "address rules")
		})
	}
}

func TestAForeignCertificateIsRefusedBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("was called") }))
	target.Config.ErrorLog = log.New(io.Discard, "", 0)
	target.StartTLS()
	t.Cleanup(target.Close)
	r := caller(t).Execute(within(t, 5*time.Second), callTo(target.URL))
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	require.True(t, r.Definite)
	require.Contains(t, r.Error, "certificate")
}

func TestATrustedTLSTargetIsCalled(t *testing.T) {
	t.Parallel()
	target := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(target.Close)
	roots := target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	r := callerWith(t, jobs.HTTPOptions{RootCAs: roots}).Execute(within(t, 5*time.Second), callTo(target.URL))
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
}

func TestAPayloadThatIsNoJSONIsNotSent(t *testing.T) {
	t.Parallel()
	call := callTo("http://127.0.0.1:1/")
	call.Payload = json.RawMessage("{")
	r := caller(t).Execute(within(t, time.Second), call)
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	require.True(t, r.Definite)
}

func TestAKindWithoutExecutorFails(t *testing.T) {
	t.Parallel()
	r := jobs.Executors{sched.TargetHTTP: caller(t)}.Execute(t.Context(), sched.Call{Target: sched.Target{Kind: "ftp"}})
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	require.True(t, r.Definite)
	require.Contains(t, r.Error, `"ftp"`)
}

func TestATargetIsToldWhetherItsTraceIsRecorded(t *testing.T) {
	t.Parallel()
	for want, sampled := range map[string]func(string) bool{
		"-01": nil,
		"-00": func(string) bool { return false },
	} {
		var got string
		target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get("Traceparent") }))
		t.Cleanup(target.Close)
		callerWith(t, jobs.HTTPOptions{Sampled: sampled}).Execute(within(t, 5*time.Second), callTo(target.URL))
		require.True(t, strings.HasSuffix(got, want), got)
	}
}
