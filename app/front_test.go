package app_test

import (
	"io"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app"
)

// F23: a receipt that was being stored when the console was told to stop was
// answered 499, which its caller takes for a refusal.
func TestARequestUnderWayEndsBeforeTheListenerDoes(t *testing.T) {
	f, err := app.Listen("127.0.0.1:0", slog.New(slog.DiscardHandler), func() []app.Check { return nil })
	require.NoError(t, err)
	begun, closing := make(chan struct{}), make(chan struct{})
	f.Admit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-closing
		select {
		case <-r.Context().Done():
			w.WriteHeader(499)
		case <-time.After(100 * time.Millisecond): // what a slow statement takes
			_, _ = io.WriteString(w, "stored")
		}
	}))
	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + f.Addr())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- resp.Status + " " + string(body)
	}()
	<-begun
	go func() { time.Sleep(50 * time.Millisecond); close(closing) }() // Close has begun by then
	require.NoError(t, f.Close())
	require.Equal(t, "200 OK stored", <-answer)
}
