package sched

import (
	"encoding/json"
	"time"
)

// TaskSpec is a task as a form or a caller writes it. Fields left out get the
// defaults of design.md section 5.
type TaskSpec struct {
	Code     string          `json:"code,omitempty" doc:"Name for machines: unique, never changes"`
	Name     string          `json:"name" doc:"Name for people"`
	Team     string          `json:"team,omitempty" doc:"Code of the owning team"`
	Group    string          `json:"group,omitempty"`
	Tags     []string        `json:"tags,omitempty"`
	Owner    string          `json:"owner,omitempty" doc:"Who to ask"`
	Schedule ScheduleSpec    `json:"schedule"`
	Target   TargetSpec      `json:"target"`
	Policy   PolicySpec      `json:"policy"`
	Hooks    *Hooks          `json:"hooks,omitempty" doc:"What is asked before a run and who is told after it"`
	Queue    string          `json:"queue,omitempty"`
	Labels   []string        `json:"labels,omitempty" doc:"Labels that a node must have to run it, all of them; at most 5"`
	Payload  json.RawMessage `json:"payload,omitempty" doc:"JSON that the target gets"`
	Enabled  *bool           `json:"enabled,omitempty" doc:"Left out: true for a new task, unchanged for an old one"`
	Version  int             `json:"version,omitempty" doc:"The version that was read; a change is refused when it is stale"`
	Note     string          `json:"note,omitempty" doc:"Why, kept in the audit"`
}

// ScheduleSpec is a schedule as written.
type ScheduleSpec struct {
	Kind         ScheduleKind `json:"kind" doc:"cron, interval, once, delay or manual"`
	Cron         string       `json:"cron,omitempty" doc:"5 fields: crontab rules; 6 or 7: Quartz rules"`
	EverySeconds int          `json:"every_seconds,omitempty"`
	Anchor       time.Time    `json:"anchor,omitzero" doc:"interval: slots are anchor + k × every_seconds"`
	RunAt        time.Time    `json:"run_at,omitzero"`
	DelaySeconds int          `json:"delay_seconds,omitempty"`
	Timezone     string       `json:"timezone,omitempty" doc:"IANA name; required for cron"`
	Misfire      Misfire      `json:"misfire,omitempty"`

	MisfireGraceSeconds int `json:"misfire_grace_seconds,omitempty" doc:"How late a slot may begin and still count as on time; left out: 60"`
	MisfireCap          int `json:"misfire_cap,omitempty" doc:"fire_all: the latest so many missed slots run; left out: 20"`

	FixedDelay    bool         `json:"fixed_delay,omitempty" doc:"interval: every_seconds after the end of the last run"`
	Calendar      string       `json:"calendar,omitempty" doc:"Code of a calendar"`
	CalendarMode  CalendarMode `json:"calendar_mode,omitempty" doc:"workdays (default) or skip_days_off"`
	CalendarMove  CalendarMove `json:"calendar_move,omitempty" doc:"What becomes of a slot on a day that is not run on: drop (default), next_workday or previous_workday"`
	StartAt       time.Time    `json:"start_at,omitzero" doc:"No slot before"`
	EndAt         time.Time    `json:"end_at,omitzero" doc:"No slot after"`
	JitterSeconds int          `json:"jitter_seconds,omitempty" doc:"Slots run up to so much later, always the same for one task"`
	RunNow        bool         `json:"run_now,omitempty" doc:"once: when run_at has passed, run now"`
}

// TargetSpec is a target as written.
type TargetSpec struct {
	Kind TargetKind `json:"kind" doc:"http, mq, or shell (owners only)"`
	URL  string     `json:"url,omitempty"`
	// Headers by name; names in any case.
	Headers map[string]string `json:"headers,omitempty" doc:"Sent with each call. Credentials are named: {{secret:NAME}}, a secret of the team"`

	HTTP *HTTPRules `json:"http,omitempty" doc:"How it is called and what counts as success, where that isn't the usual"`

	Executor string `json:"executor,omitempty" doc:"http without url: name of the executor that is called"`
	Type     string `json:"type,omitempty" doc:"Of the work, as the executor offers it"`
	Route    Route  `json:"route,omitempty" doc:"Which of the executor's addresses: round_robin (default), least_busy, random, hash (of biz_id), failover or broadcast"`

	Command      string     `json:"command,omitempty" doc:"shell: the whole path of a command that a node allows"`
	Args         []string   `json:"args,omitempty" doc:"shell: arguments, passed as they are"`
	Input        ShellInput `json:"input,omitempty" doc:"shell: how the payload comes: stdin (default), env (AX_PAYLOAD) or none"`
	Container    string     `json:"container,omitempty" doc:"shell: the container that a node allows it in; left out: the node itself"`
	SuccessCodes []int      `json:"success_codes,omitempty" doc:"shell: exit codes that count as success; left out: 0"`

	Broker     string `json:"broker,omitempty" doc:"mq: name of a message broker of the team"`
	Exchange   string `json:"exchange,omitempty" doc:"mq: exchange of RabbitMQ; (default) is the one without a name"`
	RoutingKey string `json:"routing_key,omitempty" doc:"mq: with an exchange"`
	Stream     string `json:"stream,omitempty" doc:"mq: stream of Redis, in place of an exchange"`
	Done       MQDone `json:"done,omitempty" doc:"mq: receipt (default): whoever works on the message reports; confirm: the broker has it"`

	CancelRoutingKey string `json:"cancel_routing_key,omitempty" doc:"mq: with an exchange: where a message goes when the work may still be done and was canceled or timed out"`
}

