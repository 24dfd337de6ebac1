package main

import (
	"slices"
	"time"
)

// allGuards lists the guards: first those that the promises name, then the
// others of section 5 of protocol.md that can be lost alone. Where ax decides
// under a lock and repeats the condition in its statement, both are taken out.
//
// Second lines, whose loss alone changes nothing that anybody could see, are
// not here: the equal message number, the read-back of a claim while the audit
// stands, "unsent" at a hand-back (nothing is handed back after the mark), the
// look at the deadline before sending (the call's own context has ended), the
// numbers that rise at LOST and before a message is sent again.
func allGuards() []guard {
	all := append(promised(), guardsOfClaims()...)
	all = slices.Concat(all, guardsOfEnds(), guardsOfOwners(), guardsOfAlerts())
	control := guard{name: intact, purpose: "all guards in place: every scenario of this table is clean"}
	seen := map[string]bool{}
	for _, g := range all {
		for _, name := range g.runs {
			if !seen[name] {
				seen[name], control.runs = true, append(control.runs, name)
			}
		}
	}
	return append(all, control)
}

// promised are those that issue and design name.
func promised() []guard {
	return []guard{
		{name: "unique key", purpose: "a slot or an accepted request is one instance, however often it is planned or asked for",
			prepare: []string{"ALTER TABLE instances DROP INDEX instances_biz, ADD KEY instances_biz (task_id, biz_id, replay)"},
			runs:    []string{"F01/unanswered", "F02"}, signs: []string{"I4", "I4b", "I1"}},
		{name: "claim: state", purpose: "a message that comes again finds no work",
			edits: []edit{
				{"app/sched/claim.go", "case !claimable(in.State):", "case false:"},
				{"db/claim_write.go", `"state IN ? AND attempt=?", claimableStates, in(0).Attempt-1)`, `"attempt=?", in(0).Attempt-1)`},
			},
			runs: []string{"F08", "F06"}, signs: []string{"I5", "I9b", "I6"}},
		{name: "claim: due", purpose: "nothing starts before it is due, a retry neither",
			edits: []edit{
				{"app/sched/claim.go", "case in.DueAt.After(now) && in.DueAt.Sub(now) <= earlyWait:", "case false:"},
				{"app/sched/claim.go", "	case in.DueAt.After(now):\n", "	case false:\n"},
			},
			runs: []string{"F08/early"}, signs: []string{"I8c", "I18"}},
		{name: "settle: owner", purpose: "what a frozen worker brings late is refused",
			edits: []edit{{"db/settle.go", "case owns(in, s):", "case true:"}},
			runs:  []string{"F03"}, signs: []string{"I5", "I9", "I6"}},
		{name: "sent mark", purpose: "work that can't be repeated is not sent again after a death",
			edits: []edit{{"app/sched/runner.go", "if !job.claimed.Task.Spec.Policy.Idempotent {", "if false {"}},
			runs:  []string{"F39", "F02"}, signs: []string{"I8b"}},
		{name: "audit", purpose: "what the ledger says of a node, and the node doesn't know, is found at its beat",
			edits: []edit{{"app/sched/node.go", "return n.audit(ctx, id)", "return nil"}},
			runs:  []string{"F01/panic"}, signs: []string{"I7"}, quiet: 30 * time.Second},
		{name: "who may declare death", purpose: "an outage of the ledger is no death",
			edits: []edit{{"db/nodes.go", "if mine.node().Gone() || mine.BeatAt.Before(now.Add(-p.Fresh())) || mine.BeatAt.After(now.Add(p.Fresh())) || mine.SteadyAt.After(now.Add(-p.Dead)) {", "if false {"}},
			runs:  []string{"F05/thrice"}, signs: []string{"I24", "I25"}, most: 5},
	}
}

