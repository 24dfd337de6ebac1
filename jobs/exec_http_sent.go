package jobs

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync/atomic"

	"ax/app/fail"
)

// markedConn counts its writes. net/http tells that it wrote headers when
// they are in its buffer, or when a part of them is long gone; whether the
// target can have heard of a call must be known exactly.
type markedConn struct {
	net.Conn
	writes atomic.Int64
	given  atomic.Bool // to a call: what is written from then on is a request
}

// Write counts before it writes: half a write counts as sent. net/http writes
// a request of up to 4 KB at once.
func (c *markedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	n, err := c.Conn.Write(p)
	if err == nil && c.given.Load() {
		err = fail.At("http.sent")
	}
	return n, err
}

// sentMark remembers how much was written to a connection before the call got
// it (the TLS handshake, earlier calls).
type sentMark struct {
	conn   *markedConn
	before int64
	reused bool
}

func (m *sentMark) got(info httptrace.GotConnInfo) {
	c := info.Conn
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if m.conn, _ = c.(*markedConn); m.conn != nil {
		m.before = m.conn.writes.Load()
		m.conn.given.Store(true)
	}
	m.reused = info.Reused
}

// sent tells whether anything of the call was written. It is exact once
// RoundTrip has returned an error: the connection is closed and its writer
// gone by then.
func (m *sentMark) sent() bool { return m.conn != nil && m.conn.writes.Load() != m.before }
