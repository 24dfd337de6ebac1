package sched

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"ax/app/fault"
)

// Pulse is the rhythm of the nodes' lives, the same for all nodes of an
// installation (design.md section 4). The relations between its parts are
// those that the protocol was checked with.
type Pulse struct {
	Beat  time.Duration // between two beats
	Dead  time.Duration // age of a beat after which its node is taken for dead
	Retry time.Duration // after a failed beat
}

// DefaultPulse beats every 5 s; three missed beats are a death.
func DefaultPulse() Pulse {
	return Pulse{Beat: 5 * time.Second, Dead: 15 * time.Second, Retry: time.Second}
}

// Fresh is how old the last confirmed beat may be when work is begun or
// another node is judged: a node cut off from the ledger can't know that it
// was declared dead. A longer gap begins the node's steady time anew.
func (p Pulse) Fresh() time.Duration { return 2 * p.Beat }

// Causes for which a running call's context ends.
var (
	errWish    = errors.New("a person asked to cancel it")
	errGone    = errors.New("this node was declared dead")
	errStopped = errors.New("this node is stopping")
)

// ErrCommitUnknown means that a connection broke while a transaction was
// committed: it may or may not have taken effect.
var ErrCommitUnknown = errors.New("the outcome of the commit is not known")

// NodeInfo describes one process start.
type NodeInfo struct {
	ID          string
	Host        string
	Address     string // where its HTTP listens; empty without the web role
	PID         int
	Version     string
	Roles       []string
	Queues      []string
	Labels      []string
	Slots       int // instances at once; 0 without the worker role
	Busy        int
	ClockOffset time.Duration
	StartedAt   time.Time
	BeatAt      time.Time
	SteadyAt    time.Time
	Draining    bool
	ClosedAt    time.Time
	DeadAt      time.Time
	DeclaredBy  string
}

// Name is what people call a node: its host and process.
func (n NodeInfo) Name() string { return n.Host + ":" + strconv.Itoa(n.PID) }

// Gone tells whether the node was closed or declared dead.
func (n NodeInfo) Gone() bool { return !n.ClosedAt.IsZero() || !n.DeadAt.IsZero() }

// Beat is a node's sign of life.
type Beat struct {
	NodeID string
	Busy   int
	Offset time.Duration
	Now    time.Time
	Gap    time.Duration // a longer one since the last beat ends the steady time
}

// Held is a running instance that the ledger says is a node's own.
type Held struct {
	InstanceID string
	Attempt    int
	NodeID     string
	ClaimID    string
	DeadlineAt time.Time
	Graceful   bool // its node was closed in order
}

// nodeStore is what a node needs of the ledger.
type nodeStore interface {
	// Now reads the database's clock.
	Now(ctx context.Context) (time.Time, error)
	// Register inserts the node's row.
	Register(ctx context.Context, n NodeInfo) error
	// Beat confirms that the node lives; false: it is closed or declared dead.
	Beat(ctx context.Context, b Beat) (bool, error)
	// CloseNode ends the row in order.
	CloseNode(ctx context.Context, id string, now time.Time) error
	// Holding lists what runs on the node by the ledger.
	Holding(ctx context.Context, id string) ([]Held, error)
	// Wishes lists the instances running on the node that somebody wants canceled.
	Wishes(ctx context.Context, id string) ([]string, error)
	// Draining tells whether somebody wants the node to take no new work.
	Draining(ctx context.Context, id string) (bool, error)
	// Lanes lists the lanes with labels that tasks use, sorted.
	Lanes(ctx context.Context) ([]Lane, error)
	// Lose ends the attempt of a lost claim (protocol.md, LOST).
	Lose(ctx context.Context, h Held, now time.Time) (Message, bool, error)
	// EndOverdue ends a running attempt past its deadline that has no answer.
	EndOverdue(ctx context.Context, h Held, now time.Time) error
}

