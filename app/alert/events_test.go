package alert

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeOutbox has what ended, opened and closed, and the messages of one channel.
type fakeOutbox struct {
	listeners []Listener
	ended     []InstanceFacts
	letters   []LetterFacts
	hooks     []HookEnd
	sent      []Delivery
	has       map[string]bool
	cursor    time.Time
	from      time.Time // of the latest read
	theirs    bool      // another node has the turn
	asked     int
}

func (f *fakeOutbox) Listeners(context.Context, time.Time) ([]Listener, error) {
	f.asked++
	return f.listeners, nil
}

func (f *fakeOutbox) TakeTurnOf(context.Context, string, time.Duration, time.Time) (bool, error) {
	f.asked++
	return !f.theirs, nil
}
func (f *fakeOutbox) EventCursor(context.Context) (time.Time, error) { return f.cursor, nil }
func (f *fakeOutbox) SetEventCursor(_ context.Context, t time.Time) error {
	f.cursor = t
	return nil
}

func (f *fakeOutbox) Hooked(context.Context) (bool, error) { return len(f.hooks) > 0, nil }

func (f *fakeOutbox) UntoldEnds(_ context.Context, since time.Time, most int) ([]HookEnd, error) {
	f.from = since
	return untold(f.hooks, most, func(x HookEnd) (time.Time, bool) {
		return x.Run.FinishedAt, !x.Run.FinishedAt.Before(since) && !f.has[x.Dedupe()]
	}), nil
}

func (f *fakeOutbox) UntoldInstances(_ context.Context, _ Listener, since time.Time, most int) ([]InstanceFacts, error) {
	f.from = since
	return untold(f.ended, most, func(x InstanceFacts) (time.Time, bool) {
		return time.Time(x.FinishedAt), !time.Time(x.FinishedAt).Before(since) && !f.has[x.Dedupe()]
	}), nil
}

func (f *fakeOutbox) UntoldOpened(_ context.Context, _ Listener, since time.Time, most int) ([]LetterFacts, error) {
	return untold(f.letters, most, func(x LetterFacts) (time.Time, bool) {
		return time.Time(x.OpenedAt), !time.Time(x.OpenedAt).Before(since) && !f.has[OpenedDedupe(x.ID, x.Opens)]
	}), nil
}

func (f *fakeOutbox) UntoldSolved(_ context.Context, _ Listener, since time.Time, most int) ([]LetterFacts, error) {
	return untold(f.letters, most, func(x LetterFacts) (time.Time, bool) {
		closed := time.Time(x.ClosedAt)
		return closed, !closed.IsZero() && !closed.Before(since) && !f.has[SolvedDedupe(x.ID, closed)]
	}), nil
}

func untold[T any](all []T, most int, want func(T) (time.Time, bool)) (out []T) {
	for _, x := range all {
		if _, ok := want(x); ok {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b T) int {
		x, _ := want(a)
		y, _ := want(b)
		return cmp.Compare(x.UnixMilli(), y.UnixMilli())
	})
	return out[:min(len(out), most)]
}

func (f *fakeOutbox) InsertDeliveries(_ context.Context, all []Delivery) error {
	for _, d := range all {
		if !f.has[d.Dedupe] {
			f.has[d.Dedupe] = true
			f.sent = append(f.sent, d)
		}
	}
	return nil
}

func (f *fakeOutbox) end(id string, at time.Time) {
	f.ended = append(f.ended, InstanceFacts{ID: id, FinishedAt: Instant(at)})
}

func (f *fakeOutbox) told() (out []string) {
	for _, d := range f.sent {
		out = append(out, d.Dedupe)
	}
	return out
}

func everyEvent(since time.Time) map[EventType]time.Time {
	return map[EventType]time.Time{InstanceFinished: since, LetterOpened: since, LetterSolved: since}
}

func events() (*Events, *fakeOutbox, *wound) {
	f := &fakeOutbox{has: map[string]bool{}, listeners: []Listener{{ChannelID: "ch", TeamID: 1, Since: everyEvent(t0.Add(-time.Hour))}}}
	c := &wound{t0}
	return NewEvents(EventsOptions{Box: f, Now: c.Now, NewID: ids(), Log: slog.New(slog.DiscardHandler)}), f, c
}

func turn2(t *testing.T, e *Events) bool {
	t.Helper()
	again, err := e.Tick(t.Context())
	require.NoError(t, err)
	return again
}

func TestWithoutAListenerOneQuestionIsAsked(t *testing.T) {
	e, f, _ := events()
	f.listeners = nil
	require.False(t, turn2(t, e))
	require.Equal(t, 1, f.asked)
}

