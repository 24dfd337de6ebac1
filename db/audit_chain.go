package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"gorm.io/gorm"
)

// auditHead is the setting that holds the end of the chain. Its row is the
// lock of sealing, and it betrays seals that were cut off the end.
const auditHead = "audit.head"

// auditSettle is how long a transaction may hold an audit id before it
// commits. A row that turns up later, below ids sealed longer ago than this,
// was put there by another hand: it is never sealed, and reported.
const auditSettle = time.Hour

// maxProblems bounds the report of VerifyAudit.
const maxProblems = 100

const verifyBatch = 1000

// sealRow is a row of audit_seals.
type sealRow struct {
	Seq      int64
	AuditID  int64
	PrevHash string
	Hash     string
	SealedAt Millis
}

// TableName is read by GORM.
func (sealRow) TableName() string { return "audit_seals" }

// chainEnd is the value of the setting auditHead.
type chainEnd struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// sealOf is the hash over the row and all rows sealed before it.
func sealOf(seq int64, prev string, r auditRow) (string, error) {
	var team int64
	if r.TeamID != nil {
		team = *r.TeamID
	}
	content, err := json.Marshal([]any{
		seq, prev, r.ID, r.At.UnixMilli(), r.ActorKind, r.ActorID, r.ActorName, r.Address, r.Action,
		r.ObjectKind, r.ObjectID, r.ObjectName, team, string(r.Diff), r.Reason, r.RequestID,
	})
	if err != nil {
		return "", fmt.Errorf("hash audit row %d: %w", r.ID, err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}

// SealAudit puts up to limit audit rows, oldest first, at the end of the hash
// chain, and counts them. It runs apart from the changes, so that they don't
// wait for one another at the chain's end; until then (a maintenance job calls
// it each minute) a row is not yet protected. Several nodes may call it.
func (d *DB) SealAudit(ctx context.Context, now time.Time, limit int) (int, error) {
	if _, err := d.SetSettingIfAbsent(ctx, auditHead, "{}"); err != nil {
		return 0, err
	}
	sealed := 0
	err := d.tx(ctx, "seal the audit", func(tx *gorm.DB) error {
		end, err := takeChainEnd(tx, d.dialect.forUpdate)
		if err != nil {
			return err
		}
		rows, err := unsealed(tx, now, limit)
		if err != nil {
			return err
		}
		sealed = len(rows)
		return appendSeals(tx, end, rows, now)
	})
	if err != nil {
		return 0, err
	}
	return sealed, nil
}

func appendSeals(tx *gorm.DB, end chainEnd, rows []auditRow, now time.Time) error {
	if len(rows) == 0 {
		return nil
	}
	seals := make([]sealRow, len(rows))
	for i, r := range rows {
		hash, err := sealOf(end.Seq+1, end.Hash, r)
		if err != nil {
			return err
		}
		seals[i] = sealRow{Seq: end.Seq + 1, AuditID: r.ID, PrevHash: end.Hash, Hash: hash, SealedAt: at(now)}
		end = chainEnd{Seq: end.Seq + 1, Hash: hash}
	}
	if err := tx.CreateInBatches(&seals, 500).Error; err != nil {
		return err
	}
	value, err := json.Marshal(end)
	if err != nil {
		return err
	}
	return tx.Exec("UPDATE settings SET value=? WHERE name=?", string(value), auditHead).Error
}

// unsealed gives the rows to seal next, by id. Rows below what was sealed
// auditSettle ago are settled: it doesn't look there.
func unsealed(tx *gorm.DB, now time.Time, limit int) ([]auditRow, error) {
	from, err := settledID(tx, now)
	if err != nil {
		return nil, err
	}
	var rows []auditRow
	err = tx.Raw("SELECT a.* FROM audit_log a LEFT JOIN audit_seals s ON s.audit_id=a.id"+
		" WHERE a.id>? AND s.audit_id IS NULL ORDER BY a.id LIMIT ?", from, limit).Scan(&rows).Error
	return rows, err
}

// settledID is the audit id below which nothing new may turn up.
func settledID(tx *gorm.DB, now time.Time) (int64, error) {
	var ids []int64
	err := tx.Raw("SELECT audit_id FROM audit_seals WHERE sealed_at<? ORDER BY seq DESC LIMIT 1", at(now.Add(-auditSettle))).Scan(&ids).Error
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

func takeChainEnd(tx *gorm.DB, lock string) (chainEnd, error) {
	var end chainEnd
	value, ok, err := takeSetting(tx, lock, auditHead)
	if err != nil || !ok {
		return end, err
	}
	if err := json.Unmarshal([]byte(value), &end); err != nil {
		return end, fmt.Errorf("read the end of the audit chain: %w", err)
	}
	return end, nil
}

// VerifyAudit walks the chain and names each row that was changed, removed or
// added by another hand, at most 100 of them; none means the audit is as it
// was written. What isn't sealed yet can't be judged. now is for the age of
// rows that should have been sealed.
func (d *DB) VerifyAudit(ctx context.Context, now time.Time) ([]string, error) {
	v := auditVerifier{tx: d.view(ctx)}
	end, err := takeChainEnd(v.tx, "") // read first: what is sealed meanwhile comes after it
	if err == nil {
		err = v.walk(end)
	}
	if err == nil {
		err = v.strangers(now)
	}
	if err != nil {
		return nil, fmt.Errorf("verify the audit: %w", away(err))
	}
	return v.problems, nil
}

// auditVerifier follows the chain from its first seal.
type auditVerifier struct {
	tx       *gorm.DB
	at       chainEnd
	problems []string
}

func (v *auditVerifier) bad(format string, args ...any) {
	if len(v.problems) < maxProblems {
		v.problems = append(v.problems, fmt.Sprintf(format, args...))
	}
}

func (v *auditVerifier) walk(end chainEnd) error {
	for {
		var seals []sealRow
		err := v.tx.Raw("SELECT * FROM audit_seals WHERE seq>? AND seq<=? ORDER BY seq LIMIT ?", v.at.Seq, end.Seq, verifyBatch).Scan(&seals).Error
		if err != nil {
			return err
		}
		if len(seals) == 0 {
			break
		}
		rows, err := v.rows(seals)
		if err != nil {
			return err
		}
		for _, s := range seals {
			if err := v.step(s, rows[s.AuditID]); err != nil {
				return err
			}
		}
	}
	if v.at != end {
		v.bad("the chain ends at seal %d, but seal %d was made", v.at.Seq, end.Seq)
	}
	return v.beyond(end)
}

// rows gives the audit rows of the seals by id.
func (v *auditVerifier) rows(seals []sealRow) (map[int64]auditRow, error) {
	ids := make([]int64, len(seals))
	for i, s := range seals {
		ids[i] = s.AuditID
	}
	var rows []auditRow
	if err := v.tx.Raw("SELECT * FROM audit_log WHERE id IN ?", ids).Scan(&rows).Error; err != nil {
		return nil, err
	}
	out := make(map[int64]auditRow, len(rows))
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, nil
}

// step judges one seal and its row, and goes on from what the seal says, so
// that one bad row is one problem.
func (v *auditVerifier) step(s sealRow, r auditRow) error {
	if s.Seq != v.at.Seq+1 {
		v.bad("seals %d to %d are missing", v.at.Seq+1, s.Seq-1)
	} else if s.PrevHash != v.at.Hash {
		v.bad("seal %d does not follow seal %d", s.Seq, v.at.Seq)
	}
	v.at = chainEnd{Seq: s.Seq, Hash: s.Hash}
	if r.ID == 0 {
		v.bad("audit row %d (seal %d) was removed", s.AuditID, s.Seq)
		return nil
	}
	hash, err := sealOf(s.Seq, s.PrevHash, r)
	if err != nil {
		return err
	}
	if hash != s.Hash {
		v.bad("audit row %d (seal %d) was changed", s.AuditID, s.Seq)
	}
	return nil
}

// beyond finds seals that were put behind the end. Sealing goes on beside the
// verifier, so only what is beyond the present end counts.
func (v *auditVerifier) beyond(end chainEnd) error {
	var seqs []int64
	if err := v.tx.Raw("SELECT seq FROM audit_seals WHERE seq>? ORDER BY seq LIMIT ?", end.Seq, maxProblems).Scan(&seqs).Error; err != nil {
		return err
	}
	if len(seqs) == 0 {
		return nil
	}
	later, err := takeChainEnd(v.tx, "")
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		if seq > later.Seq {
			v.bad("seal %d is beyond the end of the chain", seq)
		}
	}
	return nil
}

// strangers finds rows that turned up where everything was sealed.
func (v *auditVerifier) strangers(now time.Time) error {
	from, err := settledID(v.tx, now)
	if err != nil {
		return err
	}
	var ids []int64
	err = v.tx.Raw("SELECT a.id FROM audit_log a LEFT JOIN audit_seals s ON s.audit_id=a.id"+
		" WHERE a.id<=? AND s.audit_id IS NULL ORDER BY a.id LIMIT ?", from, maxProblems).Scan(&ids).Error
	for _, id := range ids {
		v.bad("audit row %d was added later", id)
	}
	return err
}
