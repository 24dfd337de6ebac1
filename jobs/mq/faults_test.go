package mq_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/jobs/mq"
	"ax/jobs/mq/mqtest"
)

// tries is what became of each message that was published, by its id.
type tries struct {
	mu           sync.Mutex
	had, unclear map[string]bool
	never        map[string]error // surely not there, and why
	sides        sync.WaitGroup
}

func newTries() *tries {
	return &tries{had: map[string]bool{}, never: map[string]error{}, unclear: map[string]bool{}}
}

// flood publishes from many sides until stop, each message once.
func flood(t *testing.T, p mq.Publisher, place mq.Place, stop <-chan struct{}) *tries {
	t.Helper()
	out := newTries()
	for side := range 8 {
		out.sides.Go(func() {
			for n := 0; ; n++ {
				m := message("", "", fmt.Sprintf("%d-%d", side, n))
				m.Place = place
				ctx, cancel := context.WithTimeout(context.Background(), 8*time.Second)
				err := p.Publish(ctx, m)
				cancel()
				out.note(m.ID, err)
				pause := time.Duration(0)
				if err != nil {
					pause = 5 * time.Millisecond // nobody is there: don't spin
				}
				select {
				case <-stop:
					return
				case <-time.After(pause):
				}
			}
		})
	}
	return out
}

func (o *tries) note(id string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f, _ := errors.AsType[*mq.Failure](err)
	switch {
	case err == nil:
		o.had[id] = true
	case f.Definite:
		o.never[id] = err
	default:
		o.unclear[id] = true
	}
}

func (o *tries) confirmed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.had)
}

// judge holds what was said against what is in the queue.
func (o *tries) judge(t *testing.T, ids []string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	in := map[string]bool{}
	for _, id := range ids {
		require.False(t, in[id], "%s is there twice, and was published once", id)
		in[id] = true
		require.NoError(t, o.never[id], "%s was said never to arrive, and is there", id)
	}
	for id := range o.had {
		require.True(t, in[id], "%s was confirmed, and is not there", id)
	}
	t.Logf("confirmed %d, definitely not %d, unknown %d, in the queue %d", len(o.had), len(o.never), len(o.unclear), len(in))
}

// F32: the broker is stopped, killed, loses its connections, and is back.
func TestWhatABrokerSaidHoldsThroughItsStops(t *testing.T) {
	b := mqtest.Start(t)
	b.Declare(t, "orders", "order.*", "kept", nil)
	p, stop := rabbit(t, b), make(chan struct{})
	all := flood(t, p, mq.Place{Exchange: "orders", Key: "order.close"}, stop)
	goesOn := func() {
		before := all.confirmed()
		require.Eventually(t, func() bool { return all.confirmed() > before+50 }, time.Minute, 5*time.Millisecond)
	}
	goesOn()
	for range 3 {
		_, err := b.Ctl("close_all_connections", "a test")
		require.NoError(t, err)
		goesOn()
	}
	_, err := b.Ctl("stop_app")
	require.NoError(t, err)
	_, err = b.Ctl("start_app")
	require.NoError(t, err)
	goesOn()
	b.Kill()
	require.NoError(t, b.Run())
	goesOn()
	close(stop)
	all.sides.Wait()
	all.judge(t, idsIn(t, b, "kept"))
	require.NotEmpty(t, all.never, "nothing listened for a while")
}

// idsIn takes all out of a queue, what is still on its way too.
func idsIn(t *testing.T, b *mqtest.Broker, queue string) (ids []string) {
	t.Helper()
	require.Eventually(t, func() bool {
		got := b.Take(t, queue)
		for _, d := range got {
			ids = append(ids, d.MessageId)
		}
		return len(got) == 0
	}, 20*time.Second, 300*time.Millisecond)
	return ids
}

// F32: short of memory, the broker takes nothing. What waited is taken when it
// is over, so it is never called definite; what came later was not sent.
func TestABlockedBrokerIsSentNothing(t *testing.T) {
	b := mqtest.Start(t)
	b.Declare(t, "orders", "order.*", "blocked", nil)
	p := rabbit(t, b)
	require.NoError(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "before")))
	_, err := b.Ctl("set_vm_memory_high_watermark", "0")
	require.NoError(t, err)

	first := failure(t, p.Publish(within(t, 2*time.Second), message("orders", "order.close", "first")))
	require.False(t, first.Definite, "the broker said so only when it had the message before it")
	require.ErrorIs(t, first, context.DeadlineExceeded)
	require.ErrorContains(t, first, "may take it later")
	for range 20 {
		f := failure(t, p.Publish(within(t, 20*time.Second), message("orders", "order.close", "never")))
		require.True(t, f.Definite)
		require.ErrorContains(t, f, "takes no messages at present (low on memory)")
	}
	require.Len(t, b.Take(t, "blocked"), 1)

	var waited atomic.Bool
	done := make(chan error, 1)
	other := rabbit(t, b) // it doesn't know yet
	go func() {
		done <- other.Publish(context.Background(), message("orders", "order.close", "waits"))
		waited.Store(true)
	}()
	require.Never(t, waited.Load, 500*time.Millisecond, 50*time.Millisecond)
	_, err = b.Ctl("set_vm_memory_high_watermark", "0.8")
	require.NoError(t, err)
	require.NoError(t, <-done)
	require.Eventually(t, func() bool {
		return p.Publish(context.Background(), message("orders", "order.close", "after")) == nil
	}, 20*time.Second, 20*time.Millisecond)
	ids := idsIn(t, b, "blocked")
	require.Subset(t, ids, []string{"waits", "after"})
	require.NotContains(t, ids, "never")
}

// F32: the network eats what either side says, at any byte.
func TestAConnectionThatIsCutAnywhereIsNeverSuccess(t *testing.T) {
	b := mqtest.Shared(t)
	b.Declare(t, "orders", "order.*", "cut", nil)
	random := rand.New(rand.NewPCG(1, 2))
	all := newTries()
	for i := range 150 {
		o := open(b.Addr)
		o.Dial = cutAfter(random.IntN(1400), random.IntN(900))
		p := publisher(t, mq.AMQP, o)
		for n := range 3 {
			m := message("orders", "order.close", fmt.Sprintf("%d-%d", i, n))
			all.note(m.ID, p.Publish(within(t, 2*time.Second), m))
		}
		require.NoError(t, p.Close())
	}
	all.judge(t, idsIn(t, b, "cut"))
	require.NotEmpty(t, all.had)
	require.NotEmpty(t, all.never)
	require.NotEmpty(t, all.unclear)
}
