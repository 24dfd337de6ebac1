package views

import "ax/app/sched"

// said is what the target said last of the last attempt; nil: nothing.
func (p InstancePage) said() *sched.Progress {
	for i := range p.Progress {
		if p.Progress[i].Attempt == p.View.Attempt {
			return &p.Progress[i]
		}
	}
	return nil
}

// silence is how long the target may say nothing while it is awaited, in
// seconds; 0: until its receipt is due.
func (p InstancePage) silence() int {
	if p.View.State != sched.Awaiting {
		return 0
	}
	return p.View.Task.Spec.Policy.HeartbeatSeconds
}
