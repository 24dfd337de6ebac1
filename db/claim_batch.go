package db

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"ax/app/fail"
	"ax/app/sched"
)

// claimBatch is one transaction of claims. Its locks are taken in this order,
// each kind by ascending key: gates of tasks with a limit (exclusive), gates of
// tasks without one (shared), gates of hosts with a limit (exclusive), nodes (shared), instances.
//
// Two batches can't wait for each other in a circle: a gate is of the same kind
// for both, and each takes the kinds, and the gates of a kind, in the same
// order. Only while two tasks get and lose their limits at the same moment may
// batches differ about the kinds; then the server ends one, which runs again.
// Everyone else holds at most one gate, and takes it before any instance.
type claimBatch struct {
	d      *DB
	tx     *gorm.DB
	claims []*claiming
	tasks  map[int64]*claimTask
	calls  map[string]int // attempts that run to hosts with a limit, the batch's own too
}

// claiming is one claim on its way.
type claiming struct {
	request  sched.ClaimRequest
	taskID   int64
	nodeGone bool
	got      sched.Claimed // the zero value drops the message
	err      error         // its own: the others go on
	over     bool          // answered: it locks and writes nothing
}

// claimTask is a task of which the batch claims something.
type claimTask struct {
	sched.Task
	err    error       // why nothing of it can be claimed
	own    []*claiming // what the batch claims of it
	others gateCount   // what of it has begun besides
}

func (t *claimTask) limited() bool { return t.Spec.Policy.MaxConcurrent > 0 }

// gateCount is what of a task has begun and not ended.
type gateCount struct {
	TaskID   int64
	Started  int
	Busy     int
	BusyWith maybe // the latest
}

func newClaimBatch(d *DB, tx *gorm.DB, rs []sched.ClaimRequest) *claimBatch {
	b := &claimBatch{d: d, tx: tx, claims: make([]*claiming, len(rs))}
	for i, r := range rs {
		b.claims[i] = &claiming{request: r}
	}
	return b
}

