package db

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// nodeRow is a row of nodes.
type nodeRow struct {
	ID            string
	Host          string
	Address       string
	Pid           int
	Version       string
	Roles         string
	Queues        string
	Labels        string
	Slots         int
	Busy          int
	ClockOffsetMs int64
	StartedAt     Millis
	BeatAt        Millis
	SteadyAt      Millis
	Draining      bool
	ClosedAt      Millis
	DeadAt        Millis
	DeclaredBy    maybe
}

// TableName is read by GORM.
func (nodeRow) TableName() string { return "nodes" }

func (r nodeRow) node() sched.NodeInfo {
	return sched.NodeInfo{
		ID: r.ID, Host: r.Host, Address: r.Address, PID: r.Pid, Version: r.Version, Roles: words(r.Roles), Queues: words(r.Queues),
		Labels: words(r.Labels), Slots: r.Slots, Busy: r.Busy, ClockOffset: time.Duration(r.ClockOffsetMs) * time.Millisecond,
		StartedAt: r.StartedAt.Time, BeatAt: r.BeatAt.Time, SteadyAt: r.SteadyAt.Time, Draining: r.Draining,
		ClosedAt: r.ClosedAt.Time, DeadAt: r.DeadAt.Time, DeclaredBy: string(r.DeclaredBy),
	}
}

func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// Register inserts the row of a process start.
func (d *DB) Register(ctx context.Context, n sched.NodeInfo) error {
	return d.txOn(ctx, d.pulse, "register node", func(tx *gorm.DB) error {
		return tx.Create(&nodeRow{
			ID: n.ID, Host: clip(n.Host, 100), Address: clip(n.Address, 100), Pid: n.PID, Version: clip(n.Version, 50),
			Roles: strings.Join(n.Roles, ","), Queues: strings.Join(n.Queues, ","), Labels: strings.Join(n.Labels, ","),
			Slots: n.Slots, ClockOffsetMs: n.ClockOffset.Milliseconds(),
			StartedAt: at(n.StartedAt), BeatAt: at(n.BeatAt), SteadyAt: at(n.SteadyAt),
			Draining: n.Draining, // a process that was taken for dead goes on draining
		}).Error
	})
}

// Beat confirms that a node lives; false when its row is closed or declared
// dead. A gap on the ledger's clock begins its steady time anew.
func (d *DB) Beat(ctx context.Context, b sched.Beat) (bool, error) {
	var alive bool
	err := d.txOn(ctx, d.pulse, "beat of node "+b.NodeID, func(tx *gorm.DB) error {
		// steady_at stands before beat_at: MySQL assigns from left to right.
		res := tx.Exec("UPDATE "+d.dialect.forcePrimary("nodes")+
			" SET steady_at=CASE WHEN ABS(?-beat_at)>? THEN ? ELSE steady_at END, beat_at=?, busy=?, clock_offset_ms=? WHERE id=? AND closed_at IS NULL AND dead_at IS NULL",
			at(b.Now), b.Gap.Milliseconds(), at(b.Now), at(b.Now), b.Busy, b.Offset.Milliseconds(), b.NodeID)
		if alive = res.RowsAffected == 1; alive || res.Error != nil {
			return res.Error
		}
		// MySQL counts no row either when nothing in it changed.
		var n int
		err := tx.Raw("SELECT COUNT(*) FROM nodes WHERE id=? AND closed_at IS NULL AND dead_at IS NULL", b.NodeID).Scan(&n).Error
		alive = n == 1
		return err
	})
	return alive, err
}

// CloseNode ends a node's row in order.
func (d *DB) CloseNode(ctx context.Context, id string, now time.Time) error {
	return d.txOn(ctx, d.pulse, "close node "+id, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE "+d.dialect.forcePrimary("nodes")+" SET closed_at=?, busy=0 WHERE id=? AND closed_at IS NULL AND dead_at IS NULL", at(now), id).Error
	})
}

