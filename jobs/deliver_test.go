package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ax/jobs"
	"ax/jobs/redistest"

	"github.com/stretchr/testify/require"
)

// fakeCourier holds what it is to send until it is let go.
type fakeCourier struct {
	began atomic.Int64
	let   chan struct{}
	asked sync.Map
}

func (f *fakeCourier) Deliver(_ context.Context, channel string) error {
	f.began.Add(1)
	<-f.let
	f.asked.Store(channel, true)
	return errors.New("the receiver is away")
}

func (f *fakeCourier) Wait() {}

func deliverer(t *testing.T, r *jobs.Redis) (*fakeCourier, *jobs.Poster) {
	t.Helper()
	c := &fakeCourier{let: make(chan struct{})}
	d := jobs.NewDeliverer(r, c, slog.New(slog.DiscardHandler))
	require.NoError(t, d.Start())
	t.Cleanup(d.Stop)
	return c, jobs.NewPoster(r)
}

func TestAChannelIsLookedAtAfterAHintAndAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		c, p := deliverer(t, r)
		for range 3 {
			require.NoError(t, p.Post(t.Context(), "a"), "one hint is enough")
		}
		require.Eventually(t, func() bool { return c.began.Load() == 1 }, 10*time.Second, 10*time.Millisecond)
		close(c.let)
		require.Eventually(t, func() bool {
			_ = p.Post(t.Context(), "a")
			return c.began.Load() >= 2
		}, 20*time.Second, 100*time.Millisecond, "the id is free again")
	})
}

func TestASlowReceiverHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, r *jobs.Redis) {
		c, p := deliverer(t, r)
		for _, channel := range []string{"slow", "b", "c", "d"} {
			require.NoError(t, p.Post(t.Context(), channel))
		}
		require.Eventually(t, func() bool { return c.began.Load() == 4 }, 20*time.Second, 10*time.Millisecond)
		close(c.let)
	})
}

func TestARedisThatIsAwayIsSaidSo(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	r, err := jobs.OpenRedis(t.Context(), jobs.RedisOptions{Addr: s.Addr})
	require.NoError(t, err)
	t.Cleanup(func() { _ = r.Close() })
	p := jobs.NewPoster(r)
	s.Kill()
	require.Error(t, p.Post(t.Context(), "a"))
}
