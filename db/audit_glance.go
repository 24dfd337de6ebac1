package db

import (
	"context"
	"fmt"
	"slices"

	"ax/app/access"
)

// glance is how many of the last seals AuditChain looks at.
const glance = 50

// AuditChain looks at the end of the chain: how far it goes, whether its last
// links and their rows are as they were written, and what waits for a seal.
// It costs the same however long the audit is; VerifyAudit walks all of it.
func (d *DB) AuditChain(ctx context.Context) (access.Chain, error) {
	c, err := d.glanceAtChain(ctx)
	if err != nil {
		return access.Chain{}, fmt.Errorf("look at the end of the audit chain: %w", away(err))
	}
	return c, nil
}

func (d *DB) glanceAtChain(ctx context.Context) (access.Chain, error) {
	v := auditVerifier{tx: d.view(ctx)}
	end, err := takeChainEnd(v.tx, "") // read first: what is sealed meanwhile comes after it
	if err != nil {
		return access.Chain{}, err
	}
	var seals []sealRow
	if err := v.tx.Raw("SELECT * FROM audit_seals WHERE seq<=? ORDER BY seq DESC LIMIT ?", end.Seq, glance).Scan(&seals).Error; err != nil {
		return access.Chain{}, err
	}
	slices.Reverse(seals)
	c := access.Chain{Seals: end.Seq, Hash: end.Hash, Looked: len(seals)}
	var last int64
	if n := len(seals); n > 0 {
		rows, err := v.rows(seals)
		if err != nil {
			return c, err
		}
		v.at = chainEnd{Seq: seals[0].Seq - 1, Hash: seals[0].PrevHash}
		for _, s := range seals {
			last = max(last, s.AuditID)
			if err := v.step(s, rows[s.AuditID]); err != nil {
				return c, err
			}
		}
		c.SealedAt = seals[n-1].SealedAt.Time
	}
	if v.at != end {
		v.bad("the chain ends at seal %d, but seal %d was made", v.at.Seq, end.Seq)
	}
	if err := v.beyond(end); err != nil {
		return c, err
	}
	c.Problems = v.problems
	err = v.tx.Raw("SELECT COUNT(*) FROM (SELECT id FROM audit_log WHERE id>? LIMIT ?) w", last, access.MaxWaiting).Scan(&c.Waiting).Error
	return c, err
}
