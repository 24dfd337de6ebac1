package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// link is the way from one process to one server: a proxy of its own, so that
// each way can be disturbed alone.
type link struct {
	name  string
	proxy *toxiproxy.Proxy
}

// newLink listens on a port of its own and passes on to upstream.
func newLink(name, upstream string) (*link, error) {
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	l := &link{name, toxiproxy.NewProxy(server, name, "127.0.0.1:"+strconv.Itoa(freePort()), upstream)}
	if err := l.proxy.Start(); err != nil {
		return nil, fmt.Errorf("open link %s: %w", name, err)
	}
	return l, nil
}

func (l *link) addr() string { return l.proxy.Listen }

func (l *link) close() { l.proxy.Stop() }

// cut breaks all connections and refuses new ones until heal.
func (l *link) cut() { l.proxy.Stop() }

// side of a link: up is what the process sends, down what it hears.
type side string

const (
	up   side = "upstream"
	down side = "downstream"
)

// silent lets nothing through in one direction, and closes nothing: half-open.
func (l *link) silent(s side) error { return l.toxic("timeout", s, map[string]any{"timeout": 0}) }

// slow delays each piece of data.
func (l *link) slow(s side, by, jitter time.Duration) error {
	return l.toxic("latency", s, map[string]any{"latency": by.Milliseconds(), "jitter": jitter.Milliseconds()})
}

// narrow lets so many kilobytes a second through.
func (l *link) narrow(s side, kilobytes int) error {
	return l.toxic("bandwidth", s, map[string]any{"rate": kilobytes})
}

// cutAfter breaks each connection after so many more bytes.
func (l *link) cutAfter(s side, n int) error {
	return l.toxic("limit_data", s, map[string]any{"bytes": n})
}

// reset answers all that is sent with RST after a time.
func (l *link) reset(after time.Duration) error {
	return l.toxic("reset_peer", down, map[string]any{"timeout": after.Milliseconds()})
}

func (l *link) toxic(kind string, s side, attributes map[string]any) error {
	raw, err := json.Marshal(map[string]any{"name": kind + "-" + string(s), "type": kind, "stream": string(s), "attributes": attributes})
	if err != nil {
		return err
	}
	if _, err := l.proxy.Toxics.AddToxicJson(bytes.NewReader(raw)); err != nil {
		return fmt.Errorf("disturb link %s: %w", l.name, err)
	}
	return nil
}

// heal takes every disturbance away. Connections that were cut stay cut;
// silent ones are cut now, for what they swallowed can't come back.
func (l *link) heal() error {
	l.proxy.Toxics.ResetToxics(context.Background())
	if l.proxy.Enabled {
		return nil
	}
	if err := l.proxy.Start(); err != nil {
		return fmt.Errorf("heal link %s: %w", l.name, err)
	}
	return nil
}
