package main

// Budget is how often each fault or wish may still happen.
type Budget struct {
	Crash, Suspect, Flush, Snap, Orphan, Unknown, Steal, Panic, Stop, Cancel, Replay, Over, Late uint8
}

// P is what is taken away from (or put back into) the repaired protocol. The
// zero value is the repaired protocol.
type P struct {
	// claim
	NoClaimPending, DispEqual, NoDueGuard, NoNodeAlive, SplitClaim bool
	ClaimBlind, BatchDup, SkipStarted, AwaitNotCounted             bool
	EarlyDrop, EarlyNoRecheck, LimitDrop, RequestSkipped           bool
	NoReadback, PlainReadback, KeepClaimID                         bool
	// execute
	NoSentMark, SentMarkBlind, SentKept                   bool
	MarkNoReread, MarkAssumed, MarkNoNull                 bool
	SendAfterDeadline                                     bool
	HandBackSameDispatch, HandBackSameAttempt             bool
	HandBackAfterSend                                     bool
	NoSettleState, NoSettleAttempt, NoSettleNode          bool
	RetryUnknown, TwoStepDeadLetter                       bool
	ReceiptOnlyAwaiting, ReceiptBlind, ReceiptThisAttempt bool
	ReceiptAnyAttempt                                     bool
	CancelAtOnce, CancelBlind, ReplayUnguarded            bool
	// sweep, audit
	MarkBlind, SweepBlind, LostBlind, TmoBlind, EnqueueBeforeBump   bool
	NoSweepQueued, NoSweepRunning, NoSweepAwaiting, DeadScannedOnce bool
	OldKeepsDispatch, SweepSameID                                   bool
	LostAlwaysRetried, LostIgnoresCancel, LostSameAttempt           bool
	TmoRetriesAll                                                   bool
	NoAudit, NoReregister                                           bool
	NoOver, OverSweep, OverBlind, OverIgnoresCancel, OverRetries    bool
	// the code's own way, where the page says otherwise
	RebornDrops      bool // a node declared dead drops its messages
	HandBackCancels  bool // what is handed back with a wish is canceled
	CancelsApart     bool // cancel_running: deferred first, canceled in a transaction of its own
	QueueBehindBegun bool // queue: a first attempt waits for what waits to be repeated, too
}

// Cfg is a configuration: how much there is of everything.
type Cfg struct {
	NI, NSlot, NW, NH, NS int
	Idem, Await           bool
	Allow                 bool // not idempotent, but retries are allowed
	Request               bool // the instances were asked for, they are no slots
	Have                  bool // answer and settle are two steps
	Early                 bool // a handler may wait for a row that is not due yet
	Limit                 uint8
	Policy                string // queue, skip, cancel_running
	MaxRet, MaxDeath      uint8
	Room                  int // messages of one instance at a time, 3 when 0
	B                     Budget
}

// one is one instance, two workers with one handler each, two schedulers.
func one(f func(*Cfg)) Cfg {
	c := Cfg{NI: 1, NSlot: 1, NW: 2, NH: 1, NS: 2, Idem: true, MaxRet: 1, MaxDeath: 2}
	f(&c)
	return c
}

// two is two instances of one task that may run one at a time.
func two(policy string, f func(*Cfg)) Cfg {
	c := Cfg{NI: 2, NSlot: 2, NW: 2, NH: 1, NS: 1, Idem: true, MaxDeath: 2, Limit: 1, Policy: policy, Room: 2}
	f(&c)
	return c
}

// Run is the model of runs under a configuration.
type Run struct {
	C   Cfg
	P   P
	Sym bool // workers are alike: fewer states, but traces are hard to read
}

// Init has every instance pending and due, and all nodes registered.
func (m *Run) Init() RS {
	var s RS
	for i := 0; i < m.C.NI; i++ {
		s.I[i] = Inst{St: Pending, Due: 1}
	}
	for w := 0; w < m.C.NW; w++ {
		s.W[w] = Worker{Up: 1, Node: uint8(w + 1)}
		s.Nodes[w+1] = 1
	}
	s.B = m.C.B
	return s
}
