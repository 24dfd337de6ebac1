package app

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"ax/app/access"
	"ax/app/fault"
)

// callerActorKey holds the actor of a call of the API.
const callerActorKey = "ax.caller_actor"

// noteRefusal has the audit remember that somebody who is known was not let
// do something. It costs nothing that the answer would wait for. What only
// reads is not told: who may look follows from the roles.
func (a *App) noteRefusal(c *gin.Context, err error) {
	if err == nil || fault.KindOf(err) != fault.KindDenied || reads(c.Request.Method) {
		return
	}
	by, known := whoAsks(c)
	if !known {
		return
	}
	why, _ := fault.TextOf(err)
	in := access.Refusal{
		Actor: by, Method: plain(c.Request.Method), Route: c.FullPath(), Path: plain(c.Request.URL.Path), Why: why.String(),
	}
	if d, ok := errors.AsType[*access.Denial](err); ok {
		in.Team, in.Verb = d.Team, d.Verb
	}
	a.refusals.Note(in)
}

func reads(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// whoAsks is the person or the token of the request.
func whoAsks(c *gin.Context) (access.Actor, bool) {
	if v, ok := visited(c); ok && v.person.ID != 0 {
		return v.actor, true
	}
	kept, _ := c.Get(callerActorKey)
	by, ok := kept.(access.Actor)
	return by, ok
}
