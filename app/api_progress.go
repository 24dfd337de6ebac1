package app

import (
	"context"
	"net/http"

	"ax/app/fault"
	"ax/app/sched"
)

// progressBody is a target's word about work that goes on.
type progressBody struct {
	Token   string `json:"token,omitempty" doc:"Ax-Receipt-Token of the call; may come as a header instead"`
	Percent *int   `json:"percent,omitempty" doc:"How much is done, 0 to 100" example:"40"`
	Message string `json:"message,omitempty" doc:"One line for people" example:"481 of 1,204 rows"`
}

type progressOut struct {
	Body signedBody
}

type signedBody struct {
	State   sched.State `json:"state" doc:"The instance's state now" example:"awaiting"`
	Already bool        `json:"already" doc:"It has ended: nothing was stored"`
	Cancel  bool        `json:"cancel" doc:"It is not wanted any more: the work may stop"`
	Stored  bool        `json:"stored" doc:"false: another word came within the second"`
}

func (s *api) progressOperation() {
	add(s, operation{
		method: http.MethodPost, path: "/instances/{id}/progress", id: "send-progress", tag: tagInstances, verb: anyone,
		body: progressBody{}, example: exampleProgress, conflicts: true,
		summary: "Report how far accepted work is",
		about: "For targets, with the token of the call like a receipt. Without percent and message it is a sign of life, which policy.heartbeat_seconds asks for. " +
			"One a second is stored. The answer tells when the work is not wanted any more.",
	}, (*api).progress)
}

func (s *api) progress(ctx context.Context, k *call, in *receiptIn) (*progressOut, error) {
	body, attempt, err := s.receipt(k, in)
	if err != nil {
		return nil, err
	}
	if len(body) == 0 { // a sign of life, with its token in the header
		body = []byte("{}")
	}
	var word progressBody
	if err := decode(body, &word); err != nil {
		return nil, err
	}
	if in.Token != "" && word.Token != "" && word.Token != in.Token {
		return nil, fault.Invalid(fault.Field("token", "The header has another token"))
	}
	got, err := s.instances.Sign(ctx, sched.Sign{InstanceID: in.ID, Attempt: attempt, Percent: word.Percent, Message: word.Message})
	if err != nil {
		return nil, err
	}
	return &progressOut{Body: signedBody(got)}, nil
}
