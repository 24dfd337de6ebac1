package db

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"gorm.io/gorm"
)

const (
	pulseName = "alert.pulse"
	// pulseLeast is the least time between two turns: of several nodes one does
	// the work.
	pulseLeast = time.Second
	// pulseBack is how far a turn looks back before the last one; every
	// deepEvery one looks back deepBack and to the deepTurns-th such look before
	// it: an end may commit somewhat later than the moment that it names, and
	// much later when the process slept in between.
	pulseBack = 6 * time.Second
	deepEvery = 15 * time.Second
	deepBack  = time.Minute
	deepTurns = 4
	// pulseMost is the most that one turn covers after an outage, and
	// pulseMemory what it looks for each end by itself.
	pulseMost   = 30 * time.Minute
	pulseMemory = 5 * time.Minute
	// pulseTasks is of how many tasks one transaction counts, and staleTasks how
	// many of those that nothing ended of are counted in one turn.
	pulseTasks = 100
	staleTasks = 500
)

// pulseMark is where Pulse stands; a row of settings.
type pulseMark struct {
	Last  int64   `json:"last"`  // ms
	Deeps []int64 `json:"deeps"` // ms, the oldest first
	More  bool    `json:"more"`  // the next turn follows at once
}

func (m pulseMark) last() time.Time { return time.UnixMilli(m.Last).UTC() }

// window is what a turn at now looks at.
func (m pulseMark) window(now time.Time) (from, to time.Time, deep bool) {
	from, to = m.last().Add(-pulseBack), now
	if end := m.last().Add(pulseMost); to.After(end) {
		to = end
	}
	latest := time.UnixMilli(m.Deeps[len(m.Deeps)-1])
	if deep = to.Sub(latest) >= deepEvery || to.Before(latest); deep {
		from = m.last().Add(-deepBack)
		if oldest := time.UnixMilli(m.Deeps[0]).UTC(); oldest.Before(from) {
			from = oldest
		}
	}
	return from, to, deep
}

// next is the mark after a turn until to.
func (m pulseMark) next(to time.Time, deep bool) pulseMark {
	m.Last = to.UnixMilli()
	if deep {
		m.Deeps = append(slices.Clone(m.Deeps), m.Last)
		m.Deeps = m.Deeps[max(0, len(m.Deeps)-deepTurns):]
	}
	return m
}

func takePulse(tx *gorm.DB, lock string) (m pulseMark, ok bool, err error) {
	raw, ok, err := takeSetting(tx, lock, pulseName)
	if err != nil || !ok {
		return m, false, err
	}
	if err := json.Unmarshal([]byte(raw), &m); err != nil {
		return m, false, fmt.Errorf("read the mark of %s: %w", pulseName, err)
	}
	return m, len(m.Deeps) > 0, nil
}

// Pulse counts anew the row of task_pulse of each task of which something ended
// since the last turn, and now and then of those that were made or changed. A
// row is made from the runs themselves: to do it twice does no harm. It belongs
// into a loop of its own, each two seconds; more tells that it is not up to now
// yet.
func (d *DB) Pulse(ctx context.Context, now time.Time) (more bool, err error) {
	mark, known, err := takePulse(d.view(ctx), "")
	if err != nil {
		return false, err
	}
	if !known {
		begin := now.Add(-deepEvery)
		mark = pulseMark{Last: begin.UnixMilli(), Deeps: []int64{begin.UnixMilli()}}
		if err := d.setPulse(ctx, begin, false, true); err != nil {
			return false, err
		}
	}
	if gap := now.Sub(mark.last()); gap > 0 && gap < pulseLeast && !mark.More {
		return false, nil
	}
	from, to, deep := mark.window(now)
	if to.Before(mark.last()) { // the ledger's clock was set back
		from = to.Add(-deepBack)
	}
	ends, err := d.endsSince(ctx, from, to)
	if err != nil {
		return false, err
	}
	// Nothing is new: the next turn looks at this window too. beating knows that
	// the mark may be as old as a deep turn.
	if len(ends) == 0 && !deep && !mark.More && !to.Before(now) {
		return false, nil
	}
	tasks, unread := d.seen.fresh(ends), false
	if deep {
		stale, err := d.stalePulses(ctx)
		if err != nil {
			return false, err
		}
		unread = len(stale) >= staleTasks
		more = unread
		tasks = append(tasks, stale...)
	}
	slices.Sort(tasks)
	for some := range slices.Chunk(slices.Compact(tasks), pulseTasks) {
		if err := d.countPulses(ctx, some, now); err != nil {
			return false, err
		}
	}
	if deep {
		if err := d.countNorms(ctx, now); err != nil {
			return false, err
		}
	}
	more = more || to.Before(now)
	if err := d.setPulse(ctx, to, deep && !unread, more); err != nil {
		return false, err
	}
	d.seen.note(ends, to)
	return more, nil
}