// CloseEarlier ends the rows of all other nodes at once: whoever holds the
// data folder's lock is the only process there is.
func (d *DB) CloseEarlier(ctx context.Context, me string, now time.Time) error {
	return d.tx(ctx, "close earlier nodes", func(tx *gorm.DB) error {
		return tx.Exec("UPDATE nodes SET dead_at=?, declared_by=? WHERE id<>? AND closed_at IS NULL AND dead_at IS NULL", at(now), me, me).Error
	})
}

// Wishes lists the instances running on a node that somebody wants canceled.
func (d *DB) Wishes(ctx context.Context, node string) ([]string, error) {
	var ids []string
	err := d.view(ctx).Raw("SELECT id FROM instances WHERE node_id=? AND state='running' AND cancel_wanted IS NOT NULL", node).Scan(&ids).Error
	if err != nil {
		return nil, fmt.Errorf("read cancel wishes of node %s: %w", node, err)
	}
	return ids, nil
}

// DeclareDead marks nodes whose last beat is too old, if the asking node's own
// row says that its beat is fresh and its beats have been whole for so long: an
// outage of the database, or a step of its clock in either direction, must not
// be taken for dead nodes.
func (d *DB) DeclareDead(ctx context.Context, me string, p sched.Pulse, now time.Time) ([]string, error) {
	var mine nodeRow
	if err := d.view(ctx).Raw("SELECT * FROM nodes WHERE id=?", me).Scan(&mine).Error; err != nil {
		return nil, fmt.Errorf("read own node: %w", err)
	}
	if mine.node().Gone() || mine.BeatAt.Before(now.Add(-p.Fresh())) || mine.BeatAt.After(now.Add(p.Fresh())) || mine.SteadyAt.After(now.Add(-p.Dead)) {
		return nil, nil
	}
	var ids, dead []string
	err := d.view(ctx).Raw("SELECT id FROM nodes WHERE dead_at IS NULL AND closed_at IS NULL AND beat_at<? ORDER BY id", at(now.Add(-p.Dead))).Scan(&ids).Error
	if err != nil {
		return nil, fmt.Errorf("look for dead nodes: %w", err)
	}
	if len(ids) > 0 {
		if err := fail.At("declare.judged"); err != nil {
			return nil, err
		}
	}
	for _, id := range ids {
		declared, err := d.declare(ctx, me, id, now.Add(-p.Dead), now)
		if err != nil {
			return dead, err
		}
		if declared {
			dead = append(dead, id)
		}
	}
	return dead, nil
}

// declare marks a node whose last beat is older than oldest. A row that is
// locked is left to the next look: by a claim of a node that is frozen in it, it
// may be locked until the database gives the connection up, and the sweep has
// others to look after.
func (d *DB) declare(ctx context.Context, me, id string, oldest, now time.Time) (done bool, err error) {
	err = d.tx(ctx, "declare node "+id+" dead", func(tx *gorm.DB) error {
		done = false
		const still = "id=? AND beat_at<? AND dead_at IS NULL AND closed_at IS NULL"
		var free []string
		err := tx.Raw("SELECT id FROM "+d.dialect.forcePrimary("nodes")+" WHERE "+still+d.dialect.forUpdateSkipLocked, id, at(oldest)).Scan(&free).Error
		if err != nil || len(free) == 0 {
			return err
		}
		res := tx.Exec("UPDATE "+d.dialect.forcePrimary("nodes")+" SET dead_at=?, declared_by=? WHERE "+still, at(now), me, id, at(oldest))
		done = res.RowsAffected == 1
		return res.Error
	})
	return done && err == nil, err
}

// Nodes lists nodes that live or ended after since, the latest start first.
func (d *DB) Nodes(ctx context.Context, since time.Time) ([]sched.NodeInfo, error) {
	var rows []nodeRow
	err := d.view(ctx).Raw("SELECT * FROM nodes WHERE (closed_at IS NULL AND dead_at IS NULL) OR closed_at>=? OR dead_at>=? ORDER BY id DESC LIMIT 200",
		at(since), at(since)).Scan(&rows).Error
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	out := make([]sched.NodeInfo, len(rows))
	for i, r := range rows {
		out[i] = r.node()
	}
	return out, nil
}
