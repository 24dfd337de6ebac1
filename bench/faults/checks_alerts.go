package main

// alertChecks hold what the ledger says was told against what receivers got.
func alertChecks() []check {
	const (
		channel = `INSERT INTO channels (id, team_id, kind, name, off_at) VALUES ('planted', -1, 'webhook', 'planted', NULL)`
		listens = `INSERT INTO subscriptions (id, team_id, channel_id, rule_id, events, level, after_ms, created_at) VALUES (-1, -1, 'planted', 0, '', '', 0, 1)`
		told    = `INSERT INTO incidents (id, team_id, rule_id, fingerprint, state, level, told, told_first_at, ended_by) VALUES ('planted', -1, -1, 'planted', 'over', 'p2', 1, 10, '')`
		message = `INSERT INTO deliveries (id, team_id, channel_id, incident_id, dedupe, kind, state) VALUES `
		opened  = message + `('planted-1', -1, 'planted', 'planted', 'a', 'opened', 'waiting')`
		closed  = message + `('planted-2', -1, 'planted', 'planted', 'b', 'closed', 'waiting')`
	)
	// Who is told of every rule of a team and does not wait.
	const owed = ` FROM incidents i JOIN subscriptions s ON s.team_id=i.team_id AND s.rule_id=0 AND s.events='' AND s.level='' AND s.after_ms=0 AND s.created_at<i.told_first_at
		JOIN channels c ON c.id=s.channel_id AND c.off_at IS NULL WHERE i.told>0`
	return []check{
		{"A1", "one cause has two open incidents",
			`SELECT fingerprint AS id, COUNT(*)||' open' AS detail FROM incidents WHERE state<>'over' GROUP BY fingerprint HAVING COUNT(*)>1`,
			`INSERT INTO incidents (id, team_id, fingerprint, state, told) VALUES ('planted-1', -1, 'planted', 'firing', 0), ('planted-2', -1, 'planted', 'pending', 0)`},
		{"A2", "an incident was told, and a subscription has no message that it opened",
			`SELECT i.id AS id, c.name AS detail` + owed + ` AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.incident_id=i.id AND d.channel_id=c.id AND d.kind IN ('opened','escalated'))`,
			channel + `;` + listens + `;` + told + `;` + closed},
		{"A3", "an incident was told and is over, and a subscription has no message of that",
			`SELECT i.id AS id, c.name AS detail` + owed + ` AND i.state='over' AND i.ended_by='' AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.incident_id=i.id AND d.channel_id=c.id AND d.kind='closed')`,
			channel + `;` + listens + `;` + told + `;` + opened},
		{"A4", "a message is noted as delivered, and its receiver never took it",
			`SELECT d.id AS id, c.name AS detail FROM deliveries d JOIN channels c ON c.id=d.channel_id WHERE d.state='delivered' AND c.kind='webhook'
			 AND NOT EXISTS (SELECT 1 FROM heard m WHERE m.id=d.id AND m.receiver=c.name AND m.taken=1)`,
			channel + `;` + message + `('planted-3', -1, 'planted', NULL, 'c', 'event', 'delivered')`},
		{"A5", "one thing was told under two ids",
			`SELECT object AS id, receiver||' '||event||': '||COUNT(DISTINCT id) AS detail FROM heard WHERE object<>'' AND event NOT IN ('alert.repeated','alert.grown','alert.escalated','letter.opened','letter.solved')
			 GROUP BY receiver, event, object HAVING COUNT(DISTINCT id)>1`,
			`INSERT INTO heard (receiver, id, event, object, signed, taken) VALUES ('planted', 'm1', 'instance.finished', 'x', 1, 1), ('planted', 'm2', 'instance.finished', 'x', 1, 1)`},
		{"A6", "a message is signed wrongly",
			`SELECT id, receiver AS detail FROM heard WHERE signed<>1`,
			`INSERT INTO heard (receiver, id, object, signed, taken) VALUES ('planted', 'm1', '', 0, 1)`},
		{"A7", "a message that was taken came again more often than processes died",
			`SELECT id, receiver||': '||COUNT(*) AS detail FROM heard WHERE taken=1 AND id<>'' GROUP BY receiver, id HAVING COUNT(*)>1+(SELECT COUNT(*) FROM doomed)`,
			`DELETE FROM doomed; INSERT INTO heard (receiver, id, event, object, signed, taken) VALUES ('planted', 'm1', 'instance.finished', 'x', 1, 1), ('planted', 'm1', 'instance.finished', 'x', 1, 1)`},
	}
}
