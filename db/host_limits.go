package db

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"

	"ax/app/sched"
)

// noteHost keeps the list of tasks with a limit on their host in step with a
// task's definition, and makes the row under which such claims are judged.
func (d *DB) noteHost(tx *gorm.DB, old, next sched.Task) error {
	from, to := old.LimitedHost(), next.LimitedHost()
	if from == to {
		return nil
	}
	if err := tx.Exec("DELETE FROM host_tasks WHERE task_id=?", next.ID).Error; err != nil || to == "" {
		return err
	}
	if err := tx.Exec("INSERT INTO host_gates (host) VALUES (?) "+d.dialect.upsert("host", "host=host_gates.host"), to).Error; err != nil {
		return err
	}
	return tx.Exec("INSERT INTO host_tasks (task_id, host) VALUES (?,?)", next.ID, to).Error
}

// lockHosts locks the gates of the hosts that claims of the batch wait for, after
// those of the tasks. Two claims of one host judge one after the other.
func (b *claimBatch) lockHosts() error {
	hosts := b.hosts()
	if len(hosts) == 0 {
		return nil
	}
	var found []string
	return b.tx.Raw("SELECT host FROM "+b.d.dialect.forcePrimary("host_gates")+" WHERE host IN ? ORDER BY host"+b.d.dialect.forUpdate, hosts).Scan(&found).Error
}

// hosts gives what open claims wait for, ascending.
func (b *claimBatch) hosts() []string {
	var hosts []string
	for _, id := range b.taskIDs(func(t *claimTask) bool { return t.LimitedHost() != "" }) {
		hosts = append(hosts, b.tasks[id].LimitedHost())
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// countHosts counts the attempts that run to each of those hosts, of whatever
// task and node, by the definitions that they began with.
func (b *claimBatch) countHosts() error {
	hosts := b.hosts()
	if len(hosts) == 0 {
		return nil
	}
	var rows []struct {
		TaskID      int64
		TaskVersion int
		N           int
	}
	err := b.tx.Raw("SELECT a.task_id AS task_id, a.task_version AS task_version, COUNT(*) AS n FROM instances i" +
		" JOIN attempts a ON a.instance_id=i.id AND a.no=i.attempt WHERE i.state='running' GROUP BY a.task_id, a.task_version").Scan(&rows).Error
	if err != nil {
		return err
	}
	b.calls = map[string]int{}
	for _, r := range rows {
		host, err := b.d.targets.host(b.tx, r.TaskID, r.TaskVersion)
		if err != nil {
			return err
		}
		if slices.Contains(hosts, host) {
			b.calls[host] += r.N
		}
	}
	return nil
}

// hostBook remembers which host a version of a task calls: versions never
// change. It is safe for concurrent use.
type hostBook struct {
	mu    sync.Mutex
	known map[versionKey]string
}

type versionKey struct {
	task    int64
	version int
}

// maxKnownHosts bounds the memory of hosts; beyond it all are read anew.
const maxKnownHosts = 50_000

// host that a version calls; empty: none, or the version is not kept any more.
func (b *hostBook) host(tx *gorm.DB, task int64, version int) (string, error) {
	key := versionKey{task, version}
	b.mu.Lock()
	host, ok := b.known[key]
	b.mu.Unlock()
	if ok {
		return host, nil
	}
	var specs []string
	if err := tx.Raw("SELECT spec FROM task_versions WHERE task_id=? AND version=?", task, version).Scan(&specs).Error; err != nil {
		return "", fmt.Errorf("read version %d of task %d: %w", version, task, err)
	}
	if len(specs) == 1 {
		var spec sched.Spec
		if err := json.Unmarshal([]byte(specs[0]), &spec); err == nil {
			host = spec.Target.Host()
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.known == nil || len(b.known) >= maxKnownHosts {
		b.known = map[versionKey]string{}
	}
	b.known[key] = host
	return host, nil
}

// WakeHost is Wake for the oldest instance that is deferred of any task with a
// limit on the host that the given task calls.
func (d *DB) WakeHost(ctx context.Context, taskID int64, now time.Time) (sched.Message, bool, error) {
	var tasks []int64
	err := d.view(ctx).Raw("SELECT o.task_id FROM host_tasks h JOIN host_tasks o ON o.host=h.host WHERE h.task_id=? ORDER BY o.task_id", taskID).Scan(&tasks).Error
	if err != nil || len(tasks) == 0 {
		return sched.Message{}, false, away(err)
	}
	if err := d.passGates(ctx, tasks); err != nil {
		return sched.Message{}, false, away(err)
	}
	var found []int64
	err = d.view(ctx).Raw("SELECT task_id FROM "+d.dialect.byIndex("instances", "instances_task_state")+" WHERE task_id IN ? AND state IN ? AND defers>0 AND due_at>? ORDER BY wanted_at, id LIMIT 1",
		tasks, claimableStates, at(now)).Scan(&found).Error
	if err != nil || len(found) == 0 {
		return sched.Message{}, false, away(err)
	}
	return d.wake(ctx, found[0], now)
}
