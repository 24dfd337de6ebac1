package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// What the demo's service registers as, and how often it says that it lives.
const (
	serviceName = "billing"
	serviceType = "close-day"
	serviceBeat = 5 * time.Second
)

// stepFor is how long each step of the service's work takes.
const stepFor = 2 * time.Second

// Messages are the demo's broker: a Redis whose streams its service reads.
type Messages interface {
	Addr() string
	Password() string
	// Take gives the fields of the stream's next entry; it waits for one until
	// ctx ends.
	Take(ctx context.Context, stream string) (map[string]string, error)
}

// join registers the target as an executor by the console's API, and lets it
// beat until ctx ends. A registration that is over is made anew.
func (t *Target) join(ctx context.Context, console, token string) error {
	id, err := t.register(ctx, console, token)
	if err != nil {
		return fmt.Errorf("register the demo's service: %w", err)
	}
	go func() {
		beat := time.NewTicker(serviceBeat)
		defer beat.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-beat.C:
			}
			status, _, err := t.send(ctx, http.MethodPut, console+"/api/v1/executors/"+id+"/heartbeat", token, map[string]any{"running": t.running.Load()})
			if err == nil && (status == http.StatusNotFound || status == http.StatusGone) {
				if again, err := t.register(ctx, console, token); err == nil {
					id = again
				}
			}
		}
	}()
	return nil
}

func (t *Target) register(ctx context.Context, console, token string) (string, error) {
	status, said, err := t.send(ctx, http.MethodPost, console+"/api/v1/executors", token, map[string]any{
		"name": serviceName, "address": t.URL(), "version": "3.8.0",
		"task_types": []map[string]any{{"type": serviceType, "description": "Closes the books of a day"}},
	})
	if err != nil {
		return "", err
	}
	id, _ := said["id"].(string)
	if status != http.StatusCreated || id == "" {
		return "", fmt.Errorf("status %d: %v", status, said)
	}
	return id, nil
}

// execute accepts a run and works on it: each step is told, and the end.
func (t *Target) execute(w http.ResponseWriter, r *http.Request) {
	receipt, token := r.Header.Get("Ax-Receipt-Url"), r.Header.Get("Ax-Receipt-Token")
	t.count("executor")
	go t.closeDay(receipt, token)
	w.WriteHeader(http.StatusAccepted)
}

func (t *Target) closeDay(receipt, token string) {
	t.running.Add(1)
	defer t.running.Add(-1)
	steps := []string{"12,480 postings read", "balances are equal", "statements are written"}
	progress := strings.TrimSuffix(receipt, "receipt") + "progress"
	for i, step := range steps {
		time.Sleep(stepFor)
		t.tell(progress, map[string]any{"token": token, "percent": 100 * (i + 1) / (len(steps) + 1), "message": step})
	}
	time.Sleep(stepFor)
	t.tell(receipt, map[string]any{"token": token, "outcome": "succeeded", "message": "the day is closed"})
}

// listen takes the messages of the stream until ctx ends, and reports each.
func (t *Target) listen(ctx context.Context, from Messages, stream string) {
	for ctx.Err() == nil {
		entry, err := from.Take(ctx, stream)
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
			continue
		}
		t.count("message")
		go t.report(entry["ax-receipt-url"], entry["ax-receipt-token"])
	}
}

// tell posts to ax what a receipt or progress says.
func (t *Target) tell(url string, body map[string]any) {
	_, _, _ = t.send(context.Background(), http.MethodPost, url, "", body) // a demo that ends takes its runs along
}

// send is one request with JSON, and its answer.
func (t *Target) send(ctx context.Context, method, url, token string, body any) (int, map[string]any, error) {
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(raw))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := t.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	var out map[string]any
	_ = json.NewDecoder(resp.Body).Decode(&out) // an answer without JSON has only its status
	return resp.StatusCode, out, nil
}
