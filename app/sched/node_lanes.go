package sched

import (
	"context"
	"slices"
)

// OnLanes says what takes the lanes besides the plain queues that this node is
// to serve. It is to be called before the first beat.
func (n *Node) OnLanes(do func(ctx context.Context, lanes []Lane) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.serve = do
}

// ServeLanes reads which lanes tasks use, and serves those whose queue and
// labels are the node's. What could not be done is tried again at the next beat.
func (n *Node) ServeLanes(ctx context.Context) error {
	n.mu.Lock()
	do, info, last := n.serve, n.info, n.lanes
	n.mu.Unlock()
	if do == nil {
		return nil
	}
	all, err := n.store.Lanes(ctx)
	if err != nil {
		return err
	}
	mine := slices.DeleteFunc(all, func(l Lane) bool { return !slices.Contains(info.Queues, l.Queue) || !l.Labels.In(info.Labels) })
	if slices.Equal(mine, last) {
		return nil
	}
	if err := do(ctx, mine); err != nil {
		n.log.Error("serving other labels failed, again at the next beat", "node", info.ID, "lanes", mine, "error", err)
		return nil
	}
	n.log.Info("serving what tasks need labels for", "node", info.ID, "lanes", mine)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lanes = mine
	return nil
}

// labels of the node.
func (n *Node) labels() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.info.Labels
}
