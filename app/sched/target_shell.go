package sched

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ShellInput is how a command gets the payload.
type ShellInput string

// The ways. A command never gets it among its arguments.
const (
	InputStdin ShellInput = "stdin" // as JSON; the default
	InputEnv   ShellInput = "env"   // in AX_PAYLOAD
	InputNone  ShellInput = "none"
)

// Bounds of a command.
const (
	maxCommand = 500
	maxArgs    = 50
	maxArg     = 2000
	maxCodes   = 20
)

// containerName is what docker and podman take as a name.
var containerName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$`)

// LabelShell is the label of nodes that run commands.
const LabelShell = "shell"

// OnShell tells whether a node runs commands, and takes work at all.
func (n NodeInfo) OnShell() bool {
	return !n.Gone() && n.Slots > 0 && slices.Contains(n.Labels, LabelShell)
}

// shellTarget checks a command as written. Which ones a node allows is the
// node's own configuration, and judged where it runs.
func (p *problems) shellTarget(w TargetSpec) Target {
	t := Target{Kind: TargetShell, Command: w.Command, Args: w.Args, Input: w.Input, Container: w.Container, SuccessCodes: slices.Clone(w.SuccessCodes)}
	if w.URL != "" {
		p.add("target.url", "A command has no address; leave it out")
	}
	if len(w.Headers) > 0 {
		p.add("target.headers", "A command has no headers; leave them out")
	}
	p.noHTTP(w)
	p.noExecutor(w)
	p.command("target.command", w.Command)
	p.args("target.args", w.Args)
	if w.Container != "" && !containerName.MatchString(w.Container) {
		p.add("target.container", "The name of a container, such as billing: letters, digits and _ . - , at most 128")
	}
	if t.Input == "" {
		t.Input = InputStdin
	}
	if !slices.Contains([]ShellInput{InputStdin, InputEnv, InputNone}, t.Input) {
		p.add("target.input", "One of stdin, env, none; this is %q", string(w.Input))
	}
	if len(t.SuccessCodes) == 0 {
		t.SuccessCodes = []int{0}
	}
	if len(t.SuccessCodes) > maxCodes {
		p.add("target.success_codes", "At most %d codes; these are %d", maxCodes, len(t.SuccessCodes))
	}
	for _, code := range t.SuccessCodes {
		if code < 0 || code > 255 {
			p.add("target.success_codes", "Codes are between 0 and 255; this is %d", code)
		}
	}
	slices.Sort(t.SuccessCodes)
	t.SuccessCodes = slices.Compact(t.SuccessCodes)
	return t
}

// noShell refuses the fields of a command for a target that is none.
func (p *problems) noShell(w TargetSpec) {
	for _, f := range []struct {
		name string
		has  bool
	}{
		{"target.command", w.Command != ""}, {"target.args", len(w.Args) > 0},
		{"target.input", w.Input != ""}, {"target.success_codes", len(w.SuccessCodes) > 0},
		{"target.container", w.Container != ""},
	} {
		if f.has {
			p.add(f.name, "Only a target of kind shell has this; leave it out")
		}
	}
}

func (p *problems) command(name, command string) {
	switch {
	case command == "":
		p.add(name, "A command is needed, such as /opt/jobs/close.sh")
	case len(command) > maxCommand:
		p.add(name, "At most %d characters; this has %d", maxCommand, len(command))
	case !utf8.ValidString(command) || strings.ContainsFunc(command, unicode.IsControl):
		p.add(name, "Control characters and broken text can't be used here")
	case !path.IsAbs(command) || path.Clean(command) != command || command == "/":
		p.add(name, "The whole path of a file, beginning with / and without .. in it")
	}
}

func (p *problems) args(name string, args []string) {
	if len(args) > maxArgs {
		p.add(name, "At most %d arguments; these are %d", maxArgs, len(args))
	}
	for i, a := range args {
		switch {
		case len(a) > maxArg:
			p.add(name, "An argument has at most %d characters; number %d has %d", maxArg, i+1, len(a))
		case !utf8.ValidString(a) || strings.ContainsFunc(a, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
			p.add(name, "Argument %d has control characters or broken text", i+1)
		case strings.Contains(a, "{{"):
			p.add(name, "Arguments are passed as they are: nothing is put in place of %q. Values come by the payload.", a)
		case strings.TrimSpace(a) == "":
			p.add(name, "Argument %d is empty; leave it out", i+1)
		}
	}
}
