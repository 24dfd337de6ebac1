package jobs

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"net/netip"
	"sync/atomic"

	"ax/app/fail"
)

// markedConn counts its writes. net/http tells that it wrote headers when
// they are in its buffer, or when a part of them is long gone; whether the
// target can have heard of a call must be known exactly.
type markedConn struct {
	net.Conn
	writes atomic.Int64
	shut   atomic.Bool // nothing is written any more
	given  atomic.Bool // to a call: what is written from then on is a request
}

// Write counts before it writes: half a write counts as sent. net/http writes
// a request of up to 4 KB at once.
func (c *markedConn) Write(p []byte) (int, error) {
	if c.shut.Load() {
		return 0, errBlocked
	}
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
	shared bool // HTTP/2: what is written may be of another call
	// may tells why the call's team may not talk to whom the connection leads
	// to: it may have been made for a call of another team, or when more was
	// open.
	may     func(to netip.AddrPort) error
	refused error
}

func (m *sentMark) got(info httptrace.GotConnInfo) {
	c := info.Conn
	if t, ok := c.(*tls.Conn); ok {
		m.shared = t.ConnectionState().NegotiatedProtocol == "h2"
		c = t.NetConn()
	}
	if m.conn, _ = c.(*markedConn); m.conn != nil {
		m.before = m.conn.writes.Load()
		m.conn.given.Store(true)
	}
	m.reused = info.Reused
	to, _ := c.RemoteAddr().(*net.TCPAddr)
	if m.refused = m.may(to.AddrPort()); m.refused != nil && m.conn != nil {
		m.conn.shut.Store(true)
	}
	if m.refused != nil {
		_ = c.Close() // the call ends here; RoundTrip finds it broken
	}
}

// sent tells whether anything of the call was written. Over HTTP/1.1 it is
// exact once RoundTrip has returned an error: the connection is closed and its
// writer gone by then. Over HTTP/2 whatever got a connection counts as sent.
func (m *sentMark) sent() bool {
	return m.conn != nil && (m.shared || m.conn.writes.Load() != m.before)
}