func guardsOfClaims() []guard {
	return []guard{
		{name: "plan: lock", purpose: "a planner with an old schedule moves no next time past slots of the new one",
			edits: []edit{{"db/plan.go", `LIMIT ?"+d.dialect.forUpdateSkipLocked,`, `LIMIT ?",`}},
			runs:  []string{"F42/edit"}, signs: []string{"F42/edit"}},
		{name: "claim: node alive", purpose: "a node that was declared dead takes no work",
			edits: []edit{{"app/sched/claim.go", "case v.NodeGone:", "case false:"}},
			runs:  []string{"F03/claim"}, signs: []string{"F03/claim"}},
		{name: "claim: limit", purpose: "no more than max_concurrent at once",
			edits: []edit{{"app/sched/claim.go", "if p.MaxConcurrent <= 0 {", "if true {"}},
			runs:  []string{"F39/slow"}, signs: []string{"I10", "I17d"}},
		{name: "claim: gate lock", purpose: "two claims of one task count one after the other",
			edits: []edit{{"db/claim_batch.go", "lock(b.taskIDs((*claimTask).limited), b.d.dialect.forUpdate)", "lock(b.taskIDs((*claimTask).limited), \"\")"}},
			runs:  []string{"F39/slow"}, signs: []string{"I10", "I17d"}},
		{name: "claim: enabled", purpose: "slots of a disabled task don't run, planned or not",
			edits: []edit{{"app/sched/claim.go", "case !v.Task.Enabled:", "case false:"}},
			runs:  []string{"F42/disable"}, signs: []string{"F42/disable"}},
		{name: "claim: edited", purpose: "slots that an edit took away don't run, planned or not",
			edits: []edit{{"app/sched/claim.go", "case err == nil && times.Wants(v.Instance.SlotAt):", "case err == nil || times.Wants(v.Instance.SlotAt):"}},
			runs:  []string{"F42/edit"}, signs: []string{"F42/edit"}},
		{name: "claim: requests wait", purpose: "a request that finds no place is deferred, never skipped",
			edits: []edit{{"app/sched/claim.go", "if !overlaps || in.Request() {", "if !overlaps {"}},
			runs:  []string{"F39/slow"}, signs: []string{"F39/slow"}},
		{name: "claim: paused", purpose: "nothing starts once a pause is confirmed",
			edits: []edit{{"app/sched/claim.go", "case v.Task.Paused(now):", "case false:"}},
			runs:  []string{"F42/pause"}, signs: []string{"F42/pause"}},
		{name: "queued conditional", purpose: "a hand-over that is marked late overwrites nothing",
			edits: []edit{{"db/handover.go", "WHERE id IN ? AND state='pending' AND dispatch=?\",\n				at(now), at(now), at(now), sched.LookAgain.Milliseconds(), sent[number], number).Error",
				"WHERE id IN ?\",\n				at(now), at(now), at(now), sched.LookAgain.Milliseconds(), sent[number]).Error"}},
			runs: []string{"F00/slow"}, signs: []string{"I5", "I6", "I9b"}},
		{name: "mark: read back", purpose: "a mark whose commit nobody answered is known as ours",
			edits: []edit{{"db/claim.go", "		ours = owns(in, s)\n", "		ours = owns(in, s) && in.SentAt.IsZero()\n"}},
			runs:  []string{"F15/marked"}, signs: []string{"I25"}},
	}
}

