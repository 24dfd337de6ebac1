package app

import (
	"context"
	"encoding/json"
	"net/http"

	"ax/app/access"
	"ax/app/sched"
)

// versionBody is one definition of a task, as far as a roll-back brings it
// back.
type versionBody struct {
	Version   int     `json:"version" example:"3"`
	Author    string  `json:"author" doc:"Who made it" example:"li.na"`
	Note      string  `json:"note" doc:"Why"`
	CreatedAt instant `json:"created_at"`

	Name     string           `json:"name" example:"Close unpaid orders"`
	Group    string           `json:"group"`
	Tags     []string         `json:"tags" nullable:"false"`
	Owner    string           `json:"owner" doc:"Who to ask"`
	Schedule scheduleBody     `json:"schedule"`
	Target   sched.TargetSpec `json:"target"`
	Policy   sched.PolicySpec `json:"policy"`
	Hooks    *sched.Hooks     `json:"hooks,omitempty"`
	Queue    string           `json:"queue" example:"default"`
	Labels   []string         `json:"labels,omitempty" doc:"Labels that a node must have to run it, all of them; left out when it needs none" example:"[\"gpu\"]"`
	Payload  json.RawMessage  `json:"payload,omitempty" doc:"JSON that the target gets; left out when there is none"`
}

type versionsIn struct {
	Code  string `path:"code" doc:"The task's code" example:"order.close-unpaid"`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Most versions"`
}

type versionListOut struct {
	Body listOf[versionBody]
}

func (s *api) taskVersions() {
	add(s, operation{
		method: http.MethodGet, path: "/tasks/{code}/versions", id: "list-task-versions", tag: tagTasks, verb: access.Read, object: taskObject,
		summary: "List the versions of a task", about: "The latest first: each change of the definition, with who made it and why.",
	}, (*api).listTaskVersions)
}

func (s *api) listTaskVersions(ctx context.Context, k *call, in *versionsIn) (*versionListOut, error) {
	t, err := s.findTask(ctx, k.actor, in.Code)
	if err != nil {
		return nil, err
	}
	versions, err := s.tasks.Versions(ctx, k.actor, in.Code, in.Limit)
	if err != nil {
		return nil, err
	}
	var items []versionBody
	for _, v := range versions {
		b := taskShape(v.Of(t), "", s.now())
		items = append(items, versionBody{
			Version: v.Version, Author: v.Author, Note: v.Note, CreatedAt: instant(v.CreatedAt),
			Name: b.Name, Group: b.Group, Tags: b.Tags, Owner: b.Owner, Schedule: b.Schedule, Target: b.Target, Policy: b.Policy, Hooks: b.Hooks, Queue: b.Queue, Labels: b.Labels, Payload: b.Payload,
		})
	}
	return &versionListOut{Body: listPage(items, "")}, nil
}
