package main

import (
	"fmt"
	"slices"
)

// check is a query over the evidence that must give no row, and a fault that,
// planted into clean evidence, turns exactly this check red.
type check struct {
	name  string // of faults.md 2.4, where it has one
	says  string
	sql   string // id, detail
	plant string
}

// violation is a row that a check found.
type violation struct {
	check, says, object, detail string
}

func (v violation) String() string {
	return fmt.Sprintf("%s %s: %s (%s)", v.check, v.says, v.object, v.detail)
}

// judge runs every check on the evidence; at most ten violations of each.
func (e *evidence) judge() ([]violation, error) {
	var out []violation
	for _, c := range checks() {
		rows, err := e.Query("SELECT id, detail FROM (" + c.sql + ") LIMIT 10")
		if err != nil {
			return nil, fmt.Errorf("check %s: %w", c.name, err)
		}
		for rows.Next() {
			var id, detail any
			if err := rows.Scan(&id, &detail); err != nil {
				return nil, fmt.Errorf("check %s: %w", c.name, err)
			}
			out = append(out, violation{c.name, c.says, fmt.Sprint(id), fmt.Sprint(detail)})
		}
		if err := rows.Err(); err != nil {
			return nil, fmt.Errorf("check %s: %w", c.name, err)
		}
		rows.Close()
	}
	return out, nil
}

// Lists of states, and the moves of protocol.md section 3 as they stand there:
// written by hand, so that a wrong table in ax can't excuse itself.
const (
	finals  = "('succeeded','failed','timed_out','lost','skipped','canceled')"
	bad     = "('failed','timed_out','lost')"
	allowed = `('>pending','>skipped','pending>queued','pending>running','queued>running','retrying>running','pending>skipped','queued>skipped',
		'pending>canceled','queued>canceled','retrying>canceled','awaiting>canceled','running>canceled','running>succeeded','running>awaiting',
		'running>retrying','running>failed','running>timed_out','running>queued','running>lost','running>pending','awaiting>retrying',
		'awaiting>timed_out','awaiting>succeeded','awaiting>failed','pending>succeeded','queued>succeeded','retrying>succeeded')`
)

func checks() []check {
	return slices.Concat(slotChecks(), stateChecks(), attemptChecks(), worldChecks(), alertChecks())
}

func slotChecks() []check {
	return []check{
		{"I1", "a slot has more than one instance",
			`SELECT task_id AS id, biz_id||' × '||COUNT(*) AS detail FROM instances WHERE replay=0 GROUP BY task_id, biz_id HAVING COUNT(*)>1`,
			`UPDATE instances SET biz_id=(SELECT MIN(biz_id) FROM instances o WHERE o.task_id=instances.task_id AND o.state='skipped') WHERE id=(SELECT id FROM instances i WHERE origin='schedule' AND state='skipped' AND EXISTS (SELECT 1 FROM instances o WHERE o.task_id=i.task_id AND o.state='skipped' AND o.biz_id<i.biz_id) LIMIT 1)`},
		{"I2", "a slot is neither an instance nor in a missed range",
			`SELECT e.task_id AS id, e.slot_at AS detail FROM expected e WHERE NOT EXISTS (SELECT 1 FROM instances i WHERE i.task_id=e.task_id AND i.slot_at=e.slot_at)
			 AND NOT EXISTS (SELECT 1 FROM missed_ranges m WHERE m.task_id=e.task_id AND e.slot_at BETWEEN m.from_slot AND m.to_slot)`,
			`INSERT INTO expected SELECT task_id, slot_at-86400000 FROM expected LIMIT 1`},
		{"I2b", "the count of a missed range is not that of its slots",
			`SELECT m.id AS id, m.slots||' of '||((m.to_slot-m.from_slot)/s.every_ms+1) AS detail FROM missed_ranges m JOIN spans s ON s.task_id=m.task_id
			 WHERE m.slots<>(m.to_slot-m.from_slot)/s.every_ms+1`,
			`INSERT INTO missed_ranges (id, task_id, from_slot, to_slot, slots) SELECT 99999, task_id, 0, every_ms, 3 FROM spans LIMIT 1`},
		{"I3", "a slot was invented",
			`SELECT i.id AS id, i.slot_at AS detail FROM instances i LEFT JOIN spans s ON s.task_id=i.task_id WHERE i.origin='schedule'
			 AND (s.task_id IS NULL OR i.slot_at%s.every_ms<>0 OR i.slot_at NOT BETWEEN s.from_ms AND s.to_ms)`,
			`UPDATE instances SET slot_at=slot_at-86400000 WHERE id=(SELECT i.id FROM instances i LEFT JOIN expected e ON e.task_id=i.task_id AND e.slot_at=i.slot_at WHERE i.origin='schedule' AND e.task_id IS NULL LIMIT 1)`},
		{"I4", "an accepted request is not in the ledger exactly once",
			`SELECT a.biz_id AS id, COUNT(i.id) AS detail FROM (SELECT DISTINCT task_id, biz_id FROM accepted) a
			 LEFT JOIN instances i ON i.task_id=a.task_id AND i.biz_id=a.biz_id AND i.replay=0 GROUP BY a.task_id, a.biz_id HAVING COUNT(i.id)<>1`,
			`INSERT INTO accepted SELECT task_id, 'never-stored', instance_id, at, 0 FROM accepted LIMIT 1`},
		{"I4b", "the answer named another instance",
			`SELECT a.biz_id AS id, a.instance_id AS detail FROM accepted a JOIN instances i ON i.task_id=a.task_id AND i.biz_id=a.biz_id AND i.replay=0 WHERE a.instance_id<>i.id`,
			`UPDATE accepted SET instance_id='another' WHERE rowid=(SELECT MIN(rowid) FROM accepted)`},
	}
}

