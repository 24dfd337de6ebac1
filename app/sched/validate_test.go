package sched

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/fault"
)

func defaults() Defaults {
	return Defaults{TimeoutSeconds: 30, RetryMax: 3, RetryDelays: []int{10, 30, 120}, Queues: []string{"default", "slow"}}
}

// written is a valid new task of the kind, with nothing said that has a
// default.
func written(kind ScheduleKind) TaskSpec {
	w := TaskSpec{
		Code: "close-orders", Name: "Close orders", Team: "shop",
		Target: TargetSpec{Kind: TargetHTTP, URL: "https://orders.internal/close"},
		Policy: PolicySpec{Idempotent: new(true)},
	}
	w.Schedule.Kind = kind
	switch kind {
	case KindCron:
		w.Schedule.Cron, w.Schedule.Timezone = "0 2 * * *", "Asia/Shanghai"
	case KindInterval:
		w.Schedule.EverySeconds = 90
	case KindOnce:
		w.Schedule.RunAt = noon().Add(time.Hour)
	case KindDelay:
		w.Schedule.DelaySeconds = 1800
	}
	return w
}

// refused is a change of a valid cron task, and the fields that it breaks.
type refused struct {
	change func(*TaskSpec)
	fields []string
}

func requireRefused(t *testing.T, kind ScheduleKind, cases map[string]refused) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := written(kind)
			c.change(&w)
			_, err := w.Resolve(Task{}, defaults(), noon())
			require.Equal(t, fault.KindInvalid, fault.KindOf(err), "%v", err)
			require.Equal(t, c.fields, fieldNames(err), "%v", err)
			for _, f := range fault.Fields(err) {
				require.NotContains(t, f.Text.String(), "%!", "format and arguments of %q", f.Text.Format)
			}
		})
	}
}

func TestBadNamesAreRefused(t *testing.T) {
	requireRefused(t, KindCron, map[string]refused{
		"no code":                 {func(w *TaskSpec) { w.Code = "" }, []string{"code"}},
		"a code with capitals":    {func(w *TaskSpec) { w.Code = "Close" }, []string{"code"}},
		"a code with a blank":     {func(w *TaskSpec) { w.Code = "close orders" }, []string{"code"}},
		"a code with a dot first": {func(w *TaskSpec) { w.Code = ".close" }, []string{"code"}},
		"a code with a line end":  {func(w *TaskSpec) { w.Code = "close\n" }, []string{"code"}},
		"a code with a slash":     {func(w *TaskSpec) { w.Code = "../close" }, []string{"code"}},
		"the code new":            {func(w *TaskSpec) { w.Code = "new" }, []string{"code"}},
		"a code of 65":            {func(w *TaskSpec) { w.Code = strings.Repeat("a", 65) }, []string{"code"}},
		"no name":                 {func(w *TaskSpec) { w.Name = "" }, []string{"name"}},
		"a name of blanks":        {func(w *TaskSpec) { w.Name = " \t " }, []string{"name"}},
		"a name of 101":           {func(w *TaskSpec) { w.Name = strings.Repeat("界", 101) }, []string{"name"}},
		"a name on two lines":     {func(w *TaskSpec) { w.Name = "a\nb" }, []string{"name"}},
		"a broken name":           {func(w *TaskSpec) { w.Name = "a\xff" }, []string{"name"}},
		"a group of 65":           {func(w *TaskSpec) { w.Group = strings.Repeat("g", 65) }, []string{"group"}},
		"an owner of 65":          {func(w *TaskSpec) { w.Owner = strings.Repeat("o", 65) }, []string{"owner"}},
		"a note of 501":           {func(w *TaskSpec) { w.Note = strings.Repeat("n", 501) }, []string{"note"}},
		"eleven tags":             {func(w *TaskSpec) { w.Tags = strings.Split("a b c d e f g h i j k", " ") }, []string{"tags"}},
		"a tag of two words":      {func(w *TaskSpec) { w.Tags = []string{"end of month"} }, []string{"tags"}},
		"a tag with a comma":      {func(w *TaskSpec) { w.Tags = []string{"a,b"} }, []string{"tags"}},
		"a tag of 33":             {func(w *TaskSpec) { w.Tags = []string{strings.Repeat("t", 33)} }, []string{"tags"}},
		"a queue there is not":    {func(w *TaskSpec) { w.Queue = "fast" }, []string{"queue"}},
		"all at once":             {func(w *TaskSpec) { *w = TaskSpec{Queue: "fast"} }, []string{"code", "name", "queue", "schedule.kind", "target.kind", "policy.idempotent"}},
	})
}

