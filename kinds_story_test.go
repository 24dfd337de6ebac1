//go:build slow

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/jobs"
)

// kinds is an installation on which a task of each kind is made in a browser.
type kinds struct {
	*ax
	*browser
	t *testing.T
}

// make fills in the form of a new task, runs it by hand and waits for its end.
func (k kinds) make(code string, fields map[string]string) {
	k.t.Helper()
	all := map[string]string{
		"name": "Of kind " + code, "code": code, "schedule.kind": "manual", "policy.idempotent": "true", "policy.timeout_seconds": "20 s",
	}
	for name, value := range fields {
		all[name] = value
	}
	k.open("/tasks/new")
	k.fill("main form", all)
	k.waits(fmt.Sprintf("location.pathname === '/tasks/%s'", code))
	k.fair("task " + code)
	require.NoError(k.t, k.trigger(code, "day-7", nil))
	k.settles(code, map[string]int{"succeeded": 1}, 40*time.Second)
	k.open("/tasks/" + code)
	k.open(k.eval(`document.querySelector('main a[href^="/instances/"]').getAttribute('href')`))
	k.fair("instance of " + code)
}

// reporter answers 202 and sends the receipt that ax asks for.
func reporter(t *testing.T) *sink {
	return newSink(t, func(c sinkCall, w http.ResponseWriter) {
		url, token := c.Header.Get("Ax-Receipt-Url"), c.Header.Get("Ax-Receipt-Token")
		w.WriteHeader(http.StatusAccepted)
		go finish(url, token)
	})
}

// finish sends the receipt of a success.
func finish(url, token string) {
	resp, err := http.Post(url, "application/json", bytes.NewReader(fmt.Appendf(nil, `{"token":%q,"outcome":"succeeded","message":"41 rows"}`, token)))
	if err == nil {
		_ = resp.Body.Close()
	}
}

// broker makes one with a worker behind it, which reports the end of each
// message that it takes.
func (k kinds) broker() {
	k.t.Helper()
	streams, err := jobs.OpenStreams()
	require.NoError(k.t, err)
	ctx, stop := context.WithCancel(context.Background())
	var worker sync.WaitGroup
	k.t.Cleanup(func() { stop(); worker.Wait(); require.NoError(k.t, streams.Close()) })
	worker.Go(func() {
		for {
			m, err := streams.Take(ctx, "orders")
			if err != nil {
				return
			}
			finish(m["ax-receipt-url"], m["ax-receipt-token"])
		}
	})
	k.call("POST", "/brokers", map[string]any{
		"name": "warehouse", "kind": "redis", "address": "redis://" + streams.Addr(), "password": streams.Password(), "places": []string{"orders 1000"},
	}, http.StatusCreated)
}

// A task of each kind is made on the form, runs, and is on its pages what it is.
func TestATaskOfEachKindInABrowser(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.Chmod(folder, 0o755))
	script := filepath.Join(folder, "close.sh")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\necho closing; cat\n"), 0o755))
	a := newAx(t, plainAx.build(t), "AX_SHELL_ENABLED=true", "AX_SHELL_FOLDERS="+folder)
	a.start()
	k := kinds{ax: a, browser: newBrowser(t, "http://"+a.addr), t: t}
	signIn(t, a, k.browser)
	a.say("", "team", "commands", "payments", "on")

	k.make("kind.http", map[string]string{"target.kind": "http", "target.url": newSink(t, nil).URL})
	k.make("kind.receipt", map[string]string{"target.kind": "http", "target.url": reporter(t).URL})
	k.make("kind.command", map[string]string{"target.kind": "shell", "target.command": script, "payload": `{"day":7}`})
	require.Contains(t, k.eval("document.querySelector('[data-test=log]').innerText"), `{"day":7}`)

	a.executor("payments", "billing")
	k.make("kind.executor", map[string]string{"target.kind": "http", "target.executor": "billing/close-day", "target.route": "least_busy"})
	require.Equal(t, "billing", k.eval("document.querySelector('[data-test=executor]').innerText"))
	k.broker()
	k.make("kind.message", map[string]string{"target.kind": "mq", "target.broker": "warehouse", "target.stream": "orders"})
}