// setPulse stores how far a turn came; deep ones that have more to do are done
// again.
func (d *DB) setPulse(ctx context.Context, to time.Time, deep, more bool) error {
	return d.tx(ctx, "store how far the pulse is", func(tx *gorm.DB) error {
		mark, known, err := takePulse(tx, d.dialect.forUpdate)
		if err != nil {
			return err
		}
		if !known {
			first := to.Add(-deepEvery).UnixMilli()
			mark = pulseMark{Deeps: []int64{first}}
		}
		mark = mark.next(to, deep)
		mark.More = more
		raw, err := json.Marshal(mark)
		if err != nil {
			return err
		}
		return tx.Exec("INSERT INTO settings (name, value) VALUES (?, ?) "+d.dialect.upsert("name", "value"), pulseName, string(raw)).Error
	})
}

// pulseEnd is an end of an instance or (with its number) of an attempt.
type pulseEnd struct {
	task int64
	key  string // empty: many at once, which are not remembered
	at   time.Time
}

// endsSince lists what ended in a window; of a long one only of which tasks.
func (d *DB) endsSince(ctx context.Context, from, to time.Time) ([]pulseEnd, error) {
	q := "SELECT task_id, id, 0, finished_at FROM instances WHERE finished_at>=? AND finished_at<=?" +
		" UNION ALL SELECT task_id, instance_id, no, ended_at FROM attempts WHERE ended_at>=? AND ended_at<=?"
	if to.Sub(from) > pulseMemory {
		q = "SELECT DISTINCT task_id, '', 0, 0 FROM instances WHERE finished_at>=? AND finished_at<=?" +
			" UNION SELECT DISTINCT task_id, '', 0, 0 FROM attempts WHERE ended_at>=? AND ended_at<=?"
	}
	rows, err := d.view(ctx).Raw(q, at(from), at(to), at(from), at(to)).Rows()
	if err != nil {
		return nil, fmt.Errorf("look for what ended: %w", away(err))
	}
	defer rows.Close()
	var out []pulseEnd
	for rows.Next() {
		var e pulseEnd
		var no int
		var ended Millis
		if err := rows.Scan(&e.task, &e.key, &no, &ended); err != nil {
			return nil, fmt.Errorf("read what ended: %w", err)
		}
		if e.at = ended.Time; e.key != "" {
			e.key += "/" + strconv.Itoa(no)
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

// seenEnds are the ends that this process has counted, so that each is counted
// once though turns look back over each other.
type seenEnds struct {
	mu   sync.Mutex
	ends map[string]time.Time
}

// fresh lists the tasks of ends that were not counted.
func (s *seenEnds) fresh(ends []pulseEnd) (tasks []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range ends {
		if _, ok := s.ends[e.key]; !ok || e.key == "" {
			tasks = append(tasks, e.task)
		}
	}
	return tasks
}

// note remembers what was counted, and forgets what no turn looks at again.
func (s *seenEnds) note(ends []pulseEnd, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ends == nil {
		s.ends = map[string]time.Time{}
	}
	for _, e := range ends {
		if e.key != "" {
			s.ends[e.key] = e.at
		}
	}
	maps.DeleteFunc(s.ends, func(_ string, at time.Time) bool { return now.Sub(at) > pulseMemory+time.Minute })
}

// stalePulses lists tasks that have no row, or one of another version or of
// before their calendar changed.
func (d *DB) stalePulses(ctx context.Context) ([]int64, error) {
	var ids []int64
	err := d.view(ctx).Raw("SELECT t.id FROM tasks t LEFT JOIN task_pulse p ON p.task_id=t.id"+
		" WHERE p.task_id IS NULL OR p.version<>t.version LIMIT ?", staleTasks).Scan(&ids).Error
	if err == nil && len(ids) < staleTasks {
		var more []int64
		err = d.view(ctx).Raw("SELECT n.task_id FROM calendars c JOIN calendar_tasks n ON n.code=c.code JOIN task_pulse p ON p.task_id=n.task_id"+
			" WHERE p.counted_at<=c.updated_at LIMIT ?", staleTasks-len(ids)).Scan(&more).Error
		ids = append(ids, more...)
	}
	if err != nil {
		return nil, fmt.Errorf("look for tasks whose pulse is stale: %w", away(err))
	}
	return ids, nil
}

// countPulses counts the rows of some tasks. One node at a time does: the later
// count must not be overwritten by an earlier one.
func (d *DB) countPulses(ctx context.Context, tasks []int64, now time.Time) error {
	return d.tx(ctx, "count the pulse of tasks", func(tx *gorm.DB) error {
		if _, _, err := takePulse(tx, d.dialect.forUpdate); err != nil {
			return err
		}
		rows, err := d.pulsesOf(tx, tasks, now)
		if err != nil || len(rows) == 0 {
			return err
		}
		return d.storePulses(tx, rows)
	})
}