func TestBadTargetsAreRefused(t *testing.T) {
	url := func(s string) refused { return refused{func(w *TaskSpec) { w.Target.URL = s }, []string{"target.url"}} }
	kind := func(k TargetKind) refused {
		return refused{func(w *TaskSpec) { w.Target.Kind = k }, []string{"target.kind"}}
	}
	requireRefused(t, KindCron, map[string]refused{
		"no address":            url(""),
		"another scheme":        url("ftp://orders.internal/close"),
		"no scheme":             url("orders.internal/close"),
		"a file":                url("file:///etc/passwd"),
		"a script":              url("javascript:alert(1)"),
		"no host":               url("http:///close"),
		"a port only":           url("http://:80/close"),
		"a blank":               url("http://orders.internal/a b"),
		"a line end":            url("http://orders.internal/a\r\nHost: x"),
		"broken text":           url("http://orders.internal/\xff"),
		"an unfinished bracket": url("http://[::1/close"),
		"a password":            url("http://ann:secret@orders.internal/close"),
		"a user name":           url("http://ann@orders.internal/close"),
		"a fragment":            url("http://orders.internal/close#now"),
		"2,001 characters":      url("http://orders.internal/" + strings.Repeat("a", 1978)),
		"something else":        kind("pigeon"),
		"no kind":               kind(""),
	})
}

