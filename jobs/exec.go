package jobs

import (
	"context"
	"fmt"

	"ax/app/sched"
)

// Executors pick the executor of a target's kind. It is one itself.
type Executors map[sched.TargetKind]sched.Executor

// Execute carries out the call. A kind without an executor is a definite
// failure: nothing was sent.
func (e Executors) Execute(ctx context.Context, call sched.Call) sched.Result {
	kind := call.Target.Kind
	x, ok := e[kind]
	if !ok {
		return unsent(fmt.Errorf("this version of ax can't call targets of kind %q", kind))
	}
	return x.Execute(ctx, call)
}

// unsent is the result when it is sure that the target got nothing.
func unsent(err error) sched.Result {
	return sched.Result{Outcome: sched.OutcomeFailed, Definite: true, Error: oneLine(err.Error())}
}
