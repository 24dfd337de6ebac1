package db

import "strings"

// check is a query whose rows are problems: id, and a detail for people.
type check struct {
	name   string
	object string
	says   string
	sql    string
}

// Lists of states as they stand in the queries below.
const (
	badStates   = "('failed','timed_out','lost')"
	finalStates = "('succeeded','failed','timed_out','lost','skipped','canceled')"
	allStates   = "('pending','queued','running','awaiting','retrying','succeeded','failed','timed_out','lost','skipped','canceled')"
)

func (v *verifier) checks() []check {
	all := []check{v.rowCheck()}
	all = append(all, attemptChecks()...)
	all = append(all, letterChecks()...)
	all = append(all, cancelCheck())
	all = append(all, taskChecks()...)
	return append(all, v.missedChecks()...)
}

// rowRule is a rule about one row of instances, joined with its task.
type rowRule struct{ name, broken, says string }

// rowRules are judged together: the table is read once.
func rowRules(slotName string) []rowRule {
	return []rowRule{
		{"state", "i.state NOT IN " + allStates, "there is no such state"},
		{"finished-at", "(i.finished_at IS NULL) = (i.state IN " + finalStates + ")", "finished_at is set exactly when the state is final"},
		{"look-at", "i.state IN ('queued','retrying') AND i.look_at IS NULL", "it waits, and no sweep will ever look at it"},
		{"receipt-deadline", "i.state='awaiting' AND i.receipt_deadline IS NULL", "it awaits a receipt for ever"},
		{"claim", "i.state='running' AND (i.node_id IS NULL OR i.claim_id IS NULL OR i.deadline_at IS NULL)", "it runs without node, claim or deadline"},
		{"retries", "i.retries>i.attempt", "it was repeated more often than tried"},
		{"early", "i.started_at<i.wanted_at", "it began before it was wanted"},
		{"slot-name", "CASE WHEN i.origin='schedule' THEN i.slot_at IS NULL OR i.biz_id<>" + slotName +
			" WHEN i.origin='replay' THEN 1=0 ELSE i.slot_at IS NOT NULL OR i.biz_id LIKE '@%' END", "biz_id is not the name of its slot"},
		{"task", "t.id IS NULL", "its task is gone"},
		{"team", "t.team_id<>i.team_id AND NOT EXISTS (SELECT 1 FROM task_moves m WHERE m.task_id=i.task_id)", "it belongs to another team than its task"},
	}
}

// ruleSays is the sentence of a rowRule.
func ruleSays(name string) string {
	for _, r := range rowRules("") {
		if r.name == name {
			return r.says
		}
	}
	return "it breaks a rule"
}

func (v *verifier) rowCheck() check {
	var which, where strings.Builder
	for i, r := range rowRules(v.dialect.slotName("i.slot_at")) {
		if i > 0 {
			where.WriteString(" OR ")
		}
		which.WriteString(" WHEN " + r.broken + " THEN '" + r.name + "'")
		where.WriteString("(" + r.broken + ")")
	}
	return check{name: "instance", object: "instance", sql: "SELECT CASE" + which.String() + " END AS rule, i.id AS id, i.state AS detail" +
		" FROM instances i LEFT JOIN tasks t ON t.id=i.task_id WHERE " + where.String()}
}

func attemptChecks() []check {
	const numbers = "SELECT instance_id, COUNT(*) AS n, MIN(no) AS low, MAX(no) AS high, SUM(CASE WHEN ended_at IS NULL THEN 1 ELSE 0 END) AS open_n FROM attempts GROUP BY instance_id"
	return []check{
		{"attempt-numbers", "instance", "its attempts are not numbered from 1 to the present one",
			"SELECT i.id AS id, i.attempt AS detail FROM instances i LEFT JOIN (" + numbers + ") g ON g.instance_id=i.id" +
				" WHERE COALESCE(g.n,0)<>i.attempt OR g.low<>1 OR g.high<>g.n"},
		{"attempts-open", "instance", "more than one attempt is open",
			"SELECT g.instance_id AS id, g.open_n AS detail FROM (" + numbers + ") g WHERE g.open_n>1"},
		{"attempt-left-open", "instance", "an attempt is open although it neither runs nor awaits a receipt",
			"SELECT DISTINCT i.id AS id, i.state AS detail FROM attempts a JOIN instances i ON i.id=a.instance_id" +
				" WHERE a.ended_at IS NULL AND i.state NOT IN ('running','awaiting')"},
		{"attempt-owner", "instance", "the open attempt of its number with its node and claim is missing",
			"SELECT i.id AS id, i.attempt AS detail FROM instances i LEFT JOIN attempts a ON a.instance_id=i.id AND a.no=i.attempt" +
				" WHERE i.state IN ('running','awaiting') AND (a.no IS NULL OR a.ended_at IS NOT NULL" +
				" OR COALESCE(a.node_id,'')<>COALESCE(i.node_id,'') OR COALESCE(a.claim_id,'')<>COALESCE(i.claim_id,''))"},
		{"attempt-outcome", "attempt", "it has an outcome exactly when it has ended",
			"SELECT a.instance_id AS id, a.no AS detail FROM attempts a WHERE (a.ended_at IS NULL)<>(a.outcome IS NULL)"},
		{"attempt-version", "attempt", "the definition that it began with is gone",
			"SELECT a.instance_id AS id, a.task_version AS detail FROM attempts a LEFT JOIN task_versions v ON v.task_id=a.task_id AND v.version=a.task_version WHERE v.task_id IS NULL"},
		{"attempt-stray", "attempt", "its instance is gone",
			"SELECT a.instance_id AS id, a.no AS detail FROM attempts a LEFT JOIN instances i ON i.id=a.instance_id WHERE i.id IS NULL"},
		{"no-proof", "attempt", "it succeeded without a 2xx answer",
			"SELECT a.instance_id AS id, a.status_code AS detail FROM attempts a WHERE a.outcome='succeeded' AND a.status_code<>0 AND a.status_code NOT BETWEEN 200 AND 299"},
	}
}

