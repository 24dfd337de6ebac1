package sched

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/fault"
)

func resolved(t require.TestingT, w TaskSpec, old Task) Task {
	task, err := w.Resolve(old, defaults(), noon())
	require.NoError(t, err)
	return task
}

func TestWhatIsLeftOutGetsItsDefault(t *testing.T) {
	for kind, c := range map[ScheduleKind]struct {
		schedule Schedule
		limit    int
	}{
		KindCron:     {Schedule{Kind: KindCron, Cron: "0 2 * * *", Timezone: "Asia/Shanghai", Anchor: noon(), Misfire: FireOnce}, 1},
		KindInterval: {Schedule{Kind: KindInterval, EverySeconds: 90, Timezone: "UTC", Anchor: noon(), Misfire: FireOnce}, 1},
		KindOnce:     {Schedule{Kind: KindOnce, RunAt: noon().Add(time.Hour), Timezone: "UTC", Misfire: FireOnce}, 1},
		KindDelay:    {Schedule{Kind: KindDelay, DelaySeconds: 1800, Timezone: "UTC", Misfire: FireOnce}, 0},
		KindManual:   {Schedule{Kind: KindManual, Timezone: "UTC", Misfire: FireOnce}, 0},
	} {
		t.Run(string(kind), func(t *testing.T) {
			require.Equal(t, Task{
				Code: "close-orders", Name: "Close orders", Enabled: true, Queue: "default",
				Spec: Spec{
					Schedule: c.schedule, Target: Target{Kind: TargetHTTP, URL: "https://orders.internal/close"},
					Policy: Policy{
						TimeoutSeconds: 30, Idempotent: true, Overlap: OverlapSkip, MaxConcurrent: c.limit, AlertLevel: AlertP2,
						Retry: Retry{Kind: RetrySteps, Max: 3, DelaysSeconds: []int{10, 30, 120}},
					},
				},
			}, resolved(t, written(kind), Task{}))
		})
	}
}

func TestRetriesAsWritten(t *testing.T) {
	for name, c := range map[string]struct {
		idempotent bool
		retry      *RetrySpec
		want       Retry
	}{
		"nothing":                        {true, nil, Retry{Kind: RetrySteps, Max: 3, DelaysSeconds: []int{10, 30, 120}}},
		"nothing, not idempotent":        {false, nil, Retry{Kind: RetrySteps, DelaysSeconds: []int{10, 30, 120}}},
		"a number":                       {true, &RetrySpec{Max: new(7)}, Retry{Kind: RetrySteps, Max: 7, DelaysSeconds: []int{10, 30, 120}}},
		"none":                           {true, &RetrySpec{Max: new(0)}, Retry{Kind: RetrySteps, DelaysSeconds: []int{10, 30, 120}}},
		"fixed":                          {true, &RetrySpec{Kind: RetryFixed}, Retry{Kind: RetryFixed, Max: 3, DelaysSeconds: []int{10}}},
		"exponential":                    {true, &RetrySpec{Kind: RetryExponential}, Retry{Kind: RetryExponential, Max: 3, DelaysSeconds: []int{10, 3600}}},
		"exponential without a cap":      {true, &RetrySpec{Kind: RetryExponential, DelaysSeconds: []int{5}}, Retry{Kind: RetryExponential, Max: 3, DelaysSeconds: []int{5}}},
		"not idempotent, not wanted":     {false, &RetrySpec{Kind: RetryFixed}, Retry{Kind: RetryFixed, DelaysSeconds: []int{10}}},
		"not idempotent, by an owner":    {false, &RetrySpec{Max: new(2), Unsafe: true}, Retry{Kind: RetrySteps, Max: 2, DelaysSeconds: []int{10, 30, 120}, Unsafe: true}},
		"a hundred, the most":            {true, &RetrySpec{Max: new(100), DelaysSeconds: []int{86_400}}, Retry{Kind: RetrySteps, Max: 100, DelaysSeconds: []int{86_400}}},
		"not idempotent: no retry is ok": {false, &RetrySpec{Max: new(0)}, Retry{Kind: RetrySteps, DelaysSeconds: []int{10, 30, 120}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := written(KindCron)
			w.Policy.Idempotent, w.Policy.Retry = &c.idempotent, c.retry
			require.Equal(t, c.want, resolved(t, w, Task{}).Spec.Policy.Retry)
		})
	}
}

func TestNoDefaultDelaysNeedWrittenOnes(t *testing.T) {
	w := written(KindCron)
	w.Policy.Retry = &RetrySpec{Max: new(1)}
	_, err := w.Resolve(Task{}, Defaults{TimeoutSeconds: 30, Queues: []string{"default"}}, noon())
	require.Equal(t, []string{"policy.retry.delays_seconds"}, fieldNames(err))
}

