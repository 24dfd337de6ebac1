package fail

// Names lists all places. Behind each stand its crash point and what is right
// after the process died there and began again. "In a transaction" means that
// nothing of the change stands, and that it is made once when it is repeated.
func Names() []string {
	return []string{
		// Planning.
		"plan.locked",    // C01 due tasks locked, nothing written · in a transaction: the next planner makes the slots
		"plan.inserted",  // C02 slots inserted, next_fire_at not moved · in a transaction: the slots once
		"plan.missed",    // C06 a piece of a missed range recorded, others not · in a transaction: the range once and whole
		"plan.committed", // C03 slots committed, not handed over · the dispatcher hands them over

		// From the row to the message.
		"trigger.committed", // C03 a request stored, neither handed over nor answered · it runs; its repetition finds it
		"send.sent",         // C04 messages sent, rows not yet queued · sent again under the same id, or claimed from pending

		// A run.
		"run.taken",    // C07 message taken, nothing claimed · delivered again once its lease is over
		"claim.gated",  // C22 gates locked, nothing claimed · in a transaction: no place of a limit is held
		"claim.taken",  // C08 rows running, attempts not opened · in a transaction: claimed by the next delivery
		"probe.row",    // C08 a hook's answer made the row due later, or ended it, the answer not stored · in a transaction: asked again
		"run.claimed",  // C08 claimed, nothing sent · lost and run again, idempotent or not
		"mark.row",     // C08 sent_at on the instance, not on its attempt · in a transaction: marked again
		"run.marked",   // C08 sent_at committed, nothing sent · non-idempotent work is lost, with a letter: a person decides
		"http.sent",    // C09 request written, no answer (one longer than 4 KB: a part of it, and a pass for each) · idempotent: again with the same key; else lost, with a letter
		"mq.published", // C16 message written, no confirm read · idempotent: again with the same id; else lost, with a letter
		"run.answered", // C10 answer got, nothing settled · as http.sent; the target sees one key
		"run.settled",  // C11 result committed, message not acknowledged · delivered again, dropped, nothing sent

		// The end of an attempt, whoever writes it.
		"end.row",        // C12 the row failed or retrying, its attempt open · in a transaction: settled again or lost
		"end.attempt",    // C13 row final and attempt closed, no letter · in a transaction: both or none
		"end.letter",     // C13 letter written, nothing committed · in a transaction: both or none
		"handback.row",   // C27 row pending again, its attempt open · in a transaction: what a stopped node held runs again
		"wake.committed", // C23 a deferred row made due, its message not sent · the sweep sends it

		// Cancel calls.
		"cancel.asked", // C14 instance ended, its target not to be told · in a transaction: both or none
		"cancel.taken", // C15 a call taken, nothing sent · taken again once its lease is over
		"cancel.told",  // C15 a call sent, not noted · sent again under the same key

		// Receipts.
		"receipt.ended",  // C20 row final, attempt open, word not noted · in a transaction: the target's repetition counts
		"receipt.stored", // C20 receipt committed, not answered · its repetition is told "already"

		// The sweep.
		"sweep.stale",    // C21 rows to be sent again listed · only what is still as it was read is raised
		"raise.row",      // C21 message number raised, no event · in a transaction: raised by the next sweep
		"sweep.raised",   // C21 numbers raised, nothing sent · looked at again after the next wait
		"declare.judged", // C21 dead nodes found, none marked · only a node whose beat is still too old is marked
		"sweep.declared", // C21 a node declared dead, its claims not taken · the next sweep, of any node, takes them
		"sweep.orphans",  // C21 orphans listed · only what its dead node still holds is lost
		"sweep.lost",     // C21 an orphan queued again, its message not sent · the sweep sends it
		"sweep.overdue",  // C21 missed receipts listed · a receipt that comes between counts

		// Changes by people.
		"create.row",      // C25 task stored, no gate, version or audit row · in a transaction: all or none
		"edit.planned",    // C25 what the old schedule owed is planned, nothing edited · in a transaction: the slots once
		"edit.written",    // C25 task changed, no version of it · in a transaction: both or none
		"move.task",       // C25 task of another team, nothing noted or audited · in a transaction: all or none
		"move.followed",   // C25 a batch of rows brought to the task's team, not noted how far · in a transaction: both or none
		"cancel.row",      // C25 canceled or wished so, no event · in a transaction: all or none
		"replay.inserted", // C24 new instance made, letter not marked · in a transaction: both or none
		"replan.unnoted",  // C25 note of a calendar's change removed, next_fire_at not moved · in a transaction: planned anew later
		"audit.row",       // C25 any change by a person stored, its audit row not · in a transaction: both or none

		// Alerts.
		"alert.asked",     // C14 the rules' questions answered, nothing stored · the next turn, of any node, asks again
		"alert.incident",  // C14 incident stored, its messages not · in a transaction: both or none
		"alert.recorded",  // C14 incident and messages committed, nothing sent · the courier of any node sends them
		"events.found",    // C14 what ended was read, no message of it made · the next turn, of any node, reads it again
		"hooks.found",     // C14 what hooks are to tell was read, no message of it made · the next turn, of any node, reads it again
		"deliver.taken",   // C15 a channel's messages taken, nothing sent · taken again once the lease is over
		"deliver.sent",    // C15 a message sent, not noted · sent again with the same id, once
		"deliver.settled", // C15 noted as sent, the carrier's hint not acknowledged · the hint finds nothing due

		// The life of a process and of its data.
		"migrate.step",   // C26 a migration done, the next one not · the next start goes on with it
		"stop.halted",    // C27 told to stop, nothing new is taken, work still runs · lost and run again, as after a crash
		"stop.worked",    // C27 work ended or given back, the node's row open · declared dead by another node; nothing was held
		"prune.calls",    // C28 one old idempotency key removed, others not · in a transaction: removed at the next turn
		"prune.plan_log", // C28 a batch of old planner's notes removed, others not · removed at the next turn
		"prune.stats",    // C28 a batch of old figures removed, others not · removed at the next turn
		"rollup.hour",    // C28 an hour removed, not yet summed anew · in a transaction: the old sums stand
		"sketch.minute",  // C28 a minute's sketches removed, not yet made anew · in a transaction: the old ones stand
		"sketch.hour",    // C28 an hour's sketches removed, not yet merged anew · in a transaction: the old ones stand
		"rollup.deleted", // C28 minutes removed, not yet counted anew · in a transaction: the old counts stand
	}
}
