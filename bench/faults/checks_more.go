package main

func attemptChecks() []check {
	return []check{
		{"I8", "attempts are not numbered 1 to n, or more than allowed",
			`SELECT instance_id AS id, COUNT(*)||' attempts, '||MIN(no)||' to '||MAX(no) AS detail FROM attempts GROUP BY instance_id HAVING MIN(no)<>1 OR MAX(no)<>COUNT(*)
			 UNION ALL SELECT i.id, i.retries||' retries, '||i.deaths||' deaths' FROM instances i JOIN works w ON w.task_id=i.task_id WHERE i.retries>w.retries OR i.deaths>3`,
			`UPDATE instances SET retries=99 WHERE id=(SELECT id FROM instances WHERE state='succeeded' LIMIT 1)`},
		{"I8b", "work that must not be repeated reached the target twice",
			`SELECT c.instance_id AS id, COUNT(*)||' calls' AS detail FROM calls c JOIN instances i ON i.id=c.instance_id JOIN works w ON w.task_id=i.task_id WHERE w.idempotent=0
			 GROUP BY c.instance_id HAVING COUNT(*)>1`,
			`UPDATE works SET idempotent=0 WHERE code='flaky'`},
		{"I8c", "a retry came before its delay was over",
			`SELECT b.instance_id AS id, 'attempt '||b.no||' after '||(b.started_at-a.ended_at)||' ms' AS detail FROM attempts b JOIN attempts a ON a.instance_id=b.instance_id AND a.no=b.no-1
			 JOIN works w ON w.task_id=b.task_id WHERE a.outcome IN ('failed','timed_out') AND b.started_at<a.ended_at+w.delay_ms`,
			`UPDATE attempts SET started_at=started_at-5000 WHERE rowid=(SELECT MIN(b.rowid) FROM attempts b JOIN attempts a ON a.instance_id=b.instance_id AND a.no=b.no-1 WHERE b.no=2 AND a.outcome='failed')`},
		{"I9", "the end does not come from the last attempt",
			`SELECT m.instance_id AS id, 'attempt '||m.attempt||' of '||a.last AS detail FROM bench_moves m JOIN (SELECT instance_id, MAX(no) AS last FROM attempts GROUP BY instance_id) a ON a.instance_id=m.instance_id
			 WHERE m.to_state IN ('succeeded','failed','timed_out','lost') AND m.attempt<>a.last`,
			`UPDATE bench_moves SET attempt=attempt+1 WHERE id=(SELECT MIN(id) FROM bench_moves WHERE to_state='succeeded')`},
		{"I9b", "an attempt was begun twice, or one was left out",
			`SELECT instance_id AS id, 'attempt '||attempt||' after '||prev AS detail FROM (SELECT instance_id, attempt, COALESCE(LAG(attempt) OVER (PARTITION BY instance_id ORDER BY id),0) AS prev FROM bench_moves WHERE to_state='running')
			 WHERE attempt<>prev+1`,
			`UPDATE bench_moves SET attempt=attempt+1 WHERE id=(SELECT MIN(id) FROM bench_moves WHERE to_state='running')`},
		{"I10", "more ran at once than the task allows, by the ledger",
			`SELECT task_id AS id, n||' at '||at AS detail FROM (SELECT i.task_id, w.most, m.at,
			 SUM(CASE WHEN m.to_state IN ('running','awaiting') THEN 1 ELSE 0 END-CASE WHEN m.from_state IN ('running','awaiting') THEN 1 ELSE 0 END)
			 OVER (PARTITION BY i.task_id ORDER BY m.at, CASE WHEN m.to_state='running' THEN 1 ELSE 0 END, m.id) AS n
			 FROM bench_moves m JOIN instances i ON i.id=m.instance_id JOIN works w ON w.task_id=i.task_id WHERE w.most>0) WHERE n>most`,
			`UPDATE bench_moves SET at='9999' WHERE id=(SELECT MIN(m.id) FROM bench_moves m JOIN instances i ON i.id=m.instance_id JOIN works w ON w.task_id=i.task_id WHERE w.code='skip' AND m.from_state='running')`},
		// Two nodes may differ by clockSlack.
		{"I18", "times that can't be",
			`SELECT id, started_at||' to '||finished_at AS detail FROM instances WHERE finished_at<started_at-1000 OR started_at<created_at-2500 OR started_at<wanted_at`,
			`UPDATE instances SET finished_at=started_at-2000 WHERE id=(SELECT id FROM instances WHERE state='succeeded' LIMIT 1)`},
	}
}

