package jobs_test

import (
	"context"
	"testing"
	"time"

	"ax/jobs"
	"ax/jobs/redistest"

	"github.com/stretchr/testify/require"
)

// hear hints until one of them is the wanted id; it is told again and again,
// since a listener needs a moment to be there.
func hear(t *testing.T, h *jobs.Hints, got <-chan string, id string) {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		_ = h.Hint(t.Context(), id)
		select {
		case heard := <-got:
			if heard == id {
				return
			}
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			require.FailNow(t, "the hint was not heard")
		}
	}
}

func listen(t *testing.T, h *jobs.Hints) <-chan string {
	ctx, cancel := context.WithCancel(context.Background())
	got, ended := make(chan string, 1000), make(chan struct{})
	go func() {
		defer close(ended)
		h.Listen(ctx, func(id string) { got <- id })
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return got
}

func TestAHintIsHeard(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		h := jobs.NewHints(r)
		hear(t, h, listen(t, h), "a")
	})
}

func TestHintsAreHeardAgainAfterRedisWasAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	r, err := jobs.OpenRedis(t.Context(), jobs.RedisOptions{Addr: server.Addr})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	h := jobs.NewHints(r)
	got := listen(t, h)
	hear(t, h, got, "a")
	server.Restart()
	hear(t, h, got, "b")
}
