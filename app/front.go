package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// shutdownLimit is how long requests may take to end when the listener closes.
const shutdownLimit = 5 * time.Second

// Front is the HTTP listener of a process. It opens before the application can
// be built, so that /healthz and /readyz answer while the database and Redis
// are waited for.
type Front struct {
	listener net.Listener
	server   *http.Server
	handler  atomic.Pointer[http.Handler]
}

// Listen opens the listener and serves what can be said without a database:
// ready tells what is there already.
func Listen(addr string, log *slog.Logger, ready func() []Check) (*Front, error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on http.addr: %w", err)
	}
	f := &Front{listener: ln}
	f.Admit(waiting(ready))
	f.server = newHTTPServer(f, log)
	go func() {
		if err := f.server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("the HTTP listener ended", "error", err)
		}
	}()
	return f, nil
}

// Addr is where it listens, with the port that was chosen for port 0.
func (f *Front) Addr() string { return f.listener.Addr().String() }

// Admit answers with h from now on.
func (f *Front) Admit(h http.Handler) { f.handler.Store(&h) }

// ServeHTTP passes a request to the handler of the moment.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	(*f.handler.Load()).ServeHTTP(w, r)
}

// Close takes no new requests and lets those under way end, for 5 s.
func (f *Front) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownLimit)
	defer cancel()
	return f.server.Shutdown(ctx)
}

// waiting answers while there is no application yet.
func waiting(ready func() []Check) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeAlive(w) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { writeChecks(w, ready()) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		http.Error(w, "ax waits for its database or Redis; /readyz says which", http.StatusServiceUnavailable)
	})
	return mux
}

// newHTTPServer bounds what a connection may take. Its Shutdown cuts no request
// off: a receipt that was canceled half-way would be answered as if its caller
// had left, and never come again.
func newHTTPServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
