package app

import (
	"context"
	"encoding/json"
	"net/http"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// maxReceipt bounds a receipt's body: anybody can send one.
const maxReceipt = 16 << 10

// receiptIn names the instance; the token may come as a header.
type receiptIn struct {
	ID    string `path:"id" doc:"The instance's id" example:"0193868e-2f40-7c11-9a02-6b1fd2f0c7e1"`
	Token string `header:"Ax-Receipt-Token" doc:"The token that came with the call; may stand in the body instead"`
}

// receiptBody is a target's word.
type receiptBody struct {
	Token   string        `json:"token,omitempty" doc:"Ax-Receipt-Token of the call; may come as a header instead"`
	Outcome sched.Outcome `json:"outcome" enum:"succeeded,failed" doc:"How the work ended"`
	Message string        `json:"message,omitempty" doc:"One line for people" example:"1,204 rows settled"`
}

type receiptOut struct {
	Body receivedBody
}

type receivedBody struct {
	State   sched.State `json:"state" doc:"The instance's state now" example:"succeeded"`
	Already bool        `json:"already" doc:"It had ended before: the word was recorded and changed nothing"`
}

func (s *api) receiptOperation() {
	add(s, operation{
		method: http.MethodPost, path: "/instances/{id}/receipt", id: "send-receipt", tag: tagInstances, verb: anyone,
		body: receiptBody{}, example: exampleReceipt, conflicts: true,
		summary: "Report the end of accepted work",
		about: "For targets that answered 202. The credential is the token that came with the call (Ax-Receipt-Token), not a bearer token. " +
			"It is good for one attempt of one instance: a wrong one, and an instance that isn't there, are 404. " +
			"Success of any attempt counts, failure only of the present one. Sending it again does no harm.",
	}, (*api).receive)
}

func (s *api) receive(ctx context.Context, k *call, in *receiptIn) (*receiptOut, error) {
	body, attempt, err := s.receipt(k, in)
	if err != nil {
		return nil, err
	}
	var word receiptBody
	if err := decode(body, &word); err != nil {
		return nil, err
	}
	if in.Token != "" && word.Token != "" && word.Token != in.Token {
		return nil, fault.Invalid(fault.Field("token", "The header has another token"))
	}
	got, err := s.instances.Receive(ctx, sched.Report{
		InstanceID: in.ID, Attempt: attempt, Outcome: word.Outcome, Message: word.Message, Address: address(k.c),
	})
	if err != nil {
		return nil, err
	}
	reported(k.c, in.ID)
	return &receiptOut{Body: receivedBody{State: got.State, Already: got.Already}}, nil
}

// receipt checks the token before anything else that was sent is believed: a
// token in the header even before the body is read.
func (s *api) receipt(k *call, in *receiptIn) (body []byte, attempt int, err error) {
	who, now := address(k.c), s.now()
	if err := s.strangers.look(who, now); err != nil {
		return nil, 0, err
	}
	check := func(token string) error {
		if token == "" {
			k.c.Header("WWW-Authenticate", `Receipt realm="ax"`)
			return fault.Unauthenticated("A receipt needs the token that came with the call, Ax-Receipt-Token")
		}
		if s.receipts.IsTest(token, in.ID) {
			return fault.Conflict("That was a test call: nothing waits for a receipt of it")
		}
		no, ok := s.receipts.CheckReceipt(token, in.ID)
		if !ok {
			_ = s.strangers.take(who, now) // counted; the next look refuses
			s.refusals.NoteForged(who, http.MethodPost, plain(k.c.Request.URL.Path))
			return access.NoObject()
		}
		attempt = no
		return nil
	}
	if in.Token != "" {
		if err := check(in.Token); err != nil {
			return nil, 0, err
		}
	}
	body, err = readBody(http.MaxBytesReader(k.c.Writer, k.c.Request.Body, maxReceipt))
	if err != nil {
		return nil, 0, err
	}
	if in.Token == "" {
		err = check(tokenIn(body))
	}
	return body, attempt, err
}

// tokenIn finds the token in a body that isn't believed yet.
func tokenIn(body []byte) string {
	var only struct {
		Token string `json:"token"`
	}
	if json.Unmarshal(body, &only) != nil {
		return ""
	}
	return only.Token
}
