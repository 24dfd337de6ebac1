package db_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gorm.io/gorm"

	"ax/app/fault"
	"ax/db"
	"ax/db/dbtest"
)

const (
	waitLimit = 5 * time.Second
	waitTick  = 10 * time.Millisecond
)

// wire stands between ax and MariaDB and can cut the connection around a
// statement.
type wire struct {
	server string
	// before cuts when the statement arrives, after once the server has it.
	before, after atomic.Value // string
	cuts          atomic.Int32
}

// through opens a migrated ledger whose connections pass a wire.
func through(t *testing.T) (*db.DB, *wire) {
	t.Helper()
	dsn := dbtest.MariaDSN(t)
	require.NoError(t, dbtest.Open(t, db.MySQL, dsn).Migrate(t.Context()))
	head, tail, _ := strings.Cut(dsn, "@tcp(")
	address, tail, _ := strings.Cut(tail, ")")
	w := &wire{server: address}
	w.before.Store("")
	w.after.Store("")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go w.serve(l)
	return dbtest.Open(t, db.MySQL, head+"@tcp("+l.Addr().String()+")"+tail), w
}

func (w *wire) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", w.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		go w.requests(client, server)
		go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
	}
}

func (w *wire) requests(client, server net.Conn) {
	defer client.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			_ = server.Close()
			return
		}
		if holds(buf[:n], w.before.Load()) {
			w.cuts.Add(1)
			_ = server.Close()
			return
		}
		if holds(buf[:n], w.after.Load()) {
			// The answer must not reach the client; the server does its work.
			w.cuts.Add(1)
			_ = client.Close()
			_, _ = server.Write(buf[:n])
			_, _ = server.Read(buf)
			_ = server.Close()
			return
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func holds(packet []byte, statement any) bool {
	s := statement.(string)
	return s != "" && bytes.Contains(packet, []byte(s))
}

func TestAConnectionCutDuringCommitLeavesTheEndUnknown(t *testing.T) {
	for name, stored := range map[string]bool{"before the server has it": false, "before the answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, w := through(t)
			if stored {
				w.after.Store("COMMIT")
			} else {
				w.before.Store("COMMIT")
			}
			runs := 0
			err := d.Tx(t.Context(), "claim", func(tx *gorm.DB) error { runs++; return put(tx, "a") })
			require.ErrorIs(t, err, db.ErrCommitUnknown)
			require.NotErrorIs(t, err, db.ErrAway)
			require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
			require.Equal(t, 1, runs, "an unknown end must not run again")
			w.after.Store("")
			w.before.Store("")
			require.Eventually(t, func() bool { return stored == (count(t, d, "settings") == 1) }, waitLimit, waitTick)
			require.EqualValues(t, 1, w.cuts.Load())
		})
	}
}

func TestAConnectionCutBeforeCommitChangesNothing(t *testing.T) {
	d, w := through(t)
	w.before.Store("INSERT INTO settings")
	err := d.Tx(t.Context(), "claim", func(tx *gorm.DB) error { return put(tx, "a") })
	require.ErrorIs(t, err, db.ErrAway)
	require.NotErrorIs(t, err, db.ErrCommitUnknown)
	require.Equal(t, fault.KindUnavailable, fault.KindOf(err))
	w.before.Store("")
	require.Zero(t, count(t, d, "settings"))
	require.NoError(t, d.Tx(t.Context(), "claim", func(tx *gorm.DB) error { return put(tx, "a") }), "the next connection works")
}

// The server closed idle connections (restart, wait_timeout): the pool must
// notice and the caller must not.
func TestIdleConnectionsThatTheServerClosedAreReplaced(t *testing.T) {
	d := dbtest.MariaDB(t)
	var id int64
	require.NoError(t, d.View(t.Context()).Raw("SELECT CONNECTION_ID()").Scan(&id).Error)
	exec(t, dbtest.Open(t, db.MySQL, dbtest.MariaDSN(t)), "KILL ?", id)
	require.NoError(t, d.Tx(t.Context(), "claim", func(tx *gorm.DB) error { return put(tx, "a") }))
}
