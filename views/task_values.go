package views

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ax/app/sched"
)

// TaskValues are the fields of the task form as they were typed, so that
// nothing is lost when the form comes back.
type TaskValues struct {
	Code, Name, Team, Group, Owner, Tags string
	Enabled                              bool

	Target                       string // kind of target; empty: http
	URL, Headers, Payload, Queue string // headers as lines, Name: value
	Labels                       string // with commas between
	Command, Args, Input, Codes  string // arguments as lines
	Container                    string
	HTTP                         HTTPValues
	Hooks                        HookValues
	Await, Heartbeat             string // lengths of time
	Executor, Route              string // executor and type: billing/close-day
	MQ                           MQValues

	Kind, Cron, Zone     string
	Every, Anchor, RunAt string
	Delay                string
	FixedDelay           string // "true", "false"
	RunNow               bool   // once: a moment that has passed is run now

	Calendar, CalendarMode, CalendarMove string
	StartAt, EndAt, Jitter               string
	Misfire, MisfireGrace, MisfireCap    string
	Overlap                              string

	Idempotent                         string // "true", "false", "" while nothing is chosen
	RetryKind, RetryMax, RetryDelays   string
	Unsafe                             bool
	MaxConcurrent, Timeout, AlertLevel string
	HostLimit                          string
	Note                               string
	Version                            int
}

// LocalTime is how a date and time field holds an instant.
const LocalTime = "2006-01-02T15:04:05"

// TaskValues are the fields that the form of a stored task begins with.
func (v Viewer) TaskValues(task sched.Task, team string) TaskValues {
	s, p := task.Spec.Schedule, task.Spec.Policy
	zone := zoneOf(s, v)
	out := TaskValues{
		Code: task.Code, Name: task.Name, Team: team, Group: task.Group, Owner: task.Owner, Tags: strings.Join(task.Tags, ", "),
		Enabled: task.Enabled, URL: task.Spec.Target.URL, Headers: headerLines(task.Spec.Target.Headers), Payload: indentedJSON(task.Spec.Payload), Queue: task.Queue, Labels: strings.Join(task.Spec.Labels, ", "),
		Kind: string(s.Kind), Cron: s.Cron, Zone: s.Timezone, RunAt: localTime(s.RunAt, zone),
		Idempotent: strconv.FormatBool(p.Idempotent), RetryKind: string(p.Retry.Kind), RetryMax: strconv.Itoa(p.Retry.Max),
		RetryDelays: v.ExactlyAll(p.Retry.DelaysSeconds), Unsafe: p.Retry.Unsafe,
		MaxConcurrent: strconv.Itoa(p.MaxConcurrent), Timeout: v.Exactly(p.TimeoutSeconds), AlertLevel: string(p.AlertLevel),
		HostLimit: numberOrNone(p.HostLimit),
		Await:     v.spanOrNone(p.AwaitSeconds), Heartbeat: v.spanOrNone(p.HeartbeatSeconds),
		Version: task.Version,
	}
	out.target(task.Spec.Target)
	out.HTTP, out.Hooks = v.httpValues(task.Spec.Target.HTTP), v.hookValues(task.Spec.Hooks)
	out.Calendar, out.CalendarMode, out.CalendarMove = s.Calendar, cmp.Or(string(s.CalendarMode), string(sched.OnWorkdays)), cmp.Or(string(s.CalendarMove), string(sched.MoveDrop))
	out.StartAt, out.EndAt, out.Jitter = localTime(s.StartAt, zone), localTime(s.EndAt, zone), v.spanOrNone(s.JitterSeconds)
	out.Misfire, out.Overlap = cmp.Or(string(s.Misfire), string(sched.FireOnce)), string(p.Overlap)
	out.MisfireGrace, out.MisfireCap = v.spanOrNone(s.MisfireGraceSeconds), numberOrNone(s.MisfireCap)
	out.FixedDelay = strconv.FormatBool(s.FixedDelay)
	if s.Kind == sched.KindInterval {
		out.Every, out.Anchor = v.Exactly(s.EverySeconds), localTime(s.Anchor, zone)
	}
	if s.Kind == sched.KindDelay {
		out.Delay = v.Exactly(s.DelaySeconds)
	}
	return out
}

