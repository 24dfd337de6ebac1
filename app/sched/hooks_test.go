package sched

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ax/app/access"
	"ax/app/fault"
)

// asking is a hook that waits a minute and asks each ten seconds.
func asking() BeforeHook {
	return BeforeHook{URL: "http://10.1.0.1/ready", TimeoutSeconds: 5, NotReady: NotReadyWait, EverySeconds: 10, LimitSeconds: 60, Then: ThenFail}
}

func hooked(t Task, h BeforeHook) Task {
	t.Spec.Hooks = &Hooks{Before: &h}
	return t
}

func TestAHookIsCheckedWithItsFields(t *testing.T) {
	const url = "http://10.1.0.1/ready"
	after := func(hooks ...AfterHook) Hooks { return Hooks{After: hooks} }
	before := func(set func(*BeforeHook)) Hooks {
		h := BeforeHook{URL: url}
		set(&h)
		return Hooks{Before: &h}
	}
	for name, c := range map[string]struct {
		hooks Hooks
		field string // "": it is taken
	}{
		"an address alone":          {before(func(*BeforeHook) {}), ""},
		"none":                      {before(func(h *BeforeHook) { h.URL = "" }), "hooks.before.url"},
		"not http":                  {before(func(h *BeforeHook) { h.URL = "ftp://x" }), "hooks.before.url"},
		"a closed address":          {before(func(h *BeforeHook) { h.URL = "http://10.2.0.1/" }), "hooks.before.url"},
		"metadata":                  {before(func(h *BeforeHook) { h.URL = "http://169.254.169.254/" }), "hooks.before.url"},
		"a method in small letters": {before(func(h *BeforeHook) { h.Method = "head" }), ""},
		"another method":            {before(func(h *BeforeHook) { h.Method = "POST" }), "hooks.before.method"},
		"a credential in the open":  {before(func(h *BeforeHook) { h.Headers = map[string]string{"Authorization": "Bearer x"} }), "hooks.before.headers"},
		"a secret that isn't there": {before(func(h *BeforeHook) { h.Headers = map[string]string{"X": "{{secret:NONE}}"} }), "hooks.before.headers"},
		"statuses":                  {before(func(h *BeforeHook) { h.Statuses = "200, 404" }), ""},
		"statuses that are none":    {before(func(h *BeforeHook) { h.Statuses = "99" }), "hooks.before.statuses"},
		"30 s for one question":     {before(func(h *BeforeHook) { h.TimeoutSeconds = 30 }), ""},
		"31 s":                      {before(func(h *BeforeHook) { h.TimeoutSeconds = 31 }), "hooks.before.timeout_seconds"},
		"less than nothing":         {before(func(h *BeforeHook) { h.TimeoutSeconds = -1 }), "hooks.before.timeout_seconds"},
		"skip":                      {before(func(h *BeforeHook) { h.NotReady = NotReadySkip }), ""},
		"something else":            {before(func(h *BeforeHook) { h.NotReady = "maybe" }), "hooks.before.not_ready"},
		"skip waits for nothing":    {before(func(h *BeforeHook) { h.NotReady, h.EverySeconds = NotReadySkip, 30 }), "hooks.before.every_seconds"},
		"each 5 s for a day":        {before(func(h *BeforeHook) { h.EverySeconds, h.LimitSeconds = 5, 86_400 }), ""},
		"each 4 s":                  {before(func(h *BeforeHook) { h.EverySeconds = 4 }), "hooks.before.every_seconds"},
		"each hour and a second":    {before(func(h *BeforeHook) { h.EverySeconds = 3601 }), "hooks.before.every_seconds"},
		"longer than a day":         {before(func(h *BeforeHook) { h.LimitSeconds = 86_401 }), "hooks.before.limit_seconds"},
		"then nothing known":        {before(func(h *BeforeHook) { h.Then = "shrug" }), "hooks.before.then"},
		"a channel of the team":     {after(AfterHook{OnFailure, "phone"}, AfterHook{OnSuccess, "phone"}), ""},
		"a channel of nobody":       {after(AfterHook{OnFailure, "elsewhere"}), "hooks.after"},
		"no channel":                {after(AfterHook{OnFailure, ""}), "hooks.after"},
		"an end that there isn't":   {after(AfterHook{"always", "phone"}), "hooks.after"},
		"the same twice":            {after(AfterHook{OnChange, "phone"}, AfterHook{OnChange, "phone"}), "hooks.after"},
		"more than five":            {after(make([]AfterHook, 6)...), "hooks.after"},
		"nothing at all":            {Hooks{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffice()
			w := written(KindCron)
			w.Code, w.Hooks = "another", &c.hooks
			_, err := o.tasks.Create(t.Context(), as(access.Editor), w)
			requireBroken(t, err, c.field)

			w = written(KindCron)
			w.Version, w.Hooks = 1, &c.hooks
			_, err = o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
			requireBroken(t, err, c.field)
		})
	}
}

