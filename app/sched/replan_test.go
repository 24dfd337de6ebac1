package sched

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// replanBook notes tasks by id; those that are broken can't be planned anew.
type replanBook struct {
	noted  []int64
	broken map[int64]bool
	tried  []int64
}

var errBroken = errors.New("it can't be read")

func (b *replanBook) Replans(_ context.Context, _ string, after int64, limit int) ([]int64, error) {
	var out []int64
	for _, id := range b.noted {
		if id > after && len(out) < limit {
			out = append(out, id)
		}
	}
	return out, nil
}

func (*replanBook) ZonedTasks(context.Context, int64, int) ([]Task, int64, error) {
	return nil, 0, nil
}

func (*replanBook) NoteReplans(context.Context, []int64) error { return nil }

func (b *replanBook) ReplanTask(_ context.Context, id int64, _ time.Time, _ func(Task) Task) ([]Message, error) {
	b.tried = append(b.tried, id)
	if b.broken[id] {
		return nil, errBroken
	}
	b.noted = slices.DeleteFunc(b.noted, func(n int64) bool { return n == id })
	return nil, nil
}

// More tasks that never can be planned than a batch holds stand before one that
// can: none of them is in its way.
func TestTasksThatAlwaysFailStarveNoOther(t *testing.T) {
	b := &replanBook{broken: map[int64]bool{}}
	for id := range int64(2*replanBatch + 1) {
		b.noted = append(b.noted, id+1)
		b.broken[id+1] = id+1 <= 2*replanBatch
	}
	r := NewReplanner(b, nil, NewClock(noon), quiet())
	more, err := r.Tick(t.Context())
	require.ErrorIs(t, err, errBroken)
	require.False(t, more)
	require.Len(t, b.noted, 2*replanBatch, "the last one is planned")
	require.NotContains(t, b.noted, int64(2*replanBatch+1))
	require.Len(t, b.tried, 2*replanBatch+1, "each was tried once")

	b.broken = nil
	_, err = r.Tick(t.Context())
	require.NoError(t, err, "and each again in the next tick")
	require.Empty(t, b.noted)
}

func TestATickThatIsStoppedEnds(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	b := &replanBook{noted: []int64{1}}
	_, err := NewReplanner(b, nil, NewClock(noon), quiet()).Tick(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, b.tried)
}
