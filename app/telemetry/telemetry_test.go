package telemetry_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"ax/app/sched"
	"ax/app/telemetry"
	"ax/app/telemetry/collectortest"
)

const instance = "0193b1f0-7d3a-7c4e-8a51-0123456789ab"

func process(t *testing.T, c telemetry.Config, log *slog.Logger) *telemetry.Telemetry {
	t.Helper()
	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	x, err := telemetry.New(telemetry.Options{
		Config: c, Log: log, Version: "1.2.3", Node: "host:1", Now: time.Now, Ledger: func() time.Time { return at.Add(1500 * time.Millisecond) },
	})
	require.NoError(t, err)
	return x
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// target answers each call with the result.
type target sched.Result

func (r target) Execute(context.Context, sched.Call) sched.Result { return sched.Result(r) }

// engine is a runner that calls the executor once.
type engine struct {
	exec sched.Executor
	none bool // the message leads to no call
}

func (e engine) Run(ctx context.Context, m sched.Message) sched.Answer {
	if !e.none {
		e.exec.Execute(ctx, sched.Call{
			InstanceID: m.InstanceID, TaskCode: "orders.send", BizID: "biz-secret", Attempt: 1, ScheduledAt: time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC),
			Payload: []byte(`{"card":"payload-secret"}`), Target: sched.Target{Kind: sched.TargetHTTP, URL: "https://target.example/path-secret?k=query-secret"},
		})
	}
	return sched.Answer{}
}

// carrier takes messages, or refuses them.
type carrier struct{ err error }

func (c carrier) Send(_ context.Context, all []sched.Message) []error {
	errs := make([]error, len(all))
	for i := range errs {
		errs[i] = c.err
	}
	return errs
}

// walk lets an instance be asked for, handed over, run and reported.
func walk(t *testing.T, x *telemetry.Telemetry, id string) {
	t.Helper()
	m := sched.Message{InstanceID: id, Queue: "default"}
	now := time.Now()
	x.Sender(carrier{}).Send(t.Context(), []sched.Message{m})
	x.Request(telemetry.Request{
		Method: http.MethodPost, Route: "/api/v1/tasks/:code/trigger", Status: 202, From: now, To: now.Add(time.Millisecond),
		TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", Made: []sched.Instance{{ID: id}},
	})
	x.Runner(engine{exec: x.Executor(target{Outcome: sched.OutcomeAccepted, StatusCode: 202})}).Run(t.Context(), m)
	x.Runner(engine{none: true}).Run(t.Context(), m)
	x.Request(telemetry.Request{Method: http.MethodPost, Route: "/api/v1/instances/:id/receipt", Status: 200, From: now, To: now, Reported: id})
}

func TestARunIsOneTrace(t *testing.T) {
	c := collectortest.Start(t)
	x := process(t, telemetry.Config{Endpoint: c.URL, SampleRatio: 1}, quiet())
	walk(t, x, instance)
	x.Close()
	byName := map[string]collectortest.Span{}
	for _, s := range c.Spans() {
		require.Equal(t, strings.ReplaceAll(instance, "-", ""), s.Trace, s.Name)
		require.Equal(t, "host:1", s.Node)
		require.LessOrEqual(t, s.From, s.To)
		byName[s.Name] = s
	}
	require.Len(t, c.Spans(), 7, "a message without a call is no part of it")
	first, whole := byName["POST /api/v1/tasks/:code/trigger"], byName["attempt"]
	require.Empty(t, first.Parent)
	require.Equal(t, []string{"4bf92f3577b34da6a3ce929d0e0e4736"}, first.Links, "whoever asked finds it")
	for name, above := range map[string]collectortest.Span{
		"hand over": first, "attempt": first, "POST /api/v1/instances/:id/receipt": first, "claim": whole, "call": whole, "settle": whole,
	} {
		require.Equal(t, above.ID, byName[name].Parent, name)
	}
	require.Equal(t, "CLIENT", byName["call"].Kind)
	require.Equal(t, "target.example", byName["call"].About["server.address"])
	require.Equal(t, "202", byName["call"].About["http.response.status_code"])
	require.Equal(t, "orders.send", whole.About["ax.task"])
	for _, s := range c.Spans() {
		for k, v := range s.About {
			require.NotContains(t, v, "secret", "%s of %s", k, s.Name)
		}
	}
}

