package views

import (
	"context"
	"strconv"

	"ax/app/sched"
)

// shell tells whether the task, or the last attempt, runs a command.
func (p InstancePage) shell() bool {
	if a := p.lastAttempt(); a != nil {
		return a.Executor == string(sched.TargetShell)
	}
	return p.View.Task.Spec.Target.Kind == sched.TargetShell
}

// onShell tells whether a node lives that runs commands.
func (p InstancePage) onShell() bool {
	for _, n := range p.Nodes {
		if n.OnShell() && !n.Draining {
			return true
		}
	}
	return false
}

// codeText says how an attempt was answered: by a status, or an exit code.
func codeText(ctx context.Context, a sched.Attempt) string {
	switch {
	case a.Executor == string(sched.TargetShell) && (a.StatusCode != 0 || a.Outcome == sched.OutcomeSucceeded):
		return t(ctx, "exit code %s", strconv.Itoa(a.StatusCode))
	case a.Executor != string(sched.TargetShell) && a.StatusCode != 0:
		return t(ctx, "status %s", strconv.Itoa(a.StatusCode))
	}
	return ""
}
