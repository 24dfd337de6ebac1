package app

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/cron"
	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// taskFields reads the form of a task.
func (a *App) taskFields(c *gin.Context) (*form, error) { return a.form(c) }

// typedTask is the form as it was typed, to be shown again.
func (f *form) typedTask() views.TaskValues {
	return views.TaskValues{
		Code: f.text("code"), Name: f.text("name"), Team: f.text("team"), Group: f.text("group"), Owner: f.text("owner"), Tags: f.text("tags"),
		Enabled: f.ticked("enabled"), Target: f.text("target.kind"), URL: f.text("target.url"), Headers: f.raw("target.headers"),
		Command: f.text("target.command"), Args: f.raw("target.args"), Input: f.text("target.input"), Codes: f.text("target.success_codes"), Container: f.text("target.container"), HTTP: f.typedHTTP(),
		Executor: f.text("target.executor"), Route: f.text("target.route"),
		MQ: f.typedMessage(), Hooks: f.typedHooks(),
		Payload: f.raw("payload"), Queue: f.text("queue"), Labels: f.text("labels"),
		Kind: f.text("schedule.kind"), Cron: f.raw("schedule.cron"), Zone: f.text("schedule.timezone"),
		Every: f.text("schedule.every_seconds"), Anchor: f.text("schedule.anchor"), RunAt: f.text("schedule.run_at"), Delay: f.text("schedule.delay_seconds"),
		FixedDelay: f.text("schedule.fixed_delay"), RunNow: f.ticked("schedule.run_now"),
		Calendar: f.text("schedule.calendar"), CalendarMode: f.text("schedule.calendar_mode"), CalendarMove: f.text("schedule.calendar_move"),
		StartAt: f.text("schedule.start_at"), EndAt: f.text("schedule.end_at"), Jitter: f.text("schedule.jitter_seconds"),
		Misfire: f.text("schedule.misfire"), MisfireGrace: f.text("schedule.misfire_grace_seconds"), MisfireCap: f.text("schedule.misfire_cap"),
		Overlap:    f.text("policy.overlap"),
		Idempotent: f.text("policy.idempotent"), RetryKind: f.text("policy.retry.kind"), RetryMax: f.text("policy.retry.max"),
		RetryDelays: f.text("policy.retry.delays_seconds"), Unsafe: f.ticked("policy.retry.unsafe"),
		MaxConcurrent: f.text("policy.max_concurrent"), HostLimit: f.text("policy.host_limit"), Timeout: f.text("policy.timeout_seconds"), Await: f.text("policy.await_seconds"), Heartbeat: f.text("policy.heartbeat_seconds"), AlertLevel: f.text("policy.alert_level"),
		Note: f.text("note"), Version: f.number("version"),
	}
}

// taskSpec is the task that the form describes; what can't be read is gathered
// in f. Fields of other kinds of schedule than the one chosen are left out:
// the form keeps them, out of sight, in case one changes one's mind.
func (f *form) taskSpec(v views.Viewer, typed views.TaskValues, old sched.Task) sched.TaskSpec {
	return sched.TaskSpec{
		Code: typed.Code, Name: typed.Name, Team: typed.Team, Group: typed.Group, Owner: typed.Owner, Tags: f.words("tags"),
		Schedule: f.scheduleSpec(v, typed, old),
		Target:   f.targetSpec(typed),
		Policy:   f.policySpec(typed),
		Hooks:    f.hooks(typed.Hooks),
		Queue:    typed.Queue, Labels: f.words("labels"), Payload: json.RawMessage(typed.Payload), Enabled: new(typed.Enabled),
		Version: typed.Version, Note: typed.Note,
	}
}