func letterChecks() []check {
	return []check{
		{"letter-missing", "instance", "it ended badly and has no dead letter",
			"SELECT i.id AS id, i.state AS detail FROM instances i WHERE i.state IN " + badStates +
				" AND NOT EXISTS (SELECT 1 FROM dead_letters l WHERE l.task_id=i.task_id AND l.biz_id=i.biz_id)"},
		{"letter-instance", "letter", "its instance is not the latest of its business action that ended badly",
			"SELECT l.id AS id, l.instance_id AS detail FROM dead_letters l LEFT JOIN instances i ON i.id=l.instance_id" +
				" WHERE i.id IS NULL OR i.state NOT IN " + badStates + " OR i.task_id<>l.task_id OR i.biz_id<>l.biz_id" +
				" OR EXISTS (SELECT 1 FROM instances n WHERE n.task_id=l.task_id AND n.biz_id=l.biz_id AND n.replay>i.replay AND n.state IN " + badStates + ")"},
		{"letter-replaying", "letter", "the replay that it names is not its open one",
			"SELECT l.id AS id, l.replaying AS detail FROM dead_letters l LEFT JOIN instances i ON i.id=l.replaying" +
				" WHERE l.replaying IS NOT NULL AND (i.id IS NULL OR i.state IN " + finalStates + " OR i.task_id<>l.task_id OR i.biz_id<>l.biz_id OR i.replay<>l.replay)"},
		{"replay-unknown", "instance", "it is an open replay that no dead letter names",
			"SELECT i.id AS id, i.replay AS detail FROM instances i LEFT JOIN dead_letters l ON l.task_id=i.task_id AND l.biz_id=i.biz_id" +
				" WHERE i.replay>0 AND i.state NOT IN " + finalStates + " AND COALESCE(l.replaying,'')<>i.id"},
		{"letter-closed", "letter", "closed_at is set exactly when the status is closed",
			"SELECT l.id AS id, l.status AS detail FROM dead_letters l WHERE (l.closed_at IS NULL)=(l.status IN ('solved','wont_fix'))"},
	}
}

// cancelCheck: what targets are told never stands for work that goes on, and
// is over or due.
func cancelCheck() check {
	return check{"cancel-call", "instance", "its target is to be told to stop although nothing was given up, or it is neither due nor over",
		"SELECT c.instance_id AS id, COALESCE(i.state,'gone') AS detail FROM cancel_calls c LEFT JOIN instances i ON i.id=c.instance_id" +
			" WHERE i.id IS NULL OR (c.asked_at IS NULL AND (c.due_at IS NOT NULL OR c.ended_at IS NOT NULL))" +
			" OR (c.asked_at IS NOT NULL AND (i.state NOT IN ('canceled','timed_out','lost') OR (c.due_at IS NULL)=(c.ended_at IS NULL)))"}
}

func taskChecks() []check {
	return []check{
		{"task-gate", "task", "it has no gate: nothing of it can be claimed",
			"SELECT t.id AS id, t.code AS detail FROM tasks t LEFT JOIN task_gates g ON g.task_id=t.id WHERE g.task_id IS NULL"},
		{"task-version", "task", "its present version is not kept",
			"SELECT t.id AS id, t.version AS detail FROM tasks t LEFT JOIN task_versions v ON v.task_id=t.id AND v.version=t.version WHERE v.task_id IS NULL"},
		// The unique key is in the order of this grouping: the index is enough.
		{"biz-twice", "task", "a business action is in the ledger more than once",
			"SELECT i.task_id AS id, i.biz_id AS detail FROM instances i GROUP BY i.task_id, i.biz_id, i.replay HAVING COUNT(*)>1"},
	}
}

func (v *verifier) missedChecks() []check {
	from, to := v.dialect.slotName("m.from_slot"), v.dialect.slotName("m.to_slot")
	return []check{
		{"missed-count", "missed range", "its count does not fit its ends",
			"SELECT m.id AS id, m.slots AS detail FROM missed_ranges m WHERE m.slots<1 OR m.from_slot>m.to_slot OR (m.slots=1)<>(m.from_slot=m.to_slot)"},
		{"missed-ran", "missed range", "a slot of it is an instance",
			"SELECT m.id AS id, MIN(i.id) AS detail FROM missed_ranges m JOIN instances i ON i.task_id=m.task_id AND i.replay=0" +
				" AND i.biz_id>=" + from + " AND i.biz_id<=" + to + " GROUP BY m.id"},
		{"missed-twice", "missed range", "another range holds the same slots",
			"SELECT m.id AS id, MIN(o.id) AS detail FROM missed_ranges m JOIN missed_ranges o ON o.task_id=m.task_id AND o.id>m.id" +
				" AND o.to_slot>=m.from_slot AND o.from_slot<=m.to_slot GROUP BY m.id"},
	}
}
