package sched

import "context"

// claim is the node's memory of one claim: it is put there before the
// transaction that makes it, so that the audit never takes it for unknown.
type claim struct {
	instance string
	cancel   context.CancelCauseFunc // nil until the call is out
	over     error                   // why the call is not to go out any more
	answered bool                    // a result is in hand, waiting for the ledger
}

// end cancels the call, or keeps it from going out.
func (c *claim) end(why error) {
	if c.over == nil {
		c.over = why
	}
	if c.cancel != nil {
		c.cancel(why)
	}
}

// Busy is how many claims the node holds.
func (n *Node) Busy() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.claims)
}

func (n *Node) remember(claimID, instance string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.claims[claimID] = &claim{instance: instance}
}

func (n *Node) forget(claimID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.claims, claimID)
}

func (n *Node) knows(claimID string) (known, answered bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, ok := n.claims[claimID]
	return ok, ok && c.answered
}

// calling notes how to cancel the call of a claim, and does so at once when its
// end came first.
func (n *Node) calling(claimID string, cancel context.CancelCauseFunc) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c, ok := n.claims[claimID]; ok {
		c.cancel = cancel
		if c.over != nil {
			cancel(c.over)
		}
	}
}

// answer notes that a result is in hand: the audit must not end the attempt.
func (n *Node) answer(claimID string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c, ok := n.claims[claimID]; ok {
		c.answered = true
	}
}

// CancelCall cancels the call of an instance that runs here, if any. It is
// called for wishes that the ledger holds; a hint alone decides nothing.
func (n *Node) CancelCall(instance string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.claims {
		if c.instance == instance {
			c.end(errWish)
		}
	}
}
