package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

const (
	// maxGroup is how many requests share a transaction at most: more would hold
	// its locks for long, and one CASE compares each row with all of them.
	maxGroup = 256
	// patience is how long a request waits until another writer helps the one
	// at work, which may be waiting for a lock; a full batch is helped at once.
	// Writers that begin at once share less: their transactions cost a quarter
	// more per request.
	patience = 50 * time.Millisecond
)

// group lets concurrent callers share transactions. A writer takes all that
// waits at once; what comes while it is busy gathers for the next transaction,
// so that one carries more the more is asked for, and a lone request waits for
// nobody.
type group[Q, A any] struct {
	// run carries out a batch in one transaction: one answer for each request,
	// in their order. An error means that nothing of the batch stands, or, if it
	// is ErrCommitUnknown, that nobody knows. It may be called again with the
	// same requests.
	run func(ctx context.Context, batch []Q) ([]answer[A], error)
	// key names what a request is about: no batch holds a key twice. Nil: any
	// requests go together.
	key     func(Q) string
	writers int // at most so many transactions at once

	mu      sync.Mutex
	waiting []*call[Q, A]
	busy    int // writers at work
	closed  bool
	atWork  sync.WaitGroup
}

// answer is what becomes of one request: a value, or an error that is its own.
type answer[A any] struct {
	value A
	err   error
}

// call is a request on its way.
type call[Q, A any] struct {
	request Q
	done    chan answer[A] // holds one: its caller may have left
}

// panicked is a panic on its way from the writer to the caller.
type panicked struct {
	value any
	stack []byte
}

// Error implements error.
func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// do puts a request and waits for its answer. When ctx ends first, a request
// that no writer has taken is withdrawn; of one that a writer has, the end is
// unknown: ErrCommitUnknown. A panic while it was carried out alone goes on in
// its caller.
func (g *group[Q, A]) do(ctx context.Context, request Q) (A, error) {
	var none A
	if err := ctx.Err(); err != nil {
		return none, err
	}
	c := &call[Q, A]{request: request, done: make(chan answer[A], 1)}
	if !g.put(c) {
		return none, fmt.Errorf("%w: the ledger was closed", ErrAway)
	}
	a := g.await(ctx, c)
	if p, ok := errors.AsType[*panicked](a.err); ok {
		panic(p)
	}
	return a.value, a.err
}

func (g *group[Q, A]) await(ctx context.Context, c *call[Q, A]) answer[A] {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case a := <-c.done:
			return a
		case <-late.C:
			g.help()
		case <-ctx.Done():
			if g.withdraw(c) {
				return answer[A]{err: ctx.Err()}
			}
			select {
			case a := <-c.done:
				return a
			default:
				return answer[A]{err: fmt.Errorf("%w: %w", ErrCommitUnknown, ctx.Err())}
			}
		}
	}
}

func (g *group[Q, A]) put(c *call[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return false
	}
	g.waiting = append(g.waiting, c)
	if g.busy == 0 || len(g.waiting) >= maxGroup {
		g.start()
	}
	return true
}

// help starts another writer when something still waits for one.
func (g *group[Q, A]) help() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) > 0 {
		g.start()
	}
}

// start adds a writer if there may be one more; g.mu is held.
func (g *group[Q, A]) start() {
	if g.busy < g.writers {
		g.busy++
		g.atWork.Go(g.work)
	}
}

func (g *group[Q, A]) withdraw(c *call[Q, A]) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.waiting, c)
	if i >= 0 {
		g.waiting = slices.Delete(g.waiting, i, i+1)
	}
	return i >= 0
}

// work is a writer: it ends when nothing waits.
func (g *group[Q, A]) work() {
	for {
		batch := g.take()
		if len(batch) == 0 {
			return
		}
		g.carry(batch)
	}
}

// take gives the next batch; none means that the writer has signed off.
func (g *group[Q, A]) take() []*call[Q, A] {
	g.mu.Lock()
	defer g.mu.Unlock()
	var batch, rest []*call[Q, A]
	seen := map[string]bool{}
	for _, c := range g.waiting {
		if g.key != nil {
			key := g.key(c.request)
			if seen[key] || len(batch) == maxGroup {
				rest = append(rest, c)
				continue
			}
			seen[key] = true
		} else if len(batch) == maxGroup {
			rest = append(rest, c)
			continue
		}
		batch = append(batch, c)
	}
	g.waiting = rest
	if len(batch) == 0 {
		g.busy--
	}
	return batch
}

// carry answers every call of a batch. When the transaction failed for a
// reason of one of them, each is carried out alone, so that only this one
// fails; a ledger that is away, or a commit that nobody confirmed, is told to
// all.
func (g *group[Q, A]) carry(batch []*call[Q, A]) {
	answers, err := g.attempt(batch)
	switch {
	case err == nil:
		for i, c := range batch {
			c.done <- answers[i]
		}
	case len(batch) == 1, errors.Is(err, ErrAway), errors.Is(err, ErrCommitUnknown):
		for _, c := range batch {
			c.done <- answer[A]{err: err}
		}
	default:
		for i := range batch {
			g.carry(batch[i : i+1])
		}
	}
}

// attempt runs a batch once. Its context is nobody's: the callers may leave.
func (g *group[Q, A]) attempt(batch []*call[Q, A]) (answers []answer[A], err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicked{p, debug.Stack()}
		}
	}()
	requests := make([]Q, len(batch))
	for i, c := range batch {
		requests[i] = c.request
	}
	answers, err = g.run(context.Background(), requests)
	if err == nil && len(answers) != len(batch) {
		err = fmt.Errorf("%d requests got %d answers", len(batch), len(answers))
	}
	return answers, err
}

// close refuses new requests and those that no writer has taken, and waits for
// what the writers have.
func (g *group[Q, A]) close() {
	g.mu.Lock()
	g.closed = true
	waiting := g.waiting
	g.waiting = nil
	g.mu.Unlock()
	for _, c := range waiting {
		c.done <- answer[A]{err: fmt.Errorf("%w: the ledger was closed", ErrAway)}
	}
	g.atWork.Wait()
}