// Node is this process as the ledger knows it.
type Node struct {
	store nodeStore
	clock *Clock
	newID func() string
	mono  func() time.Time
	send  sender
	log   *slog.Logger
	pulse Pulse

	mu        sync.Mutex
	info      NodeInfo
	claims    map[string]*claim // by claim id
	confirmed time.Time         // local instant at which the last confirmed beat began
	beat      chan struct{}     // closed and renewed by each confirmed beat
	gone      bool              // the row was found dead, and there is no new one yet
	drain     func(bool) error  // nil: nothing here takes work
	serve     func(context.Context, []Lane) error
	lanes     []Lane // that serve was last called with
	stopping  bool
}

// NodeOptions of NewNode; all are required.
type NodeOptions struct {
	Store nodeStore
	Clock *Clock
	NewID func() string // UUIDv7
	Local func() time.Time
	Send  sender
	Log   *slog.Logger
	Pulse Pulse
	Info  NodeInfo // ID and times are filled in at registration
}

// NewNode makes a node that is not yet registered.
func NewNode(o NodeOptions) *Node {
	return &Node{
		store: o.Store, clock: o.Clock, newID: o.NewID, mono: o.Local, send: o.Send, log: o.Log, pulse: o.Pulse,
		info: o.Info, claims: map[string]*claim{}, beat: make(chan struct{}),
	}
}

// ID of the node's present row.
func (n *Node) ID() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.info.ID
}

// cannot is the kind of target that this node has no executor for.
func (n *Node) cannot() TargetKind {
	if slices.Contains(n.labels(), LabelShell) {
		return ""
	}
	return TargetShell
}

// Register reads the ledger's clock and makes a new row for this process.
func (n *Node) Register(ctx context.Context) error {
	began := n.mono()
	reading, err := n.store.Now(ctx)
	if err != nil {
		return err
	}
	n.clock.Set(reading, true)
	n.mu.Lock()
	info := n.info
	n.mu.Unlock()
	info.ID, info.StartedAt, info.BeatAt, info.SteadyAt = n.newID(), reading, reading, reading
	info.ClockOffset = n.clock.Offset()
	if err := n.store.Register(ctx, info); err != nil {
		return err
	}
	n.mu.Lock()
	n.info, n.gone = info, false
	n.mu.Unlock()
	n.confirm(began)
	return nil
}

func (n *Node) confirm(began time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.confirmed = began
	close(n.beat)
	n.beat = make(chan struct{})
}

// Live beats until ctx ends, again soon when a beat failed, each followed by
// the audit of the node's claims.
func (n *Node) Live(ctx context.Context) {
	wait := n.pulse.Beat
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		wait = n.pulse.Beat
		if err := n.Beat(ctx); err != nil {
			if ctx.Err() == nil {
				n.log.Warn("beat failed, again soon", "node", n.ID(), "error", err)
			}
			wait = n.pulse.Retry
		}
	}
}

// Beat confirms the node in the ledger, reads its clock, the cancel wishes
// for what runs here, and audits the claims. A node that finds itself
// declared dead cancels what it runs and registers anew.
func (n *Node) Beat(ctx context.Context) error {
	id, alive, err := n.confirmIn(ctx)
	if err != nil {
		return err
	}
	if !alive {
		return n.reborn(ctx)
	}
	// What follows reads instances, and may have to wait for a lock that
	// somebody holds on all of them. The next beat must not wait with it.
	ctx, cancel := context.WithTimeout(ctx, n.pulse.Beat)
	defer cancel()
	if err := n.follow(ctx, id); err != nil {
		return err
	}
	if err := n.ServeLanes(ctx); err != nil {
		return err
	}
	wishes, err := n.store.Wishes(ctx, id)
	if err != nil {
		return err
	}
	for _, instance := range wishes {
		n.CancelCall(instance)
	}
	return n.audit(ctx, id)
}