func TestWhatEndedIsToldOnceAndInOrder(t *testing.T) {
	e, f, c := events()
	f.end("b", t0.Add(-2*time.Second))
	f.end("a", t0.Add(-time.Second))
	f.letters = []LetterFacts{{ID: 7, Opens: 2, OpenedAt: Instant(t0.Add(-1500 * time.Millisecond)), ClosedAt: Instant(t0.Add(-500 * time.Millisecond)), Error: "<b>no</b>"}}
	turn2(t, e)
	solved := fmt.Sprintf("letter/7/%d/solved", t0.Add(-500*time.Millisecond).UnixMilli())
	require.Equal(t, []string{"b", "letter/7/2/opened", "a", solved}, f.told())
	require.Equal(t, []string{"instance/b", "letter/7", "instance/a", "letter/7"}, []string{f.sent[0].Object, f.sent[1].Object, f.sent[2].Object, f.sent[3].Object})
	d := f.sent[1]
	require.Equal(t, "id-000002", d.ID)
	require.Equal(t, Waiting, d.State)
	require.Equal(t, Message{ID: d.ID, Kind: Event, At: t0, Event: LetterOpened, Object: d.Message.Object}, d.Message)
	require.Contains(t, string(d.Message.Object), `"opened_at":"2026-12-01T02:59:58.500Z"`)
	require.Contains(t, string(d.Message.Object), `\u003cb\u003e`)
	c.now = t0.Add(2 * time.Second)
	turn2(t, e)
	require.Len(t, f.sent, 4)
}

func TestOneNodeTells(t *testing.T) {
	e, f, _ := events()
	f.theirs = true
	f.end("a", t0)
	turn2(t, e)
	require.Empty(t, f.sent)
}

func TestAListenerIsToldFromItsBeginningOn(t *testing.T) {
	e, f, _ := events()
	f.cursor = t0.AddDate(0, -1, 0)
	f.listeners[0].Since = everyEvent(t0.Add(-time.Second))
	f.end("before", t0.Add(-2*time.Second))
	f.end("after", t0)
	turn2(t, e)
	require.Equal(t, []string{"after"}, f.told())
	require.Equal(t, t0.Add(-time.Second), f.from)
}

func TestWhatIsCommittedLateIsToldAllTheSame(t *testing.T) {
	e, f, c := events()
	for range 60 {
		turn2(t, e)
		c.now = c.now.Add(2 * time.Second)
	}
	f.end("late", c.now.Add(-59*time.Second))
	turn2(t, e)
	require.Equal(t, []string{"late"}, f.told())
}

// A machine that slept for a night commits what it began before.
func TestWhatBeganBeforeALongSleepIsTold(t *testing.T) {
	e, f, c := events()
	for range 60 {
		turn2(t, e)
		c.now = c.now.Add(2 * time.Second)
	}
	before := c.now
	c.now = c.now.Add(8 * time.Hour)
	for range 29 {
		turn2(t, e)
		c.now = c.now.Add(2 * time.Second)
	}
	f.end("late", before.Add(-time.Second))
	turn2(t, e)
	require.Equal(t, []string{"late"}, f.told())
	for range 60 {
		turn2(t, e)
		c.now = c.now.Add(2 * time.Second)
	}
	require.WithinDuration(t, c.now, f.cursor, 90*time.Second, "it goes on")
}

func TestAProcessThatHasJustStartedMovesNothing(t *testing.T) {
	e, f, c := events()
	f.cursor = t0.Add(-time.Hour)
	for range eventsTurns {
		turn2(t, e)
		c.now = c.now.Add(2 * time.Second)
	}
	require.Equal(t, t0.Add(-time.Hour), f.cursor)
	turn2(t, e)
	require.Equal(t, t0, f.cursor)
}

func TestTurnsThatFollowAtOnceAreNoTime(t *testing.T) {
	e, f, _ := events()
	f.cursor = t0.Add(-time.Hour)
	for range 10 * eventsTurns {
		turn2(t, e)
	}
	require.Equal(t, t0.Add(-time.Hour), f.cursor)
}

func TestAClockThatWasSetBackStopsNothing(t *testing.T) {
	e, f, _ := events()
	f.cursor = t0.Add(time.Hour)
	f.end("a", t0)
	turn2(t, e)
	require.Equal(t, []string{"a"}, f.told())
	require.Equal(t, t0.Add(-time.Minute), f.cursor)
}

func TestManyAreToldRoundByRound(t *testing.T) {
	e, f, _ := events()
	f.cursor = t0.Add(-time.Hour)
	for n := range eventsMost*eventsRounds + 10 {
		f.end(fmt.Sprintf("%05d", n), t0.Add(-time.Minute+time.Duration(n)*time.Millisecond))
	}
	require.True(t, turn2(t, e))
	require.Len(t, f.sent, eventsMost*eventsRounds)
	require.Equal(t, t0.Add(-time.Hour), f.cursor)
	require.False(t, turn2(t, e))
	require.Len(t, f.sent, eventsMost*eventsRounds+10)
	require.True(t, slices.IsSorted(f.told()))
}

// A letter is told of as opened before it is told of as solved, however many
// there are.
func TestOfManyLettersEachOpensFirst(t *testing.T) {
	e, f, _ := events()
	for n := range 2*eventsMost + 10 { // the first ones are closed last
		opened := t0.Add(-time.Minute + time.Duration(n)*time.Millisecond)
		closed := opened.Add(time.Millisecond)
		if n < eventsMost+100 {
			closed = t0
		}
		f.letters = append(f.letters, LetterFacts{ID: int64(n), Opens: 1, OpenedAt: Instant(opened), ClosedAt: Instant(closed)})
	}
	turn2(t, e)
	require.Len(t, f.sent, 2*len(f.letters))
	opened := map[string]bool{}
	for _, d := range f.sent {
		if d.Message.Event == LetterOpened {
			opened[d.Object] = true
		}
		require.True(t, opened[d.Object], d.Object)
	}
}
