package db

import (
	"errors"

	"ax/app/fail"
	"ax/app/sched"
)

// errMoved: rows changed although they were locked when they were read. The
// transaction must not stand.
var errMoved = errors.New("rows changed under their lock")

// write stores what was decided: takes, deferrals, skips and moves each by few
// statements, whatever their number.
func (b *claimBatch) write() error {
	by := map[sched.ClaimKind][]*claiming{}
	for _, c := range b.open() {
		kind := c.got.Verdict.Kind
		by[kind] = append(by[kind], c)
	}
	takes := by[sched.ClaimTake]
	for _, same := range alike(takes, func(c *claiming) int { return c.got.Instance.Attempt }) {
		if err := b.storeTakes(same); err != nil {
			return err
		}
	}
	if len(takes) > 0 {
		if err := fail.At("claim.taken"); err != nil {
			return err
		}
	}
	if err := openAttempts(b.tx, takes); err != nil {
		return err
	}
	if err := b.storeDefers(by[sched.ClaimDefer]); err != nil {
		return err
	}
	if err := b.storeSkips(by[sched.ClaimSkip]); err != nil {
		return err
	}
	if err := b.storeMoves(by[sched.ClaimMove]); err != nil {
		return err
	}
	if err := b.storeAsks(by[sched.ClaimAsk]); err != nil {
		return err
	}
	return b.noteRefused(by[sched.ClaimDrop])
}

func (b *claimBatch) update(claims []*claiming) *manyRows {
	return updateOf("id", claims, func(c *claiming) string { return c.request.InstanceID })
}

// storeTakes writes rows that begin an attempt of the same number.
func (b *claimBatch) storeTakes(claims []*claiming) error {
	in := func(i int) sched.Instance { return claims[i].got.Instance }
	u := b.update(claims)
	u.all("state='running', attempt=?, sent_at=NULL, look_at=NULL, resends=0, defers=0", in(0).Attempt)
	u.each("node_id", func(i int) any { return in(i).NodeID })
	u.each("claim_id", func(i int) any { return in(i).ClaimID })
	u.each("deadline_at", func(i int) any { return at(in(i).DeadlineAt) })
	u.each("started_at", func(i int) any { return at(in(i).StartedAt) })
	n, err := u.exec(b.tx, b.d.dialect.forcePrimary("instances"), "state IN ? AND attempt=?", claimableStates, in(0).Attempt-1)
	if err == nil && int(n) != len(claims) {
		err = errMoved
	}
	return err
}

// storeDefers makes rows due later; their messages go back with the same
// delay. The count stops short of what its column holds.
func (b *claimBatch) storeDefers(claims []*claiming) error {
	if len(claims) == 0 {
		return nil
	}
	u := b.update(claims)
	u.each("due_at", func(i int) any { return at(claims[i].got.Verdict.Due) })
	u.each("look_at", func(i int) any { return at(claims[i].got.Verdict.Due.Add(sched.LookAgain)) })
	u.all("defers=CASE WHEN defers<30000 THEN defers+1 ELSE defers END")
	_, err := u.exec(b.tx, b.d.dialect.forcePrimary("instances"), "state IN ?", claimableStates)
	return err
}

// storeAsks keeps the sweep away from rows while their hooks are asked.
func (b *claimBatch) storeAsks(claims []*claiming) error {
	if len(claims) == 0 {
		return nil
	}
	u := b.update(claims)
	u.each("look_at", func(i int) any { return at(claims[i].got.Verdict.Due.Add(sched.LookAgain)) })
	_, err := u.exec(b.tx, b.d.dialect.forcePrimary("instances"), "state IN ? AND attempt=0", claimableStates)
	return err
}

func (b *claimBatch) storeSkips(claims []*claiming) error {
	if len(claims) == 0 {
		return nil
	}
	u := b.update(claims)
	u.all("state='skipped', look_at=NULL")
	u.each("reason", func(i int) any { return clip(claims[i].got.Verdict.Reason, 500) })
	u.each("finished_at", func(i int) any { return at(claims[i].request.Now) })
	n, err := u.exec(b.tx, b.d.dialect.forcePrimary("instances"), "state IN ? AND attempt=0", claimableStates)
	if err == nil && int(n) != len(claims) {
		err = errMoved
	}
	return err
}

// storeMoves makes rows be sent anew along the lanes of their tasks: what is
// handed over by the sweep, at once, what isn't by the dispatcher. Their messages
// are dropped.
func (b *claimBatch) storeMoves(claims []*claiming) error {
	if len(claims) == 0 {
		return nil
	}
	u := b.update(claims)
	u.all("dispatch=CASE WHEN state='pending' THEN dispatch+1 ELSE dispatch END")
	u.each("look_at", func(i int) any {
		if claims[i].got.State == sched.Pending {
			return Millis{}
		}
		return at(claims[i].request.Now)
	})
	_, err := u.exec(b.tx, b.d.dialect.forcePrimary("instances"), "state IN ?", claimableStates)
	return err
}

// noteRefused records that a message came for what runs already.
func (b *claimBatch) noteRefused(claims []*claiming) error {
	for _, c := range claims {
		if c.got.State != sched.Running {
			continue
		}
		r := c.request
		err := addEvent(b.tx, sched.InstanceEvent{InstanceID: r.InstanceID, At: r.Now, Kind: sched.EvRefusedClaim, NodeID: r.NodeID})
		if err != nil {
			return err
		}
	}
	return nil
}
