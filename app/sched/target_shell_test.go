package sched

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ax/app/access"
	"ax/app/fault"
)

// command is a valid task that runs one.
func command() TaskSpec {
	w := written(KindCron)
	w.Target = TargetSpec{Kind: TargetShell, Command: "/opt/jobs/close.sh", Args: []string{"--day", "; touch x"}}
	w.Policy.TimeoutSeconds = new(60)
	return w
}

func TestACommandIsReadWithItsDefaults(t *testing.T) {
	got, err := command().Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, Target{
		Kind: TargetShell, Command: "/opt/jobs/close.sh", Args: []string{"--day", "; touch x"}, Input: InputStdin, SuccessCodes: []int{0},
	}, got.Spec.Target)
	again, err := got.Written("shop").Resolve(got, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, got.Spec, again.Spec)

	w := command()
	w.Target.Input, w.Target.SuccessCodes = InputEnv, []int{3, 0, 3}
	got, err = w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, []int{0, 3}, got.Spec.Target.SuccessCodes)
	raw, err := json.Marshal(got.Spec.Target)
	require.NoError(t, err)
	require.JSONEq(t, `{"kind":"shell","command":"/opt/jobs/close.sh","args":["--day","; touch x"],"input":"env","success_codes":[0,3]}`, string(raw))
}

func TestBadCommandsAreRefused(t *testing.T) {
	name := func(s string) refused {
		return refused{func(w *TaskSpec) { *w = command(); w.Target.Command = s }, []string{"target.command"}}
	}
	args := func(a ...string) refused {
		return refused{func(w *TaskSpec) { *w = command(); w.Target.Args = a }, []string{"target.args"}}
	}
	with := func(field string, change func(*TaskSpec)) refused {
		return refused{func(w *TaskSpec) { *w = command(); change(w) }, []string{field}}
	}
	requireRefused(t, KindCron, map[string]refused{
		"no command":          name(""),
		"a relative path":     name("close.sh"),
		"a path with dots":    name("/opt/jobs/../../bin/sh"),
		"a folder":            name("/opt/jobs/"),
		"the root":            name("/"),
		"a NUL":               name("/opt/jobs/a\x00b"),
		"a line end":          name("/opt/jobs/a\nb"),
		"broken text":         name("/opt/\xff"),
		"501 characters":      name("/" + strings.Repeat("a", 500)),
		"an empty argument":   args("--day", ""),
		"a NUL in one":        args("a\x00b"),
		"an escape in one":    args("a\x1b[2J"),
		"a template in one":   args("{{day}}"),
		"a long one":          args(strings.Repeat("a", 2001)),
		"51 arguments":        args(slices.Repeat([]string{"a"}, 51)...),
		"an address":          with("target.url", func(w *TaskSpec) { w.Target.URL = "https://a.example" }),
		"headers":             with("target.headers", func(w *TaskSpec) { w.Target.Headers = map[string]string{"A": "b"} }),
		"another input":       with("target.input", func(w *TaskSpec) { w.Target.Input = "argv" }),
		"a code of 256":       with("target.success_codes", func(w *TaskSpec) { w.Target.SuccessCodes = []int{256} }),
		"21 codes":            with("target.success_codes", func(w *TaskSpec) { w.Target.SuccessCodes = make([]int, 21) }),
		"no limit of time":    with("policy.timeout_seconds", func(w *TaskSpec) { w.Policy.TimeoutSeconds = nil }),
		"a command over HTTP": {func(w *TaskSpec) { w.Target.Command = "/bin/true" }, []string{"target.command"}},
		"arguments over HTTP": {func(w *TaskSpec) {
			w.Target.Args, w.Target.Input, w.Target.SuccessCodes = []string{"a"}, InputEnv, []int{0}
		},
			[]string{"target.args", "target.input", "target.success_codes"}},
	})
}

// Who may edit the command is another right than who may run it (security.md
// item 47).
func TestOnlyOwnersMakeAndChangeTasksThatRunCommands(t *testing.T) {
	const code = "close-orders"
	shell := func(o *office) {
		t := o.book.tasks[code]
		t.Spec.Target = Target{Kind: TargetShell, Command: "/opt/jobs/close.sh", Input: InputStdin, SuccessCodes: []int{0}}
		o.book.tasks[code] = t
	}
	for name, c := range map[string]struct {
		min access.Role
		do  func(ctx context.Context, o *office, by access.Actor) error
	}{
		"make one": {access.Owner, func(ctx context.Context, o *office, by access.Actor) error {
			w := command()
			w.Code = "another"
			_, err := o.tasks.Create(ctx, by, w)
			return err
		}},
		"make one of another task": {access.Owner, func(ctx context.Context, o *office, by access.Actor) error {
			w := command()
			w.Version = 1
			_, err := o.tasks.Update(ctx, by, code, w)
			return err
		}},
		"make another task of one": {access.Owner, func(ctx context.Context, o *office, by access.Actor) error {
			shell(o)
			w := written(KindCron)
			w.Version = 1
			_, err := o.tasks.Update(ctx, by, code, w)
			return err
		}},
		"change its schedule": {access.Owner, func(ctx context.Context, o *office, by access.Actor) error {
			shell(o)
			w := command()
			w.Target.Args, w.Version, w.Schedule.Cron = nil, 1, "0 3 * * *"
			_, err := o.tasks.Update(ctx, by, code, w)
			return err
		}},
		"archive it": {access.Owner, func(ctx context.Context, o *office, by access.Actor) error {
			shell(o)
			_, err := o.tasks.Archive(ctx, by, code, "")
			return err
		}},
		"run it": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			shell(o)
			_, _, err := o.tasks.Trigger(ctx, by, code, TriggerRequest{})
			return err
		}},
		"stop it": {access.Operator, func(ctx context.Context, o *office, by access.Actor) error {
			shell(o)
			_, err := o.tasks.SetEnabled(ctx, by, code, false, "")
			return err
		}},
	} {
		for _, role := range access.Roles() {
			o := newOffice()
			err := c.do(t.Context(), o, as(role))
			if slices.Index(access.Roles(), role) >= slices.Index(access.Roles(), c.min) {
				require.NoError(t, err, "%s as %s", name, role)
				continue
			}
			require.Equal(t, fault.KindDenied, fault.KindOf(err), "%s as %s: %v", name, role, err)
			requireUntouched(t, o)
		}
	}
}

