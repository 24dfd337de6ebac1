package views

import (
	"context"
	"net/url"

	"ax/app/fault"
	"ax/views/ui"
)

// What a switch is of; it begins the address.
const (
	OfQueue = "queues"
	OfNode  = "nodes"
)

// SwitchConfirmPage asks before a queue is paused or resumed, or a node drained
// or put to work again.
type SwitchConfirmPage struct {
	Of       string // OfQueue or OfNode
	Action   string // pause, resume; drain, resume
	ID       string
	Name     string
	Busy     int // a node's: what it runs now
	Reasoned bool
	Reason   string // as it was typed
	Errors   []fault.FieldError
}

// switchURL is the address of an action.
func switchURL(of, id, action string) string {
	return "/" + of + "/" + url.PathEscape(id) + "/" + action
}

// askSwitchURL is the address of the question before it.
func askSwitchURL(of, id, action string) string {
	return "/" + of + "/" + url.PathEscape(id) + "/confirm/" + action
}

func (p SwitchConfirmPage) list(ctx context.Context) ui.Crumb {
	if p.Of == OfNode {
		return ui.Crumb{Label: t(ctx, "Nodes"), Href: "/nodes"}
	}
	return ui.Crumb{Label: t(ctx, "Queues"), Href: "/queues"}
}

func (p SwitchConfirmPage) words(ctx context.Context) askWords {
	switch p.Of + " " + p.Action {
	case OfQueue + " pause":
		return askWords{title: t(ctx, "Pause the queue %s?", p.Name), verb: t(ctx, "Pause the queue"), keep: t(ctx, "Leave it open"), danger: true,
			effects: []string{t(ctx, "No node takes work of it, whatever the team; what runs goes on."), t(ctx, "New work is accepted and waits."), t(ctx, "It stays paused until somebody resumes it, also when Redis is lost.")}}
	case OfQueue + " resume":
		return askWords{title: t(ctx, "Resume the queue %s?", p.Name), verb: t(ctx, "Resume the queue"), keep: t(ctx, "Leave it paused"), say: t(ctx, "The nodes take what waits at once, as many as they have places.")}
	case OfNode + " drain":
		return askWords{title: t(ctx, "Drain %s?", p.Name), verb: t(ctx, "Drain the node"), keep: t(ctx, "Leave it at work"), danger: true,
			effects: []string{t(ctx, "It takes no new work from its next beat on; other nodes take it."), tn(ctx, "What it runs goes on to its end: %d now.", p.Busy), t(ctx, "It stays up, and plans and serves pages as before.")}}
	}
	return askWords{title: t(ctx, "Let %s take work again?", p.Name), verb: t(ctx, "Stop draining"), keep: t(ctx, "Leave it draining"), say: t(ctx, "It takes work from its next beat on.")}
}

func (p SwitchConfirmPage) reason(ctx context.Context) ui.Field {
	f := ui.Field{Name: "reason", Label: t(ctx, "Reason, kept in the audit"), Value: p.Reason, Error: problem(ctx, p.Errors, "reason"), Required: p.Reasoned, Autocomplete: "off"}
	if !p.Reasoned {
		f.Optional = t(ctx, "optional")
	}
	return f
}
