// Package demo fills a throw-away installation with live tasks, and is the
// target that they call. It imports the domain and the standard library only.
package demo

import (
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Behaviours of the target, by the last part of the address that is called.
// "chosen" does what was chosen on the target's own page.
func Behaviours() []string {
	return []string{"ok", "slow", "failing", "flaky", "hanging", "accepting", "chosen"}
}

// Bounds of the behaviours.
const (
	slowFor    = 2 * time.Second
	hangFor    = 10 * time.Minute // until the caller gives up
	flakyShare = 0.4              // of the calls fail
	reportIn   = 3 * time.Second  // after a call was accepted
)

// Target is an HTTP server on a port of its own whose behaviour can be chosen.
type Target struct {
	listener net.Listener
	server   *http.Server
	client   *http.Client
	running  atomic.Int64 // works of the executor

	mu     sync.Mutex
	chosen string
	calls  map[string]int
}

// NewTarget listens on a free port of the loopback address.
func NewTarget() (*Target, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the demo's target: %w", err)
	}
	t := &Target{
		listener: ln, chosen: "ok", calls: map[string]int{},
		client: &http.Client{Timeout: 5 * time.Second},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /call/{behaviour}", t.call)
	mux.HandleFunc("POST /ax/"+serviceType, t.execute)
	mux.HandleFunc("GET /{$}", t.show)
	mux.HandleFunc("POST /choose", t.choose)
	t.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = t.server.Serve(ln) }() // ends by Close
	return t, nil
}

// URL of the target, without a path.
func (t *Target) URL() string { return "http://" + t.listener.Addr().String() }

// Close ends the target and what it holds open.
func (t *Target) Close() error { return t.server.Close() }

func (t *Target) call(w http.ResponseWriter, r *http.Request) {
	what := r.PathValue("behaviour")
	if !slices.Contains(Behaviours(), what) {
		http.Error(w, "there is no such behaviour", http.StatusNotFound)
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return // the caller went away
	}
	t.behave(w, r, t.count(what), body)
}

// count counts a call, and says how it is to be answered.
func (t *Target) count(what string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[what]++
	if what == "chosen" {
		return t.chosen
	}
	return what
}

func (t *Target) behave(w http.ResponseWriter, r *http.Request, what string, body []byte) {
	switch what {
	case "slow":
		wait(r, slowFor)
	case "failing":
		http.Error(w, `{"code":"PERIOD_CLOSED","message":"the accounting period is closed"}`, http.StatusUnprocessableEntity)
		return
	case "flaky":
		if rand.Float64() < flakyShare {
			http.Error(w, "upstream connect error", http.StatusBadGateway)
			return
		}
	case "hanging":
		wait(r, hangFor)
		return
	case "accepting":
		go t.report(r.Header.Get("Ax-Receipt-Url"), r.Header.Get("Ax-Receipt-Token"))
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"done":true,"received_bytes":%d}`, len(body))
}

// wait until d is over or the caller has gone.
func wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

// report sends the receipt of an accepted call.
func (t *Target) report(url, token string) {
	time.Sleep(reportIn)
	t.tell(url, map[string]any{"token": token, "outcome": "succeeded", "message": "the report is ready"})
}

// choose sets what "chosen" does.
func (t *Target) choose(w http.ResponseWriter, r *http.Request) {
	what := r.PostFormValue("behaviour")
	if !slices.Contains(Behaviours(), what) || what == "chosen" {
		http.Error(w, "choose one of "+strings.Join(Behaviours()[:6], ", "), http.StatusUnprocessableEntity)
		return
	}
	t.mu.Lock()
	t.chosen = what
	t.mu.Unlock()
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// show is the target's own page.
func (t *Target) show(w http.ResponseWriter, _ *http.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Demo target</title><h1>Demo target</h1><p>/call/chosen is now: <b>%s</b></p><form method="post" action="/choose">`, html.EscapeString(t.chosen))
	for _, b := range Behaviours()[:6] {
		fmt.Fprintf(w, `<button name="behaviour" value="%s">%s</button> `, b, b)
	}
	fmt.Fprint(w, `</form><ul>`)
	for _, b := range Behaviours() {
		fmt.Fprintf(w, `<li>/call/%s: %d calls</li>`, b, t.calls[b])
	}
	fmt.Fprintf(w, `<li>as the executor %s: %d calls</li><li>messages: %d</li></ul>`, serviceName, t.calls["executor"], t.calls["message"])
}
