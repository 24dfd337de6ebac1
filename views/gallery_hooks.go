package views

import (
	"time"

	"ax/app/fault"
	"ax/app/sched"
)

func shownHooks() *sched.Hooks {
	return &sched.Hooks{
		Before: &sched.BeforeHook{
			URL: "https://ledger.internal/ready?period=day", Headers: map[string]string{"Authorization": "Bearer {{secret:LEDGER_TOKEN}}"},
			TimeoutSeconds: 5, NotReady: sched.NotReadyWait, EverySeconds: 30, LimitSeconds: 3600, Then: sched.ThenSkip,
		},
		After: []sched.AfterHook{
			{On: sched.OnFailure, Channel: "c0ffee00000000000000000000000001"}, {On: sched.OnChange, Channel: "c0ffee00000000000000000000000002"},
			{On: sched.OnSuccess, Channel: "c0ffee00000000000000000000000009"},
		},
	}
}

func shownHookChannels() []HookChannel {
	return []HookChannel{
		{HookChannel: sched.HookChannel{ID: "c0ffee00000000000000000000000001", Name: "ops 值班", Kind: "feishu"}},
		{HookChannel: sched.HookChannel{ID: "c0ffee00000000000000000000000002", Name: "Ticket robot", Kind: "webhook", Off: true}},
	}
}

func shownHooksForm() TaskFormPage {
	p := shownNewTask()
	p.Values.Hooks, p.Channels = Viewer{}.hookValues(shownHooks()), shownHookChannels()
	p.Values.Hooks.Every = "2 s"
	p.Errors = []fault.FieldError{
		fault.Field("hooks.before.every_seconds", "Between %d and %d seconds; this is %d", 5, 3600, 2),
		fault.Field("hooks.after", "The team has no channel %q; there are its own, by their ids", "c0ffee00000000000000000000000009"),
	}
	return p
}

func shownHooksTask() TaskPage {
	p := shownTaskPage()
	p.Task.Spec.Hooks, p.Channels = shownHooks(), shownHookChannels()
	return p
}

// askedView is an instance whose hook was asked.
func askedView(s sched.State, answers ...sched.ProbeAnswer) sched.InstanceView {
	v := viewOf(s)
	v.Task.Spec.Hooks = shownHooks()
	v.Probing = &sched.Probing{
		InstanceID: v.ID, Address: shownHooks().Before.URL, Asked: 4 + len(answers), FirstAt: sampleTime(6 * time.Minute), Answers: answers,
	}
	return v
}

func notReadyAnswer(before time.Duration) sched.ProbeAnswer {
	return sched.ProbeAnswer{At: sampleTime(before), Status: 503, Said: "answered 503 Service Unavailable: the day is not closed yet", Took: 41 * time.Millisecond}
}

func waitingHookView() sched.InstanceView {
	v := askedView(sched.Queued, sched.ProbeAnswer{At: sampleTime(66 * time.Second), Said: "no answer in time", Took: 5 * time.Second}, notReadyAnswer(36*time.Second), notReadyAnswer(6*time.Second))
	v.DueAt, v.Probing.NextAt, v.Probing.GiveUpAt = sampleTime(-24*time.Second), sampleTime(-24*time.Second), sampleTime(-54*time.Minute)
	return v
}

func readyHookView() sched.InstanceView {
	v := runningView()
	asked := askedView(sched.Queued, notReadyAnswer(15*time.Minute), sched.ProbeAnswer{At: sampleTime(14 * time.Minute), Status: 200, Took: 12 * time.Millisecond})
	v.Probing, v.Task.Spec.Hooks = asked.Probing, asked.Task.Spec.Hooks
	v.Probing.ReadyAt = sampleTime(14 * time.Minute)
	return v
}

func unreadyHookView(s sched.State) sched.InstanceView {
	v := askedView(s, notReadyAnswer(30*time.Second), notReadyAnswer(2*time.Second))
	v.FinishedAt = sampleTime(2 * time.Second)
	why := "hook not ready: https://ledger.internal/ready answered 503 Service Unavailable: the day is not closed yet; asked 6 times within 1h0m0s"
	if v.Reason = why; s == sched.Failed {
		v.Reason, v.Error = "", why
	}
	return v
}
