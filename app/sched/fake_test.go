package sched

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// ledger is the database of the loops' tests: it answers as it was told to and
// remembers what it was asked. Its clock is the test bubble's.
type ledger struct {
	mu    sync.Mutex
	calls []string
	on    map[string]func() error // runs at a call; an error is the answer

	ahead   time.Duration // of the bubble's clock
	nodes   []NodeInfo
	beats   []Beat
	gone    map[string]bool // nodes that are dead or closed
	closed  []string
	holding []Held
	locked  bool // Holding waits until its caller gives up
	wishes  []string

	draining bool
	lanes    []Lane
	lost     []Held
	again    map[string]Message // of lost instances that go on
	overdue  []Held

	claim       []func(ClaimRequest) (Claimed, error) // one after the other; the last stays
	read        func(ClaimRequest) (Claimed, bool, error)
	ours        bool // answer of MarkSent and HandBack
	marks       []Settlement
	settles     []Settlement
	settled     Settled
	backs       []Settlement
	woken       []int64
	hostWoken   []int64
	probing     Probing // before each of probed
	probed      []Probed
	running     []string // answer of CancelOthers
	canceledFor []string
	wakes       *Message
	stale       []Stale
	raised      []Stale
	dead        []string
	orphans     []Held
	missed      []Held // awaiting past their deadline
	ended       []Held
	looked      int
	due         []Message
	dueUntil    time.Time
	queued      []Message
	plans       []PlanRequest
	report      PlanReport
}

// call notes a call and gives what was told to happen at it.
func (l *ledger) call(name string) error {
	l.mu.Lock()
	l.calls = append(l.calls, name)
	do := l.on[name]
	l.mu.Unlock()
	if do != nil {
		return do()
	}
	return nil
}

// with changes or reads what a living node uses meanwhile.
func (l *ledger) with(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// fails makes every call of the name fail; nil ends that.
func (l *ledger) fails(name string, err error) { l.does(name, func() error { return err }) }

// failsTimes makes the next n calls fail.
func (l *ledger) failsTimes(name string, n int, err error) {
	l.does(name, func() error {
		if n--; n < 0 {
			return nil
		}
		return err
	})
}

func (l *ledger) does(name string, do func() error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.on == nil {
		l.on = map[string]func() error{}
	}
	l.on[name] = do
}

func (l *ledger) count(name string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.calls {
		if c == name {
			n++
		}
	}
	return n
}

// now is the database's clock: a wall clock without a monotonic part.
func (l *ledger) now() time.Time { return time.Now().Round(0).UTC().Add(l.ahead) }

func (l *ledger) Now(context.Context) (time.Time, error) {
	err := l.call("Now")
	return l.now(), err
}

func (l *ledger) Register(_ context.Context, n NodeInfo) error {
	if err := l.call("Register"); err != nil {
		return err
	}
	l.with(func() { l.nodes = append(l.nodes, n) })
	return nil
}

func (l *ledger) Beat(_ context.Context, b Beat) (bool, error) {
	if err := l.call("Beat"); err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.beats = append(l.beats, b)
	return !l.gone[b.NodeID], nil
}

func (l *ledger) CloseNode(_ context.Context, id string, _ time.Time) error {
	l.closed = append(l.closed, id)
	return l.call("CloseNode")
}

func (l *ledger) Holding(ctx context.Context, id string) ([]Held, error) {
	if err := l.call("Holding"); err != nil {
		return nil, err
	}
	if l.locked {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var mine []Held
	for _, h := range l.holding {
		if h.NodeID == id {
			mine = append(mine, h)
		}
	}
	return mine, nil
}

func (l *ledger) Lanes(context.Context) ([]Lane, error) {
	err := l.call("Lanes")
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lanes), err
}

func (l *ledger) Draining(context.Context, string) (bool, error) {
	err := l.call("Draining")
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.draining, err
}

func (l *ledger) Wishes(context.Context, string) ([]string, error) {
	err := l.call("Wishes")
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wishes, err
}

func (l *ledger) Lose(_ context.Context, h Held, _ time.Time) (Message, bool, error) {
	if err := l.call("Lose"); err != nil {
		return Message{}, false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = append(l.lost, h)
	m, again := l.again[h.InstanceID]
	return m, again, nil
}

func (l *ledger) EndOverdue(_ context.Context, h Held, _ time.Time) error {
	if err := l.call("EndOverdue"); err != nil {
		return err
	}
	l.with(func() { l.overdue = append(l.overdue, h) })
	return nil
}

// carrier takes messages; it fails for the instances named.
type carrier struct {
	mu   sync.Mutex
	sent []Message
	fail map[string]error
}

func (c *carrier) Send(_ context.Context, messages []Message) []error {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs := make([]error, len(messages))
	for i, m := range messages {
		if errs[i] = c.fail[m.InstanceID]; errs[i] == nil {
			c.sent = append(c.sent, m)
		}
	}
	return errs
}

// bench is one node with its ledger and carrier, registered.
type bench struct {
	ledger  *ledger
	carrier *carrier
	clock   *Clock
	node    *Node
}

// ids counts: "node-1", "node-2", …
func ids(prefix string) func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("%s-%d", prefix, n) }
}

// newBench stands in a synctest bubble, so that its clock is the test's.
func newBench(t *testing.T) *bench {
	b := &bench{ledger: &ledger{gone: map[string]bool{}, ours: true}, carrier: &carrier{}, clock: NewClock(time.Now)}
	b.node = NewNode(NodeOptions{
		Store: b.ledger, Clock: b.clock, NewID: ids("node"), Local: time.Now, Send: b.carrier, Log: quiet(),
		Pulse: DefaultPulse(), Info: NodeInfo{Host: "h", Roles: []string{"worker"}, Slots: 10},
	})
	require.NoError(t, b.node.Register(t.Context()))
	return b
}

// live lets the node beat until it is stopped, or the test ends.
func (b *bench) live(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { b.node.Live(ctx); close(done) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return stop
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// instances of what was held, in order.
func heldIDs(all []Held) []string {
	out := []string{}
	for _, h := range all {
		out = append(out, h.InstanceID)
	}
	slices.Sort(out)
	return out
}
