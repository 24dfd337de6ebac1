package sched

import (
	"cmp"
	"slices"
	"strings"

	"ax/app/fault"
)

// Bounds of a hook and what it has when nothing is said, in seconds.
const (
	maxProbeTimeout = 30
	minProbeEvery   = 5
	maxProbeEvery   = 3600
	maxProbeLimit   = 86_400
	probeTimeout    = 5
	probeEvery      = 30
	probeLimit      = 3600
)

// hooks checks the hooks as written; nil when there are none.
func (p *problems) hooks(w *Hooks) *Hooks {
	if w == nil {
		return nil
	}
	h := Hooks{Before: p.beforeHook(w.Before), After: p.afterHooks(w.After)}
	if h.Before == nil && len(h.After) == 0 {
		return nil
	}
	return &h
}

func (p *problems) beforeHook(w *BeforeHook) *BeforeHook {
	if w == nil {
		return nil
	}
	h := *w
	p.httpURL("hooks.before.url", h.URL)
	h.Headers = p.headers("hooks.before.headers", w.Headers)
	if h.Method = strings.ToUpper(strings.TrimSpace(h.Method)); h.Method == "GET" {
		h.Method = ""
	}
	if h.Method != "" && h.Method != "HEAD" {
		p.add("hooks.before.method", "GET or HEAD; this is %q", w.Method)
	}
	h.Statuses = strings.TrimSpace(h.Statuses)
	var bad problems
	bad.successRule(HTTPRules{Statuses: h.Statuses})
	*p = append(*p, ofHook(bad)...)
	h.TimeoutSeconds = cmp.Or(h.TimeoutSeconds, probeTimeout)
	p.seconds("hooks.before.timeout_seconds", h.TimeoutSeconds, 1, maxProbeTimeout)
	p.hookWait(&h)
	return &h
}

// hookWait checks what becomes of who isn't ready. A hook that skips waits not
// at all.
func (p *problems) hookWait(h *BeforeHook) {
	if h.NotReady = cmp.Or(h.NotReady, NotReadyWait); h.NotReady != NotReadyWait && h.NotReady != NotReadySkip {
		p.add("hooks.before.not_ready", "This must be wait or skip; it is %q", string(h.NotReady))
		return
	}
	if !h.Waits() {
		for _, f := range []struct {
			name string
			said bool
		}{{"every_seconds", h.EverySeconds != 0}, {"limit_seconds", h.LimitSeconds != 0}, {"then", h.Then != ""}} {
			if f.said {
				p.add("hooks.before."+f.name, "Only a hook that waits has this; leave it out")
			}
		}
		return
	}
	h.EverySeconds, h.LimitSeconds = cmp.Or(h.EverySeconds, probeEvery), cmp.Or(h.LimitSeconds, probeLimit)
	p.seconds("hooks.before.every_seconds", h.EverySeconds, minProbeEvery, maxProbeEvery)
	p.seconds("hooks.before.limit_seconds", h.LimitSeconds, minProbeEvery, maxProbeLimit)
	if h.Then = cmp.Or(h.Then, ThenFail); h.Then != ThenFail && h.Then != ThenSkip {
		p.add("hooks.before.then", "This must be fail or skip; it is %q", string(h.Then))
	}
}

func (p *problems) afterHooks(w []AfterHook) []AfterHook {
	if len(w) > MaxAfterHooks {
		p.add("hooks.after", "At most %d; these are %d", MaxAfterHooks, len(w))
		return nil
	}
	for i, h := range w {
		switch {
		case !slices.Contains(HookOns(), h.On):
			p.add("hooks.after", "When is a channel told? success, failure or change; this is %q", string(h.On))
		case h.Channel == "":
			p.add("hooks.after", "Which channel is told? Give its id")
		case slices.Contains(w[:i], h):
			p.add("hooks.after", "A channel is named twice for the same ends")
		}
	}
	return w
}

// ofHook says of the hook what was found wrong with a target like it.
func ofHook(bad []fault.FieldError) []fault.FieldError {
	for i, f := range bad {
		if name, ok := strings.CutPrefix(f.Name, "target."); ok {
			bad[i].Name = "hooks.before." + strings.TrimPrefix(name, "http.")
		}
	}
	return bad
}