// NewTaskValues are the fields that the form of a new task begins with. What
// is empty gets a default that suits the kind.
func (v Viewer) NewTaskValues(d sched.Defaults, team string) TaskValues {
	out := TaskValues{
		Team: team, Enabled: true, Kind: string(sched.KindCron), Zone: v.zone().String(),
		Target: string(sched.TargetHTTP), Input: string(sched.InputStdin), Codes: "0", MQ: MQValues{Done: string(sched.DoneReceipt)}, HTTP: v.httpValues(nil), Hooks: v.hookValues(nil),
		RetryKind: string(sched.RetrySteps), Timeout: v.Exactly(d.TimeoutSeconds), AlertLevel: string(sched.AlertP2),
		FixedDelay: "false", CalendarMode: string(sched.OnWorkdays), CalendarMove: string(sched.MoveDrop),
		Misfire: string(sched.FireOnce), Overlap: string(sched.OverlapSkip),
	}
	if len(d.Queues) > 0 {
		out.Queue = d.Queues[0]
	}
	return out
}

// spanOrNone is a length of time to be typed again; none is an empty field.
func (v Viewer) spanOrNone(seconds int) string {
	if seconds == 0 {
		return ""
	}
	return v.Exactly(seconds)
}

func numberOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func localTime(at time.Time, zone *time.Location) string {
	if at.IsZero() {
		return ""
	}
	return at.In(zone).Format(LocalTime)
}

// indentedJSON is stored JSON as people read it.
// headerLines are headers as the form has them, by name.
func headerLines(headers map[string]string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lines = append(lines, name+": "+headers[name])
	}
	return strings.Join(lines, "\n")
}

