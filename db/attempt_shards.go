package db

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"ax/app/sched"
)

// shardRow is a row of attempt_shards.
type shardRow struct {
	Attempt    int
	Shard      int
	Total      int
	Executor   string
	Address    string
	Outcome    maybe
	StatusCode int
	Error      string
	StartedAt  Millis
	EndedAt    Millis
}

// BeginShards notes the parts of a broadcast that are called now.
func (d *DB) BeginShards(ctx context.Context, instanceID string, shards []sched.ShardRun) error {
	if len(shards) == 0 {
		return nil
	}
	const marks = "(?,?,?,?,?,?,?)"
	args := make([]any, 0, 7*len(shards))
	for _, s := range shards {
		args = append(args, instanceID, s.Attempt, s.Index, s.Total, s.Executor, s.Address, at(s.StartedAt))
	}
	return d.tx(ctx, "begin the shards of "+instanceID, func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO attempt_shards (instance_id, attempt, shard, total, executor, address, started_at) VALUES "+
			marks+strings.Repeat(","+marks, len(shards)-1), args...).Error
	})
}

// EndShard notes what became of one part.
func (d *DB) EndShard(ctx context.Context, instanceID string, s sched.ShardRun) error {
	return d.tx(ctx, "end a shard of "+instanceID, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE attempt_shards SET outcome=?, status_code=?, error=?, ended_at=? WHERE instance_id=? AND attempt=? AND shard=?",
			string(s.Outcome), s.StatusCode, clip(s.Error, 500), at(s.EndedAt), instanceID, s.Attempt, s.Index).Error
	})
}

// Shards of an instance by attempt and number.
func (d *DB) Shards(ctx context.Context, instanceID string) ([]sched.ShardRun, error) {
	var rows []shardRow
	err := d.view(ctx).Raw("SELECT attempt, shard, total, executor, address, outcome, status_code, error, started_at, ended_at FROM attempt_shards"+
		" WHERE instance_id=? ORDER BY attempt, shard", instanceID).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list the shards of %s: %w", instanceID, away(err))
	}
	out := make([]sched.ShardRun, len(rows))
	for i, r := range rows {
		out[i] = sched.ShardRun{
			Attempt: r.Attempt, Shard: sched.Shard{Index: r.Shard, Total: r.Total}, Executor: r.Executor, Address: r.Address,
			Outcome: sched.Outcome(r.Outcome), StatusCode: r.StatusCode, Error: r.Error, StartedAt: r.StartedAt.Time, EndedAt: r.EndedAt.Time,
		}
	}
	return out, nil
}