func TestTextIsStoredInOneForm(t *testing.T) {
	w := written(KindCron)
	w.Name, w.Group, w.Owner = "  Close orders ", " shop\t", " ann "
	w.Tags = []string{" Night", "orders", "night", "", "Äpfel"}
	w.Schedule.Cron = "  0   2 * * *\t\n" // CRON-33
	w.Payload = json.RawMessage(" {\n \"a\": [1, 2] }\n")
	got := resolved(t, w, Task{})
	require.Equal(t, "Close orders", got.Name)
	require.Equal(t, "shop", got.Group)
	require.Equal(t, "ann", got.Owner)
	require.Equal(t, []string{"night", "orders", "äpfel"}, got.Tags)
	require.Equal(t, "0 2 * * *", got.Spec.Schedule.Cron)
	require.JSONEq(t, `{"a":[1,2]}`, string(got.Spec.Payload))
	require.Equal(t, `{"a":[1,2]}`, string(got.Spec.Payload))
	w.Payload = json.RawMessage(" null ")
	require.Nil(t, resolved(t, w, Task{}).Spec.Payload)
}

func TestTheAnchorOfAFixedRate(t *testing.T) {
	now := noon().Add(300 * time.Millisecond)
	old := Task{ID: 3, Code: "close-orders", Spec: Spec{Schedule: everyOf(90, moment("2026-01-01T00:00:07Z"))}}
	for name, c := range map[string]struct {
		written time.Time
		old     Task
		want    time.Time
	}{
		"a new task counts from now":       {time.Time{}, Task{}, noon().Add(time.Second)},
		"a written one, rounded up":        {moment("2026-02-01T00:00:00.001Z"), Task{}, moment("2026-02-01T00:00:01Z")},
		"an edit keeps the one it had":     {time.Time{}, old, moment("2026-01-01T00:00:07Z")},
		"an edit may move it":              {moment("2026-02-01T00:00:00Z"), old, moment("2026-02-01T00:00:00Z")},
		"the first of 1970 is good enough": {moment("1970-01-01T00:00:00Z"), Task{}, moment("1970-01-01T00:00:00Z")},
	} {
		t.Run(name, func(t *testing.T) {
			w := written(KindInterval)
			w.Schedule.Anchor = c.written
			got, err := w.Resolve(c.old, defaults(), now)
			require.NoError(t, err)
			require.Equal(t, c.want, got.Spec.Schedule.Anchor)
		})
	}
}

// An edit of a task whose moment has passed must not be refused for it.
func TestAnEditKeepsAMomentThatHasPassed(t *testing.T) {
	old := Task{ID: 3, Code: "close-orders", Spec: Spec{Schedule: Schedule{Kind: KindOnce, RunAt: noon().Add(-time.Hour)}}}
	w := written(KindOnce)
	w.Schedule.RunAt = noon().Add(-time.Hour)
	require.Equal(t, noon().Add(-time.Hour), resolved(t, w, old).Spec.Schedule.RunAt)
	w.Schedule.RunAt = noon().Add(-time.Minute)
	_, err := w.Resolve(old, defaults(), noon())
	require.Equal(t, []string{"schedule.run_at"}, fieldNames(err))
}

func TestAnEditKeepsWhatIsNotTheForms(t *testing.T) {
	old := taskOf(cronOf("0 3 * * *", "UTC"))
	old.Enabled, old.PausedUntil, old.NextFireAt, old.CreatedBy, old.Version = false, noon(), noon(), "ann", 7
	w := written(KindCron)
	w.Code = ""
	got := resolved(t, w, old)
	require.Equal(t, old.ID, got.ID)
	require.Equal(t, old.TeamID, got.TeamID)
	require.Equal(t, old.Code, got.Code)
	require.False(t, got.Enabled, "not said: unchanged")
	require.Equal(t, []any{noon(), noon(), "ann", 7}, []any{got.PausedUntil, got.NextFireAt, got.CreatedBy, got.Version})
	w.Enabled = new(true)
	require.True(t, resolved(t, w, old).Enabled)
	w.Code = "another"
	_, err := w.Resolve(old, defaults(), noon())
	require.Equal(t, []string{"code"}, fieldNames(err))
}

