package views

import (
	"context"
	"strconv"
	"strings"

	"ax/app/sched"
)

// Stretches of an output that a page reads, and lines of it that it shows
// first: the last ones.
const (
	OutputShort = 2
	OutputLong  = 12 // 192 KiB: a page stays small whatever was printed
	shownLines  = 40
)

// outputPart is text of an output, or a note that some of it was not kept.
type outputPart struct{ text, cut string }

// CutText says how much of an output was not kept.
func (v Viewer) CutText(bytes int64) string {
	return t(With(context.Background(), v), "[… %s were not kept …]", bytesText(bytes))
}

// outputParts are what the page shows of the output; more is true when there
// is something before it.
func (p InstancePage) outputParts(ctx context.Context) (parts []outputPart, more bool) {
	room := shownLines
	if p.Whole {
		room = 1 << 30
	}
	more = p.Output.Earlier
	for i := len(p.Output.Stretches) - 1; i >= 0; i-- {
		s := p.Output.Stretches[i]
		text, all := lastLines(s.Text, &room)
		if text != "" {
			parts = append([]outputPart{{text: text}}, parts...)
		}
		if !all {
			return parts, true
		}
		if s.Skipped > 0 {
			parts = append([]outputPart{{cut: viewer(ctx).CutText(s.Skipped)}}, parts...)
		}
	}
	return parts, more
}

// lastLines takes at most room lines from the end of a text, and counts them.
func lastLines(text string, room *int) (last string, all bool) {
	at := len(text)
	for at > 0 {
		if *room == 0 {
			return text[at:], false
		}
		at = strings.LastIndexByte(strings.TrimSuffix(text[:at], "\n"), '\n') + 1
		*room--
	}
	return text, true
}

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

// self is the page's address with what is open on it.
func (p InstancePage) self() string {
	if p.Whole {
		return p.path() + "?output=all"
	}
	return p.path()
}

// outputPath is the output of an attempt as a file.
func (p InstancePage) outputPath(attempt int) string {
	return p.path() + "/output?attempt=" + strconv.Itoa(attempt)
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
