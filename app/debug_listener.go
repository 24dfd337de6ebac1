package app

import (
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"net/netip"
	"time"
)

// profileLimit bounds a profile: the longest that is worth asking for, and its
// way to who asked.
const profileLimit = 3 * time.Minute

// ListenDebug serves /debug/pprof at addr until it is closed. Importing pprof
// puts its handlers into http.DefaultServeMux as well: nothing of ax serves
// that one.
func ListenDebug(addr string, log *slog.Logger) (*SideListener, error) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // heap, goroutine, and others by name
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	server := newHTTPServer(byAddress(mux), log)
	server.WriteTimeout = profileLimit
	return listenAside("debug.addr", addr, server, log)
}

// byAddress refuses requests that name a host: a page in a browser on this
// machine can let its own name lead here, and would then read the answer.
func byAddress(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
			http.Error(w, "ask by address", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
