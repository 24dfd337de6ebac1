package views

import (
	"strings"
	"time"

	"ax/app/access"
	"ax/app/fault"
)

func sampleEntry(id int64, before time.Duration, who access.Actor, action string, o access.Object, reason string, changes ...access.Change) access.Entry {
	return access.Entry{ID: id, At: ago(before), Actor: who, Action: action, Object: o, Reason: reason, Changes: changes, TeamID: 1}
}

func samplePerson(login, address string) access.Actor {
	return access.Actor{Kind: access.User, ID: 3, Name: login, Address: address}
}

func calendarHistory() []access.Entry {
	cal := access.Object{Kind: "calendar", ID: "3", Name: "cn-bank"}
	return []access.Entry{
		sampleEntry(41, 26*time.Hour, samplePerson("ops-lead", ""), "calendar.days", cal, "国务院通知", access.Change{Field: "days 2026-12-31", Old: "", New: "off 元旦"}),
		sampleEntry(12, 300*time.Hour, access.Actor{Kind: access.System, Name: "ax"}, "calendar.create", cal, ""),
	}
}

func letterHistory() []access.Entry {
	letter := access.Object{Kind: "dead_letter", ID: "9", Name: "settle-2026-12-01"}
	return []access.Entry{
		sampleEntry(44, time.Hour, samplePerson("ops-night", ""), "letter.replay", letter, "gateway is back", access.Change{Field: "replaying", New: "0193868e-2f40"}),
		sampleEntry(43, 2*time.Hour, samplePerson("ops-lead", ""), "letter.edit", letter, "", access.Change{Field: "status", Old: "open", New: "taken"}, access.Change{Field: "assignee", New: "ops-night"}),
	}
}

func sampleAudit() []access.Entry {
	lead, night := samplePerson("ops-lead", "10.8.2.14"), samplePerson("ops-night", "10.8.2.22")
	token := access.Actor{Kind: access.Token, ID: 12, Name: "ci-deploy", Address: "10.20.0.5"}
	login := sampleEntry(48190, 8*time.Hour, access.Actor{Kind: access.User, Address: "203.0.113.77"}, "session.refuse", access.Object{Kind: "user", ID: "3", Name: "ops-lead"}, "")
	login.TeamID = 0
	made := sampleEntry(48188, 20*time.Hour, lead, "user.create", access.Object{Kind: "user", ID: "31", Name: "<script>alert(1)</script>"}, "", access.Change{Field: "admin", Old: "false", New: "true"})
	made.TeamID = 0
	return []access.Entry{
		sampleEntry(48211, 12*time.Minute, night, "letter.replay", access.Object{Kind: "dead_letter", ID: "9", Name: "settle-2026-12-01"}, "hypervisor reboot, OPS-881"),
		sampleEntry(48210, 34*time.Minute, lead, "task.update", access.Object{Kind: "task", ID: "7", Name: "billing.settle-daily"}, "gateway answers in 45 s at month start",
			access.Change{Field: "target.headers.X-Timeout-Ms", Old: "30000", New: "90000"},
			access.Change{Field: "policy.retry.delays", Old: "10 s, 30 s, 2 min", New: "30 s, 2 min, 10 min"},
			access.Change{Field: "target.headers.X-Api-Key", Old: access.Masked, New: access.Masked},
			access.Change{Field: "target.body", Old: "{}", New: strings.Repeat(`{"long":1}`, 100)}),
		sampleEntry(48205, 77*time.Minute, samplePerson("store-dev", "10.8.2.31"), "task.pause", access.Object{Kind: "task", ID: "9", Name: "order.reprice-carts"}, "price freeze 双十二",
			access.Change{Field: "paused_until", New: "2026-12-04T00:00:00Z"}),
		sampleEntry(48201, 2*time.Hour, token, "task.trigger", access.Object{Kind: "instance", ID: "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1", Name: "order.close-unpaid/2026-1187"}, ""),
		sampleEntry(48195, 3*time.Hour, night, "access.refuse", access.Object{Kind: "route", ID: "POST /tasks/:code/edit", Name: "POST /tasks/billing.settle-daily/edit"}, "This needs the role editor in the team",
			access.Change{Field: "right", New: "task.edit"}),
		sampleEntry(48194, 3*time.Hour, token, "access.refuse", access.Object{Kind: "route", ID: "POST /api/v1/letters/:id/replay", Name: "POST /api/v1/letters/812/replay"}, "This needs the role operator in the team",
			access.Change{Field: "right", New: "letter.replay"}, access.Change{Field: access.TimesField, New: "214"}),
		login, made,
		sampleEntry(48180, 400*24*time.Hour, access.Actor{Kind: access.System, Name: "ax"}, "calendar.create", access.Object{Kind: "calendar", ID: "3", Name: "cn-bank"}, ""),
		sampleEntry(48179, 400*24*time.Hour, lead, "later.version", access.Object{Kind: "gadget", ID: "5", Name: ""}, ""),
	}
}

// auditExamples are the audit as an administrator sees it, narrowed to
// nothing, refused, and with a chain that is broken, new or out of reach.
func auditExamples() []Example {
	sealed := &access.Chain{Seals: 48_209, Hash: "9c1f" + strings.Repeat("0", 56) + "e07a", SealedAt: ago(31 * time.Second), Looked: 50, Waiting: 2}
	page := AuditPage{
		Rows: sampleAudit(), Teams: map[int64]string{1: "payments"}, Newer: "48211", Older: "48179", Chain: sealed,
		Query: AuditQuery{Actor: "ops-lead", Words: "settle", Period: AuditMonth, After: "48300"},
	}
	none := AuditPage{Query: AuditQuery{Action: "task.delete", Result: access.Refused, From: "2026-11-01", To: "2026-11-30"}, Chain: &access.Chain{}}
	bad := AuditPage{Query: AuditQuery{Kind: "Task", Period: "year"}, Errors: []fault.FieldError{
		fault.Field("", "There is no kind of object %q", "Task"), fault.Field("", "There is no period %q: it is today, 7d, 30d or all", "year"),
	}, Chain: &access.Chain{Seals: 5, Looked: 5, Problems: []string{"audit row 4 (seal 4) was changed", "seal 5 does not follow seal 4"}}}
	end := AuditPage{Query: AuditQuery{After: "1"}}
	return []Example{
		{Name: "audit", Component: Audit(page)},
		{Name: "audit-none", Component: Audit(none)},
		{Name: "audit-refused", Component: Audit(bad)},
		{Name: "audit-end", Component: Audit(end)},
	}
}
