package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// client calls ax's API as a service would.
type client struct {
	base, token string
	http        *http.Client
}

// do sends a body and reads the answer into out. Told that it is too fast, it
// waits and tries again.
func (c *client) do(ctx context.Context, method, path string, in, out any) (status int, err error) {
	body, err := json.Marshal(in)
	if err != nil {
		return 0, err
	}
	for {
		status, wait, err := c.once(ctx, method, path, body, out)
		if wait == 0 {
			return status, err
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(wait):
		}
	}
}

func (c *client) once(ctx context.Context, method, path string, body []byte, out any) (status int, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+"/api/v1"+path, bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	if string(body) == "null" {
		req, _ = http.NewRequestWithContext(ctx, method, c.base+"/api/v1"+path, http.NoBody)
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return 0, time.Duration(max(seconds, 1)) * time.Second, nil
	case resp.StatusCode >= 300:
		return resp.StatusCode, 0, fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, readAll(resp.Body))
	case out == nil:
		return resp.StatusCode, 0, nil
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return resp.StatusCode, 0, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return resp.StatusCode, 0, nil
}

// taskAnswer is what of a task is of use here.
type taskAnswer struct {
	Code      string    `json:"code"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

func (c *client) createTask(ctx context.Context, t task) (taskAnswer, error) {
	var out taskAnswer
	_, err := c.do(ctx, http.MethodPost, "/tasks", t, &out)
	return out, err
}

func (c *client) disableTask(ctx context.Context, code string) (taskAnswer, error) {
	var out taskAnswer
	_, err := c.do(ctx, http.MethodPost, "/tasks/"+code+"/disable", map[string]string{"reason": "The run is over"}, &out)
	return out, err
}

// placed is the answer to an order.
type placed struct {
	order     order
	status    int
	ID        string `json:"id"`
	Duplicate bool   `json:"duplicate"`
}

func (c *client) place(ctx context.Context, o order) (placed, error) {
	out := placed{order: o}
	var err error
	out.status, err = c.do(ctx, http.MethodPost, "/tasks/"+ordersCode+"/trigger", o, &out)
	return out, err
}

// letter is an open dead letter.
type letter struct {
	ID     int64  `json:"id"`
	BizID  string `json:"biz_id"`
	Status string `json:"status"`
}

// letters lists all dead letters of a task.
func (c *client) letters(ctx context.Context, code string) ([]letter, error) {
	var all []letter
	for cursor := ""; ; {
		var page struct {
			Items []letter `json:"items"`
			Next  *string  `json:"next_cursor"`
		}
		if _, err := c.do(ctx, http.MethodGet, "/dead-letters?limit=50&task="+code+"&cursor="+cursor, nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == nil {
			return all, nil
		}
		cursor = *page.Next
	}
}

func (c *client) replay(ctx context.Context, l letter) error {
	_, err := c.do(ctx, http.MethodPost, "/dead-letters/"+strconv.FormatInt(l.ID, 10)+"/replay", map[string]string{"reason": "Repaired"}, nil)
	return err
}
