package app

import (
	"maps"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

func typeOf(zero any) reflect.Type { return reflect.TypeOf(zero) }

// schemaName names a schema after its type: taskBody is Task, TaskSpec stays
// TaskSpec, a page of tasks is TaskPage.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	if of, ok := strings.CutPrefix(name, "ListOf"); ok {
		return strings.TrimSuffix(of, "Body") + "Page"
	}
	return strings.TrimSuffix(name, "Body")
}

// fieldNote tells of a field what its type in the domain doesn't.
type fieldNote struct {
	doc     string
	example any
	enum    string
}

// fieldNotes are by schema and field.
func fieldNotes() map[string]map[string]fieldNote {
	all := taskNotes()
	maps.Copy(all, requestNotes())
	maps.Copy(all, alertNotes())
	return all
}

// taskNotes tell of what makes a task.
func taskNotes() map[string]map[string]fieldNote {
	return map[string]map[string]fieldNote{
		"TaskSpec": {
			"code":    {"Name for machines: unique in the installation, never changes; a–z, 0–9 and . _ -, at most 64. Needed for a new task", "order.close-unpaid", ""},
			"name":    {"Name for people, at most 100 characters", "Close unpaid orders", ""},
			"team":    {"Code of the owning team; needed for a new task", "payments", ""},
			"group":   {"Word to group tasks by, at most 64 characters", "orders", ""},
			"tags":    {"At most 10 words", []string{"money", "hourly"}, ""},
			"owner":   {"Who to ask", "checkout-team", ""},
			"queue":   {"One of the installation's queues; left out: its first", "default", ""},
			"payload": {"JSON that the target gets, at most 64 KiB", map[string]any{"shop": 17}, ""},
			"enabled": {"Left out: true for a new task, unchanged for an old one", true, ""},
			"version": {"The version that was read: needed in a PUT, 409 when it is stale", 3, ""},
			"note":    {"Why, at most 500 characters; kept in the audit", "Earlier by an hour", ""},
		},
		"ScheduleSpec": {
			"kind":          {"cron, interval, once, delay (after each trigger) or manual", "cron", "cron,interval,once,delay,manual"},
			"cron":          {"cron: 5 fields as in crontab, 6 or 7 as in Quartz, or @daily and the like", "30 2 * * 1-5", ""},
			"every_seconds": {"interval: 1 to 31,536,000", 300, ""},
			"anchor":        {"interval: runs are at anchor + k × every_seconds; left out: now", "2026-12-01T00:00:00Z", ""},
			"run_at":        {"once: the moment", "2026-12-24T18:00:00+08:00", ""},
			"delay_seconds": {"delay: 1 to 31,536,000 after the request was accepted", 1800, ""},
			"timezone":      {"IANA name; needed for cron", "Asia/Shanghai", ""},
			"misfire":       {"What becomes of slots that are late by more than 60 s: the latest of them runs", "fire_once", "fire_once"},
		},
		"TargetSpec": {
			"kind":    {"How the target is called", "http", "http"},
			"url":     {"Called for every attempt; http or https", "https://orders.internal/close", ""},
			"headers": {"Sent with each call. Credentials stand in secrets of the team and are named: {{secret:NAME}}", map[string]any{"Authorization": "Bearer {{secret:PAY_TOKEN}}"}, ""},
		},
		"PolicySpec": {
			"timeout_seconds": {"Of one attempt, 1 to 86,400; left out: the installation's default", 30, ""},
			"overlap":         {"What becomes of a slot that finds the task running", "skip", "skip"},
			"max_concurrent":  {"0: unlimited; left out: 1 for cron, interval and once, 0 for delay and manual", 1, ""},
			"idempotent":      {"Needed: may the target get the same key twice? Work that may not is never repeated by itself", true, ""},
			"alert_level":     {"How bad a failure is", "p2", "p1,p2,none"},
		},
		"RetrySpec": {
			"kind":           {"steps: one delay per retry, the last repeats; fixed: one; exponential: first and longest", "steps", "steps,fixed,exponential"},
			"max":            {"Retries after the first attempt, 0 to 100", 3, ""},
			"delays_seconds": {"Each 1 to 86,400", []int{10, 30, 120}, ""},
			"unsafe":         {"Repeat non-idempotent work after a definite failure; owners only", false, ""},
		},
	}
}

// requestNotes tell of the other bodies, and of errors.
func requestNotes() map[string]map[string]fieldNote {
	return map[string]map[string]fieldNote{
		"TriggerRequest": {
			"biz_id":        {"Your name for the business action, at most 64 printable ASCII characters, not beginning with @; left out: ax makes one", "SO-20261202-778431", ""},
			"delay_seconds": {"Run after so many seconds", 1800, ""},
			"run_at":        {"Run at this moment, at most a year ahead; not together with delay_seconds", "2026-12-02T07:02:07Z", ""},
			"payload":       {"JSON instead of the task's payload, at most 64 KiB", map[string]any{"order": 778431}, ""},
		},
		"LetterEdit": {
			"status":   {"Where the work on it stands", "solved", "open,taken,solved,wont_fix"},
			"solution": {"What was done, at most 20,000 bytes", "Paid out by hand, ticket 4711", ""},
			"cause":    {"In a few words, at most 64 characters", "bank offline", ""},
			"assignee": {"Login of a member of the team; empty: nobody", "li.na", ""},
			"version":  {"The version that was read; left out: whatever it is", 2, ""},
		},
		"Problem": {
			"type":     {"about:blank: the status says it", "about:blank", ""},
			"title":    {"The status in words", "Unprocessable Entity", ""},
			"status":   {"The HTTP status", 422, ""},
			"detail":   {"What is wrong with this request", "Some fields need another value", ""},
			"instance": {"Path of the request", "/api/v1/tasks", ""},
			"errors":   {"Every field that breaks a rule", nil, ""},
		},
		"ProblemField": {
			"field":   {"Path in the body, or the name of a parameter", "schedule.cron", ""},
			"message": {"The rule that it breaks", "minute \"61\" is outside 0–59", ""},
		},
	}
}
