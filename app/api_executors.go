package app

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/sched"
)

func (s *api) executorOperations() {
	add(s, operation{
		method: http.MethodGet, path: "/executors", id: "list-executors", tag: tagOperation, verb: access.Read,
		summary: "List the executors of the token's team",
		about:   "Also those that are out since less than a day.",
	}, (*api).listExecutors)
	add(s, operation{
		method: http.MethodPost, path: "/executors", id: "register-executor", tag: tagOperation, verb: access.Register,
		status: http.StatusCreated, body: sched.ExecutorSpec{}, example: exampleExecutor, conflicts: true,
		summary: "Register an executor",
		about: "A business service says where it is called and which types of work it does; tasks name it instead of an address. " +
			"The token must be bound to its name. Registering the same name and address again, after a restart, replaces the old registration.",
	}, (*api).registerExecutor)
	add(s, operation{
		method: http.MethodPut, path: "/executors/{id}/heartbeat", id: "beat-executor", tag: tagOperation, verb: access.Register,
		object: executorObject, body: executorBeat{}, optional: true, example: `{"running": 3}`,
		gone:    true,
		summary: "Say that an executor lives",
		about:   "Every 5 s; after 15 s without one it gets no more calls. 404 and 410: the registration is over, register again.",
	}, (*api).beatExecutor)
	add(s, operation{
		method: http.MethodDelete, path: "/executors/{id}", id: "leave-executor", tag: tagOperation, verb: access.Register,
		object: executorObject, status: http.StatusNoContent,
		summary: "Take an executor out of the rotation",
		about:   "At once: from then on it gets no call. A service that stops in order does this first.",
	}, (*api).leaveExecutor)
}

// executorObject is the executor that the path names, as far as the actor sees
// it.
func executorObject(ctx context.Context, s *api, by access.Actor, c *gin.Context) error {
	return s.executors.Seen(ctx, by, c.Param("id"))
}

type executorIn struct {
	ID string `path:"id" doc:"The registration's id" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
}

type executorBody struct {
	ID           string           `json:"id" format:"uuid"`
	Name         string           `json:"name" example:"billing"`
	Address      string           `json:"address" example:"http://10.0.3.17:8080"`
	TaskTypes    []sched.TaskType `json:"task_types" nullable:"false"`
	Weight       int              `json:"weight"`
	Version      string           `json:"version"`
	Online       bool             `json:"online" doc:"It gets calls"`
	Cancel       bool             `json:"cancel" doc:"It can be told to stop what it works on"`
	Running      int              `json:"running" doc:"As it said with its last beat"`
	Token        string           `json:"token" doc:"Name of the token that it registered with"`
	RegisteredAt instant          `json:"registered_at" nullable:"false"`
	BeatAt       instant          `json:"beat_at" nullable:"false"`
	ClosedAt     instant          `json:"closed_at" doc:"When it left in order"`
}

func executorShape(e sched.ExecutorInfo, now time.Time) executorBody {
	return executorBody{
		ID: e.ID, Name: e.Name, Address: e.Address, TaskTypes: e.Types, Weight: e.Weight, Version: e.Version, Online: e.Online(now),
		Cancel: e.Cancel, Running: e.Running, Token: e.Token, RegisteredAt: instant(e.RegisteredAt), BeatAt: instant(e.BeatAt), ClosedAt: instant(e.ClosedAt),
	}
}

type executorListOut struct {
	Body listOf[executorBody]
}

func (s *api) listExecutors(ctx context.Context, k *call, _ *struct{}) (*executorListOut, error) {
	all, err := s.executors.List(ctx, k.actor, access.Scope{})
	if err != nil {
		return nil, err
	}
	var items []executorBody
	for _, e := range all {
		items = append(items, executorShape(e, s.now()))
	}
	return &executorListOut{Body: listPage(items, "")}, nil
}

type registeredBody struct {
	ID               string  `json:"id" format:"uuid" doc:"For heartbeats"`
	HeartbeatSeconds int     `json:"heartbeat_seconds" doc:"How often to send a heartbeat" example:"5"`
	OutAfterSeconds  int     `json:"out_after_seconds" doc:"Without one for so long it is out" example:"15"`
	RegisteredAt     instant `json:"registered_at" nullable:"false"`
}

type registeredOut struct {
	Body registeredBody
}

func (s *api) registerExecutor(ctx context.Context, k *call, _ *struct{}) (*registeredOut, error) {
	var w sched.ExecutorSpec
	if err := decode(k.body, &w); err != nil {
		return nil, err
	}
	e, err := s.executors.Register(ctx, k.actor, w)
	if err != nil {
		return nil, err
	}
	return &registeredOut{Body: registeredBody{
		ID: e.ID, HeartbeatSeconds: int(sched.ExecutorBeat.Seconds()), OutAfterSeconds: int(sched.ExecutorDead.Seconds()), RegisteredAt: instant(e.RegisteredAt),
	}}, nil
}

type executorBeat struct {
	Running int `json:"running,omitempty" doc:"How much it runs now, for the route least_busy"`
}

type beatenOut struct {
	Body beatenBody
}

type beatenBody struct {
	HeartbeatSeconds int `json:"heartbeat_seconds" example:"5"`
}

func (s *api) beatExecutor(ctx context.Context, k *call, in *executorIn) (*beatenOut, error) {
	var beat executorBeat
	if err := decode(k.body, &beat); err != nil {
		return nil, err
	}
	if err := s.executors.Beat(ctx, k.actor, in.ID, beat.Running); err != nil {
		return nil, err
	}
	return &beatenOut{Body: beatenBody{HeartbeatSeconds: int(sched.ExecutorBeat.Seconds())}}, nil
}

func (s *api) leaveExecutor(ctx context.Context, k *call, in *executorIn) (*struct{}, error) {
	return nil, s.executors.Leave(ctx, k.actor, in.ID)
}