// anyWritten draws a valid written task.
func anyWritten(r *rapid.T) TaskSpec {
	w := written(rapid.SampledFrom(ScheduleKinds()).Draw(r, "kind"))
	w.Group = rapid.StringMatching(`[a-z]{0,8}`).Draw(r, "group")
	w.Tags = rapid.SliceOfN(rapid.StringMatching(`[A-Za-z0-9]{1,8}`), 0, 5).Draw(r, "tags")
	w.Queue = rapid.SampledFrom([]string{"", "default", "slow"}).Draw(r, "queue")
	w.Policy.Idempotent = new(rapid.Bool().Draw(r, "idempotent"))
	if rapid.Bool().Draw(r, "enabled said") {
		w.Enabled = new(rapid.Bool().Draw(r, "enabled"))
	}
	if rapid.Bool().Draw(r, "retry said") {
		p := anyRetry(r)
		w.Policy.Retry = &RetrySpec{Kind: p.Kind, DelaysSeconds: p.DelaysSeconds, Unsafe: !*w.Policy.Idempotent, Max: &p.Max}
	}
	if w.Schedule.Kind == KindCron {
		w.Schedule.Cron = rapid.SampledFrom([]string{" @every  90s", "0  2 * * *", "*/5 * * * * ?", "0 0 L * *", "@daily"}).Draw(r, "cron")
	}
	if rapid.Bool().Draw(r, "payload") {
		w.Payload = json.RawMessage(`{"n": ` + rapid.StringMatching(`[1-9][0-9]{0,5}`).Draw(r, "n") + `}`)
	}
	return w
}

// A form begins from Written; saving it unchanged must change nothing.
func TestATaskWrittenAndReadBackIsTheSame(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		task := resolved(r, anyWritten(r), Task{})
		task.ID, task.Version = 3, 5
		again := task.Written("shop")
		require.Equal(r, task, resolved(r, again, task))
		require.Equal(r, 5, again.Version)

		raw, err := json.Marshal(again)
		require.NoError(r, err)
		var read TaskSpec
		require.NoError(r, json.Unmarshal(raw, &read))
		require.Equal(r, task, resolved(r, read, task), "through JSON, too")

		task.ID, task.Version = 0, 0
		require.Equal(r, task, resolved(r, again, Task{}), "and as a new task")
	})
}

// odd is text as a hostile or clumsy caller writes it.
func odd() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.StringN(0, 200, 400), rapid.SampledFrom([]string{
		"", "\x00", "\xff\xfe", "@every 1ns", "TZ=0", "http://[", "http://%zz", "＊ * * * *", "* * * * * * * *", "Etc/../UTC", "-1", "{}", "[", "null",
	}))
}

func TestNothingWrittenMakesItPanic(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		number := rapid.OneOf(rapid.Int(), rapid.IntRange(-2, 200))
		when := rapid.Custom(func(r *rapid.T) time.Time { return time.Unix(rapid.Int64Range(-1<<36, 1<<38).Draw(r, "unix"), 0) })
		w := TaskSpec{
			Code: odd().Draw(r, "code"), Name: odd().Draw(r, "name"), Group: odd().Draw(r, "group"), Owner: odd().Draw(r, "owner"),
			Tags: rapid.SliceOfN(odd(), 0, 12).Draw(r, "tags"), Queue: odd().Draw(r, "queue"), Note: odd().Draw(r, "note"),
			Schedule: ScheduleSpec{
				Kind: rapid.SampledFrom(append(ScheduleKinds(), "", "x")).Draw(r, "kind"), Cron: odd().Draw(r, "cron"), Timezone: odd().Draw(r, "zone"),
				EverySeconds: number.Draw(r, "every"), DelaySeconds: number.Draw(r, "delay"), RunAt: when.Draw(r, "run at"), Anchor: when.Draw(r, "anchor"),
			},
			Target: TargetSpec{Kind: rapid.SampledFrom([]TargetKind{TargetHTTP, "x"}).Draw(r, "target"), URL: odd().Draw(r, "url")},
			Policy: PolicySpec{
				TimeoutSeconds: new(number.Draw(r, "timeout")), MaxConcurrent: new(number.Draw(r, "limit")), Idempotent: new(true),
				Retry: &RetrySpec{Kind: RetryKind(odd().Draw(r, "retry")), Max: new(number.Draw(r, "max")), DelaysSeconds: rapid.SliceOfN(number, 0, 25).Draw(r, "delays")},
			},
			Payload: json.RawMessage(odd().Draw(r, "payload")),
		}
		task, err := w.Resolve(Task{}, defaults(), noon())
		if err != nil {
			require.Equal(r, fault.KindInvalid, fault.KindOf(err))
			require.NotEmpty(r, err.Error())
			return
		}
		require.Equal(r, task, resolved(r, task.Written(""), Task{}))
	})
}
