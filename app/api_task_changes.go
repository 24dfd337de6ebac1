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

// teamMoveBody says which team gets a task.
type teamMoveBody struct {
	Team        string `json:"team" doc:"Code of the team that gets it" example:"store"`
	ReadVersion int    `json:"read_version,omitempty" doc:"The version that was read: 409 when the task has another by now; left out: whatever it is" example:"7"`
	Reason      string `json:"reason,omitempty" maxLength:"500" doc:"Why; kept in the history and the audit of both teams" example:"The store runs it now"`
}

func (s *api) taskChanges() {
	add(s, operation{
		method: http.MethodPost, path: "/tasks/{code}/rollback", id: "roll-back-task", tag: tagTasks, verb: access.EditTask,
		object: taskObject, body: rollBackBody{}, example: exampleRollBack, conflicts: true,
		summary: "Roll a task back to an earlier version",
		about: "Makes a new version with the definition of the earlier one, by the rules of a PUT: what can't be stored any more, such as a calendar that is gone, is refused at its field. " +
			"Whether the task is enabled stays as it is. 422 when there is nothing in which the two differ.",
	}, (*api).rollBackTask)
	add(s, operation{
		method: http.MethodPost, path: "/tasks/{code}/move", id: "move-task", tag: tagTasks, verb: access.EditTask,
		object: taskObject, body: teamMoveBody{}, example: exampleTeamMove, conflicts: true,
		summary: "Move a task to another team",
		about: "Its code, versions, instances and dead letters go along, and what runs goes on. It needs the right to edit tasks in both teams, so the token of one team is refused. " +
			"422 at team when the task goes by a calendar that the other team can't use.",
	}, (*api).moveTask)
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

func (s *api) moveTask(ctx context.Context, k *call, in *taskIn) (*taskOut, error) {
	if err := checkCode(in.Code); err != nil {
		return nil, err
	}
	var body teamMoveBody
	if err := decode(k.body, &body); err != nil {
		return nil, err
	}
	if err := checkReason(body.Reason); err != nil {
		return nil, err
	}
	t, err := s.tasks.Move(ctx, k.actor, in.Code, sched.TeamMove{Team: body.Team, Read: body.ReadVersion, Reason: body.Reason})
	if err != nil {
		return nil, err
	}
	return s.taskOut(ctx, k, t)
}
