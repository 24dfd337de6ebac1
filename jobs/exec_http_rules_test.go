package jobs_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
)

// ruled is a call by rules of its own.
func ruled(url string, r sched.HTTPRules) sched.Call {
	c := callTo(url)
	c.Target.HTTP = &r
	return c
}

func TestACallHasTheMethodAndTheBodyOfItsRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rules  sched.HTTPRules
		method string
		body   string
	}{
		"a GET is without body":    {sched.HTTPRules{Method: "GET"}, "GET", ""},
		"a DELETE is without body": {sched.HTTPRules{Method: "DELETE"}, "DELETE", ""},
		"a body of its own":        {sched.HTTPRules{Method: "PUT", Body: `{"order":"{{biz_id}}","n":{{payload.n}},"try":{{attempt}}}`}, "PUT", `{"order":"order-7","n":12345678901234567890,"try":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			var got *http.Request
			var body []byte
			target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r; body, _ = io.ReadAll(r.Body) }))
			t.Cleanup(target.Close)
			r := caller(t).Execute(within(t, 5*time.Second), ruled(target.URL, c.rules))
			require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
			require.Equal(t, c.method, got.Method)
			require.Equal(t, c.body, string(body))
			require.Equal(t, signer(t).Sign(time.Unix(sentAt, 0), instanceID, body), got.Header.Get("Ax-Signature"), "of what was sent")
			require.Contains(t, r.Request, c.method+" http://")
		})
	}
}

func TestTheRulesDecideWhatIsSuccess(t *testing.T) {
	t.Parallel()
	field := sched.HTTPRules{Field: "data.code", Equals: "0"}
	for name, c := range map[string]struct {
		rules   sched.HTTPRules
		status  int
		body    string
		outcome sched.Outcome
		says    string
	}{
		"a status of the list":       {sched.HTTPRules{Statuses: "200, 404"}, 404, "", sched.OutcomeSucceeded, ""},
		"a status outside of it":     {sched.HTTPRules{Statuses: "200, 404"}, 204, "", sched.OutcomeFailed, "answered 204"},
		"202 whatever the list":      {sched.HTTPRules{Statuses: "200"}, 202, "", sched.OutcomeAccepted, ""},
		"a receipt will follow":      {sched.HTTPRules{Await: true}, 200, "", sched.OutcomeAccepted, ""},
		"a failure is no acceptance": {sched.HTTPRules{Await: true}, 500, "", sched.OutcomeFailed, "answered 500"},
		"the field is right":         {field, 200, `{"data":{"code":0}}`, sched.OutcomeSucceeded, ""},
		"the field is text":          {field, 200, `{"data":{"code":"0"}}`, sched.OutcomeSucceeded, ""},
		"the field is wrong":         {field, 200, `{"data":{"code":17}}`, sched.OutcomeFailed, "the field data.code is 17, not 0"},
		"the field isn't there":      {field, 200, `{"data":[]}`, sched.OutcomeFailed, "the answer has no field data.code"},
		"no JSON":                    {field, 200, `<html>`, sched.OutcomeFailed, "the answer is not JSON"},
		"too long for a decision":    {field, 200, `{"data":{"code":0},"x":"` + string(bytes.Repeat([]byte("x"), 1<<20)) + `"}`, sched.OutcomeFailed, "the answer is longer than"},
		"long, and decided":          {field, 200, `{"x":"` + string(bytes.Repeat([]byte("x"), 100_000)) + `","data":{"code":0}}`, sched.OutcomeSucceeded, ""},
	} {
		t.Run(name, func(t *testing.T) {
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}))
			t.Cleanup(target.Close)
			r := caller(t).Execute(within(t, 5*time.Second), ruled(target.URL, c.rules))
			require.Equal(t, c.outcome, r.Outcome, r.Error)
			require.True(t, r.Definite)
			require.Contains(t, r.Error, c.says)
		})
	}
}

func TestAnAnswerThatWasPackedUnaskedIsRead(t *testing.T) {
	t.Parallel()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, `{"code":0}`)
	_ = z.Close()
	for name, c := range map[string]struct {
		body    []byte
		outcome sched.Outcome
	}{"whole": {packed.Bytes(), sched.OutcomeSucceeded}, "half": {packed.Bytes()[:12], sched.OutcomeFailed}, "not packed": {[]byte(`{"code":0}`), sched.OutcomeFailed}} {
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(c.body)
		}))
		r := caller(t).Execute(within(t, 5*time.Second), ruled(target.URL, sched.HTTPRules{Field: "code", Equals: "0"}))
		target.Close()
		require.Equal(t, c.outcome, r.Outcome, "%s: %s", name, r.Error)
	}
}

// F28: redirects are followed by choice, each as a call of its own.
func TestF28RedirectsAreFollowedByChoiceAlone(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	to := func(code int, where string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Location", where); w.WriteHeader(code) }
	}
	mux.HandleFunc("/end", func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	mux.HandleFunc("/307", to(307, "/end"))
	mux.HandleFunc("/302", to(302, "/end"))
	mux.HandleFunc("/twice", to(308, "/307"))
	mux.HandleFunc("/loop", to(307, "/loop"))
	mux.HandleFunc("/metadata", to(307, "http://169.254.169.254/latest"))
	mux.HandleFunc("/file", to(307, "file:///etc/passwd"))
	mux.HandleFunc("/user", to(307, "http://a:b@127.0.0.1/"))
	mux.HandleFunc("/nowhere", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(307) })
	target := httptest.NewServer(mux)
	t.Cleanup(target.Close)
	for path, c := range map[string]struct {
		rules   sched.HTTPRules
		outcome sched.Outcome
		says    string
	}{
		"/307":      {sched.HTTPRules{Redirects: 1}, sched.OutcomeSucceeded, ""},
		"/twice":    {sched.HTTPRules{Redirects: 2}, sched.OutcomeSucceeded, ""},
		"/302":      {sched.HTTPRules{Redirects: 1}, sched.OutcomeFailed, "a POST would become a GET"},
		"/302?get":  {sched.HTTPRules{Redirects: 1, Method: "GET"}, sched.OutcomeSucceeded, ""},
		"/loop":     {sched.HTTPRules{Redirects: 3}, sched.OutcomeFailed, "more than 3 redirects"},
		"/metadata": {sched.HTTPRules{Redirects: 1}, sched.OutcomeFailed, "169.254.169.254"},
		"/file":     {sched.HTTPRules{Redirects: 1}, sched.OutcomeFailed, "it leads to what can't be called"},
		"/user":     {sched.HTTPRules{Redirects: 1}, sched.OutcomeFailed, "it leads to what can't be called"},
		"/nowhere":  {sched.HTTPRules{Redirects: 1}, sched.OutcomeFailed, "its Location can't be read"},
	} {
		r := caller(t).Execute(within(t, 5*time.Second), ruled(target.URL+path, c.rules))
		require.Equal(t, c.outcome, r.Outcome, "%s: %s", path, r.Error)
		require.Contains(t, r.Error, c.says, path)
		if c.outcome == sched.OutcomeSucceeded {
			require.Contains(t, r.Request, "\n→ "+target.URL+"/end", "what was called is told")
		}
	}
	once := ruled(target.URL+"/307", sched.HTTPRules{Redirects: 1})
	once.Idempotent = false
	require.Contains(t, caller(t).Execute(within(t, 5*time.Second), once).Error, "redirects are not followed", "whatever was stored")
}

func TestF28ARedirectFromTLSToPlainIsNotFollowed(t *testing.T) {
	t.Parallel()
	target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "http://127.0.0.1:9/")
		w.WriteHeader(307)
	}))
	t.Cleanup(target.Close)
	roots := target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	r := callerWith(t, jobs.HTTPOptions{RootCAs: roots}).Execute(within(t, 5*time.Second), ruled(target.URL, sched.HTTPRules{Redirects: 3}))
	require.Contains(t, r.Error, "it leads from https to http")
}

// Another host gets neither the team's secrets nor the right to end the
// instance (security.md item 29).
func TestF28SecretsStayWithTheHostThatTheyAreFor(t *testing.T) {
	t.Parallel()
	var got http.Header
	status := http.StatusOK
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header.Clone(); w.WriteHeader(status) }))
	t.Cleanup(other.Close)
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", other.URL)
		w.WriteHeader(307)
	}))
	t.Cleanup(target.Close)
	call := ruled(target.URL, sched.HTTPRules{Redirects: 1})
	call.ReceiptURL, call.ReceiptToken = "https://ax.example/receipt", "2.secret-token"
	call.Target.Headers = map[string]string{"Authorization": "Bearer {{secret:PAY}}", "X-Shop": "17"}
	h := with(t, drawer{"PAY": "hush-hush-hush"})
	r := h.Execute(within(t, 5*time.Second), call)
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	require.Equal(t, "17", got.Get("X-Shop"))
	require.NotEmpty(t, got.Get("Idempotency-Key"))
	for _, name := range []string{"Authorization", "Ax-Receipt-Url", "Ax-Receipt-Token"} {
		require.Empty(t, got.Get(name), name)
	}
	cert, key := ownCert(t)
	shown := call
	shown.Target.HTTP = &sched.HTTPRules{Redirects: 1, ClientCert: "PAY_CERT"}
	got = nil
	r = with(t, drawer{"PAY": "hush-hush-hush", "PAY_CERT": base64.StdEncoding.EncodeToString(append(cert, key...))}).Execute(within(t, 5*time.Second), shown)
	require.Contains(t, r.Error, "which the certificate isn't for")
	require.Nil(t, got)
	status = http.StatusAccepted
	r = h.Execute(within(t, 5*time.Second), call)
	require.Equal(t, sched.OutcomeFailed, r.Outcome)
	require.Contains(t, r.Error, "can't send a receipt")
}

// F26: each part of a call has a limit of its own.
func TestF26EachPartOfACallEndsInItsTime(t *testing.T) {
	t.Parallel()
	silent := raw(t, func(c *net.TCPConn, _ int64) { hang(c) })
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, never a handshake
	require.NoError(t, err)
	t.Cleanup(func() { _ = deaf.Close() })
	began := time.Now()
	for name, c := range map[string]struct {
		url      string
		rules    sched.HTTPRules
		definite bool
		says     string
	}{
		"the first byte": {silent.url, sched.HTTPRules{FirstByteSeconds: 1}, false, "no first byte of the answer within 1s"},
		"the handshake":  {"https://" + deaf.Addr().String(), sched.HTTPRules{TLSSeconds: 1}, true, "in time"},
	} {
		r := caller(t).Execute(within(t, 30*time.Second), ruled(c.url, c.rules))
		require.Equal(t, sched.OutcomeTimedOut, r.Outcome, "%s: %s", name, r.Error)
		require.Equal(t, c.definite, r.Definite, name)
		require.Contains(t, r.Error, c.says, name)
	}
	require.Less(t, time.Since(began), 20*time.Second)
	r := caller(t).Execute(within(t, 5*time.Second), ruled(httptestSlow(t, 1500*time.Millisecond), sched.HTTPRules{FirstByteSeconds: 1, Statuses: "200"}))
	require.Equal(t, sched.OutcomeTimedOut, r.Outcome, "just over")
	r = caller(t).Execute(within(t, 5*time.Second), ruled(httptestSlow(t, 300*time.Millisecond), sched.HTTPRules{FirstByteSeconds: 1, Statuses: "200"}))
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, "just under: %s", r.Error)
}

func httptestSlow(t *testing.T, d time.Duration) string {
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(target.Close)
	return target.URL
}

// F30: what a target asks for is heard within an hour.
func TestF30RetryAfterIsHeardWithinAnHour(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0": 0, "10": 10 * time.Second, "1000000000": time.Hour, "99999999999999999999999": time.Hour, "-5": 0, "soon": 0, "": 0,
		time.Unix(sentAt+60, 0).UTC().Format(http.TimeFormat): time.Minute, "Mon, 02 Jan 2006 15:04:05 GMT": 0,
	} {
		for code, heard := range map[int]bool{429: true, 503: true, 500: false, 200: false} {
			target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Retry-After", text); w.WriteHeader(code) }))
			r := caller(t).Execute(within(t, 5*time.Second), callTo(target.URL))
			target.Close()
			if !heard {
				require.Zero(t, r.RetryAfter, "%d", code)
				continue
			}
			require.Equal(t, want, r.RetryAfter, "%q", text)
		}
	}
}

// ownCert is a certificate for 127.0.0.1 with its key, in PEM.
func ownCert(t *testing.T) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ax test"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &k.PublicKey, k)
	require.NoError(t, err)
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	require.NoError(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

func TestATargetWithItsOwnCertificatesIsCalledAndShownOne(t *testing.T) {
	t.Parallel()
	cert, key := ownCert(t)
	mine, mineKey := ownCert(t)
	pair, err := tls.X509KeyPair(cert, key)
	require.NoError(t, err)
	clients := x509.NewCertPool()
	require.True(t, clients.AppendCertsFromPEM(mine))
	var who string
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		who = r.TLS.PeerCertificates[0].Subject.CommonName
	}))
	target.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	target.StartTLS()
	t.Cleanup(target.Close)
	line := base64.StdEncoding.EncodeToString(append(mine, mineKey...))
	h := with(t, drawer{"PAY_CERT": line, "WRONG": base64.StdEncoding.EncodeToString(append(mine, key...)), "TEXT": "hush-hush"})
	run := func(r sched.HTTPRules) sched.Result { return h.Execute(within(t, 5*time.Second), ruled(target.URL, r)) }

	r := run(sched.HTTPRules{CA: string(cert), ClientCert: "PAY_CERT"})
	require.Equal(t, sched.OutcomeSucceeded, r.Outcome, r.Error)
	require.Equal(t, "ax test", who)
	for name, c := range map[string]struct {
		rules sched.HTTPRules
		says  string
	}{
		"the system's certificates":   {sched.HTTPRules{ClientCert: "PAY_CERT"}, "certificate"},
		"another's certificate":       {sched.HTTPRules{CA: string(mine), ClientCert: "PAY_CERT"}, "certificate"},
		"a key that isn't of it":      {sched.HTTPRules{CA: string(cert), ClientCert: "WRONG"}, "certificate WRONG: it must be"},
		"a secret that is no PEM":     {sched.HTTPRules{CA: string(cert), ClientCert: "TEXT"}, "certificate TEXT: it must be"},
		"a secret that isn't there":   {sched.HTTPRules{CA: string(cert), ClientCert: "NONE"}, "no secret NONE"},
		"none where one is asked for": {sched.HTTPRules{CA: string(cert)}, ""},
	} {
		r := run(c.rules)
		require.Equal(t, sched.OutcomeFailed, r.Outcome, name)
		require.Contains(t, r.Error, c.says, name)
		require.NotContains(t, fmt.Sprint(r), "hush", name)
	}
}

func TestF27AnEndlessDripEndsByTheTimeLimit(t *testing.T) {
	t.Parallel()
	target := raw(t, func(c *net.TCPConn, _ int64) {
		write(c, ok+"\r\n")
		for { // 1 B every 50 ms, for ever
			if _, err := c.Write([]byte("x")); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r := caller(t).Execute(ctx, ruled(target.url, sched.HTTPRules{FirstByteSeconds: 1}))
	require.Equal(t, sched.OutcomeTimedOut, r.Outcome)
	require.False(t, r.Definite)
}
