package db

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

const (
	// sampleEvery is the grid that samples of all nodes lie on.
	sampleEvery = 10 * time.Second
	// sampleWait is how long the carrier may take to answer: the ledger's figure
	// must not wait for the next turn.
	sampleWait = 3 * time.Second
	// sampleLife is how long samples are kept.
	sampleLife = 7 * 24 * time.Hour
)

// SampleQueues notes how deep each of the queues is, and of others in which
// something waits. Of all nodes that do so within the same ten seconds the first
// one counts. pending gives the carrier's messages by queue; when it fails, the
// ledger's figures are noted alone.
func (d *DB) SampleQueues(ctx context.Context, now time.Time, queues []string, pending func(context.Context) (map[string]int, error)) error {
	moment := at(now.Truncate(sampleEvery))
	var taken int
	err := d.view(ctx).Raw("SELECT COUNT(*) FROM queue_samples WHERE at=?", moment).Scan(&taken).Error
	if err != nil {
		return fmt.Errorf("look for a sample of the queues: %w", away(err))
	}
	if taken > 0 {
		return nil
	}
	depth, err := d.QueueDepth(ctx, now)
	if err != nil {
		return err
	}
	for _, name := range queues {
		depth[name] += 0
	}
	asking, done := context.WithTimeout(ctx, sampleWait)
	carried, unasked := pending(asking)
	done()
	return d.tx(ctx, "sample queues", func(tx *gorm.DB) error {
		for _, name := range slices.Sorted(maps.Keys(depth)) {
			var messages *int
			if n, ok := carried[name]; ok && unasked == nil {
				messages = &n
			}
			err := tx.Exec("INSERT INTO queue_samples (queue, at, due, pending) VALUES (?,?,?,?) "+d.dialect.upsert("queue, at", "due=queue_samples.due"),
				name, moment, depth[name], messages).Error
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// QueueSamples gives the samples of a queue since a moment, oldest first.
func (d *DB) QueueSamples(ctx context.Context, queue string, since time.Time) ([]sched.QueueSample, error) {
	var rows []struct {
		At      Millis
		Due     int
		Pending *int
	}
	err := d.view(ctx).Raw("SELECT at, due, pending FROM queue_samples WHERE queue=? AND at>=? ORDER BY at", queue, at(since)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("read samples of queue %s: %w", queue, away(err))
	}
	out := make([]sched.QueueSample, len(rows))
	for i, r := range rows {
		out[i] = sched.QueueSample{At: r.At.Time, Due: r.Due, Known: r.Pending != nil}
		if r.Pending != nil {
			out[i].Pending = *r.Pending
		}
	}
	return out, nil
}