func TestBadSchedulesAreRefused(t *testing.T) {
	cron := func(expr, zone string, fields ...string) refused {
		return refused{func(w *TaskSpec) { w.Schedule.Cron, w.Schedule.Timezone = expr, zone }, fields}
	}
	requireRefused(t, KindCron, map[string]refused{
		"a zone and no fields (CRON-01)":         cron("TZ=0", "UTC", "schedule.cron"),
		"CRON_TZ and no fields (CRON-01)":        cron("CRON_TZ=Asia/Shanghai", "UTC", "schedule.cron"),
		"no expression":                          cron("", "UTC", "schedule.cron"),
		"an unknown zone":                        cron("* * * * *", "Mars/Base", "schedule.timezone"),
		"no zone":                                cron("* * * * *", "", "schedule.timezone"),
		"neither":                                cron("61 * * * *", "", "schedule.timezone", "schedule.cron"),
		"the machine's own zone":                 cron("* * * * *", "Local", "schedule.timezone"),
		"a full-width space (CRON-33)":           cron("0\u30002 * * *", "UTC", "schedule.cron"),
		"a full-width space around it (CRON-33)": cron("\u30000 2 * * *", "UTC", "schedule.cron"),
		"a full-width digit (CRON-33)":           cron("０ 2 * * *", "UTC", "schedule.cron"),
		"a no-break space":                       cron("0\u00a02 * * *", "UTC", "schedule.cron"),
		"a kind there is not":                    {func(w *TaskSpec) { w.Schedule.Kind = "weekly" }, []string{"schedule.kind"}},
		"no kind":                                {func(w *TaskSpec) { w.Schedule.Kind = "" }, []string{"schedule.kind"}},
		"a period":                               {func(w *TaskSpec) { w.Schedule.EverySeconds = 5 }, []string{"schedule.every_seconds"}},
		"a moment":                               {func(w *TaskSpec) { w.Schedule.RunAt = noon() }, []string{"schedule.run_at"}},
		"a delay":                                {func(w *TaskSpec) { w.Schedule.DelaySeconds = 5 }, []string{"schedule.delay_seconds"}},
	})
	requireRefused(t, KindInterval, map[string]refused{
		"no period":                {func(w *TaskSpec) { w.Schedule.EverySeconds = 0 }, []string{"schedule.every_seconds"}},
		"a period below nothing":   {func(w *TaskSpec) { w.Schedule.EverySeconds = -1 }, []string{"schedule.every_seconds"}},
		"a period beyond a year":   {func(w *TaskSpec) { w.Schedule.EverySeconds = 31_536_001 }, []string{"schedule.every_seconds"}},
		"an unknown zone":          {func(w *TaskSpec) { w.Schedule.Timezone = "Mars/Base" }, []string{"schedule.timezone"}},
		"an expression":            {func(w *TaskSpec) { w.Schedule.Cron = "* * * * *" }, []string{"schedule.cron"}},
		"an anchor before 1970":    {func(w *TaskSpec) { w.Schedule.Anchor = moment("0001-06-01T00:00:00Z") }, []string{"schedule.anchor"}},
		"an anchor in far future":  {func(w *TaskSpec) { w.Schedule.Anchor = moment("9999-01-01T00:00:00Z") }, []string{"schedule.anchor"}},
		"an anchor past ten years": {func(w *TaskSpec) { w.Schedule.Anchor = noon().AddDate(10, 0, 1) }, []string{"schedule.anchor"}},
	})
	requireRefused(t, KindOnce, map[string]refused{
		"no moment":             {func(w *TaskSpec) { w.Schedule.RunAt = time.Time{} }, []string{"schedule.run_at"}},
		"a moment that passed":  {func(w *TaskSpec) { w.Schedule.RunAt = noon().Add(-time.Second) }, []string{"schedule.run_at"}},
		"beyond ten years":      {func(w *TaskSpec) { w.Schedule.RunAt = noon().AddDate(10, 0, 1) }, []string{"schedule.run_at"}},
		"an anchor of its own":  {func(w *TaskSpec) { w.Schedule.Anchor = noon() }, []string{"schedule.anchor"}},
		"the zone of a pigeon":  {func(w *TaskSpec) { w.Schedule.Timezone = "Pigeon" }, []string{"schedule.timezone"}},
		"everything of a cron":  {func(w *TaskSpec) { w.Schedule.Cron, w.Schedule.EverySeconds = "* * * * *", 1 }, []string{"schedule.cron", "schedule.every_seconds"}},
		"a delay of no meaning": {func(w *TaskSpec) { w.Schedule.DelaySeconds = 1 }, []string{"schedule.delay_seconds"}},
	})
	requireRefused(t, KindDelay, map[string]refused{
		"no delay":            {func(w *TaskSpec) { w.Schedule.DelaySeconds = 0 }, []string{"schedule.delay_seconds"}},
		"a delay past a year": {func(w *TaskSpec) { w.Schedule.DelaySeconds = 31_536_001 }, []string{"schedule.delay_seconds"}},
		"an anchor":           {func(w *TaskSpec) { w.Schedule.Anchor = noon() }, []string{"schedule.anchor"}},
	})
	requireRefused(t, KindManual, map[string]refused{
		"a delay":   {func(w *TaskSpec) { w.Schedule.DelaySeconds = 1 }, []string{"schedule.delay_seconds"}},
		"an anchor": {func(w *TaskSpec) { w.Schedule.Anchor = noon() }, []string{"schedule.anchor"}},
	})
}

