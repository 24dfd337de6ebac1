package jobs_test

import (
	"bytes"
	"compress/gzip"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/jobs"
)

// httpFault is one row of the table of docs/http.md that is met here.
type httpFault struct {
	outcome sched.Outcome
	certain bool
	says    string // in the error
	rules   sched.HTTPRules
	limit   time.Duration // of the call; 0: a second
	target  func(t *testing.T) (url string, roots *x509.CertPool)
}

// sockets is a target of bare sockets.
func sockets(behave func(c *net.TCPConn)) func(*testing.T) (string, *x509.CertPool) {
	return func(t *testing.T) (string, *x509.CertPool) {
		return raw(t, func(c *net.TCPConn, _ int64) { behave(c) }).url, nil
	}
}

// says answers and closes.
func says(answer string) func(*testing.T) (string, *x509.CertPool) {
	return sockets(func(c *net.TCPConn) { write(c, answer); _ = c.CloseWrite() })
}

func at(url string) func(*testing.T) (string, *x509.CertPool) {
	return func(*testing.T) (string, *x509.CertPool) { return url, nil }
}

func frames(behave func(c net.Conn, stream uint32)) func(*testing.T) (string, *x509.CertPool) {
	return func(t *testing.T) (string, *x509.CertPool) {
		target := rawHTTP2(t, func(c net.Conn, stream uint32, _ int64) { behave(c, stream) })
		return target.url, target.roots
	}
}

func slowBy(d time.Duration) func(*testing.T) (string, *x509.CertPool) {
	return func(t *testing.T) (string, *x509.CertPool) { return httptestSlow(t, d), nil }
}

