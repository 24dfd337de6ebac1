// Package robottest is robots for tests: each checks address, signature, size
// and shape as its vendor does and answers with the vendor's words, or plays
// back what a test tells it to.
package robottest

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// Token is in the address of every robot; nothing of it may ever be shown.
const Token = "canary7f3a9c11-4d2e-token"

// Options of a robot. The zero value checks no signature and takes every text.
type Options struct {
	Key     string           // of signatures; empty: none are asked for
	Keyword string           // that each message must hold; empty: none
	Now     func() time.Time // nil: time.Now
	Plain   bool             // without TLS
}

// Got is a message that a robot took.
type Got struct {
	Header http.Header
	Query  url.Values
	Raw    []byte
	Title  string
	Plain  string   // all of it as a person reads it, without the title
	Called []string // ids of people; "all"
	Links  []string
	ID     string // of webhooks
	Type   string // of webhooks
}

// Play is an answer that a test wants instead of the robot's own.
type Play struct {
	Status int
	Body   string
	Header map[string]string
	Hang   bool // nothing comes, until the caller hangs up
	Close  bool // the connection is closed instead
	Heard  bool // the message is taken all the same, if it is right
}

// HTML is a page, as proxies and gateways send it.
func HTML(status int) Play {
	return Play{Status: status, Body: "<!DOCTYPE html><html><body>Bad <b>Gateway</b></body></html>", Header: map[string]string{"Content-Type": "text/html"}}
}

// Say is an answer in JSON or, if it isn't any, in plain text.
func Say(status int, body string) Play {
	kind := "text/plain"
	if json.Valid([]byte(body)) {
		kind = "application/json"
	}
	return Play{Status: status, Body: body, Header: map[string]string{"Content-Type": kind}}
}

// Robot is one robot, and what it got.
type Robot struct {
	URL    string // with the token
	Server *httptest.Server
	o      Options
	look   func(o Options, r *http.Request, raw []byte) (Got, Play)

	mu    sync.Mutex
	got   []Got
	seen  int
	plays []Play
}

func start(t testing.TB, o Options, path string, look func(Options, *http.Request, []byte) (Got, Play)) *Robot {
	t.Helper()
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Robot{o: o, look: look}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.Server.Config.ErrorLog = quiet()
	if o.Plain {
		r.Server.Start()
	} else {
		r.Server.StartTLS()
	}
	t.Cleanup(r.Server.Close)
	r.URL = r.Server.URL + path
	return r
}

// Pool trusts the robots' certificates; they are for 127.0.0.1 and not for
// localhost.
func (r *Robot) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	if c := r.Server.Certificate(); c != nil {
		pool.AddCert(c)
	}
	return pool
}

// Play gives the next answers, in their order; then it is the robot's own again.
func (r *Robot) Play(plays ...Play) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plays = append(r.plays, plays...)
}

// Got are the messages that were taken.
func (r *Robot) Got() []Got {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Got(nil), r.got...)
}

// Seen counts all calls, taken or not.
func (r *Robot) Seen() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

func (r *Robot) serve(w http.ResponseWriter, req *http.Request) {
	raw, _ := io.ReadAll(req.Body)
	got, answer := r.look(r.o, req, raw)
	got.Header, got.Query, got.Raw = req.Header.Clone(), req.URL.Query(), raw
	taken := answer.Heard
	r.mu.Lock()
	r.seen++
	if len(r.plays) > 0 {
		heard := r.plays[0].Heard
		answer, r.plays = r.plays[0], r.plays[1:]
		taken = taken && heard
	}
	if taken {
		r.got = append(r.got, got)
	}
	r.mu.Unlock()
	answer.write(w, req)
}

func (p Play) write(w http.ResponseWriter, req *http.Request) {
	if p.Hang {
		<-req.Context().Done()
		return
	}
	if p.Close {
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
		}
		return
	}
	for name, value := range p.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(max(p.Status, http.StatusOK))
	_, _ = io.WriteString(w, p.Body)
}

// strict reads JSON that has only what the shape knows.
func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// near tells whether a timestamp is within an hour.
func near(at, now time.Time) bool { return now.Sub(at).Abs() < time.Hour }

func posted(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.Header.Get("Content-Type"), "application/json")
}