func TestASpanOfACallIsTheOneThatItsTargetIsTold(t *testing.T) {
	c := collectortest.Start(t)
	x := process(t, telemetry.Config{Endpoint: c.URL + "/", SampleRatio: 1}, quiet())
	walk(t, x, instance)
	x.Close()
	want := sched.Call{InstanceID: instance, Attempt: 1}.SpanID()
	found := 0
	for _, s := range c.Spans() {
		if s.ID == hexOf(want[:]) {
			require.Equal(t, "call", s.Name)
			found++
		}
	}
	require.Equal(t, 1, found)
}

func TestTheTraceOfASlotBeginsWithItsPlan(t *testing.T) {
	c := collectortest.Start(t)
	x := process(t, telemetry.Config{Endpoint: c.URL, SampleRatio: 1}, quiet())
	m := []sched.Message{{InstanceID: instance, Queue: "default"}}
	_, err := x.Plans(planned{report: sched.PlanReport{Messages: m, Instances: 1}}).Plan(t.Context(), sched.PlanRequest{})
	require.NoError(t, err)
	x.Sender(carrier{err: errors.New("away")}).Send(t.Context(), m)
	x.Close()
	got := c.Spans()
	require.Len(t, got, 2)
	require.Equal(t, "plan", got[0].Name)
	require.Empty(t, got[0].Parent)
	require.Equal(t, "hand over", got[1].Name)
	require.Equal(t, got[0].ID, got[1].Parent)
	require.True(t, got[1].Bad)
}

type planned struct {
	report sched.PlanReport
	err    error
}

func (p planned) Plan(context.Context, sched.PlanRequest) (sched.PlanReport, error) {
	return p.report, p.err
}

func TestWithoutAnEndpointNothingRunsAndNothingIsSent(t *testing.T) {
	c := collectortest.Start(t)
	// The library would also be led by its own variables.
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	before := runtime.NumGoroutine()
	x := process(t, telemetry.Config{SampleRatio: 1}, quiet())
	walk(t, x, instance)
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
	require.Nil(t, x.Sampled(), "targets decide for themselves")
	x.Close()
	require.Zero(t, c.Visits())
}

func TestACollectorThatIsAwayHoldsNothingUp(t *testing.T) {
	c := collectortest.Start(t)
	c.Answer(http.StatusServiceUnavailable)
	var text bytes.Buffer
	x := process(t, telemetry.Config{Endpoint: c.URL, SampleRatio: 1}, slog.New(slog.NewTextHandler(&text, nil)))
	began := time.Now()
	for range 3000 { // more spans than may wait
		walk(t, x, instance)
	}
	require.Less(t, time.Since(began), 20*time.Second)
	began = time.Now()
	x.Close()
	require.Less(t, time.Since(began), 8*time.Second)
	require.NotZero(t, c.Visits())
	require.Empty(t, c.Spans())
	require.LessOrEqual(t, strings.Count(text.String(), "traces are not sent"), 1, "one line a minute")
}

func TestTheShareThatIsTracedIsByTheIDAndAlikeEverywhere(t *testing.T) {
	c := collectortest.Start(t)
	for share, bounds := range map[float64][2]int{0: {0, 0}, 0.1: {60, 140}, 0.5: {430, 570}, 0.9: {860, 940}, 1: {1000, 1000}} {
		one := process(t, telemetry.Config{Endpoint: c.URL, SampleRatio: share}, quiet())
		other := process(t, telemetry.Config{Endpoint: c.URL, SampleRatio: share}, quiet())
		n := 0
		for i := range 1000 {
			id := idOf(i)
			require.Equal(t, one.Sampled()(id), other.Sampled()(id))
			if one.Sampled()(id) {
				n++
			}
		}
		require.GreaterOrEqual(t, n, bounds[0], "%v", share)
		require.LessOrEqual(t, n, bounds[1], "%v", share)
		one.Close()
		other.Close()
	}
}

