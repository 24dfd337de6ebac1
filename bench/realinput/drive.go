package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// bootIn is how long after its beginning the machine of a run "boots":
	// once tasks must lie ahead when they are created.
	bootIn = 30 * time.Second
	// longestDelay is the window of the orders; a short run has less.
	longestDelay = 10 * time.Minute
	// endsWithin is how long what is due may take to end after the run.
	endsWithin = 3 * time.Minute
)

// taskRun is a task and the time in which its slots count.
type taskRun struct {
	task
	from, until time.Time // by the ledger: created, disabled; until may be zero
}

// driven is what was asked of ax.
type driven struct {
	tasks   []taskRun
	orders  []placed
	again   []placed // the same orders, placed a second time
	replays []letter
}

// drive does the run: tasks and orders go in, time goes by, tasks are
// disabled, what is left ends, the letters of the failing task are replayed.
func drive(ctx context.Context, h *house, jobs []job, o options) (*driven, error) {
	length := time.Duration(o.minutes * float64(time.Minute))
	start := time.Now()
	token, err := h.command(ctx, "token", "create", "--team", "default", "--role", "owner")
	if err != nil {
		return nil, err
	}
	c := &client{base: h.api, token: token, http: &http.Client{
		Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: o.callers},
	}}
	window := min(longestDelay, length*2/3)
	d := &driven{}
	if err := d.create(ctx, c, jobs, h.target, start.Add(bootIn), window/2); err != nil {
		return nil, err
	}
	fmt.Printf("%d tasks made; %d orders follow\n", len(d.tasks), o.orders)
	if err := d.place(ctx, c, makeOrders(o.orders, window), o.callers); err != nil {
		return nil, err
	}
	fmt.Printf("%d orders placed after %s; the run goes on until %s\n", len(d.orders), time.Since(start).Round(time.Second), start.Add(length).Format(time.TimeOnly))
	if err := sleepUntil(ctx, start.Add(length)); err != nil {
		return nil, err
	}
	if err := d.disable(ctx, c); err != nil {
		return nil, err
	}
	if err := awaitEnd(ctx, h); err != nil {
		return nil, err
	}
	if err := d.replay(ctx, c); err != nil {
		return nil, err
	}
	return d, awaitEnd(ctx, h)
}

func (d *driven) create(ctx context.Context, c *client, jobs []job, target string, boot time.Time, delay time.Duration) error {
	tasks, err := makeTasks(jobs, target, boot)
	if err != nil {
		return err
	}
	for _, t := range append(tasks, ordersTask(target, delay)) {
		got, err := c.createTask(ctx, t)
		if err != nil {
			return err
		}
		d.tasks = append(d.tasks, taskRun{task: t, from: got.CreatedAt})
	}
	return nil
}

// place places the orders by several callers; each twentieth is placed again.
func (d *driven) place(ctx context.Context, c *client, orders []order, callers int) error {
	next := make(chan order)
	var mu sync.Mutex
	var errs []error
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for o := range next {
				first, again, err := placeTwice(ctx, c, o)
				mu.Lock()
				d.orders = append(d.orders, first)
				d.again = append(d.again, again...)
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	for _, o := range orders {
		next <- o
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

func placeTwice(ctx context.Context, c *client, o order) (first placed, again []placed, err error) {
	if first, err = c.place(ctx, o); err != nil || o.Payload["order"].(int)%20 != 0 {
		return first, nil, err
	}
	second, err := c.place(ctx, o)
	return first, []placed{second}, err
}

// disable ends the schedules. Slots before the moment that the ledger took are
// owed.
func (d *driven) disable(ctx context.Context, c *client) error {
	for i, t := range d.tasks {
		got, err := c.disableTask(ctx, t.Code)
		if err != nil {
			return err
		}
		d.tasks[i].until = got.UpdatedAt
	}
	return nil
}

// awaitEnd waits until nothing is open in the ledger.
func awaitEnd(ctx context.Context, h *house) error {
	return await(ctx, endsWithin, "the end of all instances", func() error {
		var n int
		err := h.ledger.QueryRowContext(ctx, "SELECT COUNT(*) FROM instances WHERE state NOT IN ('succeeded','failed','timed_out','lost','skipped','canceled')").Scan(&n)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d are open", n)
		}
		return err
	})
}

// replay replays every letter of the failing task, whose target is repaired
// for that.
func (d *driven) replay(ctx context.Context, c *client) error {
	for _, t := range d.tasks {
		if t.behaviour != behaveFail {
			continue
		}
		letters, err := c.letters(ctx, t.Code)
		if err != nil {
			return err
		}
		for _, l := range letters {
			if err := c.replay(ctx, l); err != nil {
				return err
			}
			d.replays = append(d.replays, l)
		}
	}
	return nil
}

func sleepUntil(ctx context.Context, t time.Time) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(t)):
		return nil
	}
}
