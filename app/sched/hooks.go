package sched

import (
	"slices"
	"time"
)

// Hooks are what ax does around the runs of a task (docs/hooks.md).
type Hooks struct {
	Before *BeforeHook `json:"before,omitempty" doc:"An address that is asked before the first attempt: the target is called only after it said ready"`
	After  []AfterHook `json:"after,omitempty" doc:"Channels of the team that are told when an instance has ended, at most 5"`
}

// NotReady is what becomes of an instance whose hook isn't ready.
type NotReady string

// What becomes of it.
const (
	NotReadyWait NotReady = "wait" // it is asked again
	NotReadySkip NotReady = "skip"
)

// LimitThen is what becomes of an instance that has waited to its limit.
type LimitThen string

// What becomes of it.
const (
	ThenFail LimitThen = "fail"
	ThenSkip LimitThen = "skip"
)

// BeforeHook is an HTTP question that is asked before an instance begins.
type BeforeHook struct {
	URL     string            `json:"url" doc:"http or https, by the rules of a target's address"`
	Method  string            `json:"method,omitempty" doc:"GET (default) or HEAD"`
	Headers map[string]string `json:"headers,omitempty" doc:"Sent with each question. Credentials are named: {{secret:NAME}}, a secret of the team"`

	Statuses       string `json:"statuses,omitempty" doc:"Statuses that mean ready, such as 200-299 (left out) or 200, 404"`
	TimeoutSeconds int    `json:"timeout_seconds,omitempty" doc:"Of one question, 1 to 30; left out: 5"`

	NotReady     NotReady  `json:"not_ready,omitempty" doc:"wait (default): ask again; skip: the instance is not run"`
	EverySeconds int       `json:"every_seconds,omitempty" doc:"wait: from question to question, 5 to 3,600; left out: 30"`
	LimitSeconds int       `json:"limit_seconds,omitempty" doc:"wait: from the first question to the last, 5 to 86,400; left out: 3,600"`
	Then         LimitThen `json:"then,omitempty" doc:"wait: what becomes of an instance at the limit: fail (default) or skip"`
}

// HookOn says at which ends a channel is told.
type HookOn string

// The ends. Change is one that differs from the end before it: good or bad.
const (
	OnSuccess HookOn = "success"
	OnFailure HookOn = "failure"
	OnChange  HookOn = "change"
)

// HookOns lists them in the order in which they are shown.
func HookOns() []HookOn { return []HookOn{OnSuccess, OnFailure, OnChange} }

// AfterHook tells a channel of ends.
type AfterHook struct {
	On      HookOn `json:"on" doc:"success, failure, or change: good after bad, bad after good"`
	Channel string `json:"channel" doc:"Id of a channel of the team"`
}

// MaxAfterHooks is how many channels a task may tell.
const MaxAfterHooks = 5

// HookChannel is a channel that hooks of a team can name.
type HookChannel struct {
	ID, Name, Kind string
	Off            bool // nothing is sent to it at present
}

// BeforeHook of the task; nil when it has none.
func (s Spec) BeforeHook() *BeforeHook {
	if s.Hooks == nil {
		return nil
	}
	return s.Hooks.Before
}

// AfterHooks of the task.
func (s Spec) AfterHooks() []AfterHook {
	if s.Hooks == nil {
		return nil
	}
	return s.Hooks.After
}

// Channels that the hooks name, each once.
func (s Spec) Channels() []string {
	var out []string
	for _, h := range s.AfterHooks() {
		if !slices.Contains(out, h.Channel) {
			out = append(out, h.Channel)
		}
	}
	return out
}

// Secrets are the names of the team's secrets that calls of the task carry, to
// its target and its hook, sorted.
func (s Spec) Secrets() []string {
	out := s.Target.Secrets()
	if h := s.BeforeHook(); h != nil {
		out = append(out, h.target().Secrets()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// target is the question as a target that is called.
func (h BeforeHook) target() Target {
	rules := &HTTPRules{Method: h.Method, Statuses: h.Statuses}
	if h.Method == "" {
		rules.Method = "GET"
	}
	return Target{Kind: TargetHTTP, URL: h.URL, Headers: h.Headers, HTTP: rules}
}

// Timeout of one question.
func (h BeforeHook) Timeout() time.Duration { return time.Duration(h.TimeoutSeconds) * time.Second }

// Every is the time from question to question.
func (h BeforeHook) Every() time.Duration { return time.Duration(h.EverySeconds) * time.Second }

// Limit is the time from the first question to the last.
func (h BeforeHook) Limit() time.Duration { return time.Duration(h.LimitSeconds) * time.Second }

// Waits tells whether an instance that isn't ready is kept.
func (h BeforeHook) Waits() bool { return h.NotReady != NotReadySkip }
