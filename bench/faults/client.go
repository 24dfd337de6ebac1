package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// accepted is an answer that promises something: this business action is in
// the ledger as this instance.
type accepted struct {
	Task, BizID, InstanceID string
	At                      int64
	Duplicate               bool
}

// action is a change that the client asked for and that ax confirmed. The
// audit must have it once.
type action struct {
	RequestID, Action, Object string
	At                        int64
}

// client calls the API of an installation and keeps what it was promised.
type client struct {
	base  func() string // address of a console; it may change
	token string
	http  *http.Client

	mu       sync.Mutex
	accepted []accepted
	actions  []action
	unknown  int // changes whose answer never came: done or not
	refused  map[int]int
}

func newClient(base func() string, token string) *client {
	return &client{base: base, token: token, http: &http.Client{Timeout: 8 * time.Second}, refused: map[int]int{}}
}

// errNoAnswer means that it is not known whether the call was carried out.
var errNoAnswer = errors.New("no answer came")

// reply is an answer of the API.
type reply struct {
	status    int
	body      map[string]any
	requestID string
}

func (r reply) text(name string) string { s, _ := r.body[name].(string); return s }

// items of a list.
func (r reply) items() []map[string]any {
	var out []map[string]any
	all, _ := r.body["items"].([]any)
	for _, it := range all {
		if m, ok := it.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// call makes one call. A network error is errNoAnswer.
func (c *client) call(method, path string, body any) (reply, error) {
	var in io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return reply{}, err
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, c.base()+"/api/v1"+path, in)
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, errors.Join(errNoAnswer, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return reply{}, errors.Join(errNoAnswer, err)
	}
	r := reply{status: resp.StatusCode, requestID: resp.Header.Get("X-Request-Id")}
	_ = json.Unmarshal(raw, &r.body) // an answer without JSON has only its status
	return r, nil
}

// change makes a call that the audit must know, and notes it when it was
// confirmed.
func (c *client) change(name, object, method, path string, body any) (reply, error) {
	r, err := c.call(method, path, body)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil || r.status >= 500:
		c.unknown++
	case r.status < 300 && r.body["duplicate"] != true:
		c.actions = append(c.actions, action{r.requestID, name, object, time.Now().UnixMilli()})
	case r.status >= 300:
		c.refused[r.status]++
	}
	return r, err
}

// trigger asks for a run until it is accepted, as a caller would that means
// it: what was not answered, or answered 5xx or 429, is asked again with the
// same biz_id. It gives up when stop is closed or the request is refused.
func (c *client) trigger(stop <-chan struct{}, task, biz string, more map[string]any) (string, error) {
	body := map[string]any{"biz_id": biz}
	for k, v := range more {
		body[k] = v
	}
	for {
		r, err := c.change("task.trigger", task, "POST", "/tasks/"+task+"/trigger", body)
		if err == nil && r.status < 300 {
			c.accept(accepted{task, biz, r.text("id"), time.Now().UnixMilli(), r.body["duplicate"] == true})
			return r.text("id"), nil
		}
		if err == nil && r.status < 500 && r.status != http.StatusTooManyRequests {
			return "", errors.New("trigger refused: " + r.text("detail"))
		}
		select {
		case <-stop:
			return "", errNoAnswer
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (c *client) accept(a accepted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.accepted = append(c.accepted, a)
}

// insist repeats a change until it is answered with 2xx; used for the frame of
// a run, such as making tasks, not under faults that outlast the limit.
func (c *client) insist(limit time.Duration, name, object, method, path string, body any) (reply, error) {
	var last reply
	var err error
	late := within(limit, method+" "+path, func() bool {
		last, err = c.change(name, object, method, path, body)
		return err == nil && last.status < 500 && last.status != http.StatusTooManyRequests
	})
	if late != nil {
		return last, errors.Join(late, err)
	}
	if last.status >= 300 {
		raw, _ := json.Marshal(last.body)
		return last, errors.New(method + " " + path + ": " + string(raw))
	}
	return last, nil
}
