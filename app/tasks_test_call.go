package app

import (
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"ax/app/fault"
	"ax/app/sched"
	"ax/views"
)

// testNewTask calls the target of a task that isn't stored.
func (a *App) testNewTask(c *gin.Context) (reply, error) { return a.testCall(c, sched.Task{}) }

// testTask calls the target of a stored task, as the form has it.
func (a *App) testTask(c *gin.Context) (reply, error) {
	t, err := a.editable(c)
	if err != nil {
		return reply{}, err
	}
	return a.testCall(c, t)
}

// testCall calls what the form says, and shows the form with what came back;
// htmx gets that part alone.
func (a *App) testCall(c *gin.Context, stored sched.Task) (reply, error) {
	f, err := a.taskFields(c)
	if err != nil {
		return reply{}, err
	}
	typed := f.typedTask()
	spec := f.taskSpec(a.viewer(c), typed, stored)
	f.bad = slices.DeleteFunc(f.bad, func(e fault.FieldError) bool { return !ofCall(e.Name) })
	tried, err := a.tryTarget(c, f, stored.Code, spec)
	page := a.taskForm(c, stored, typed, err)
	page.Test = &views.TestCallView{Call: tried, Errors: page.Errors}
	if kind := fault.KindOf(err); err != nil && kind != fault.KindInvalid {
		page.Test = nil
		if kind != fault.KindTooMany {
			return reply{}, err
		}
	}
	return show(views.TaskForm(page)).piecewise(views.TestCallPart(page)), err
}

// tryTarget makes the test call, when everything it goes by can be read.
// Faults: TooMany, and those of sched.TestCalls.Call.
func (a *App) tryTarget(c *gin.Context, f *form, code string, spec sched.TaskSpec) (sched.TestCall, error) {
	if err := f.err(); err != nil {
		return sched.TestCall{}, err
	}
	if err := a.tests.take(bucketKey(actor(c)), a.now()); err != nil {
		return sched.TestCall{}, err
	}
	return a.testCalls.Call(c.Request.Context(), actor(c), code, spec)
}

// ofCall tells whether a call goes by a field of the form.
func ofCall(field string) bool {
	return field == "payload" || field == "team" || strings.HasPrefix(field, "target.") || strings.HasPrefix(field, "policy.")
}
