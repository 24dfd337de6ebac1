package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// talker is a target that reports when nobody asked: after the end, and of
// attempts that are over.
type talker struct {
	mu    sync.Mutex
	words map[string]word // of first attempts, by instance
}

// word is how to report of an attempt.
type word struct{ url, token string }

func (w word) say(outcome string) (int, error) {
	resp, err := http.Post(w.url, "application/json", strings.NewReader(`{"token":"`+w.token+`","outcome":"`+outcome+`","message":"late"}`))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

func (t *talker) of(instance string) (word, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w, ok := t.words[instance]
	return w, ok
}

// ServeHTTP accepts on /accept. On /again the first attempt fails, and while
// the second one runs the first reports its failure.
func (t *talker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	instance, first := r.Header.Get("Ax-Instance"), r.Header.Get("Ax-Attempt") == "1"
	if first {
		t.mu.Lock()
		t.words[instance] = word{r.Header.Get("Ax-Receipt-Url"), r.Header.Get("Ax-Receipt-Token")}
		t.mu.Unlock()
	}
	switch {
	case r.URL.Path == "/accept":
		w.WriteHeader(http.StatusAccepted)
	case first:
		w.WriteHeader(http.StatusInternalServerError)
	default:
		if old, ok := t.of(instance); ok {
			_, _ = old.say("failed") // what became of it is judged by the ledger
		}
	}
}

// lateWords has a few instances canceled before their receipt comes, and a few
// whose first attempt reports a failure during the second.
func lateWords(ctx context.Context, h *house) error {
	t := &talker{words: map[string]word{}}
	target := httptest.NewServer(t)
	defer target.Close()
	for _, code := range []string{"accept", "again"} {
		def := work{code: code, path: "/" + code, schedule: manual, idempotent: true, retries: 2}.definition(target.URL)
		if _, err := h.load.insist(10*time.Second, "task.create", code, "POST", "/tasks", def); err != nil {
			return err
		}
	}
	for i := range 4 {
		if _, err := h.load.trigger(h.load.stop, "again", fmt.Sprintf("again-%d", i), nil); err != nil {
			return err
		}
		id, err := h.load.trigger(h.load.stop, "accept", fmt.Sprintf("accept-%d", i), nil)
		if err != nil {
			return err
		}
		if err := h.inState(id, "awaiting"); err != nil {
			return err
		}
		_, _ = h.load.change("instance.cancel", id, "POST", "/instances/"+id+"/cancel", nil)
		if err := h.inState(id, "canceled"); err != nil {
			return err
		}
		if w, ok := t.of(id); ok {
			status, err := w.say("succeeded")
			h.tell("a receipt after the end: %d %v", status, err)
		}
	}
	return within(20*time.Second, "all second attempts have ended", func() bool {
		return h.none("open", "SELECT COUNT(*) FROM instances WHERE biz_id LIKE 'again-%' AND state NOT IN "+finals) == nil
	})
}

func (h *house) inState(id, state string) error {
	return within(15*time.Second, id+" is "+state, func() bool {
		var now string
		err := h.ledger.QueryRow("SELECT state FROM instances WHERE id=?", id).Scan(&now)
		return err == nil && now == state
	})
}

// wordsJudged: the failure that attempt 1 reported is not that of attempt 2.
func wordsJudged(ctx context.Context, h *house) error {
	return h.none("instances that an earlier attempt's report ended", "SELECT COUNT(*) FROM instances WHERE biz_id LIKE 'again-%' AND replay=0 AND state<>'succeeded'")
}
