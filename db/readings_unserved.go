package db

import (
	"context"
	"time"

	"ax/app/alert"
	"ax/app/sched"
)

// readUnserved tells, by team, how long the oldest due instance waits of each
// queue and labels for which no node takes work. Nodes that fell silent are left
// to be declared dead.
func (d *DB) readUnserved(ctx context.Context, _ alert.Question, now time.Time) ([]alert.Reading, error) {
	var rows []nodeRow
	if err := d.view(ctx).Raw("SELECT * FROM nodes WHERE closed_at IS NULL AND dead_at IS NULL").Scan(&rows).Error; err != nil {
		return nil, err
	}
	nodes := make([]sched.NodeInfo, len(rows))
	for i, r := range rows {
		nodes[i] = r.node()
	}
	var waits []struct {
		Queue, Labels string
		TeamID        int64
		Oldest        Millis
	}
	err := d.view(ctx).Raw("SELECT COALESCE(l.queue, i.queue) AS queue, COALESCE(l.labels, '') AS labels, i.team_id AS team_id, MIN(i.due_at) AS oldest"+
		" FROM instances i JOIN tasks t ON t.id=i.task_id LEFT JOIN task_lanes l ON l.task_id=i.task_id WHERE i.state IN ? AND i.due_at<=?"+
		" AND (t.paused_until IS NULL OR t.paused_until<=? OR t.paused_from>?) GROUP BY COALESCE(l.queue, i.queue), COALESCE(l.labels, ''), i.team_id",
		claimableStates, at(now), at(now), at(now)).Scan(&waits).Error
	var out []alert.Reading
	for _, w := range waits {
		lane := sched.Lane{Queue: w.Queue, Labels: sched.Labels(w.Labels)}
		if sched.Served(nodes, lane, now, offlineFor) {
			continue
		}
		out = append(out, alert.Reading{TeamID: w.TeamID, Subject: laneSubject(lane), Value: max(now.Sub(w.Oldest.Time).Seconds(), 0), Since: w.Oldest.Time})
	}
	return out, err
}

// laneSubject is a queue, with the labels that work in it needs.
func laneSubject(l sched.Lane) alert.Subject {
	s := alert.Subject{Kind: alert.QueueSubject, Key: l.Queue, Name: l.Queue}
	if l.Labels != "" {
		s.Key = clip(l.Queue+alert.QueueLabels+string(l.Labels), 100)
		s.Name = clip(l.String(), 200)
	}
	return s
}
