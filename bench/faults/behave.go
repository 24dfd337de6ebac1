package main

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// behave answers by the path: /ok, /slow/<ms>, /ax/<ms>, /around/<ms>, /hang, /fail, /flaky/<n> (the
// first n attempts fail), /mended (only a replay succeeds), /accept/<ms> (202,
// and a receipt after that time), /twice/<ms> (the receipt comes twice),
// /early/<ms> (the receipt comes first, then the answer after that time),
// /mute (202 and no receipt), /reset, /midbody, /drip, /flood, /later
// (503 with Retry-After), /busy (429 with it), /redirect/<how>, /raw/<what>,
// /sick/<status> (that, or a hang-up for 0, until /heal was called), /bomb, /receipts/<how> (behave_raw.go, behave_receipts.go).
func (s *sinkServer) behave(w http.ResponseWriter, r *http.Request, c call, n int64) {
	kind, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	value, _ := strconv.Atoi(rest)
	pause := time.Duration(value) * time.Millisecond
	switch kind {
	case "ok":
		w.WriteHeader(http.StatusOK)
	case "ax": // an executor's work: /ax/<ms>
		if wait(r, pause) {
			w.WriteHeader(http.StatusOK)
		}
	case "slow":
		if wait(r, pause) {
			w.WriteHeader(http.StatusOK)
		}
	case "around": // a little less, or more
		if wait(r, pause+time.Duration(n%13-6)*10*time.Millisecond) {
			w.WriteHeader(http.StatusOK)
		}
	case "hang":
		<-r.Context().Done()
	case "fail":
		w.WriteHeader(http.StatusInternalServerError)
	case "flaky":
		w.WriteHeader(choose(c.Attempt <= value, http.StatusBadGateway, http.StatusOK))
	case "mended":
		w.WriteHeader(choose(c.Replay == 0, http.StatusInternalServerError, http.StatusOK))
	case "accept", "twice", "early", "mute":
		s.accept(w, r, kind, pause, n)
	case "later":
		w.Header().Set("Retry-After", rest)
		w.WriteHeader(http.StatusServiceUnavailable)
	case "busy":
		w.Header().Set("Retry-After", rest)
		w.WriteHeader(http.StatusTooManyRequests)
	case "sick":
		s.sick(w, r, value)
	case "redirect":
		redirect(w, r, rest)
	case "raw":
		raw(w, rest)
	case "bomb":
		bomb(w)
	case "receipts":
		s.misuse(w, r, rest, c, n)
	default:
		broken(w, r, kind)
	}
}

// sick fails until the sink was healed.
func (s *sinkServer) sick(w http.ResponseWriter, r *http.Request, status int) {
	switch {
	case s.healed.Load():
		w.WriteHeader(http.StatusOK)
	case status == 0:
		broken(w, r, "reset")
	default:
		w.WriteHeader(status)
	}
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// wait pauses; false: the caller hung up meanwhile.
func wait(r *http.Request, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-r.Context().Done():
		return false
	}
}

// accept answers 202, and reports with a receipt.
func (s *sinkServer) accept(w http.ResponseWriter, r *http.Request, kind string, pause time.Duration, n int64) {
	url, token := r.Header.Get("Ax-Receipt-Url"), r.Header.Get("Ax-Receipt-Token")
	switch kind {
	case "early":
		s.report(url, token, n)
		wait(r, pause)
	case "accept", "twice":
		go func() {
			time.Sleep(pause)
			s.report(url, token, n)
			if kind == "twice" {
				s.report(url, token, n)
			}
		}()
	}
	w.WriteHeader(http.StatusAccepted)
}

// report brings a receipt until it is answered, as a callee would that means
// it; at most for half a minute.
func (s *sinkServer) report(url, token string, n int64) {
	fate := "never answered"
	for range 60 {
		resp, err := s.http.Post(url, "application/json", bytes.NewBufferString(`{"token":"`+token+`","outcome":"succeeded","message":"done"}`))
		if err == nil {
			_, _ = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			fate = strconv.Itoa(resp.StatusCode)
			if resp.StatusCode < 500 && resp.StatusCode != http.StatusTooManyRequests {
				break
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
	s.end(call{N: n, Receipt: fate})
}

// broken answers as no server should.
func broken(w http.ResponseWriter, r *http.Request, kind string) {
	out := http.NewResponseController(w)
	switch kind {
	case "reset", "midbody":
		conn, _, err := out.Hijack()
		if err != nil {
			return
		}
		if kind == "midbody" {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
		}
		_ = conn.Close()
	case "drip", "flood":
		piece, pause := []byte("."), 100*time.Millisecond
		if kind == "flood" {
			piece, pause = make([]byte, 1<<20), 0
		}
		w.WriteHeader(http.StatusOK)
		for {
			if _, err := w.Write(piece); err != nil {
				return
			}
			_ = out.Flush()
			if !wait(r, pause) {
				return
			}
		}
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}