func TestAMoveOrARollBackOfACommandNeedsTheOwners(t *testing.T) {
	for name, c := range map[string]struct {
		from, to access.Role
		ok       bool
	}{
		"owner of the old team": {access.Owner, access.Editor, false},
		"owner of the new team": {access.Editor, access.Owner, false},
		"owner of both":         {access.Owner, access.Owner, true},
	} {
		o := newOffice()
		task := o.book.tasks["close-orders"]
		task.Spec.Target = Target{Kind: TargetShell, Command: "/opt/jobs/close.sh"}
		o.book.tasks[task.Code] = task
		_, err := o.tasks.Move(t.Context(), inBoth(c.from, c.to), "close-orders", TeamMove{Team: "depot"})
		if c.ok {
			require.NoError(t, err, name)
			continue
		}
		require.Equal(t, fault.KindDenied, fault.KindOf(err), name)
		requireUntouched(t, o)
	}
	o := rollable()
	o.keep(1, func(t *Task) { t.Spec.Target = Target{Kind: TargetShell, Command: "/opt/jobs/close.sh"} })
	_, err := o.tasks.RollBack(t.Context(), as(access.Editor), "close-orders", RollBack{To: 1})
	require.Equal(t, fault.KindDenied, fault.KindOf(err))
	requireUntouched(t, o)
	_, err = o.tasks.RollBack(t.Context(), as(access.Owner), "close-orders", RollBack{To: 1})
	require.NoError(t, err)
}

// A worker that doesn't run commands passes one on: it neither fails nor
// counts, and comes back soon while somebody may take it.
func TestANodeWithoutCommandsPassesThemOn(t *testing.T) {
	now := noon()
	v := minutely()
	v.Elsewhere = true
	require.Equal(t, ClaimVerdict{Kind: ClaimDefer, Due: now.Add(time.Second)}, DecideClaim(v, now))
	v.Started, v.Busy, v.BusyWith = 1, 1, "x"
	require.Equal(t, ClaimDefer, DecideClaim(v, now).Kind, "whether it is skipped says a node that could run it")
	v.Instance.Defers = passes
	require.GreaterOrEqual(t, DecideClaim(v, now).Due.Sub(now), maxDefer)
	v.Task.Enabled = false
	require.Equal(t, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonDisabled}, DecideClaim(v, now))
}

func TestANodeSaysWhetherItRunsCommands(t *testing.T) {
	require.Equal(t, TargetShell, NewNode(NodeOptions{}).cannot())
	require.Empty(t, NewNode(NodeOptions{Info: NodeInfo{Labels: []string{LabelShell}}}).cannot())
	n := NodeInfo{Labels: []string{LabelShell}, Slots: 4}
	require.True(t, n.OnShell())
	n.DeadAt = noon()
	require.False(t, n.OnShell())
	require.False(t, NodeInfo{Labels: []string{LabelShell}}.OnShell(), "it takes no work")
	require.False(t, NodeInfo{Slots: 4}.OnShell())
}

func TestATeamWithoutCommandsGetsNoTaskThatRunsThem(t *testing.T) {
	o := newOffice()
	o.teams["shop"] = access.Team{ID: shop, Code: "shop"}
	w := command()
	w.Code = "another"
	_, err := o.tasks.Create(t.Context(), as(access.Owner), w)
	require.Equal(t, "target.kind", fault.Fields(err)[0].Name)
	w.Version, w.Code = 1, ""
	_, err = o.tasks.Update(t.Context(), as(access.Owner), "close-orders", w)
	require.Equal(t, "target.kind", fault.Fields(err)[0].Name)
	requireUntouched(t, o)

	o.teams["shop"] = access.Team{ID: shop, Code: "shop", Commands: true}
	o.teams["depot"] = access.Team{ID: depot, Code: "depot"}
	task := o.book.tasks["close-orders"]
	task.Spec.Target = Target{Kind: TargetShell, Command: "/opt/jobs/close.sh"}
	o.book.tasks[task.Code] = task
	_, err = o.tasks.Move(t.Context(), inBoth(access.Owner, access.Owner), "close-orders", TeamMove{Team: "depot"})
	require.Equal(t, fault.KindInvalid, fault.KindOf(err))
	requireUntouched(t, o)
}
