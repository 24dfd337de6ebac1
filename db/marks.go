package db

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"ax/app/alert"
)

const (
	// marksOverlap is how far behind the latest look a change may come to light:
	// it is stamped when it begins, by the clock of its node, and seen when it is
	// committed.
	marksOverlap = 2 * time.Minute
	// marksWhole is when all tasks are read again, in case that something changed
	// them without a stamp.
	marksWhole = 10 * time.Minute
)

// Marks is TaskMarks for who asks again and again: after the first time it reads
// what changed since.
type Marks struct {
	ledger *DB
	now    func() time.Time

	mu    sync.Mutex
	whole time.Time // when all were read
	upTo  time.Time // when what changed was read
	byID  map[int64]alert.TaskMark
	list  []alert.TaskMark
}

// NewMarks makes a reader; now is the ledger's clock.
func NewMarks(d *DB, now func() time.Time) *Marks { return &Marks{ledger: d, now: now} }

// TaskMarks gives what rules need of every task that isn't archived, by id. The
// caller must not change the list.
func (m *Marks) TaskMarks(ctx context.Context) ([]alert.TaskMark, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.byID == nil || now.Sub(m.whole) >= marksWhole || now.Before(m.upTo) {
		list, err := m.ledger.TaskMarks(ctx)
		if err != nil {
			return nil, err
		}
		m.byID = make(map[int64]alert.TaskMark, len(list))
		for _, t := range list {
			m.byID[t.ID] = t
		}
		m.list, m.whole, m.upTo = list, now, now
		return m.list, nil
	}
	var changed []alert.TaskMark
	var gone []int64
	err := m.ledger.eachMark(ctx, "updated_at>=?", func(t alert.TaskMark, archived bool) {
		if archived {
			gone = append(gone, t.ID)
			return
		}
		changed = append(changed, t)
	}, at(m.upTo.Add(-marksOverlap)))
	if err == nil {
		err = m.ledger.mendLevels(ctx, changed)
	}
	if err != nil {
		return nil, err
	}
	m.upTo = now
	if len(changed)+len(gone) == 0 {
		return m.list, nil
	}
	for _, t := range changed {
		m.byID[t.ID] = t
	}
	for _, id := range gone {
		delete(m.byID, id)
	}
	m.list = slices.SortedFunc(maps.Values(m.byID), func(a, b alert.TaskMark) int { return cmp.Compare(a.ID, b.ID) })
	return m.list, nil
}
