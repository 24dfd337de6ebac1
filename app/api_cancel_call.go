package app

import "ax/app/sched"

// cancelCallBody is what became of telling a target to stop.
type cancelCallBody struct {
	State      string             `json:"state" enum:"waiting,told,given_up" example:"told"`
	Attempt    int                `json:"attempt" doc:"That the target may still work on"`
	Reason     sched.CancelReason `json:"reason" enum:"canceled,timed_out"`
	By         string             `json:"by" doc:"Who canceled; empty: nobody in person"`
	Tries      int                `json:"tries"`
	StatusCode int                `json:"status_code" doc:"Of the last answer; 0: none, or a message"`
	Error      string             `json:"error" doc:"Why the last try did not reach the target"`
	AskedAt    instant            `json:"asked_at" nullable:"false"`
	DueAt      instant            `json:"due_at" doc:"When it is tried next"`
	EndedAt    instant            `json:"ended_at"`
}

func cancelCallShape(c sched.CancelCall) cancelCallBody {
	out := cancelCallBody{
		State: "waiting", Attempt: c.Attempt, Reason: c.Reason, By: c.By, Tries: c.Tries, StatusCode: c.StatusCode, Error: c.Error,
		AskedAt: instant(c.AskedAt), DueAt: instant(c.DueAt), EndedAt: instant(c.EndedAt),
	}
	switch {
	case c.Told():
		out.State = "told"
	case !c.Waiting():
		out.State = "given_up"
	}
	return out
}