func guardsOfEnds() []guard {
	return []guard{
		{name: "lost final once sent", purpose: "work that can't be repeated ends as lost when its node dies after sending",
			edits: []edit{{"app/sched/ending.go", "case !p.Idempotent && !unsent:", "case false:"}},
			runs:  []string{"F39", "F02"}, signs: []string{"I8b"}},
		{name: "silence is final", purpose: "work that can't be repeated is not sent again when nobody knows whether it was done",
			edits: []edit{{"app/sched/policy.go", "return p.Idempotent || (p.Retry.Unsafe && definite)", "return p.Idempotent || p.Retry.Unsafe || definite"}},
			runs:  []string{"F26/silent"}, signs: []string{"I8b"}},
		{name: "LOST looks at the wish", purpose: "what somebody wants canceled is not begun again after a death",
			edits: []edit{{"app/sched/ending.go", "	if !in.CancelWanted.IsZero() {\n		e.To = Lost", "	if false {\n		e.To = Lost"}},
			runs:  []string{"F03/wish"}, signs: []string{"F03/wish"}},
		{name: "sweep b conditional", purpose: "an attempt that ended while the sweep looked at it is left alone",
			edits: []edit{{"db/sweep.go", "if in.State != state || in.Attempt != h.Attempt || in.NodeID != h.NodeID || in.ClaimID != h.ClaimID {", "if false {"}},
			runs:  []string{"F03/race"}, signs: []string{"I5", "I6", "I9b"}, most: 5},
		{name: "cancel conditional", purpose: "what has ended is not canceled",
			edits: []edit{{"db/cancel.go", "		if in.State.Final() {\n			return fault.Conflict(\"The instance has ended", "		if false {\n			return fault.Conflict(\"The instance has ended"}},
			runs:  []string{"F00"}, signs: []string{"I5", "I5b"}},
		{name: "receipt conditional", purpose: "a receipt that comes late changes no end",
			edits: []edit{{"db/cancel.go", "		case in.State.Final():\n			out.Already", "		case false:\n			out.Already"}},
			runs:  []string{"F31/late"}, signs: []string{"I5", "I5b"}},
		{name: "receipt of its attempt", purpose: "the failure that attempt 1 reports doesn't end attempt 2",
			edits: []edit{{"db/cancel.go", "case r.Attempt != in.Attempt || in.State", "case in.State"}},
			runs:  []string{"F31/late"}, signs: []string{"F31/late"}},
		{name: "one replay at a time", purpose: "two people who replay one letter make one instance",
			edits: []edit{
				{"db/letters.go", `case l.Replaying != "":`, "case false:"},
				{"db/letters.go", "WHERE id=? AND replaying IS NULL", "WHERE id=?"},
			},
			runs: []string{"F40/twice"}, signs: []string{"I13"}},
		{name: "bad end clears the letter", purpose: "a replay that ended badly can be made again",
			edits: []edit{{"db/ending.go", `"replaying=NULL", "opened_at"`, `"opened_at"`}},
			runs:  []string{"F40/twice"}, signs: []string{"F40/twice"}},
		{name: "success solves the letter", purpose: "a letter is closed by the success of its replay",
			edits: []edit{{"db/ending.go", "SET status='solved', replaying=NULL, closed_at", "SET closed_at"}},
			runs:  []string{"F40/twice"}, signs: []string{"F40/twice"}},
		{name: "letter in the same transaction", purpose: "no bad end without its letter, wherever a process dies",
			edits: []edit{
				{"db/ending.go", "	return d.endLetters(tx, ends)\n", "	go func() {\n		_ = d.tx(context.Background(), \"letters\", func(tx *gorm.DB) error { return d.endLetters(tx, ends) })\n	}()\n	return nil\n"},
				{"db/ending.go", "import (\n", "import (\n	\"context\"\n"},
			},
			runs: []string{"F01/letters"}, signs: []string{"I12"}},
	}
}

func guardsOfOwners() []guard {
	return []guard{
		{name: "sweep a", purpose: "a message that is gone is sent again",
			edits: []edit{{"app/sched/sweeper.go", "full, errA := s.resend(ctx)", "full, errA := false, error(nil)"}},
			runs:  []string{"F06"}, signs: []string{"I7"}, quiet: 30 * time.Second},
		{name: "sweep b", purpose: "what ran on a dead node is taken over",
			edits: []edit{{"app/sched/sweeper.go", "errB := s.orphans(ctx)", "errB := error(nil)"}},
			runs:  []string{"F39"}, signs: []string{"I7"}, quiet: 30 * time.Second},
		{name: "sweep c", purpose: "work whose target never reports comes to an end",
			edits: []edit{{"app/sched/sweeper.go", "errC := s.awaiting(ctx)", "errC := error(nil)"}},
			runs:  []string{"F31/mute"}, signs: []string{"I7"}, quiet: 30 * time.Second},
		{name: "audit: overdue", purpose: "work whose handler is stuck comes to an end",
			edits: []edit{{"app/sched/node.go", "case !answered && now.Sub(h.DeadlineAt) > OverdueAfter:", "case false && answered:"}},
			runs:  []string{"F26/stuck"}, signs: []string{"I7"}, quiet: 12 * time.Second},
		{name: "register anew", purpose: "a node that was declared dead works again under a new name",
			edits: []edit{{"app/sched/node.go", "return n.Register(ctx)\n}\n\n// audit", "return nil\n}\n\n// audit"}},
			runs:  []string{"F03"}, signs: []string{"I7"}, quiet: 30 * time.Second},
	}
}
