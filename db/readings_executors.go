package db

import (
	"context"
	"fmt"
	"time"

	"ax/app/access"
	"ax/app/alert"
	"ax/app/sched"
)

// readExecutors tells how long each executor is silent that did not leave, and
// since when enabled tasks find none. Silence counts from when nodes have
// beaten without a gap: while the ledger was away no beat could be noted.
func (d *DB) readExecutors(ctx context.Context, _ alert.Question, now time.Time) ([]alert.Reading, error) {
	var nodes []nodeRow
	if err := d.view(ctx).Raw("SELECT * FROM nodes WHERE closed_at IS NULL AND dead_at IS NULL ORDER BY id").Scan(&nodes).Error; err != nil {
		return nil, err
	}
	steady := steadySince(nodes, now)
	if steady.IsZero() {
		return nil, nil
	}
	all, err := d.ExecutorsOf(ctx, access.Scope{All: true})
	if err != nil {
		return nil, err
	}
	var wanted []struct {
		TeamID         int64
		Code           string
		Name, TaskType string
		UpdatedAt      Millis
	}
	err = d.view(ctx).Raw("SELECT t.team_id AS team_id, t.code AS code, e.name AS name, e.task_type AS task_type, t.updated_at AS updated_at" +
		" FROM executor_tasks e JOIN tasks t ON t.id=e.task_id WHERE t.enabled=1 AND t.archived_at IS NULL ORDER BY t.team_id, e.name, e.task_type, t.code").Scan(&wanted).Error
	if err != nil {
		return nil, err
	}
	named := byName(all)
	out := silentExecutors(all, named, steady, now)
	told := map[string]bool{}
	for _, w := range wanted {
		key := w.Name + "/" + w.TaskType
		mine := named[executorKey{w.TeamID, w.Name}]
		if told[fmt.Sprint(w.TeamID, key)] || len(sched.OnlineFor(mine, w.TaskType, now)) > 0 {
			continue
		}
		told[fmt.Sprint(w.TeamID, key)] = true
		since := later(w.UpdatedAt.Time, steady)
		for _, e := range mine {
			if e.Offers(w.TaskType) {
				since = later(since, e.LastSign())
			}
		}
		out = append(out, alert.Reading{
			TeamID: w.TeamID, Subject: alert.Subject{Kind: alert.ExecutorSubject, Key: clip(key, 100), Name: key},
			Value: max(now.Sub(since).Seconds(), 0), Since: since, Detail: "none is online for the task " + w.Code,
		})
	}
	return out, nil
}

type executorKey struct {
	team int64
	name string
}

func byName(all []sched.ExecutorInfo) map[executorKey][]sched.ExecutorInfo {
	out := map[executorKey][]sched.ExecutorInfo{}
	for _, e := range all {
		k := executorKey{e.TeamID, e.Name}
		out[k] = append(out[k], e)
	}
	return out
}

// silentExecutors are the readings of addresses that did not leave. One whose
// service has begun anew elsewhere is over.
func silentExecutors(all []sched.ExecutorInfo, named map[executorKey][]sched.ExecutorInfo, steady, now time.Time) []alert.Reading {
	var out []alert.Reading
	for _, e := range all {
		replaced := false
		for _, o := range named[executorKey{e.TeamID, e.Name}] {
			replaced = replaced || o.ID != e.ID && o.RegisteredAt.After(e.BeatAt)
		}
		if !e.ClosedAt.IsZero() || replaced || now.Sub(e.BeatAt) > offlineFor {
			continue
		}
		out = append(out, alert.Reading{
			TeamID: e.TeamID, Subject: alert.Subject{Kind: alert.ExecutorSubject, Key: e.ID, Name: clip(e.Name+" "+e.Address, 200)},
			Value: max(now.Sub(later(e.BeatAt, steady)).Seconds(), 0), Since: e.BeatAt,
		})
	}
	return out
}
