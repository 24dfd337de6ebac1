package jobs

import (
	"context"
	"encoding/json"

	"ax/app/sched"
)

// cancelOf is what is added to the key of a run that is to stop.
const cancelOf = ":cancel"

// Cancels bring cancel calls to targets (docs/receipts.md).
type Cancels struct {
	HTTP *HTTP
	MQ   *MQ
}

// Tell sends one cancel call. It goes where the work went, by its headers,
// certificates and address rules, and no answer of it is a receipt's.
func (c Cancels) Tell(ctx context.Context, o sched.CancelOrder) sched.Result {
	body, err := cancelBody(o)
	if err != nil {
		return unsent(err)
	}
	call := o.Call
	call.Key, call.Idempotent = call.Key+cancelOf, true
	if call.Target.Kind == sched.TargetMQ {
		call.Target.RoutingKey = call.Target.CancelRoutingKey
		return c.MQ.send(ctx, call, "ax.cancel", body)
	}
	call.Target.URL = o.URL
	if rules := call.Target.HTTP; rules != nil {
		if call.Target.URL == "" {
			call.Target.URL = rules.CancelURL
		}
		call.Target.HTTP = &sched.HTTPRules{CA: rules.CA, ClientCert: rules.ClientCert}
	}
	return c.HTTP.send(ctx, call, body)
}

// cancelBody is the JSON of a cancel call.
func cancelBody(o sched.CancelOrder) ([]byte, error) {
	return json.Marshal(struct {
		InstanceID string             `json:"instance_id"`
		Task       string             `json:"task"`
		BizID      string             `json:"biz_id"`
		Attempt    int                `json:"attempt"`
		Reason     sched.CancelReason `json:"reason"`
		By         string             `json:"by,omitempty"`
	}{o.InstanceID, o.Call.TaskCode, o.Call.BizID, o.Attempt, o.Reason, o.By})
}
