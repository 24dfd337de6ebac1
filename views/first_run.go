package views

import (
	"context"
	"slices"

	"ax/views/ui"
)

// setUpLine says what the setup made.
func setUpLine(ctx context.Context) string {
	v := viewer(ctx)
	parts := []string{v.User.Name}
	if len(v.Teams) > 0 {
		parts = append(parts, t(ctx, "team %s", v.teamName(v.Teams[0].Name)))
	}
	return joined(" · ", append(parts, v.zone().String())...)
}

// settingFact is one thing about how this installation runs.
type settingFact struct {
	state        ui.State
	title, words string
}

// setting is what a new administrator should know of how ax runs here.
func (p DashboardPage) setting(ctx context.Context) []settingFact {
	v := viewer(ctx)
	warn := ui.State{Icon: "alert-triangle", Class: "retry", Word: t(ctx, "Note")}
	alive, roles := p.rolesAlive(ctx)
	facts := []settingFact{{
		state: ui.State{Icon: "circle-check", Class: "ok", Word: t(ctx, "Fine")}, title: tn(ctx, "%d processes", alive), words: joined(", ", roles...),
	}}
	for _, role := range []string{"scheduler", "worker"} {
		if !slices.Contains(roles, role) {
			facts = append(facts, settingFact{
				state: failLook(ctx, "circle-x", t(ctx, "Missing")), title: t(ctx, "No process has the role %s", role),
				words: t(ctx, "without it nothing runs"),
			})
		}
	}
	look := healthState(ctx, Health{Ledger: true, Redis: !p.Queues.RedisAway})
	facts = append(facts, settingFact{state: look, title: look.Word})
	if v.SetupWarning {
		facts = append(facts, settingFact{state: warn, title: t(ctx, "http, not https"), words: t(ctx, "set http.external_url before others sign in")})
	}
	return facts
}

// rolesAlive are the roles of the nodes that beat, in the order of a
// request's way.
func (p DashboardPage) rolesAlive(ctx context.Context) (alive int, roles []string) {
	for _, role := range []string{"web", "scheduler", "worker"} {
		for _, n := range p.Figures.Nodes {
			if lives(n, viewer(ctx).Now, p.Beats) && slices.Contains(n.Roles, role) {
				roles = append(roles, role)
				break
			}
		}
	}
	alive, _ = beating(p.Figures.Nodes, viewer(ctx).Now, p.Beats)
	return alive, roles
}