func TestWhatIsNotInTheShareIsNotTraced(t *testing.T) {
	c := collectortest.Start(t)
	x := process(t, telemetry.Config{Endpoint: c.URL, SampleRatio: 0}, quiet())
	walk(t, x, instance)
	x.Close()
	require.Empty(t, c.Spans())
}

func TestABrokenTraceParentGivesNoLink(t *testing.T) {
	c := collectortest.Start(t)
	x := process(t, telemetry.Config{Endpoint: c.URL, SampleRatio: 1}, quiet())
	for _, s := range []string{"", "00-0-0-0", "00-00000000000000000000000000000000-0000000000000000-01", strings.Repeat("z", 9000)} {
		x.Request(telemetry.Request{Method: "POST", Route: "/x", Status: 202, TraceParent: s, From: time.Now(), To: time.Now(), Made: []sched.Instance{{ID: instance}}})
	}
	x.Close()
	require.Len(t, c.Spans(), 4)
	for _, s := range c.Spans() {
		require.Empty(t, s.Links)
	}
}

func TestAProcessCountsItsOwnWork(t *testing.T) {
	x := process(t, telemetry.Config{}, quiet())
	walk(t, x, instance)
	x.Sender(carrier{err: errors.New("away")}).Send(t.Context(), []sched.Message{{}, {}})
	_, _ = x.Plans(planned{report: sched.PlanReport{Tasks: 3, Instances: 4, Missed: 5, Failed: 6}}).Plan(t.Context(), sched.PlanRequest{})
	_, _ = x.Plans(planned{err: errors.New("away"), report: sched.PlanReport{Tasks: 99}}).Plan(t.Context(), sched.PlanRequest{})
	turn := x.Loop("plan", func(context.Context) (bool, error) { return true, nil })
	again, err := turn(t.Context())
	require.True(t, again)
	require.NoError(t, err)
	_, err = x.Loop("plan", func(context.Context) (bool, error) { return false, errors.New("away") })(t.Context())
	require.Error(t, err)
	x.Request(telemetry.Request{Method: "BREW" + strings.Repeat("x", 99), Status: 405})
	got := gather(t, x)
	for name, want := range map[string]float64{
		"ax_handed_over_total sent": 1, "ax_handed_over_total failed": 2,
		"ax_planned_total tasks": 3, "ax_planned_total instances": 4, "ax_planned_total missed": 5, "ax_planned_total failed": 6,
		"ax_loop_turns_total plan ok": 1, "ax_loop_turns_total plan failed": 1,
		"ax_attempt_seconds accepted": 1, "ax_attempt_seconds failed": 0, "ax_start_lag_seconds": 1,
		"ax_http_request_seconds POST /api/v1/tasks/:code/trigger 2xx": 1, "ax_http_request_seconds other  4xx": 1,
		"ax_trace_spans_total made": 0,
	} {
		v, ok := got[name]
		require.True(t, ok, "%s of %v", name, got)
		require.Equal(t, want, v, name)
	}
	require.InDelta(t, float64(time.Now().Unix()), got["ax_loop_success_timestamp_seconds plan"], 60)
}

// gather gives the values by name and labels; of histograms the count.
func gather(t *testing.T, x *telemetry.Telemetry) map[string]float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	r.MustRegister(x.Collectors()...)
	all, err := r.Gather()
	require.NoError(t, err)
	out := map[string]float64{}
	for _, family := range all {
		for _, m := range family.Metric {
			name := family.GetName()
			for _, l := range m.Label {
				name += " " + l.GetValue()
			}
			out[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	return out
}
