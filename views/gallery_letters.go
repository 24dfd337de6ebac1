package views

import (
	"time"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

func caseLetter() sched.Letter {
	return sched.Letter{ID: 9, TaskID: 1, TeamID: 1, BizID: "@2026-12-02T06:20:00Z", InstanceID: runID, Status: sched.LetterOpen,
		Outcome: sched.OutcomeFailed, Error: "answered 504 Gateway Timeout: {\"error\":\"upstream_timeout\",\"upstream\":\"settlement-core\",\"waited_ms\":30000}", Opens: 1, OpenedAt: sampleTime(490 * time.Second), Version: 3}
}

func caseLetters() []sched.Letter {
	letter := func(task int64, biz string, s sched.LetterStatus, o sched.Outcome, why string, ago time.Duration, with string) sched.Letter {
		return sched.Letter{TaskID: task, BizID: biz, Status: s, Outcome: o, Error: why, Opens: 1, OpenedAt: sampleTime(ago), Assignee: with}
	}
	out := []sched.Letter{
		letter(3, "@2026-12-02T06:30:00Z", sched.LetterOpen, sched.OutcomeFailed, `answered 422 Unprocessable Entity: {"code":"PERIOD_CLOSED","message":"会计期间 2026-11 已关账，不允许过账"}`, 2*time.Minute, ""),
		letter(5, "@2026-12-02T06:25:00Z", sched.LetterTaken, sched.OutcomeFailed, "answered 504 Gateway Timeout", 153*time.Second, "pay-oncall"),
		letter(6, "RET-0098127", sched.LetterOpen, sched.OutcomeLost, "the node died after it began to send; whether the target did the work is not known", 23*time.Minute, ""),
		letter(1, "@2026-12-02T04:42:10Z", sched.LetterOpen, sched.OutcomeFailed, "dial tcp 10.20.7.31:8443: connect: connection refused", 110*time.Minute, "shop-oncall"),
		letter(7, "@2026-12-01T06:00:00Z", sched.LetterTaken, sched.OutcomeTimedOut, "no answer in time", 26*time.Hour, "ops-lead"),
	}
	out[3].Opens, out[4].Replaying = 3, runID
	for i := range out {
		out[i].ID = int64(40 - i)
	}
	return out
}

func lettersExamples() []Example {
	full := LettersPage{Todo: "23", Rows: caseLetters(), Tasks: runTasks(), Older: "36"}
	narrow := full
	narrow.Query = LetterQuery{Status: string(sched.LetterTaken), Task: "billing.refund-sweep", BizID: "@2026", Assignee: "pay-oncall", After: "40"}
	narrow.Rows, narrow.Todo, narrow.Newer = full.Rows[1:2], "", "39"
	return []Example{
		{Name: "letters", Component: Letters(full)},
		{Name: "letters-narrow", Component: Letters(narrow)},
		{Name: "letters-none-open", Component: Letters(LettersPage{Todo: "0"})},
		{Name: "letters-none-mine", Component: Letters(LettersPage{Query: LetterQuery{Mine: true}})},
		{Name: "letters-nothing-matches", Component: Letters(LettersPage{Query: LetterQuery{Status: string(sched.LetterSolved)}})},
		{Name: "letters-refused", Component: Letters(LettersPage{Query: LetterQuery{Status: "gone"}, Errors: []fault.FieldError{fault.Field("", "There is no status %q", "gone")}})},
	}
}

func letterExamples() []Example {
	open := letterSample()
	replaying := letterSample()
	replaying.Letter.Replaying, replaying.Letter.Status, replaying.Letter.Assignee = runID, sched.LetterTaken, "ops-lead"
	replaying.Values = ValuesOf(replaying.Letter)
	solved := letterSample()
	solved.MaySolve, solved.MayReplay = false, false
	solved.Letter.Status, solved.Letter.ClosedAt, solved.Letter.ClosedBy, solved.Letter.Assignee, solved.Letter.Opens = sched.LetterSolved, sampleTime(4*time.Minute), "replay "+runID, "ops-lead", 2
	solved.Letter.Cause, solved.Letter.Solution = "our_configuration", "Gateway needs up to 45 s on the first days of a month.\nIts wait is now 90 s (v42)."
	solved.Runs = append(solved.Runs, succeededPage().View.Instance)
	stale := letterSample()
	stale.Stale, stale.Letter.Status, stale.Letter.Assignee, stale.Letter.Version = true, sched.LetterTaken, "ops-night", 4
	stale.Was, stale.Base = ValuesOf(caseLetter()), ValuesOf(stale.Letter)
	stale.Values = LetterValues{Status: "taken", Cause: "network", Solution: "Raised gateway pool from 40 to 80", Assignee: "ops-night", Version: 4}
	bad := letterSample()
	bad.Values.Assignee = "gone-person"
	bad.Errors = []fault.FieldError{fault.Field("assignee", "%q is not a member of the team", "gone-person"), fault.Field("reason", "Say why: it is kept in the audit")}
	refused := replaying
	refused.Refused = "A replay of this letter is under way already"
	return []Example{
		{Name: "letter-open", Component: Letter(open)},
		{Name: "letter-replaying", Component: Letter(replaying)},
		{Name: "letter-solved", Component: Letter(solved)},
		{Name: "letter-changed-meanwhile", Component: Letter(stale)},
		{Name: "letter-refused", Component: Letter(bad)},
		{Name: "letter-replay-refused", Component: Letter(refused)},
	}
}

func letterSample() LetterPage {
	v := endedView()
	l := caseLetter()
	return LetterPage{
		Letter: l, View: v, Runs: []sched.Instance{v.Instance}, Nodes: runNodes(), MaySolve: true, MayReplay: true, Values: ValuesOf(l), Base: ValuesOf(l),
		History: ObjectHistory{Entries: letterHistory(), More: AuditOf("dead_letter", "9"), Cut: true},
		Open:    new(taskIncident()),
		Members: []access.Member{
			{Person: access.Person{ID: 1, Login: "ops-lead", Name: "ops-lead"}, Role: access.Owner},
			{Person: access.Person{ID: 2, Login: "pay-oncall", Name: "Pay on call"}, Role: access.Operator},
			{Person: access.Person{ID: 3, Login: "left-us", Disabled: true}, Role: access.Viewer},
		},
	}
}
