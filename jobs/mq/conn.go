package mq

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"
)

// writeLimit bounds one write: a broker that is short of memory reads nothing
// any more, and a writer would wait for it for ever.
const writeLimit = 10 * time.Second

// connectLimit bounds a connecting whose message has more time.
const connectLimit = 20 * time.Second

// countedConn counts its writes, and bounds each.
type countedConn struct {
	net.Conn
	now    func() time.Time
	to     netip.AddrPort
	writes atomic.Int64
}

// Write counts before it writes: half a write counts as sent.
func (c *countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	if err := c.SetWriteDeadline(c.now().Add(writeLimit)); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

// plainConn lets the client of Redis see that a kept connection was closed
// from the other side, before it writes to it. TLS reads ahead and can't.
type plainConn struct{ *countedConn }

// SyscallConn is that of the socket.
func (c plainConn) SyscallConn() (syscall.RawConn, error) {
	if raw, ok := c.Conn.(syscall.Conn); ok {
		return raw.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// dial connects, with TLS when it is asked for.
func (o Options) dial(ctx context.Context) (*countedConn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectLimit)
	defer cancel()
	c, err := o.Dial(ctx, "tcp", o.Addr)
	if err != nil {
		return nil, err
	}
	out := &countedConn{Conn: c, now: o.Now}
	if to, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		out.to = to.AddrPort()
	}
	if o.TLS == nil {
		return out, nil
	}
	config := o.TLS.Clone()
	if config.ServerName, _, err = net.SplitHostPort(o.Addr); err != nil {
		_ = c.Close()
		return nil, err
	}
	t := tls.Client(c, config)
	if err := t.HandshakeContext(ctx); err != nil {
		_ = c.Close()
		return nil, err
	}
	out.Conn = t
	return out, nil
}
