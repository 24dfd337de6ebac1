package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// SideListener serves something apart from the console, so that it can stay
// inside.
type SideListener struct {
	listener net.Listener
	server   *http.Server
}

// ListenMetrics opens the listener at addr and serves h until it is closed.
func ListenMetrics(addr string, h http.Handler, log *slog.Logger) (*SideListener, error) {
	return listenAside("metrics.addr", addr, newHTTPServer(h, log), log)
}

// listenAside opens the listener of a setting.
func listenAside(setting, addr string, server *http.Server, log *slog.Logger) (*SideListener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", setting, err)
	}
	l := &SideListener{listener: ln, server: server}
	go func() {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("a listener ended", "setting", setting, "error", err)
		}
	}()
	return l, nil
}

// Addr is where it listens, with the port that was chosen for port 0.
func (l *SideListener) Addr() string { return l.listener.Addr().String() }

// Close takes no new requests and lets those under way end, for 5 s.
func (l *SideListener) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	if err := l.server.Shutdown(ctx); err != nil {
		return l.server.Close() // a profile may take longer
	}
	return nil
}
