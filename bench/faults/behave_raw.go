package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"time"
)

// redirect sends the caller elsewhere: /redirect/301, 302, 307 and 308 to
// /landed, on to /ok, loop to itself, meta to a metadata service, file to a file.
func redirect(w http.ResponseWriter, r *http.Request, how string) {
	to, status := "/landed", http.StatusFound
	switch how {
	case "301", "302", "307", "308":
		status = map[string]int{"301": 301, "302": 302, "307": 307, "308": 308}[how]
	case "on":
		to, status = "/ok", http.StatusTemporaryRedirect
	case "loop":
		to, status = r.URL.Path, http.StatusTemporaryRedirect
	case "meta":
		status = http.StatusTemporaryRedirect
		to = "http://169.254.169.254/latest/meta-data/"
	case "file":
		status = http.StatusTemporaryRedirect
		to = "file:///etc/passwd"
	}
	w.Header().Set("Location", to)
	w.WriteHeader(status)
}

// rawAnswers are bytes as no server should send them, and whether they hold a
// complete answer of 2xx all the same (the rule: exec_http_answer.go of ax).
var rawAnswers = map[string]struct {
	bytes string
	whole bool
}{
	"length-long":  {"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nfour", false},
	"length-short": {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok and more", true},
	"length-two":   {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 9\r\n\r\nok", false},
	"length-sign":  {"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", false},
	"length-none":  {"HTTP/1.1 200 OK\r\n\r\nuntil the end", true},
	"chunk-bad":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nok\r\n0\r\n\r\n", false},
	"chunk-half":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe", false},
	"chunk-open":   {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", false},
	"no-status":    {"hello, here is your answer\r\n\r\n", false},
	"half-status":  {"HTTP/1.1 20", false},
	"status-only":  {"HTTP/1.1 200 OK\r\n", false},
	"status-0":     {"HTTP/1.1 000 OK\r\n\r\n", false},
	"status-20":    {"HTTP/1.1 20 OK\r\n\r\n", false},
	"some-1xx":     {strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 3) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true},
	"http2-goaway": {"\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", false},
	"switch":       {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: tea\r\nConnection: Upgrade\r\n\r\n", false},
	"nothing":      {"", false},
}

// raw answers with the bytes of that name, or with an endless storm of 1xx or
// of headers, and hangs up.
func raw(w http.ResponseWriter, name string) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	answer, known := rawAnswers[name]
	if note, ok := w.(*answering); ok && answer.whole {
		note.status = http.StatusOK
	}
	if known {
		_, _ = io.WriteString(conn, answer.bytes)
		return
	}
	piece := "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
	if name == "storm-headers" {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		piece = "X-Again: and again\r\n"
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if _, err := io.WriteString(conn, piece); err != nil {
			return
		}
	}
}

// bomb sends 10 MB that become 10 GB when somebody unpacks them.
func bomb(w http.ResponseWriter) {
	var member bytes.Buffer
	z := gzip.NewWriter(&member)
	_, _ = z.Write(make([]byte, 10<<20))
	_ = z.Close()
	w.Header().Set("Content-Encoding", "gzip")
	w.WriteHeader(http.StatusOK)
	for range 1000 {
		if _, err := w.Write(member.Bytes()); err != nil {
			return
		}
	}
}
