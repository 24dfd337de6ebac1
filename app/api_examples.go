package app

import (
	"encoding/json"
	"fmt"
)

// Examples of bodies, as they are typed.
const (
	exampleTask = `{
  "code": "order.close-unpaid",
  "name": "Close unpaid orders",
  "team": "default",
  "schedule": {"kind": "cron", "cron": "30 2 * * 1-5", "timezone": "Asia/Shanghai"},
  "target": {"kind": "http", "url": "https://orders.example.com/close"},
  "policy": {"idempotent": true}
}`
	exampleChange = `{
  "name": "Close unpaid orders",
  "version": 1,
  "schedule": {"kind": "interval", "every_seconds": 300},
  "target": {"kind": "http", "url": "https://orders.example.com/close"},
  "policy": {"idempotent": true, "retry": {"kind": "exponential", "max": 5, "delays_seconds": [10, 600]}}
}`
	exampleExecutor = `{
  "name": "billing",
  "address": "https://billing.example.com",
  "task_types": [{"type": "close-day", "description": "Closes the books of a day"}],
  "weight": 100,
  "version": "3.8.0"
}`
	exampleRollBack     = `{"version": 1, "note": "The new hour was wrong"}`
	exampleReason       = `{"reason": "Bank closed on 1 January"}`
	examplePause        = `{"until": "2026-12-24T18:00:00+08:00", "reason": "Stock-taking"}`
	exampleTrigger      = `{"biz_id": "SO-20261202-778431", "delay_seconds": 1800}`
	exampleEdit         = `{"status": "solved", "solution": "Paid out by hand, ticket 4711", "cause": "bank offline"}`
	exampleCalendar     = `{"code": "store-days", "name": "Store days", "team": "default", "week": ["mon", "tue", "wed", "thu", "fri", "sat"]}`
	exampleCalendarEdit = `{"name": "Store days", "week": ["mon", "tue", "wed", "thu", "fri", "sat"], "version": 1}`
	exampleCalendarDays = `{
  "year": 2027,
  "version": 1,
  "days": [
    {"date": "2027-01-01", "kind": "off", "name": "元旦"},
    {"date": "2027-01-31", "kind": "workday", "name": "春节调休"}
  ]
}`
	exampleCalendarImport = `{"text": "2027-01-01,off,元旦\n2027-01-31,workday,春节调休\n", "mode": "add", "dry_run": true}`
	exampleRule           = `{"team": "default", "name": "Half of all runs fail", "metric": "success_rate", "scope": {"kind": "all"}, "threshold": 50.5, "window_seconds": 3600, "least": 20, "level": "p1"}`
	exampleRuleChange     = `{"name": "Five failures in a row", "scope": {"kind": "tag", "value": "money"}, "threshold": 5, "level": "p2", "version": 1}`
	exampleChannel        = `{"team": "default", "kind": "webhook", "name": "Order system", "url": "https://orders.example.com/ax"}`
	exampleChannelChange  = `{"name": "Orders and returns", "version": 1}`
	exampleSubscription   = `{"team": "default", "channel_id": "8c3f0d7e5b1a4f6c9e2d7a0b4c6e8f10", "events": ["instance.finished", "letter.opened"]}`
	exampleSilence        = `{"team": "default", "scope": {"kind": "all"}, "lasts_seconds": 1200, "reason": "Release 4.2"}`
	exampleNote           = `{"assignee": "li.na", "note": "The bank is offline until 18:00"}`
	exampleProgress       = `{"percent": 40, "message": "481 of 1,204 rows"}`
	exampleReceipt        = `{"outcome": "succeeded", "message": "1,204 rows settled"}`
)

// exampleTriggered is the begin of what a trigger is answered with.
const exampleTriggered = `{
  "id": "0193868e-2f40-7c11-9a02-6b1fd2f0c7e1",
  "task": "order.close-unpaid",
  "biz_id": "SO-20261202-778431",
  "key": "order.close-unpaid/SO-20261202-778431",
  "state": "pending",
  "due_at": "2026-12-02T07:02:07.000Z",
  "duplicate": false
}`

// exampleProblem is an error.
const exampleProblem = `{
  "type": "about:blank",
  "title": "Unprocessable Entity",
  "status": 422,
  "detail": "Some fields need another value",
  "errors": [{
    "field": "schedule.timezone",
    "message": "A cron schedule needs a time zone, such as Asia/Shanghai"
  }]
}`

// exampleText is an example as it stands in a table.
func exampleText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}
