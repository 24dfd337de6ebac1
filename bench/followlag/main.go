// Command followlag measures how long a line that a command prints takes to
// whoever follows it: over the API (follow=1) and in a browser on the page of
// the instance. It starts an ax of its own on the embedded default.
//
//	go run ./bench/followlag -lines 60 -every 1.3
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	lines := flag.Int("lines", 60, "lines that the command prints")
	every := flag.Float64("every", 1.3, "seconds between two")
	flag.Parse()
	if err := measure(*lines, *every); err != nil {
		fmt.Fprintln(os.Stderr, "followlag:", err)
		os.Exit(1)
	}
}

const password = "a good long password"

func measure(lines int, every float64) error {
	work, err := os.MkdirTemp("", "followlag")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	a, err := start(work)
	if err != nil {
		return err
	}
	defer a.stop()
	id, err := a.command(lines, every)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(float64(lines)*every*1.5)*time.Second+time.Minute)
	defer cancel()
	page := make(chan []time.Duration, 1)
	failed := make(chan error, 1)
	go func() {
		got, err := watch(ctx, a.base, id, lines)
		failed <- err
		page <- got
	}()
	api, err := a.follow(ctx, id)
	if err != nil {
		return err
	}
	fmt.Printf("%d lines, one each %.1f s, 2 cores\n", lines, every)
	say("API, follow=1", api)
	if err := <-failed; err != nil {
		return err
	}
	say("browser", <-page)
	return nil
}

func say(where string, lags []time.Duration) {
	slices.Sort(lags)
	if len(lags) == 0 {
		fmt.Println(where, "saw nothing")
		return
	}
	at := func(share float64) time.Duration {
		return lags[min(len(lags)-1, int(share*float64(len(lags))))].Round(time.Millisecond)
	}
	fmt.Printf("%-14s %d lines: median %s, p95 %s, most %s\n", where, len(lags), at(0.5), at(0.95), lags[len(lags)-1].Round(time.Millisecond))
}

// running is an ax that was started.
type running struct {
	bin, base, token, folder string
	env                      []string
	cmd                      *exec.Cmd
}

func start(work string) (*running, error) {
	a := &running{bin: filepath.Join(work, "ax"), folder: filepath.Join(work, "scripts")}
	if out, err := exec.Command("go", "build", "-o", a.bin, "ax").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w: %s", err, out)
	}
	if err := os.MkdirAll(a.folder, 0o755); err != nil {
		return nil, err
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := ln.Addr().String()
	_ = ln.Close()
	a.base = "http://" + addr
	a.env = append(os.Environ(), "AX_HTTP_ADDR="+addr, "AX_DATA_DIR="+filepath.Join(work, "data"), "AX_SHELL_ENABLED=true", "AX_SHELL_FOLDERS="+a.folder)
	a.cmd = exec.Command(a.bin, "serve")
	a.cmd.Env, a.cmd.Dir = a.env, work
	if err := a.cmd.Start(); err != nil {
		return nil, err
	}
	for range 300 {
		time.Sleep(100 * time.Millisecond)
		if resp, err := http.Get(a.base + "/readyz"); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return a, a.prepare()
			}
		}
	}
	a.stop()
	return nil, errors.New("ax is not ready")
}

func (a *running) stop() {
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}

func (a *running) prepare() error {
	if _, err := a.say(password+"\n", "user", "create", "--admin", "--login", "ada", "--password-stdin"); err != nil {
		return err
	}
	if _, err := a.say("", "team", "commands", "default", "on"); err != nil {
		return err
	}
	token, err := a.say("", "token", "create", "--team", "default", "--role", "owner")
	a.token = token
	return err
}

func (a *running) say(stdin string, args ...string) (string, error) {
	cmd := exec.Command(a.bin, args...)
	cmd.Env, cmd.Stdin = a.env, strings.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("ax %v: %w", args, err)
	}
	return strings.TrimSpace(string(out)), err
}

// call asks the API, and reads the answer into what is given.
func (a *running) call(ctx context.Context, method, path string, body, into any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, a.base+"/api/v1"+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %d %s", method, path, resp.StatusCode, got)
	}
	return json.Unmarshal(got, into)
}

// command makes a task whose lines are the moments at which they are printed,
// and runs it.
func (a *running) command(lines int, every float64) (id string, err error) {
	script := filepath.Join(a.folder, "moments.sh")
	text := fmt.Sprintf("#!/bin/sh\nsleep 6\nfor i in $(seq %d); do echo at $(date +%%s%%N); sleep %.2f; done\nsleep 3\n", lines, every)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		return "", err
	}
	ctx := context.Background()
	err = a.call(ctx, "POST", "/tasks", map[string]any{
		"code": "moments", "name": "moments", "team": "default", "schedule": map[string]any{"kind": "manual"},
		"target": map[string]any{"kind": "shell", "command": script}, "policy": map[string]any{"idempotent": true, "timeout_seconds": 3000},
	}, &struct{}{})
	if err != nil {
		return "", err
	}
	var got struct{ ID string }
	err = a.call(ctx, "POST", "/tasks/moments/trigger", map[string]any{"biz_id": "one"}, &got)
	return got.ID, err
}

// follow reads the log as it grows, until the attempt is over.
func (a *running) follow(ctx context.Context, id string) ([]time.Duration, error) {
	var lags []time.Duration
	after := ""
	for {
		var page struct {
			Attempt int
			Items   []struct{ Text string }
			After   string
			More    bool
			Ended   bool
		}
		if err := a.call(ctx, "GET", "/instances/"+id+"/output?follow=1&source=stdout&after="+after, nil, &page); err != nil {
			return nil, err
		}
		if page.Attempt == 0 {
			time.Sleep(200 * time.Millisecond)
			continue
		}
		now := time.Now()
		for _, e := range page.Items {
			if lag, ok := lagOf(e.Text, now); ok {
				lags = append(lags, lag)
			}
		}
		if after = page.After; page.Ended && !page.More {
			return lags, nil
		}
	}
}

func lagOf(line string, now time.Time) (time.Duration, bool) {
	_, moment, ok := strings.Cut(line, "at ")
	ns, err := strconv.ParseInt(strings.TrimSpace(moment), 10, 64)
	if !ok || err != nil {
		return 0, false
	}
	return now.Sub(time.Unix(0, ns)), true
}