func stateChecks() []check {
	return []check{
		{"I5", "a final state was left",
			`SELECT instance_id AS id, from_state||'>'||to_state AS detail FROM bench_moves WHERE from_state IN ` + finals,
			`INSERT INTO bench_moves SELECT id+1000000, instance_id, 'skipped', 'skipped', attempt, node_id, due_at, at FROM bench_moves WHERE to_state='skipped' LIMIT 1;
			 DELETE FROM bench_moves WHERE to_state='skipped' AND from_state<>'skipped' AND instance_id=(SELECT instance_id FROM bench_moves WHERE id>1000000);
			 UPDATE bench_moves SET to_state='skipped' WHERE id=(SELECT MAX(id) FROM bench_moves b WHERE b.id<1000000 AND b.instance_id=(SELECT instance_id FROM bench_moves WHERE id>1000000))`},
		{"I5b", "an ended instance has not exactly one final move, or another one than its row",
			`SELECT i.id AS id, i.state||', '||COUNT(m.id)||' final' AS detail FROM instances i LEFT JOIN bench_moves m ON m.instance_id=i.id AND m.to_state IN ` + finals + `
			 AND m.from_state NOT IN ` + finals + ` WHERE i.state IN ` + finals + ` GROUP BY i.id HAVING COUNT(m.id)<>1 OR MAX(m.to_state)<>i.state`,
			`UPDATE instances SET state='canceled' WHERE id=(SELECT id FROM instances WHERE state='skipped' LIMIT 1)`},
		{"I6", "a move that the protocol does not have",
			`SELECT instance_id AS id, from_state||'>'||to_state AS detail FROM bench_moves WHERE from_state NOT IN ` + finals + ` AND from_state||'>'||to_state NOT IN ` + allowed,
			`UPDATE bench_moves SET to_state='retrying' WHERE id=(SELECT MIN(id) FROM bench_moves WHERE to_state='queued' AND from_state='pending' AND instance_id NOT IN (SELECT instance_id FROM bench_moves WHERE from_state='queued' AND to_state<>'running'));
			 UPDATE bench_moves SET from_state='retrying' WHERE id=(SELECT MIN(id) FROM bench_moves m WHERE from_state='queued' AND to_state='running' AND EXISTS (SELECT 1 FROM bench_moves b WHERE b.instance_id=m.instance_id AND b.to_state='retrying' AND b.from_state='pending'))`},
		{"I6b", "the history of an instance has a gap",
			`SELECT instance_id AS id, prev||' then '||from_state AS detail FROM (SELECT instance_id, from_state, LAG(to_state) OVER (PARTITION BY instance_id ORDER BY id) AS prev FROM bench_moves)
			 WHERE COALESCE(prev,'')<>from_state`,
			`DELETE FROM bench_moves WHERE id=(SELECT MIN(id) FROM bench_moves WHERE from_state='pending' AND to_state='queued')`},
		{"I7", "an instance is stuck",
			`SELECT id, state AS detail FROM instances WHERE state NOT IN ` + finals,
			`INSERT INTO instances (id, task_id, biz_id, replay, origin, state, retries, deaths, attempt) VALUES ('stuck', 0, 'stuck', 0, 'api', 'queued', 0, 0, 0)`},
		{"I12", "a bad end has no dead letter, or a letter no bad end",
			`SELECT i.id AS id, i.state AS detail FROM instances i WHERE i.state IN ` + bad + ` AND NOT EXISTS (SELECT 1 FROM dead_letters l WHERE l.task_id=i.task_id AND l.biz_id=i.biz_id)
			 UNION ALL SELECT l.id, l.instance_id FROM dead_letters l LEFT JOIN instances i ON i.id=l.instance_id WHERE i.id IS NULL OR i.state NOT IN ` + bad,
			`DELETE FROM dead_letters WHERE id=(SELECT MIN(id) FROM dead_letters)`},
		{"I13", "two replays of one business action were open together, or one has no origin",
			`SELECT i.id AS id, 'replay '||i.replay AS detail FROM instances i JOIN instances p ON p.task_id=i.task_id AND p.biz_id=i.biz_id AND p.replay=i.replay-1
			 JOIN bench_moves born ON born.instance_id=i.id AND born.from_state='' LEFT JOIN bench_moves ended ON ended.instance_id=p.id AND ended.to_state IN ` + finals + ` AND ended.from_state NOT IN ` + finals + `
			 WHERE i.replay>0 AND (ended.id IS NULL OR ended.id>born.id)
			 UNION ALL SELECT i.id, 'no replay '||(i.replay-1) FROM instances i WHERE i.replay>0 AND NOT EXISTS (SELECT 1 FROM instances p WHERE p.task_id=i.task_id AND p.biz_id=i.biz_id AND p.replay=i.replay-1)`,
			`UPDATE instances SET replay=replay+1 WHERE id=(SELECT id FROM instances WHERE replay>0 ORDER BY replay DESC LIMIT 1)`},
	}
}
