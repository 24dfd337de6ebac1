package views

import (
	"context"
	"time"

	"ax/app/sched"
	"ax/views/ui"
)

// hookBanner says that the instance waits for its hook.
func (p InstancePage) hookBanner(ctx context.Context) (banner, bool) {
	x, in := p.View.Probing, p.View.Instance
	if x == nil || in.Attempt > 0 || x.NextAt.IsZero() || p.View.Task.Spec.BeforeHook() == nil {
		return banner{}, false
	}
	return banner{
		icon: "hourglass", strong: t(ctx, "It waits for %s: %s.", x.Address, p.hookSaid(ctx, x.Last())),
		say: t(ctx, "Asked %s times; next %s, gives up at %s.", number(x.Asked), relative(ctx, x.NextAt), clock(ctx, x.GiveUpAt)),
	}, true
}

// hookSaid is one answer in words.
func (p InstancePage) hookSaid(ctx context.Context, a sched.ProbeAnswer) string {
	if a.Said == "" {
		return t(ctx, "ready")
	}
	return a.Said
}

// hookAnswer is a line about one answer.
type hookAnswer struct {
	at   time.Time
	look ui.State
	said string
	took string
}

// hookAnswers are the last ones, the latest first.
func (p InstancePage) hookAnswers(ctx context.Context) []hookAnswer {
	var out []hookAnswer
	if p.View.Probing == nil {
		return nil
	}
	for _, a := range p.View.Probing.Answers {
		look := ui.State{Icon: "hourglass", Class: "late", Word: t(ctx, "Not ready")}
		if a.Said == "" {
			look = ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Ready|hook")}
		}
		out = append([]hookAnswer{{a.At, look, a.Said, duration(ctx, a.Took)}}, out...)
	}
	return out
}
