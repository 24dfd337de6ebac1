package app

import (
	"context"
	"net/http"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// rollBackBody says which definition a task is to have again.
type rollBackBody struct {
	Version     int    `json:"version" doc:"The version to go back to" example:"3"`
	ReadVersion int    `json:"read_version,omitempty" doc:"The version that was read: 409 when the task has another by now; left out: whatever it is" example:"7"`
	Note        string `json:"note,omitempty" maxLength:"500" doc:"Why; kept in the history and the audit" example:"The new hour was wrong"`
}

func (s *api) taskChanges() {
	add(s, operation{
		method: http.MethodPost, path: "/tasks/{code}/rollback", id: "roll-back-task", tag: tagTasks, verb: access.EditTask,
		object: taskObject, body: rollBackBody{}, example: exampleRollBack, conflicts: true,
		summary: "Roll a task back to an earlier version",
		about: "Makes a new version with the definition of the earlier one, by the rules of a PUT: what can't be stored any more, such as a calendar that is gone, is refused at its field. " +
			"Whether the task is enabled stays as it is. 422 when there is nothing in which the two differ.",
	}, (*api).rollBackTask)
}

func (s *api) rollBackTask(ctx context.Context, k *call, in *taskIn) (*taskOut, error) {
	if err := checkCode(in.Code); err != nil {
		return nil, err
	}
	var body rollBackBody
	if err := decode(k.body, &body); err != nil {
		return nil, err
	}
	if body.Version <= 0 {
		return nil, fault.Invalid(fault.Field("version", "The number of a version is needed"))
	}
	t, err := s.tasks.RollBack(ctx, k.actor, in.Code, sched.RollBack{To: body.Version, Read: body.ReadVersion, Note: body.Note})
	if err != nil {
		return nil, err
	}
	return s.taskOut(ctx, k, t)
}
