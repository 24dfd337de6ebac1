package views

import (
	"context"
	"slices"
	"strings"

	"ax/app/sched"
	"ax/views/ui"
)

// ExecutorOption is an executor and a type of work that it offers.
type ExecutorOption struct {
	Executor, Type, Say string
}

// value is how a form names both.
func (o ExecutorOption) value() string { return executorAndType(o.Executor, o.Type) }

func executorAndType(executor, kind string) string {
	if executor == "" {
		return ""
	}
	return executor + "/" + kind
}

// ExecutorOptions are all that the executors offer, each once, by name.
func ExecutorOptions(all []sched.ExecutorInfo) (out []ExecutorOption) {
	for _, e := range all {
		for _, x := range e.Types {
			o := ExecutorOption{e.Name, x.Type, x.Description}
			if !slices.ContainsFunc(out, func(have ExecutorOption) bool { return have.value() == o.value() }) {
				out = append(out, o)
			}
		}
	}
	slices.SortFunc(out, func(a, b ExecutorOption) int { return strings.Compare(a.value(), b.value()) })
	return out
}

// ReadExecutor takes apart what a form says.
func ReadExecutor(typed string) (executor, kind string) {
	executor, kind, _ = strings.Cut(strings.TrimSpace(typed), "/")
	return strings.TrimSpace(executor), strings.TrimSpace(kind)
}

// executor sets the fields of a target that names one.
func (v *TaskValues) executor(to sched.Target) {
	v.Executor, v.Route = executorAndType(to.Executor, to.Type), string(to.Route)
}

// ofExecutor is a value that only a target which names an executor has.
func (v TaskValues) ofExecutor(value string) string {
	if v.Executor == "" {
		return ""
	}
	return v.ofHTTP(value)
}

// executorOptions are those to choose from; the one that a task names stays,
// whoever is registered.
func (p TaskFormPage) executorOptions(ctx context.Context) []ui.Option {
	out := []ui.Option{{Label: t(ctx, "none: the address above")}}
	known := p.Values.Executor == ""
	for _, o := range p.Executors {
		out = append(out, ui.Option{Value: o.value(), Label: joined(" · ", o.Executor, o.Type, o.Say)})
		known = known || o.value() == p.Values.Executor
	}
	if !known {
		out = append(out, ui.Option{Value: p.Values.Executor, Label: t(ctx, "%s, not registered now", p.Values.Executor)})
	}
	return out
}

// executorProblem is what is wrong with name or type: the form has one field
// for both.
func (p TaskFormPage) executorProblem(ctx context.Context) string {
	name, kind := problem(ctx, p.Errors, "target.executor"), problem(ctx, p.Errors, "target.type")
	if name == kind {
		return name
	}
	return joined(" ", name, kind)
}

// targetLine is what is called, in a line.
func targetLine(to sched.Target) string {
	if to.Executor != "" {
		return to.Executor + " · " + to.Type
	}
	return "POST " + targetShort(to.URL)
}

// attemptExecutor is who an attempt was sent to, by the request that is stored:
// the executor's name and base address. ok is false when it named none.
func attemptExecutor(a sched.Attempt) (name, address string, ok bool) {
	first, rest, _ := strings.Cut(a.Request, "\n")
	for line := range strings.Lines(rest) {
		if said, found := strings.CutPrefix(strings.TrimRight(line, "\n"), "Ax-Executor: "); found {
			address, _, _ = strings.Cut(strings.TrimPrefix(first, "POST "), "/ax/")
			return said, address, true
		}
	}
	return "", "", false
}
