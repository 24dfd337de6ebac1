package views

import (
	"context"
	"net/url"

	"ax/app/alert"
	"ax/views/ui"
)

// TaskAlerts is what alerts say of one task.
type TaskAlerts struct {
	Open     []IncidentRow // that it is a member of
	Rules    []TaskRule    // that watch it
	Silences []SilenceRow  // active, that cover it
	// What the viewer may do: silence the task, make a rule for it.
	MaySilence, MayRule bool
}

// TaskRule is a rule that watches the task.
type TaskRule struct {
	alert.Rule
	Level alert.Level     // of the task under the rule
	To    []alert.Channel // that are told
	// Others counts the channels that are told besides, which the viewer doesn't
	// see.
	Others int
}

// silent tells whether nothing at all is to be said.
func (a TaskAlerts) silent() bool { return len(a.Open)+len(a.Rules)+len(a.Silences) == 0 }

func taskSilenceURL(code string) string {
	return AlertsSilences + "/new?" + url.Values{"task": {code}}.Encode()
}

func taskRuleURL(team, code string) string {
	return AlertsRules + "/new?" + url.Values{"team": {team}, "task": {code}}.Encode()
}

// toldWords says who is told of what the rule finds.
func (r TaskRule) toldWords(ctx context.Context) string {
	switch {
	case len(r.To) == 0 && r.Others == 0:
		return t(ctx, "nobody is told")
	case len(r.To) == 0:
		return tn(ctx, "%d channels", r.Others)
	}
	return channelsWords(ctx, r.To)
}

// look of a rule: on, off, or that it can't be judged.
func (r TaskRule) look(ctx context.Context) ui.State {
	switch {
	case !r.Enabled:
		return ui.State{Icon: "circle-off", Class: "idle", Word: t(ctx, "off|rule")}
	case r.Broken != "":
		return ui.State{Icon: "alert-triangle", Class: "fail", Word: t(ctx, "Can’t be judged")}
	}
	return ui.State{Icon: "eye", Class: "idle", Word: t(ctx, "watches")}
}

// openIncident is the line that leads from a run, or a dead letter, to what is
// open of its task.
func openIncident(ctx context.Context, i *alert.Incident) string {
	return joined(" · ", incidentState(ctx, *i).Word, incidentTitle(ctx, *i))
}