// PolicySpec is a policy as written.
type PolicySpec struct {
	TimeoutSeconds *int       `json:"timeout_seconds,omitempty" doc:"Of one attempt; default 30"`
	Retry          *RetrySpec `json:"retry,omitempty"`
	Overlap        Overlap    `json:"overlap,omitempty"`
	MaxConcurrent  *int       `json:"max_concurrent,omitempty" doc:"0: unlimited"`
	HostLimit      *int       `json:"host_limit,omitempty" doc:"http with url: no call of this task begins while so many of any task run to its host and port; 1 to 1000, 0 or left out: no limit"`
	Idempotent     *bool      `json:"idempotent,omitempty" doc:"Required: may the target get the same key twice?"`
	AlertLevel     AlertLevel `json:"alert_level,omitempty"`

	AwaitSeconds     *int `json:"await_seconds,omitempty" doc:"Until accepted work must have sent its receipt, 5 to 2,592,000; left out: a day"`
	HeartbeatSeconds *int `json:"heartbeat_seconds,omitempty" doc:"How long accepted work may be silent, 5 or more; 0 or left out: until its receipt is due"`
}

// RetrySpec is a retry policy as written.
type RetrySpec struct {
	Kind          RetryKind `json:"kind,omitempty"`
	Max           *int      `json:"max,omitempty"`
	DelaysSeconds []int     `json:"delays_seconds,omitempty"`
	Unsafe        bool      `json:"unsafe,omitempty" doc:"Repeat non-idempotent work after a definite failure; owners only"`
}

// Defaults are the parameters of config.yaml that a new task gets.
type Defaults struct {
	TimeoutSeconds int
	RetryMax       int
	RetryDelays    []int
	Queues         []string // the queues there are; the first is the default
}

// Spec of a task as written now, so that a form or a file can begin from it.
func (t Task) Written(team string) TaskSpec {
	s, p := t.Spec.Schedule, t.Spec.Policy
	enabled := t.Enabled
	return TaskSpec{
		Code: t.Code, Name: t.Name, Team: team, Group: t.Group, Tags: t.Tags, Owner: t.Owner,
		Schedule: ScheduleSpec{
			Kind: s.Kind, Cron: s.Cron, EverySeconds: s.EverySeconds, Anchor: s.Anchor, RunAt: s.RunAt,
			DelaySeconds: s.DelaySeconds, Timezone: s.Timezone, Misfire: s.Misfire,
			MisfireGraceSeconds: s.MisfireGraceSeconds, MisfireCap: s.MisfireCap, FixedDelay: s.FixedDelay,
			Calendar: s.Calendar, CalendarMode: s.CalendarMode, CalendarMove: s.CalendarMove,
			StartAt: s.StartAt, EndAt: s.EndAt, JitterSeconds: s.JitterSeconds,
		},
		Target: t.Spec.Target.Written(),
		Policy: PolicySpec{
			TimeoutSeconds: &p.TimeoutSeconds, Overlap: p.Overlap, MaxConcurrent: &p.MaxConcurrent,
			Idempotent: &p.Idempotent, AlertLevel: p.AlertLevel,
			HostLimit:    orNone(p.HostLimit),
			AwaitSeconds: orNone(p.AwaitSeconds), HeartbeatSeconds: orNone(p.HeartbeatSeconds),
			Retry: &RetrySpec{Kind: p.Retry.Kind, Max: &p.Retry.Max, DelaysSeconds: p.Retry.DelaysSeconds, Unsafe: p.Retry.Unsafe},
		},
		Hooks: t.Spec.Hooks, Queue: t.Queue, Labels: t.Spec.Labels, Payload: t.Spec.Payload, Enabled: &enabled, Version: t.Version,
	}
}

// orNone is a number that was said; nil: it wasn't.
func orNone(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// Written is the target as a form or a file begins from it.
func (t Target) Written() TargetSpec {
	return TargetSpec{
		Kind: t.Kind, URL: t.URL, Headers: t.Headers, HTTP: t.HTTP,
		Executor: t.Executor, Type: t.Type, Route: t.Route,
		Command: t.Command, Args: t.Args, Input: t.Input, Container: t.Container, SuccessCodes: t.SuccessCodes,
		Broker: t.Broker, Exchange: t.Exchange, RoutingKey: t.RoutingKey, Stream: t.Stream, Done: t.Done, CancelRoutingKey: t.CancelRoutingKey,
	}
}