// What a later release brings is refused by its name, never ignored.
func TestBadPoliciesAreRefused(t *testing.T) {
	retry := func(r RetrySpec, fields ...string) refused {
		return refused{func(w *TaskSpec) { w.Policy.Retry = &r }, fields}
	}
	const delays, most = "policy.retry.delays_seconds", "policy.retry.max"
	requireRefused(t, KindCron, map[string]refused{
		"nothing said of idempotence": {func(w *TaskSpec) { w.Policy.Idempotent = nil }, []string{"policy.idempotent"}},
		"no time":                     {func(w *TaskSpec) { w.Policy.TimeoutSeconds = new(0) }, []string{"policy.timeout_seconds"}},
		"more than a day":             {func(w *TaskSpec) { w.Policy.TimeoutSeconds = new(86_401) }, []string{"policy.timeout_seconds"}},
		"fewer than none at once":     {func(w *TaskSpec) { w.Policy.MaxConcurrent = new(-1) }, []string{"policy.max_concurrent"}},
		"a crowd at once":             {func(w *TaskSpec) { w.Policy.MaxConcurrent = new(10_001) }, []string{"policy.max_concurrent"}},
		"an overlap there is not":     {func(w *TaskSpec) { w.Policy.Overlap = "mix" }, []string{"policy.overlap"}},
		"no limit, and no overlap": {func(w *TaskSpec) {
			w.Policy.Overlap, w.Policy.MaxConcurrent = OverlapQueue, new(0)
		}, []string{"policy.max_concurrent"}},
		"a level there is not":       {func(w *TaskSpec) { w.Policy.AlertLevel = "p9" }, []string{"policy.alert_level"}},
		"fewer than no retries":      retry(RetrySpec{Max: new(-1)}, most),
		"101 retries":                retry(RetrySpec{Max: new(101)}, most),
		"a kind there is not":        retry(RetrySpec{Kind: "fibonacci"}, "policy.retry.kind"),
		"21 steps":                   retry(RetrySpec{DelaysSeconds: make21()}, delays),
		"two fixed delays":           retry(RetrySpec{Kind: RetryFixed, DelaysSeconds: []int{1, 2}}, delays),
		"three numbers to grow by":   retry(RetrySpec{Kind: RetryExponential, DelaysSeconds: []int{1, 2, 3}}, delays),
		"a cap below the base":       retry(RetrySpec{Kind: RetryExponential, DelaysSeconds: []int{30, 10}}, delays),
		"a delay of nothing":         retry(RetrySpec{DelaysSeconds: []int{10, 0}}, delays),
		"a delay of more than a day": retry(RetrySpec{DelaysSeconds: []int{86_401}}, delays),
		"non-idempotent with retries": {func(w *TaskSpec) {
			w.Policy.Idempotent, w.Policy.Retry = new(false), &RetrySpec{Max: new(1)}
		}, []string{most}},
	})
}

func make21() []int {
	out := make([]int, 21)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

func TestBadPayloadsAreRefused(t *testing.T) {
	body := func(s string) refused {
		return refused{func(w *TaskSpec) { w.Payload = json.RawMessage(s) }, []string{"payload"}}
	}
	requireRefused(t, KindCron, map[string]refused{
		"no JSON":             body("order 17"),
		"an open bracket":     body(`{"a": 1`),
		"two values":          body(`{} {}`),
		"64 KiB and a byte":   body(`"` + strings.Repeat("a", 64<<10-1) + `"`),
		"broken text":         body("\"\xff\""),
		"depth beyond reason": body(strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)),
	})
}

func TestBadJSONIsFoundOnItsLine(t *testing.T) {
	for text, want := range map[string]string{
		`{"a" 1}`:                    "Line 1 is not valid JSON",
		"{\n \"a\": 1,\n \"b\" 2\n}": "Line 3 is not valid JSON",
		"\n\n{\n \"a\": x}":          "Line 4 is not valid JSON",
		"{\n \"a\": 1,":              "Line 2 is not valid JSON",
	} {
		w := written(KindCron)
		w.Payload = json.RawMessage(text)
		_, err := w.Resolve(Task{}, defaults(), noon())
		require.ErrorContains(t, err, want, "%s", text)
	}
}