// confirmIn reads the ledger's clock and confirms the node's row; false when
// the row's life is over. What takes longer than a beat may be old has failed:
// another connection is tried.
func (n *Node) confirmIn(ctx context.Context) (id string, alive bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, n.pulse.Fresh())
	defer cancel()
	began := n.mono()
	reading, err := n.store.Now(ctx)
	if err != nil {
		return "", false, err
	}
	if jump := n.clock.Set(reading, false); jump.Abs() > ClockStop {
		n.log.Error("the ledger's clock jumped, planning waits for two steady beats", "jump", jump)
	}
	id = n.ID()
	alive, err = n.store.Beat(ctx, Beat{NodeID: id, Busy: n.Busy(), Offset: n.clock.Offset(), Now: reading, Gap: n.pulse.Fresh()})
	if err == nil && alive {
		n.confirm(began)
	}
	return id, alive, err
}

// reborn gives up everything that the old row held and begins a new one.
func (n *Node) reborn(ctx context.Context) error {
	n.mu.Lock()
	n.log.Error("this node was declared dead; canceling its calls and registering anew", "node", n.info.ID, "calls", len(n.claims))
	for _, c := range n.claims {
		c.end(errGone)
	}
	n.gone = true
	stopping := n.stopping
	n.mu.Unlock()
	if stopping {
		return nil
	}
	return n.Register(ctx)
}

// audit ends what the ledger says runs here but this process doesn't know, and
// what is past its deadline without an answer in hand (protocol.md, AUDIT).
func (n *Node) audit(ctx context.Context, id string) error {
	held, err := n.store.Holding(ctx, id)
	if err != nil {
		return err
	}
	now := n.clock.Now()
	return each(ctx, held, func(h Held) error {
		known, answered := n.knows(h.ClaimID)
		switch {
		case !known:
			n.log.Warn("a claim that no handler here knows is lost", "instance_id", h.InstanceID, "attempt", h.Attempt)
			return n.lose(ctx, h, now)
		case !answered && now.Sub(h.DeadlineAt) > OverdueAfter:
			n.log.Warn("an attempt is past its deadline without an answer", "instance_id", h.InstanceID, "attempt", h.Attempt)
			return n.store.EndOverdue(ctx, h, now)
		}
		return nil
	})
}

// each repairs row by row. A row that can't be changed must not keep the others
// from it; when the ledger is away, to go on would only wait for each of them.
func each[T any](ctx context.Context, rows []T, repair func(T) error) error {
	var errs []error
	for _, row := range rows {
		if err := repair(row); err != nil {
			errs = append(errs, err)
			if ctx.Err() != nil || fault.KindOf(err) == fault.KindUnavailable {
				break
			}
		}
	}
	return errors.Join(errs...)
}

func (n *Node) lose(ctx context.Context, h Held, now time.Time) error {
	m, again, err := n.store.Lose(ctx, h, now)
	if err != nil || !again {
		return err
	}
	n.send.Send(ctx, []Message{m}) // the sweep repairs what was not sent
	return nil
}

// fence waits until the last confirmed beat is fresh. An error
// means that this row's life is over, or ctx is done.
func (n *Node) fence(ctx context.Context, id string) error {
	for {
		n.mu.Lock()
		ours, fresh, beat := n.info.ID == id && !n.gone, n.mono().Sub(n.confirmed) <= n.pulse.Fresh(), n.beat
		n.mu.Unlock()
		switch {
		case !ours:
			return errGone
		case fresh:
			return nil
		}
		select {
		case <-beat:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Stopping tells whether the node takes no new work.
func (n *Node) Stopping() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stopping
}

// Stop takes no new work from now on.
func (n *Node) Stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stopping = true
}

// Close ends the row in order: the sweep then treats what still runs as a
// stopped node's. Calls still out are cut off.
func (n *Node) Close(ctx context.Context) error {
	n.mu.Lock()
	id := n.info.ID
	n.mu.Unlock()
	err := n.store.CloseNode(ctx, id, n.clock.Now())
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.claims {
		c.end(errStopped)
	}
	return err
}
