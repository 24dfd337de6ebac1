package views

import (
	"context"
	"strconv"
	"strings"

	"ax/app/sched"
	"ax/views/ui"
)

// target sets the fields of what is called.
func (v *TaskValues) target(to sched.Target) {
	v.Target = string(to.Kind)
	v.Input, v.Codes = string(sched.InputStdin), "0"
	v.executor(to)
	if to.Kind == sched.TargetShell {
		v.Container = to.Container
		v.Command, v.Args, v.Input, v.Codes = to.Command, strings.Join(to.Args, "\n"), string(to.Input), codesText(to.SuccessCodes)
	}
	v.message(to)
}

// Shell tells whether a command is chosen.
func (v TaskValues) Shell() bool { return v.Target == string(sched.TargetShell) }

// ofHTTP and ofShell are values that only the one kind of target has: the form
// keeps those of the other out of sight.
func (v TaskValues) ofHTTP(value string) string {
	if v.Shell() || v.Message() {
		return ""
	}
	return value
}

func (v TaskValues) ofShell(value string) string {
	if !v.Shell() {
		return ""
	}
	return value
}

func codesText(codes []int) string {
	var words []string
	for _, c := range codes {
		words = append(words, strconv.Itoa(c))
	}
	return strings.Join(words, ", ")
}

// ShellChoice tells whether a task may run commands, and why not.
type ShellChoice struct {
	Nodes bool // some node runs them
	Owner bool // the person may make such tasks
	Team  bool // an administrator opened them to the team, or it may still be chosen
}

// offersShell tells whether the form has the card of commands.
func (p TaskFormPage) offersShell() bool {
	return p.Shell.Nodes && p.Shell.Team && p.Shell.Owner || p.Values.Shell()
}

// targetCards are the kinds that the form offers.
func (p TaskFormPage) targetCards(ctx context.Context) []ui.Card {
	cards := []ui.Card{{Value: string(sched.TargetHTTP), Name: t(ctx, "HTTP"), Say: t(ctx, "ax posts to an address and goes by the answer.")}}
	if p.offersMQ() {
		cards = append(cards, ui.Card{Value: string(sched.TargetMQ), Name: t(ctx, "Message"), Say: t(ctx, "ax publishes to a message broker of the team.")})
	}
	if p.offersShell() {
		cards = append(cards, ui.Card{Value: string(sched.TargetShell), Name: t(ctx, "Command"), Say: t(ctx, "A node that allows it runs a file of its own. Owners only.")})
	}
	return cards
}

func inputOptions(ctx context.Context) []ui.Option {
	return []ui.Option{
		{Value: string(sched.InputStdin), Label: t(ctx, "Standard input")},
		{Value: string(sched.InputEnv), Label: t(ctx, "AX_PAYLOAD")},
		{Value: string(sched.InputNone), Label: t(ctx, "Not at all")},
	}
}

// inputText says how a command gets the payload.
func inputText(ctx context.Context, in sched.ShellInput) string {
	for _, o := range inputOptions(ctx) {
		if o.Value == string(in) {
			return o.Label
		}
	}
	return string(in)
}

// commandLine is a command with its arguments, each as it is passed; what has
// blanks or signs of a shell is quoted to be told apart.
func commandLine(to sched.Target) string {
	words := []string{to.Command}
	for _, a := range to.Args {
		if strings.ContainsFunc(a, func(r rune) bool {
			return !strings.ContainsRune("-_./:=,@%+", r) && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x80)
		}) {
			a = strconv.Quote(a)
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}
