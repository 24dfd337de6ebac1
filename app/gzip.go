package app

import (
	"compress/gzip"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// squeezeFrom is the size from which gzip pays, in bytes.
const squeezeFrom = 1 << 10

// squeezed compresses pages and JSON over 1 KB. Files are compressed once at
// start (static), and a stream that flushes goes out as it is.
func squeezed(c *gin.Context) {
	if c.Request.Method == http.MethodHead || !takesGzip(c.GetHeader("Accept-Encoding")) {
		return
	}
	w := &squeezer{ResponseWriter: c.Writer}
	c.Writer = w
	c.Next()
	w.finish()
	c.Writer = w.ResponseWriter
}

func takesGzip(header string) bool {
	header = strings.ReplaceAll(header, " ", "")
	return strings.Contains(header, "gzip") && !strings.Contains(header, "gzip;q=0,") && !strings.HasSuffix(header, "gzip;q=0")
}

// squeezer holds the beginning of an answer back until it knows what to do
// with it.
type squeezer struct {
	gin.ResponseWriter
	held    []byte
	decided bool
	gz      *gzip.Writer
}

func (w *squeezer) Write(b []byte) (int, error) {
	switch {
	case w.gz != nil:
		return w.gz.Write(b)
	case w.decided:
		return w.ResponseWriter.Write(b)
	}
	w.held = append(w.held, b...)
	if !w.worth() {
		return len(b), w.release()
	}
	if len(w.held) < squeezeFrom {
		return len(b), nil
	}
	h := w.Header()
	h.Set("Content-Encoding", "gzip")
	h.Add("Vary", "Accept-Encoding")
	h.Del("Content-Length")
	w.gz = gzip.NewWriter(w.ResponseWriter)
	return len(b), w.release()
}

// WriteString is Write; without it, gin would write past the squeezer.
func (w *squeezer) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// Written counts what is held back too: the answer has begun.
func (w *squeezer) Written() bool { return len(w.held) > 0 || w.ResponseWriter.Written() }

// WriteHeaderNow waits for the body while it may still be compressed.
func (w *squeezer) WriteHeaderNow() {
	if len(w.held) == 0 {
		w.ResponseWriter.WriteHeaderNow()
	}
}

// Flush sends what there is, uncompressed from the start: a stream.
func (w *squeezer) Flush() {
	_ = w.release() // the client has gone: nobody to tell
	if w.gz != nil {
		_ = w.gz.Flush()
	}
	w.ResponseWriter.Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (w *squeezer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// worth tells whether the answer is of a kind that shrinks.
func (w *squeezer) worth() bool {
	kind := w.Header().Get("Content-Type")
	return w.Header().Get("Content-Encoding") == "" && !w.ResponseWriter.Written() &&
		(strings.HasPrefix(kind, "text/html") || strings.Contains(kind, "json"))
}

// release lets go of what was held back, the way that was decided.
func (w *squeezer) release() error {
	w.decided = true
	held := w.held
	w.held = nil
	if len(held) == 0 {
		return nil
	}
	var err error
	if w.gz != nil {
		_, err = w.gz.Write(held)
	} else {
		_, err = w.ResponseWriter.Write(held)
	}
	return err
}

func (w *squeezer) finish() {
	_ = w.release() // the client has gone: nobody to tell
	if w.gz != nil {
		_ = w.gz.Close()
	}
}