func requireBroken(t *testing.T, err error, field string) {
	t.Helper()
	if field == "" {
		require.NoError(t, err)
		return
	}
	require.Equal(t, fault.KindInvalid, fault.KindOf(err), "%v", err)
	require.Equal(t, field, fault.Fields(err)[0].Name)
}

func TestAHookHasItsDefaultsAndIsGivenAsItIsKept(t *testing.T) {
	w := written(KindCron)
	w.Hooks = &Hooks{Before: &BeforeHook{URL: "http://10.1.0.1/ready", Method: "get"}}
	task, err := w.Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, &BeforeHook{URL: "http://10.1.0.1/ready", TimeoutSeconds: 5, NotReady: NotReadyWait, EverySeconds: 30, LimitSeconds: 3600, Then: ThenFail}, task.Spec.BeforeHook())

	again, err := task.Written("shop").Resolve(Task{}, defaults(), noon())
	require.NoError(t, err)
	require.Equal(t, task.Spec.Hooks, again.Spec.Hooks)
	require.Contains(t, taskEntry(as(access.Editor), noon(), "task.create", Task{}, task, "").Changes[len(taskChanges(Task{}, task))-1].New, "10.1.0.1/ready")
}

// A channel that was removed, or a network that was closed, must not keep people
// from changing something else.
func TestAHookThatStaysDoesNotStandInTheWayOfOtherChanges(t *testing.T) {
	o := newOffice()
	gone := asking()
	gone.URL = "http://10.2.0.1/closed"
	task := o.book.tasks["close-orders"]
	task.Spec.Hooks = &Hooks{Before: &gone, After: []AfterHook{{OnFailure, "removed"}}}
	o.book.tasks[task.Code] = task
	w := task.Written("")
	w.Name = "Another name"
	_, err := o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
	require.NoError(t, err)

	w = o.book.tasks[task.Code].Written("")
	w.Hooks = &Hooks{Before: &gone, After: []AfterHook{{OnFailure, "removed"}, {OnSuccess, "removed"}}}
	_, err = o.tasks.Update(t.Context(), as(access.Editor), w.Code, w)
	requireBroken(t, err, "hooks.after")
}

func TestTheSecretsOfATaskAreThoseOfTargetAndHook(t *testing.T) {
	h := asking()
	h.Headers = map[string]string{"X-Token": "{{secret:HOOK}}"}
	s := hooked(taskOf(Schedule{Kind: KindManual}), h).Spec
	s.Target.Headers = map[string]string{"X-Token": "{{secret:WORK}}"}
	require.Equal(t, []string{"HOOK", "WORK"}, s.Secrets())
}

func TestWhatAnAnswerMakesOfWhoWaits(t *testing.T) {
	const said = "answered 503 Service Unavailable"
	first := noon()
	skip := BeforeHook{URL: "http://10.1.0.1/ready?day=1", TimeoutSeconds: 5, NotReady: NotReadySkip}
	mild := asking()
	mild.Then = ThenSkip
	for name, c := range map[string]struct {
		hook  BeforeHook
		at    time.Duration // after the first question
		ready bool
		want  ProbeEnd
		next  time.Duration // 0: none
	}{
		"ready at once":                  {asking(), 0, true, ProbeEnd{Ready: true}, 0},
		"ready after the limit":          {asking(), time.Hour, true, ProbeEnd{Ready: true}, 0},
		"not yet":                        {asking(), 0, false, ProbeEnd{Due: first.Add(10 * time.Second)}, 10 * time.Second},
		"on whole seconds":               {asking(), 300 * time.Millisecond, false, ProbeEnd{Due: first.Add(11 * time.Second)}, 11 * time.Second},
		"the last question at the limit": {asking(), 55 * time.Second, false, ProbeEnd{Due: first.Add(time.Minute)}, time.Minute},
		"at the limit it fails":          {asking(), time.Minute, false, ProbeEnd{To: Failed, Why: "hook not ready: http://10.1.0.1/ready " + said + "; asked 3 times within 1m0s"}, 0},
		"long after it, when all slept":  {asking(), time.Hour, false, ProbeEnd{To: Failed, Why: "hook not ready: http://10.1.0.1/ready " + said + "; asked 3 times within 1m0s"}, 0},
		"or is skipped":                  {mild, time.Minute, false, ProbeEnd{To: Skipped, Why: "hook not ready: http://10.1.0.1/ready " + said + "; asked 3 times within 1m0s"}, 0},
		"who skips asks once":            {skip, 0, false, ProbeEnd{To: Skipped, Why: "hook not ready: http://10.1.0.1/ready " + said}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			now := first.Add(c.at)
			was := Probing{InstanceID: "i", Asked: 2, FirstAt: first, Answers: []ProbeAnswer{{At: first}}}
			is, end := c.hook.After(was, Probed{InstanceID: "i", Answer: ProbeAnswer{At: now, Status: 503, Said: said}, Ready: c.ready, Now: now})
			require.Equal(t, c.want, end)
			require.Equal(t, 3, is.Asked)
			require.Equal(t, first, is.FirstAt)
			require.Equal(t, c.ready, !is.ReadyAt.IsZero())
			if c.next == 0 {
				require.Zero(t, is.NextAt)
			} else {
				require.Equal(t, first.Add(c.next), is.NextAt)
			}
		})
	}
}