// targetSpec reads the target of the kind chosen; a form without the choice is
// of HTTP.
func (f *form) targetSpec(typed views.TaskValues) sched.TargetSpec {
	if typed.Message() {
		return f.messageSpec(typed.MQ)
	}
	if !typed.Shell() {
		kind := cmp.Or(sched.TargetKind(typed.Target), sched.TargetHTTP)
		return withExecutor(sched.TargetSpec{Kind: kind, URL: typed.URL, Headers: f.headers("target.headers", typed.Headers), HTTP: f.httpRules(typed.HTTP)}, typed)
	}
	s := sched.TargetSpec{Kind: sched.TargetShell, Command: typed.Command, Input: sched.ShellInput(typed.Input), Container: typed.Container}
	for line := range strings.Lines(typed.Args) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			s.Args = append(s.Args, line)
		}
	}
	for _, word := range strings.FieldsFunc(typed.Codes, func(r rune) bool { return r == ',' || r == ' ' || r == '，' }) {
		code, err := strconv.Atoi(word)
		if err != nil {
			f.bad = append(f.bad, fault.Field("target.success_codes", "%q is no number", word))
			continue
		}
		s.SuccessCodes = append(s.SuccessCodes, code)
	}
	return s
}

// headers reads one header on each line, as Name: value.
func (f *form) headers(name, text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		header, value, ok := strings.Cut(line, ":")
		header = strings.TrimSpace(header)
		if _, twice := out[header]; !ok || twice {
			f.bad = append(f.bad, fault.Field(name, "One header on each line, as Name: value, each name once; this is %q", line))
			return nil
		}
		out[header] = strings.TrimSpace(value)
	}
	return out
}

func (f *form) scheduleSpec(v views.Viewer, typed views.TaskValues, old sched.Task) sched.ScheduleSpec {
	s := sched.ScheduleSpec{Kind: sched.ScheduleKind(typed.Kind), Timezone: typed.Zone}
	if zone, err := cron.LoadZone(typed.Zone); err == nil {
		f.zone = zone // of the moments typed
	}
	shown := v.TaskValues(old, "")
	kept := func(name, text, before string, was time.Time) time.Time {
		if !was.IsZero() && text == before && typed.Zone == shown.Zone {
			return was // where the clocks go back, its text could mean two instants
		}
		return f.timeOf(name, text)
	}
	was := old.Spec.Schedule
	switch s.Kind {
	case sched.KindCron:
		s.Cron = typed.Cron
	case sched.KindInterval:
		s.EverySeconds, _ = f.seconds("schedule.every_seconds", typed.Every)
		s.Anchor = kept("schedule.anchor", typed.Anchor, shown.Anchor, was.Anchor)
		s.FixedDelay = typed.FixedDelay == "true"
	case sched.KindOnce:
		s.RunAt, s.RunNow = kept("schedule.run_at", typed.RunAt, shown.RunAt, was.RunAt), typed.RunNow
	case sched.KindDelay:
		s.DelaySeconds, _ = f.seconds("schedule.delay_seconds", typed.Delay)
	}
	if s.Kind.Slots() {
		s.StartAt, s.EndAt = kept("schedule.start_at", typed.StartAt, shown.StartAt, was.StartAt), kept("schedule.end_at", typed.EndAt, shown.EndAt, was.EndAt)
		f.slotFields(&s, typed)
	}
	return s
}

// slotFields reads what schedules with slots of their own have. What the form
// shows only beside another choice is left out without it.
func (f *form) slotFields(s *sched.ScheduleSpec, typed views.TaskValues) {
	s.JitterSeconds, _ = f.seconds("schedule.jitter_seconds", typed.Jitter)
	s.Misfire = sched.Misfire(typed.Misfire)
	s.MisfireGraceSeconds, _ = f.seconds("schedule.misfire_grace_seconds", typed.MisfireGrace)
	if s.Misfire == sched.FireAll {
		s.MisfireCap = f.numberOf("schedule.misfire_cap", typed.MisfireCap)
	}
	if typed.Calendar == "" || s.Kind == sched.KindOnce || s.FixedDelay {
		return
	}
	s.Calendar, s.CalendarMode, s.CalendarMove = typed.Calendar, sched.CalendarMode(typed.CalendarMode), sched.CalendarMove(typed.CalendarMove)
}

