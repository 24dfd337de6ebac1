// Command mq measures publishing to RabbitMQ: messages a second that were
// confirmed, mandatory and persistent, as tasks publish them, with so many
// waiting for their confirm at once. It starts its own RabbitMQ and removes
// what it made. `make bench` runs it and adds its figures to docs/benchmarks.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"ax/jobs/mq"
	"ax/jobs/mq/mqtest"
)

// figures of so many publishers at once.
type figures struct {
	sides    int
	rate     float64 // confirmed a second
	p50, p99 time.Duration
}

func main() {
	span := flag.Duration("for", 10*time.Second, "time of each measurement")
	out := flag.String("append", "", "file that the figures are added to (default: standard output only)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := measure(ctx, *span, *out)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, span time.Duration, out string) error {
	b, err := mqtest.New()
	if err != nil {
		return err
	}
	defer b.Close()
	if err := declare(b.Addr); err != nil {
		return err
	}
	p, err := mq.New(mq.AMQP, mq.Options{
		Addr: b.Addr, Vhost: "/", User: "guest", Password: "guest", Now: time.Now, Dial: (&net.Dialer{}).DialContext,
		May: func(context.Context, netip.AddrPort) error { return nil },
	})
	if err != nil {
		return err
	}
	defer p.Close()
	var all []figures
	for _, sides := range []int{1, 16, 64} {
		if _, err := publish(ctx, p, sides, time.Second); err != nil { // channels are opened
			return err
		}
		f, err := publish(ctx, p, sides, span)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	return report(all, span, out)
}

// declare makes a durable queue that keeps the latest thousand.
func declare(addr string) error {
	conn, err := amqp.Dial("amqp://guest:guest@" + addr + "/")
	if err != nil {
		return err
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	if err := ch.ExchangeDeclare("orders", amqp.ExchangeTopic, true, false, false, false, nil); err != nil {
		return err
	}
	if _, err := ch.QueueDeclare("orders", true, false, false, false, amqp.Table{"x-max-length": 1000}); err != nil {
		return err
	}
	return ch.QueueBind("orders", "order.*", "orders", false, nil)
}

func publish(ctx context.Context, p mq.Publisher, sides int, span time.Duration) (figures, error) {
	var (
		mu     sync.Mutex
		waits  []time.Duration
		failed error
		all    sync.WaitGroup
	)
	began := time.Now()
	for side := range sides {
		all.Go(func() {
			var own []time.Duration
			var err error
			for n := 0; err == nil && time.Since(began) < span && ctx.Err() == nil; n++ {
				from := time.Now()
				err = p.Publish(ctx, message(side, n))
				own = append(own, time.Since(from))
			}
			mu.Lock()
			defer mu.Unlock()
			waits, failed = append(waits, own...), errors.Join(failed, err)
		})
	}
	all.Wait()
	if failed != nil {
		return figures{}, failed
	}
	slices.Sort(waits)
	return figures{
		sides: sides, rate: float64(len(waits)) / time.Since(began).Seconds(), p50: waits[len(waits)/2], p99: waits[len(waits)*99/100],
	}, ctx.Err()
}

// message is as large as a task's: a body of 1 KB and ax's headers.
func message(side, n int) mq.Message {
	id := fmt.Sprintf("orders.close/%d-%d", side, n)
	return mq.Message{
		Place: mq.Place{Exchange: "orders", Key: "order.close"}, ID: id, Correlation: id, Type: "ax.run",
		Headers: map[string]string{
			"ax-instance": "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", "ax-attempt": "1", "ax-replay": "0", "ax-timestamp": "1796193000",
			"ax-signature": "v1=" + strings.Repeat("a", 64), "ax-receipt-url": "https://ax.example.com/api/v1/instances/0193868e-2f40-7c11-9a02-6b1fd2f0c7e1/receipt",
			"ax-receipt-token": "1." + strings.Repeat("b", 43),
		},
		Body: []byte(`{"payload":"` + strings.Repeat("x", 1000) + `"}`),
	}
}

func report(all []figures, span time.Duration, out string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n## Messages\n\nWritten by `make bench` on %s.\n\n", time.Now().UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "Publishing to RabbitMQ on the same machine for %s each: 1 KB bodies, persistent, mandatory, each confirmed, one connection, a channel for each that waits.\n\n", span)
	b.WriteString("| at once | confirmed/s | until confirmed p50 | p99 |\n|---|---|---|---|\n")
	for _, f := range all {
		fmt.Fprintf(&b, "| %d | %.0f | %.1f ms | %.1f ms |\n", f.sides, f.rate, float64(f.p50.Microseconds())/1000, float64(f.p99.Microseconds())/1000)
	}
	fmt.Print(b.String())
	if out == "" {
		return nil
	}
	f, err := os.OpenFile(out, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(b.String())
	return err
}
