package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
)

// MetricsListener serves /metrics apart from the console, so that it can stay
// inside.
type MetricsListener struct {
	listener net.Listener
	server   *http.Server
}

// ListenMetrics opens the listener at addr and serves h until it is closed.
func ListenMetrics(addr string, h http.Handler, log *slog.Logger) (*MetricsListener, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on metrics.addr: %w", err)
	}
	l := &MetricsListener{listener: ln, server: newHTTPServer(h, log)}
	go func() {
		if err := l.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the metrics listener ended", "error", err)
		}
	}()
	return l, nil
}

// Addr is where it listens, with the port that was chosen for port 0.
func (l *MetricsListener) Addr() string { return l.listener.Addr().String() }

// Close takes no new scrapes and lets those under way end, for 5 s.
func (l *MetricsListener) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	return l.server.Shutdown(ctx)
}