// numberOf is number for a text that was read already.
func (f *form) numberOf(name, text string) int {
	g := &form{values: map[string][]string{name: {text}}}
	n := g.number(name)
	f.bad = append(f.bad, g.bad...)
	return n
}

// timeOf is time for a text that was read already.
func (f *form) timeOf(name, text string) time.Time {
	g := &form{values: map[string][]string{name: {text}}, zone: f.zone}
	at := g.time(name)
	f.bad = append(f.bad, g.bad...)
	return at
}

// overlap as chosen; for tasks without slots there is nothing to choose.
func (f *form) overlap(typed views.TaskValues) sched.Overlap {
	if !sched.ScheduleKind(typed.Kind).Slots() {
		return ""
	}
	return sched.Overlap(typed.Overlap)
}

func (f *form) policySpec(typed views.TaskValues) sched.PolicySpec {
	p := sched.PolicySpec{
		AlertLevel: sched.AlertLevel(typed.AlertLevel), Overlap: f.overlap(typed),
		Retry: &sched.RetrySpec{Kind: sched.RetryKind(typed.RetryKind)},
	}
	switch typed.Idempotent {
	case "true":
		p.Idempotent = new(true)
	case "false":
		p.Idempotent = new(false)
		p.Retry.Unsafe = typed.Unsafe
	}
	if n, ok := f.optional("policy.retry.max"); ok {
		p.Retry.Max = &n
	}
	if n, ok := f.optional("policy.max_concurrent"); ok {
		p.MaxConcurrent = &n
	}
	if n, ok := f.optional("policy.host_limit"); ok {
		p.HostLimit = &n
	}
	if n, ok := f.seconds("policy.timeout_seconds", typed.Timeout); ok {
		p.TimeoutSeconds = &n
	}
	if n, ok := f.seconds("policy.await_seconds", typed.Await); ok {
		p.AwaitSeconds = &n
	}
	if n, ok := f.seconds("policy.heartbeat_seconds", typed.Heartbeat); ok {
		p.HeartbeatSeconds = &n
	}
	for part := range strings.FieldsFuncSeq(typed.RetryDelays, func(r rune) bool { return r == ',' || r == '，' || r == '、' || r == ';' || r == '\n' }) {
		if n, ok := f.seconds("policy.retry.delays_seconds", part); ok {
			p.Retry.DelaysSeconds = append(p.Retry.DelaysSeconds, n)
		}
	}
	return p
}

// spanPart is a number with its unit; without one it is seconds.
var spanPart = regexp.MustCompile(`^(\d{1,9})\s*(sec|s|秒|min|m|分钟|分|h|小时|d|天)?\s*`)

var spanUnits = map[string]int{
	"": 1, "s": 1, "sec": 1, "秒": 1, "m": 60, "min": 60, "分": 60, "分钟": 60, "h": 3600, "小时": 3600, "d": 86_400, "天": 86_400,
}

// seconds reads a length of time as people write it: "90", "2 min",
// "1 h 30 min". ok is false when the text is empty or can't be read, which is
// noted at the field.
func (f *form) seconds(name, text string) (n int, ok bool) {
	rest := strings.ToLower(strings.TrimSpace(text))
	if rest == "" {
		return 0, false
	}
	for bare := false; rest != ""; {
		m := spanPart.FindStringSubmatch(rest)
		if m == nil || bare {
			f.refuse(name, "%q is not a length of time such as 90 s, 2 min or 1 h 30 min", clip(strings.TrimSpace(text), 30))
			return 0, false
		}
		count, err := strconv.Atoi(m[1])
		if err != nil {
			return 0, false // nine digits always fit
		}
		n += count * spanUnits[m[2]]
		rest, bare = rest[len(m[0]):], m[2] == ""
	}
	return n, true
}

func asSeconds(n int) time.Duration { return time.Duration(n) * time.Second }
