package jobs

import (
	"cmp"
	"net/http"

	"ax/app/sched"
)

// probeHeaders go with the question of a hook. It is no delivery of the work:
// with the key of the business action, a target that answers a key it knows
// again would give the question's answer to the work.
func (h *HTTP) probeHeaders(call sched.Call) http.Header {
	out := http.Header{}
	out.Set("Accept-Encoding", "identity")
	out.Set("User-Agent", "ax/"+cmp.Or(h.o.Version, "dev"))
	out.Set("Ax-Hook", "before")
	out.Set("Ax-Instance", call.InstanceID)
	return out
}