// However the questions fall, who waits is asked often enough, never for longer
// than the limit and one question more, and little is kept of it.
func TestWaitingEnds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		h := asking()
		h.EverySeconds = rapid.IntRange(minProbeEvery, maxProbeEvery).Draw(r, "every")
		h.LimitSeconds = rapid.IntRange(minProbeEvery, maxProbeLimit).Draw(r, "limit")
		var p Probing
		now := noon().Add(time.Duration(rapid.IntRange(0, 999).Draw(r, "ms")) * time.Millisecond)
		first := now
		for {
			took := time.Duration(rapid.IntRange(0, 5000).Draw(r, "took")) * time.Millisecond
			var end ProbeEnd
			p, end = h.After(p, Probed{InstanceID: "i", Answer: ProbeAnswer{At: now}, Now: now.Add(took)})
			now = now.Add(took)
			require.LessOrEqual(r, len(p.Answers), keptAnswers)
			if end.To != "" {
				require.False(r, now.Before(first.Add(h.Limit())))
				return
			}
			require.True(r, end.Due.After(now))
			require.LessOrEqual(r, end.Due.Sub(now), h.Every()+time.Second)
			require.LessOrEqual(r, end.Due.Sub(first), h.Limit()+time.Second)
			now = end.Due
		}
	})
}

func TestWhenAHookIsAsked(t *testing.T) {
	now := noon()
	ask := ClaimVerdict{Kind: ClaimAsk, Due: now.Add(5 * time.Second)}
	take := ClaimVerdict{Kind: ClaimTake, Deadline: now.Add(30 * time.Second)}
	for name, c := range map[string]struct {
		change func(*ClaimView)
		want   ClaimVerdict
	}{
		"before a slot begins":                  {func(*ClaimView) {}, ask},
		"before a request begins":               {func(v *ClaimView) { v.Instance = requestOf(v.Task, now) }, ask},
		"not when it said ready just now":       {func(v *ClaimView) { v.Ready = v.Task.Version }, take},
		"again when the task was edited since":  {func(v *ClaimView) { v.Ready, v.Task.Version = 1, 2 }, ask},
		"not before a retry":                    {func(v *ClaimView) { v.Instance.State, v.Instance.Attempt = Retrying, 1 }, take},
		"not of who is too early":               {func(v *ClaimView) { v.Instance.DueAt = now.Add(time.Minute) }, ClaimVerdict{Kind: ClaimBack, Due: now.Add(time.Minute)}},
		"not of a slot that nobody wants":       {func(v *ClaimView) { v.Task.Enabled = false }, ClaimVerdict{Kind: ClaimSkip, Reason: ReasonDisabled}},
		"not for who finds no place":            {func(v *ClaimView) { v.Started, v.Busy, v.BusyWith = 1, 1, "other" }, ClaimVerdict{Kind: ClaimSkip, Reason: "overlap: other has not ended"}},
		"first, before others are canceled for": {func(v *ClaimView) { v.Started, v.Busy, v.Task.Spec.Policy.Overlap = 1, 1, OverlapCancel }, ask},
		"then they are canceled": {
			func(v *ClaimView) {
				v.Started, v.Busy, v.Task.Spec.Policy.Overlap, v.Ready = 1, 1, OverlapCancel, v.Task.Version
			},
			ClaimVerdict{Kind: ClaimDefer, Due: now.Add(time.Second), CancelOthers: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := minutely()
			v.Task = hooked(v.Task, asking())
			c.change(&v)
			require.Equal(t, c.want, DecideClaim(v, now))
		})
	}
}

func TestWhatIsKeptOfAnAddressInAReasonIsShort(t *testing.T) {
	h := asking()
	h.URL = "http://10.1.0.1/" + strings.Repeat("x", 1900) + "?token=open"
	_, end := BeforeHook{URL: h.URL, NotReady: NotReadySkip}.After(Probing{}, Probed{Now: noon()})
	require.Less(t, len(end.Why), 300)
	require.NotContains(t, end.Why, "open")
}