// worldChecks compare the ledger with what others saw.
func worldChecks() []check {
	return []check{
		{"I14", "a change that was confirmed has not exactly one audit row",
			`SELECT c.request_id AS id, c.action||' '||c.object||': '||COUNT(l.id)||' rows' AS detail FROM actions c LEFT JOIN audit_log l ON l.request_id=c.request_id AND l.action=c.action
			 GROUP BY c.request_id, c.action HAVING COUNT(l.id)<>1`,
			`INSERT INTO actions VALUES ('nobody', 'task.trigger', 'x', 0)`},
		{"I14b", "more changes are in the audit than were asked for",
			`SELECT l.id AS id, l.action||' '||l.request_id AS detail FROM audit_log l LEFT JOIN actions c ON c.request_id=l.request_id WHERE l.actor_kind='token' AND c.request_id IS NULL
			 AND (SELECT COUNT(*) FROM audit_log l2 LEFT JOIN actions c2 ON c2.request_id=l2.request_id WHERE l2.actor_kind='token' AND c2.request_id IS NULL)>(SELECT SUM(n) FROM unknown)`,
			`UPDATE unknown SET n=0; INSERT INTO audit_log (id, actor_kind, action, request_id) VALUES (999999, 'token', 'task.update', 'forged')`},
		{"I17", "a success left no effect",
			`SELECT i.id AS id, i.biz_id AS detail FROM instances i JOIN works w ON w.task_id=i.task_id WHERE i.state='succeeded'
			 AND NOT EXISTS (SELECT 1 FROM calls c WHERE c.instance_id=i.id AND (c.status BETWEEN 200 AND 299 OR c.receipt='200'))`,
			`UPDATE calls SET status=500, receipt='' WHERE instance_id=(SELECT i.id FROM instances i WHERE i.state='succeeded' LIMIT 1)`},
		{"I17b", "an attempt called more than once, or was never begun",
			`SELECT c.instance_id AS id, 'attempt '||c.attempt||': '||COUNT(*)||' calls' AS detail FROM calls c WHERE c.instance_id<>'' GROUP BY c.instance_id, c.attempt HAVING COUNT(*)>1
			 UNION ALL SELECT c.instance_id, 'attempt '||c.attempt||' is not in the ledger' FROM calls c LEFT JOIN attempts a ON a.instance_id=c.instance_id AND a.no=c.attempt WHERE a.no IS NULL`,
			`UPDATE calls SET attempt=99 WHERE n=(SELECT MIN(n) FROM calls)`},
		{"I17c", "the key is not that of the business action",
			`SELECT c.instance_id AS id, c.idem_key AS detail FROM calls c JOIN instances i ON i.id=c.instance_id JOIN tasks t ON t.id=i.task_id WHERE c.idem_key<>t.code||'/'||i.biz_id`,
			`UPDATE calls SET idem_key='other' WHERE n=(SELECT MIN(n) FROM calls)`},
		{"I17d", "more ran at once than the task allows, by the target",
			`SELECT a.task AS id, COUNT(*)||' at '||a.at AS detail FROM calls a JOIN calls b ON b.task=a.task AND b.at<=a.at AND COALESCE(b.ended_at,0)>a.at
			 JOIN works w ON w.code=a.task WHERE w.most>0 AND w.zombies=0 GROUP BY a.n HAVING COUNT(*)>MAX(w.most)`,
			`UPDATE calls SET ended_at=ended_at+5000 WHERE task='queue'`},
		{"I19", "a task that is enabled has no next run, or one long past",
			`SELECT id, code||' '||COALESCE(next_fire_at,'none') AS detail FROM tasks WHERE enabled=1 AND kind IN ('cron','interval') AND (next_fire_at IS NULL OR next_fire_at<strftime('%s','now')*1000-20000)`,
			`UPDATE tasks SET next_fire_at=NULL WHERE enabled=1`},
		{"I22", "a receipt that was answered with 200 is not in the ledger",
			`SELECT c.instance_id AS id, 'attempt '||c.attempt AS detail FROM calls c WHERE c.receipt='200' AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.instance_id=c.instance_id AND r.attempt=c.attempt)`,
			`DELETE FROM receipts WHERE instance_id=(SELECT instance_id FROM receipts LIMIT 1)`},
		{"I24", "a node that lived was declared dead",
			`SELECT id, pid||' by '||COALESCE(declared_by,'?') AS detail FROM nodes WHERE dead_at IS NOT NULL AND pid NOT IN (SELECT pid FROM doomed)`,
			`UPDATE nodes SET dead_at=1 WHERE id=(SELECT MIN(id) FROM nodes WHERE pid NOT IN (SELECT pid FROM doomed))`},
		{"I25", "work is lost although no process died",
			`SELECT id, state AS detail FROM instances WHERE (state='lost' OR deaths>0) AND NOT EXISTS (SELECT 1 FROM doomed)`,
			`DELETE FROM doomed; UPDATE nodes SET dead_at=NULL; UPDATE instances SET deaths=1 WHERE id=(SELECT id FROM instances WHERE state='succeeded' LIMIT 1)`},
	}
}
