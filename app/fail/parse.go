//go:build failpoint

package fail

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// The actions.
const (
	actKill  = "kill"
	actStop  = "stop"
	actError = "error"
	actPanic = "panic"
	actDelay = "delay"
)

// rule is what happens at a place, and when.
type rule struct {
	nth    int64 // 0: at every pass
	action string
	delay  time.Duration // of actDelay
	passes atomic.Int64
}

// rules by the names of their places.
type rules map[string][]*rule

// parse reads AX_FAILPOINT. The error says which part is wrong.
func parse(spec string) (rules, error) {
	out := rules{}
	if strings.TrimSpace(spec) == "" {
		return out, nil
	}
	for part := range strings.SplitSeq(spec, ",") {
		part = strings.TrimSpace(part)
		name, r, err := parseRule(part)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", part, err)
		}
		out[name] = append(out[name], r)
	}
	return out, nil
}

func parseRule(part string) (name string, r *rule, err error) {
	r = &rule{nth: 1, action: actKill}
	place, action, given := strings.Cut(part, "=")
	name, nth, counted := strings.Cut(place, ":")
	if !slices.Contains(Names(), name) {
		return "", nil, fmt.Errorf("there is no place %q; there are %s", name, strings.Join(Names(), ", "))
	}
	if counted && nth == "*" {
		r.nth = 0
	} else if counted {
		if r.nth, err = strconv.ParseInt(nth, 10, 64); err != nil || r.nth < 1 {
			return "", nil, fmt.Errorf("the pass must be a number from 1 on or *, not %q", nth)
		}
	}
	if given {
		if err := r.parseAction(action); err != nil {
			return "", nil, err
		}
	}
	return name, r, nil
}

func (r *rule) parseAction(s string) (err error) {
	var length string
	var timed bool
	r.action, length, timed = strings.Cut(s, "=")
	switch r.action {
	case actDelay:
		if r.delay, err = time.ParseDuration(length); err != nil || r.delay <= 0 {
			return fmt.Errorf("the delay must be a time such as 5s, not %q", length)
		}
		return nil
	case actKill, actStop, actError, actPanic:
		if !timed {
			return nil
		}
	}
	return fmt.Errorf("the action must be kill, stop, error, panic or delay=5s, not %q", s)
}