// all carries the claims out.
func (b *claimBatch) all() error {
	for _, step := range []func() error{
		b.findTasks, b.lockGates, b.lockHosts, b.lockNodes, b.lockRows, b.underGates, b.count, b.countHosts, b.decide,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return b.write()
}

func (b *claimBatch) answers() []answer[sched.Claimed] {
	out := make([]answer[sched.Claimed], len(b.claims))
	for i, c := range b.claims {
		out[i] = answer[sched.Claimed]{c.got, c.err}
	}
	return out
}

// open gives the claims that are not answered yet.
func (b *claimBatch) open() []*claiming {
	return slices.DeleteFunc(slices.Clone(b.claims), func(c *claiming) bool { return c.over })
}

// fail answers a claim with an error of its own.
func (c *claiming) fail(err error) { c.err, c.over = err, true }

// ids gives the instances of the open claims, ascending.
func (b *claimBatch) ids() []string {
	var ids []string
	for _, c := range b.open() {
		ids = append(ids, c.request.InstanceID)
	}
	slices.Sort(ids)
	return ids
}

// findTasks reads, without a lock, the tasks of the instances. An instance or
// a task that isn't there drops the message.
func (b *claimBatch) findTasks() error {
	var rows []instanceRow
	if err := b.tx.Raw("SELECT id, task_id FROM instances WHERE id IN ?", b.ids()).Scan(&rows).Error; err != nil {
		return err
	}
	of := make(map[string]int64, len(rows))
	var ids []int64
	for _, r := range rows {
		of[r.ID] = r.TaskID
		ids = append(ids, r.TaskID)
	}
	var err error
	if b.tasks, err = b.readTasks(ids); err != nil {
		return err
	}
	for _, c := range b.claims {
		t := b.tasks[of[c.request.InstanceID]]
		switch {
		case t == nil:
			c.over = true
		case t.err != nil:
			c.fail(t.err)
		default:
			c.taskID = t.ID
			t.own = append(t.own, c)
		}
	}
	return nil
}

// readTasks reads whole tasks with all that a claim looks at.
func (b *claimBatch) readTasks(ids []int64) (map[int64]*claimTask, error) {
	out := make(map[int64]*claimTask, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	slices.Sort(ids)
	var rows []taskRow
	if err := b.tx.Raw("SELECT * FROM tasks WHERE id IN ?", slices.Compact(ids)).Scan(&rows).Error; err != nil {
		return nil, err
	}
	cals := calendarsIn(b.tx)
	for _, r := range rows {
		t, why := r.task()
		if why == nil {
			if err := cals.give(&t); err != nil {
				return nil, err
			}
		}
		out[r.ID] = &claimTask{Task: t, err: why}
	}
	return out, nil
}

// taskIDs gives the tasks that still have open claims and pass the filter.
func (b *claimBatch) taskIDs(pick func(*claimTask) bool) []int64 {
	var ids []int64
	for id, t := range b.tasks {
		if pick(t) && slices.ContainsFunc(t.own, func(c *claiming) bool { return !c.over }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (b *claimBatch) lockGates() error {
	lock := func(ids []int64, lock string) error {
		if len(ids) == 0 {
			return nil
		}
		var found []int64
		err := b.tx.Raw("SELECT task_id FROM "+b.d.dialect.forcePrimary("task_gates")+" WHERE task_id IN ? ORDER BY task_id"+lock, ids).Scan(&found).Error
		for _, id := range ids {
			if _, ok := slices.BinarySearch(found, id); !ok {
				for _, c := range b.tasks[id].own {
					c.fail(fmt.Errorf("task %d has no gate", id))
				}
			}
		}
		return err
	}
	if err := lock(b.taskIDs((*claimTask).limited), b.d.dialect.forUpdate); err != nil {
		return err
	}
	if err := lock(b.taskIDs(func(t *claimTask) bool { return !t.limited() }), b.d.dialect.forShare); err != nil {
		return err
	}
	return fail.At("claim.gated")
}

func (b *claimBatch) lockNodes() error {
	var ids []string
	for _, c := range b.open() {
		ids = append(ids, c.request.NodeID)
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	var rows []nodeRow
	err := b.tx.Raw("SELECT id, closed_at, dead_at FROM nodes WHERE id IN ? ORDER BY id"+b.d.dialect.forShare, slices.Compact(ids)).Scan(&rows).Error
	gone := make(map[string]bool, len(rows))
	for _, r := range rows {
		gone[r.ID] = !r.ClosedAt.IsZero() || !r.DeadAt.IsZero()
	}
	for _, c := range b.open() {
		var known bool
		if c.nodeGone, known = gone[c.request.NodeID]; !known {
			c.fail(fmt.Errorf("node %s is not registered", c.request.NodeID))
		}
	}
	return err
}

func (b *claimBatch) lockRows() error {
	ids := b.ids()
	if len(ids) == 0 {
		return nil
	}
	rows, err := lockInstances(b.tx, b.d.dialect, "*", ids)
	for _, c := range b.open() {
		in, ok := rows[c.request.InstanceID]
		c.got.Instance, c.got.State, c.over = in, in.State, !ok
	}
	return err
}

// underGates reads the tasks as they are now that nobody can edit them.
func (b *claimBatch) underGates() error {
	ids := b.taskIDs(func(*claimTask) bool { return true })
	if len(ids) == 0 {
		return nil
	}
	var rows []taskRow
	if err := b.tx.Raw("SELECT id, version, paused_from, paused_until FROM tasks WHERE id IN ?", ids).Scan(&rows).Error; err != nil {
		return err
	}
	var edited []int64
	for _, r := range rows {
		t := b.tasks[r.ID]
		t.PausedFrom, t.PausedUntil = r.PausedFrom.Time, r.PausedUntil.Time
		if r.Version != t.Version {
			edited = append(edited, r.ID)
		}
	}
	now, err := b.readTasks(edited)
	for id, t := range now {
		old := b.tasks[id]
		switch {
		case t.err != nil:
			for _, c := range old.own {
				c.fail(t.err)
			}
		case t.limited() != old.limited() || t.LimitedHost() != old.LimitedHost():
			return errLimitChanged
		}
		old.Task = t.Task // this is the version that the attempt will carry
	}
	return err
}

// count counts what of the tasks with a limit has begun and not ended besides
// the batch: what runs, awaits or retries, and what a dead or stopped node left
// behind, which waits with an attempt.
func (b *claimBatch) count() error {
	ids := b.taskIDs((*claimTask).limited)
	if len(ids) == 0 {
		return nil
	}
	var rows []gateCount
	err := b.tx.Raw("SELECT task_id, COUNT(*) AS started, SUM(CASE WHEN state IN ? THEN 1 ELSE 0 END) AS busy, MAX(id) AS busy_with"+
		" FROM "+b.d.dialect.byIndex("instances", "instances_task_state")+" WHERE task_id IN ? AND state IN ? AND attempt>0 AND id NOT IN ? GROUP BY task_id",
		busyStates, ids, openStates, b.ids()).Scan(&rows).Error
	for _, r := range rows {
		b.tasks[r.TaskID].others = r
	}
	return err
}

// busyStates hold a place of a limit.
var busyStates = []sched.State{sched.Running, sched.Awaiting}

// begun counts what of a task has begun and not ended besides one claim, the
// batch as it is decided so far included.
func (t *claimTask) begun(but *claiming) gateCount {
	n := t.others
	for _, c := range t.own {
		in := c.got.Instance
		if c == but || c.over || in.Attempt == 0 || in.State.Final() {
			continue
		}
		n.Started++
		if slices.Contains(busyStates, in.State) {
			n.Busy++
		}
		n.BusyWith = max(n.BusyWith, maybe(in.ID))
	}
	return n
}

// decide judges the claims in the order in which their rows were wanted, as if
// each came alone.
func (b *claimBatch) decide() error {
	claims := b.open()
	slices.SortFunc(claims, func(x, y *claiming) int {
		return cmp.Or(x.got.Instance.WantedAt.Compare(y.got.Instance.WantedAt), strings.Compare(x.request.InstanceID, y.request.InstanceID))
	})
	for _, c := range claims {
		t := b.tasks[c.taskID]
		c.got.Task = t.Task
		view := sched.ClaimView{Instance: c.got.Instance, Task: t.Task, NodeGone: c.nodeGone, Elsewhere: c.request.Cannot == t.Spec.Target.Kind, Ready: c.request.Ready,
			Unlabeled: !sched.LabelsOf(t.Spec.Labels).In(c.request.Labels)}
		if t.limited() {
			n := t.begun(c)
			view.Started, view.Busy, view.BusyWith = n.Started, n.Busy, string(n.BusyWith)
		}
		if host := t.LimitedHost(); host != "" {
			view.HostBusy = b.calls[host]
		}
		c.got.Verdict = sched.DecideClaim(view, c.request.Now)
		if c.got.Verdict.Kind == sched.ClaimTake {
			c.take()
			if b.calls != nil {
				b.calls[t.Spec.Target.Host()]++
			}
		}
	}
	return nil
}

// take makes the instance the node's.
func (c *claiming) take() {
	in := &c.got.Instance
	in.State, in.Attempt, in.NodeID, in.ClaimID = sched.Running, in.Attempt+1, c.request.NodeID, c.request.ClaimID
	in.DeadlineAt, in.SentAt, in.LookAt, in.Resends, in.Defers = c.got.Verdict.Deadline, time.Time{}, time.Time{}, 0, 0
	if in.StartedAt.IsZero() {
		in.StartedAt = c.request.Now
	}
}
