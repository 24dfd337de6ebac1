package mq_test

import (
	"context"
	"errors"
	"net"
	"sync"
)

// cutAfter dials connections that break after so many bytes in a direction.
func cutAfter(out, in int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &cutConn{Conn: c, out: out, in: in}, nil
	}
}

type cutConn struct {
	net.Conn
	mu      sync.Mutex
	out, in int
}

var errCut = errors.New("cut")

func (c *cutConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	n := min(len(p), c.out)
	c.out -= n
	c.mu.Unlock()
	done, err := c.Conn.Write(p[:n])
	if err == nil && n < len(p) {
		err = errCut
		_ = c.Close()
	}
	return done, err
}

func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if n > c.in {
		_ = c.Close()
		return c.in, errCut
	}
	c.in -= n
	return n, err
}