func dripping(c *net.TCPConn) {
	write(c, ok+"\r\n")
	for {
		if _, err := c.Write([]byte("x")); err != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func bomb(c *net.TCPConn) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(make([]byte, 50<<20))
	_ = z.Close()
	write(c, fmt.Sprintf("%sContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n", ok, packed.Len()))
	_, _ = c.Write(packed.Bytes())
}

// httpFaults by their row. F25 to F30 are the numbers of the plan of faults.
func httpFaults() map[string]map[string]httpFault {
	good, bad, late := sched.OutcomeSucceeded, sched.OutcomeFailed, sched.OutcomeTimedOut
	return map[string]map[string]httpFault{
		"F25": {
			"slow, but within the limit":                    {outcome: good, certain: true, target: slowBy(300 * time.Millisecond), limit: 3 * time.Second},
			"slower than the limit":                         {outcome: late, says: "no answer in time", target: slowBy(5 * time.Second)},
			"the first byte comes later than its own limit": {outcome: late, says: "no first byte of the answer within", rules: sched.HTTPRules{FirstByteSeconds: 1}, target: slowBy(5 * time.Second), limit: 4 * time.Second},
		},
		"F26": {
			"it takes the call and is silent":          {outcome: late, says: "no answer in time", target: sockets(hang)},
			"it takes no more connections":             {outcome: late, certain: true, says: "no connection in time", target: func(t *testing.T) (string, *x509.CertPool) { return "http://" + deaf(t), nil }},
			"the TLS handshake stalls":                 {outcome: late, certain: true, says: "no connection in time", target: func(t *testing.T) (string, *x509.CertPool) { return "https://" + mute(t), nil }},
			"nobody listens":                           {outcome: bad, certain: true, says: "connection refused", target: at("http://127.0.0.1:1/")},
			"the name leads nowhere":                   {outcome: bad, certain: true, says: "can't be resolved", target: at("http://nosuch.invalid/"), limit: 10 * time.Second},
			"an address that the team may not call":    {outcome: bad, certain: true, says: "the address rules of this installation forbid it", target: at("http://169.254.169.254/")},
			"a certificate that isn't trusted":         {outcome: bad, certain: true, says: "certificate", target: func(t *testing.T) (string, *x509.CertPool) { target := rawHTTP2(t, nil); return target.url, nil }},
			"it answers in another language than HTTP": {outcome: bad, says: "malformed HTTP", target: says("SSH-2.0-OpenSSH\r\n\r\n")},
		},
		"F27": {
			"a body of 1 byte a second, for ever":                  {outcome: late, says: "no answer in time", target: sockets(dripping)},
			"a body without end, fast":                             {outcome: good, certain: true, target: sockets(func(c *net.TCPConn) { write(c, ok+"\r\n"); flood("0123456789")(c) }), limit: 10 * time.Second},
			"a gzip bomb":                                          {outcome: good, certain: true, target: sockets(bomb), limit: 10 * time.Second},
			"a field decides, and the answer is longer than 1 MiB": {outcome: bad, certain: true, says: "the answer is longer than", rules: sched.HTTPRules{Field: "code", Equals: "0"}, target: sockets(func(c *net.TCPConn) { write(c, ok+"\r\n{\"code\":0,"); flood("0123456789")(c) }), limit: 10 * time.Second},
			"what is called gzip isn't":                            {outcome: bad, says: "broke off", target: says(ok + "Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nlong")},
		},
		"F28": {
			"a redirect":                  {outcome: bad, certain: true, says: "redirects are not followed", target: says("HTTP/1.1 307 x\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")},
			"more redirects than allowed": {outcome: bad, certain: true, says: "more than 1 redirects", rules: sched.HTTPRules{Redirects: 1}, target: func(t *testing.T) (string, *x509.CertPool) { return looping(t), nil }},
			"a redirect to an address that the team may not call": {outcome: bad, certain: true, says: "forbid it", rules: sched.HTTPRules{Redirects: 1}, target: says("HTTP/1.1 307 x\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n")},
		},
		"F29": {
			"closed or reset without a word":                    {outcome: bad, says: "the target closed the connection without a whole answer", target: sockets(func(c *net.TCPConn) { _ = c.Close() })},
			"half a status line, or half the headers":           {outcome: bad, says: "the target closed the connection without a whole answer", target: sockets(func(c *net.TCPConn) { write(c, "HTTP/1.1 200 OK\r\nA: b\r\n"); _ = c.Close() })},
			"headers without end":                               {outcome: bad, says: "exceeded", target: sockets(func(c *net.TCPConn) { write(c, ok); flood("A: b\r\n")(c) })},
			"interim answers (1xx) without end":                 {outcome: bad, says: "exceeded", target: sockets(flood("HTTP/1.1 102 Processing\r\n\r\n"))},
			"interim answers, and a whole answer":               {outcome: good, certain: true, target: says("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 102 P\r\n\r\n" + ok + "Content-Length: 0\r\n\r\n")},
			"closed in the body, whatever the status":           {outcome: bad, says: "broke off after 4 bytes", target: says(ok + "Content-Length: 10\r\n\r\nhalf")},
			"a body longer than its Content-Length":             {outcome: good, certain: true, target: says(ok + "Content-Length: 2\r\n\r\nok and more")},
			"bad chunks, or chunks without end":                 {outcome: bad, says: "broke off", target: says(ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\n")},
			"101, another protocol":                             {outcome: bad, certain: true, says: "answered 101", target: says("HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n")},
			"HTTP/2: GOAWAY before the answer":                  {outcome: bad, says: "GOAWAY", target: frames(func(c net.Conn, _ uint32) { goAway(c, 0); _ = c.Close() })},
			"HTTP/2: GOAWAY, and the answer comes all the same": {outcome: good, certain: true, target: frames(func(c net.Conn, s uint32) { goAway(c, s); whole(c, s) })},
			"HTTP/2: the stream is reset":                       {outcome: bad, says: "the target ended the HTTP/2 call: REFUSED_STREAM", target: frames(func(c net.Conn, s uint32) { resetStream(c, s, codeRefused) })},
		},
		"F30": {
			"429 or 503 with a Retry-After": {outcome: bad, certain: true, says: "answered 503", target: says("HTTP/1.1 503 x\r\nRetry-After: 1000000000\r\nContent-Length: 0\r\n\r\n")},
		},
	}
}

// looping redirects for ever.
func looping(t *testing.T) string {
	s := httptest.NewServer(http.RedirectHandler("/", http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	return s.URL
}

func TestF25SlowAnswersEndInTime(t *testing.T)             { meetFaults(t, "F25") }
func TestF26WhoDoesNotAnswerIsLeft(t *testing.T)           { meetFaults(t, "F26") }
func TestF27LongBodiesEndByTimeOrSize(t *testing.T)        { meetFaults(t, "F27") }
func TestF28RedirectsEndByTheirRule(t *testing.T)          { meetFaults(t, "F28") }
func TestF29OnlyAWholeAnswerIsOne(t *testing.T)            { meetFaults(t, "F29") }
func TestF30WhatAsksForQuietFailedForCertain(t *testing.T) { meetFaults(t, "F30") }
func TestThePageOfHTTPTellsWhatEachFaultComesTo(t *testing.T) {
	rows := outcomeRows(t)
	met := 0
	for f, faults := range httpFaults() {
		for row, c := range faults {
			at, there := rows[row]
			require.True(t, there, "%s: no row %q", f, row)
			require.Equal(t, strings.ReplaceAll(string(c.outcome), "_", " "), at[1], row)
			require.Equal(t, repeated(c), at[2], row)
			require.Contains(t, at[3], c.says, row)
			require.Contains(t, at[4], "`Test"+f, row)
			met++
		}
	}
	require.GreaterOrEqual(t, met, 30)
}

// repeated is the column of who may be repeated.
func repeated(c httpFault) string {
	switch {
	case c.outcome == sched.OutcomeSucceeded:
		return "–"
	case c.certain:
		return "by the policy"
	}
	return "only idempotent work"
}

// outcomeRows are the rows of the table of outcomes, by their first column.
func outcomeRows(t *testing.T) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../docs/http.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(page), "<!-- outcomes -->")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "<!-- /outcomes -->")
	out := map[string][]string{}
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out[cells[0]] = cells
	}
	return out
}

func meetFaults(t *testing.T, f string) {
	t.Helper()
	t.Parallel()
	for row, c := range httpFaults()[f] {
		t.Run(row, func(t *testing.T) {
			t.Parallel()
			url, roots := c.target(t)
			limit := c.limit
			if limit == 0 {
				limit = time.Second
			}
			began := time.Now()
			r := callerWith(t, jobs.HTTPOptions{RootCAs: roots}).Execute(within(t, limit), ruled(url, c.rules))
			require.Equal(t, c.outcome, r.Outcome, r.Error)
			require.Equal(t, c.certain, r.Definite)
			require.Contains(t, r.Error, c.says)
			require.LessOrEqual(t, r.RetryAfter, sched.MaxRetryAfter)
			require.Less(t, time.Since(began), limit+time.Second)
		})
	}
}

// Ten gigabytes are offered to each of twenty calls, over both protocols: what
// is read of them is 1 MiB, and little of that is held.
func TestF27MemoryStaysFlat(t *testing.T) {
	block := make([]byte, 1<<20)
	gush := func(w io.Writer) {
		for range 10 << 10 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}
	plain := raw(t, func(c *net.TCPConn, _ int64) { write(c, ok+"\r\n"); gush(c) })
	two, roots, _ := modern(t, func(w http.ResponseWriter, _ *http.Request) { gush(w) })
	h := callerWith(t, jobs.HTTPOptions{RootCAs: roots})
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak uint64
	stop, seen := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(seen)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				runtime.ReadMemStats(&now)
				peak = max(peak, now.HeapInuse)
			}
		}
	}()
	var all sync.WaitGroup
	for i := range 20 {
		url := plain.url
		if i%2 == 0 {
			url = two.URL
		}
		all.Go(func() {
			r := h.Execute(within(t, 20*time.Second), callTo(url))
			if r.Outcome != sched.OutcomeSucceeded || r.ResponseBytes != 1<<20 {
				t.Error(r.Outcome, r.ResponseBytes, r.Error)
			}
		})
	}
	all.Wait()
	close(stop)
	<-seen
	grown := int64(peak) - int64(before.HeapInuse)
	t.Logf("heap in use grew by %d KiB at most", grown>>10)
	require.Less(t, grown, int64(64<<20))
}