func indentedJSON(raw json.RawMessage) string {
	var out bytes.Buffer
	if json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// formField is a field of the form: its name as errors carry it, the word
// above it and what it holds.
type formField struct {
	name, word string
	value      func(TaskValues) string
}

// fieldLabels are the fields of the form, in its order.
var fieldLabels = slices.Concat([]formField{
	{"name", msg("Name"), func(v TaskValues) string { return v.Name }},
	{"code", msg("Code"), func(v TaskValues) string { return v.Code }},
	{"team", msg("Team"), func(v TaskValues) string { return v.Team }},
	{"group", msg("Group"), func(v TaskValues) string { return v.Group }},
	{"owner", msg("Owner"), func(v TaskValues) string { return v.Owner }},
	{"tags", msg("Tags"), func(v TaskValues) string { return v.Tags }},
	{"enabled", msg("Enabled"), func(v TaskValues) string { return strconv.FormatBool(v.Enabled) }},
	{"target.kind", msg("Kind of target"), func(v TaskValues) string { return cmp.Or(v.Target, string(sched.TargetHTTP)) }},
	{"target.url", msg("URL"), func(v TaskValues) string { return v.ofHTTP(v.URL) }},
	{"target.executor", msg("Executor and type of work"), func(v TaskValues) string { return v.ofHTTP(v.Executor) }},
	{"target.route", msg("Which address"), func(v TaskValues) string { return v.ofExecutor(v.Route) }},
	{"target.headers", msg("Headers"), func(v TaskValues) string { return v.ofHTTP(v.Headers) }},
}, httpLabels, []formField{
	{"target.command", msg("Command"), func(v TaskValues) string { return v.ofShell(v.Command) }},
	{"target.args", msg("Arguments"), func(v TaskValues) string { return v.ofShell(v.Args) }},
	{"target.input", msg("How the payload comes"), func(v TaskValues) string { return v.ofShell(v.Input) }},
	{"target.container", msg("Container"), func(v TaskValues) string { return v.ofShell(v.Container) }},
	{"target.success_codes", msg("Exit codes of success"), func(v TaskValues) string { return v.ofShell(v.Codes) }},
	{"target.broker", msg("Broker"), func(v TaskValues) string { return v.ofMQ(v.MQ.Broker) }},
	{"target.exchange", msg("Exchange"), func(v TaskValues) string { return v.ofMQ(v.MQ.Exchange) }},
	{"target.routing_key", msg("Routing key"), func(v TaskValues) string { return v.ofMQ(v.MQ.RoutingKey) }},
	{"target.stream", msg("Stream"), func(v TaskValues) string { return v.ofMQ(v.MQ.Stream) }},
	{"target.message_headers", msg("Headers of the message"), func(v TaskValues) string { return v.ofMQ(v.MQ.Headers) }},
	{"target.cancel_routing_key", msg("Key to stop it"), func(v TaskValues) string { return v.ofMQ(v.MQ.CancelKey) }},
	{"target.done", msg("It is done when"), func(v TaskValues) string { return v.ofMQ(v.MQ.Done) }},
	{"payload", msg("Payload"), func(v TaskValues) string { return v.Payload }},
	{"queue", msg("Queue"), func(v TaskValues) string { return v.Queue }},
	{"labels", msg("Labels"), func(v TaskValues) string { return v.Labels }},
	{"schedule.kind", msg("Kind of schedule"), func(v TaskValues) string { return v.Kind }},
	{"schedule.cron", msg("Cron expression"), func(v TaskValues) string { return v.Cron }},
	{"schedule.every_seconds", msg("Every|interval"), func(v TaskValues) string { return v.Every }},
	{"schedule.fixed_delay", msg("Counted"), func(v TaskValues) string { return v.FixedDelay }},
	{"schedule.anchor", msg("Counted from"), func(v TaskValues) string { return v.Anchor }},
	{"schedule.run_at", msg("Moment"), func(v TaskValues) string { return v.RunAt }},
	{"schedule.run_now", msg("Run it now"), func(v TaskValues) string { return "" }},
	{"schedule.delay_seconds", msg("Delay"), func(v TaskValues) string { return v.Delay }},
	{"schedule.timezone", msg("Zone"), func(v TaskValues) string { return v.Zone }},
	{"schedule.calendar", msg("Calendar"), func(v TaskValues) string { return v.Calendar }},
	{"schedule.calendar_mode", msg("Runs on"), func(v TaskValues) string { return v.ofCalendar(v.CalendarMode) }},
	{"schedule.calendar_move", msg("When a day is off"), func(v TaskValues) string { return v.ofCalendar(v.CalendarMove) }},
	{"schedule.start_at", msg("Not before"), func(v TaskValues) string { return v.StartAt }},
	{"schedule.end_at", msg("Not after"), func(v TaskValues) string { return v.EndAt }},
	{"schedule.jitter_seconds", msg("Jitter"), func(v TaskValues) string { return v.Jitter }},
	{"policy.overlap", msg("If the last run is still going when the next is due"), func(v TaskValues) string { return v.Overlap }},
	{"schedule.misfire", msg("If ax was down and slots were missed"), func(v TaskValues) string { return v.Misfire }},
	{"schedule.misfire_grace_seconds", msg("Still on time"), func(v TaskValues) string { return v.MisfireGrace }},
	{"schedule.misfire_cap", msg("Missed slots that run, at most"), func(v TaskValues) string { return v.MisfireCap }},
	{"policy.idempotent", msg("Idempotent"), func(v TaskValues) string { return v.Idempotent }},
	{"policy.retry.max", msg("Retries"), func(v TaskValues) string { return v.RetryMax }},
	{"policy.retry.kind", msg("Waits grow"), func(v TaskValues) string { return v.RetryKind }},
	{"policy.retry.delays_seconds", msg("Waits between"), func(v TaskValues) string { return v.RetryDelays }},
	{"policy.retry.unsafe", msg("Retries although not idempotent"), func(v TaskValues) string { return strconv.FormatBool(v.Unsafe) }},
	{"policy.timeout_seconds", msg("Time limit per attempt"), func(v TaskValues) string { return v.Timeout }},
	{"policy.await_seconds", msg("Receipt due within"), func(v TaskValues) string { return v.Await }},
	{"policy.heartbeat_seconds", msg("Silent for at most"), func(v TaskValues) string { return v.Heartbeat }},
	{"policy.max_concurrent", msg("At once"), func(v TaskValues) string { return v.MaxConcurrent }},
	{"policy.host_limit", msg("Calls to its host at once"), func(v TaskValues) string { return v.HostLimit }},
	{"policy.alert_level", msg("Alert level"), func(v TaskValues) string { return v.AlertLevel }},
}, hookLabels, []formField{
	{"note", msg("Note"), func(v TaskValues) string { return v.Note }},
})

// fieldLabel is the word above the field of the name; the name itself when
// the form has no such field.
func fieldLabel(ctx context.Context, name string) string {
	for _, f := range fieldLabels {
		if f.name == name {
			return t(ctx, f.word)
		}
	}
	return name
}

// ofCalendar is a value that only a calendar gives a meaning.
func (v TaskValues) ofCalendar(value string) string {
	if v.Calendar == "" {
		return ""
	}
	return value
}

// FieldDiff is one field in which two definitions of a task differ.
type FieldDiff struct {
	Name   string
	Stored string
	Typed  string
}

// FieldChange is who changed a field last, since the form was opened.
type FieldChange struct {
	By      string
	At      time.Time
	Version int
}

// FieldHistory is who changed what since the form was opened.
type FieldHistory struct {
	Last map[string]FieldChange // by field
	// Whether it is known that nobody changed a field that isn't there: of the
	// definition, and of name, owner and the like.
	Spec, Heading bool
}

// taskDiff lists the fields that would change the stored task. The note is no
// part of the definition.
func taskDiff(stored, typed TaskValues) []FieldDiff {
	stored.Payload, typed.Payload = compactJSON(stored.Payload), compactJSON(typed.Payload)
	typed.Code, typed.Team, typed.Note = stored.Code, stored.Team, stored.Note
	var out []FieldDiff
	for _, f := range fieldLabels {
		a, b := f.value(stored), strings.TrimSpace(f.value(typed))
		if a != b {
			out = append(out, FieldDiff{Name: f.name, Stored: a, Typed: b})
		}
	}
	return out
}

// ChangedFields names the fields in which two definitions of a task differ, in
// the viewer's language; "" when there are none.
func (v Viewer) ChangedFields(old, now sched.Task) string {
	var names []string
	for _, d := range taskDiff(v.TaskValues(old, ""), v.TaskValues(now, "")) {
		names = append(names, fieldLabel(With(context.Background(), v), d.Name))
	}
	return strings.Join(names, ", ")
}

// nobodyElse says that no version since changed the field, or that it isn't
// known whether one did.
func (h FieldHistory) nobodyElse(ctx context.Context, field string) string {
	known := h.Heading
	for _, part := range []string{"schedule.", "policy.", "target.", "hooks.", "payload"} {
		if strings.HasPrefix(field, part) {
			known = h.Spec
		}
	}
	if known {
		return t(ctx, "you alone")
	}
	return t(ctx, "not recorded")
}

// compactJSON makes two spellings of one JSON equal.
func compactJSON(raw string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(raw)) != nil {
		return raw
	}
	return out.String()
}

// Scheduled tells whether enough is typed to be explained.
func (v TaskValues) Scheduled() bool {
	switch sched.ScheduleKind(v.Kind) {
	case sched.KindCron:
		return strings.TrimSpace(v.Cron) != ""
	case sched.KindInterval:
		return v.Every != ""
	case sched.KindOnce:
		return v.RunAt != ""
	case sched.KindDelay:
		return v.Delay != ""
	}
	return v.Kind != ""
}
