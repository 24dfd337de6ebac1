package sched

import "context"

// OnDrain says what stops the taking of work (true) and begins it again. It is
// to be called before the first beat.
func (n *Node) OnDrain(do func(on bool) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drain = do
}

// follow does what the ledger wishes of the node: to take no new work, or to
// take some again. What could not be done is tried again at the next beat.
func (n *Node) follow(ctx context.Context, id string) error {
	on, err := n.store.Draining(ctx, id)
	if err != nil {
		return err
	}
	n.mu.Lock()
	do, same := n.drain, n.info.Draining == on
	n.mu.Unlock()
	if same {
		return nil
	}
	if do != nil {
		if err := do(on); err != nil {
			n.log.Error("draining failed, again at the next beat", "node", id, "draining", on, "error", err)
			return nil
		}
	}
	n.log.Info("draining as somebody wished", "node", id, "draining", on)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.info.Draining = on
	return nil
}
