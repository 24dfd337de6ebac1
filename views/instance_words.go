package views

import (
	"context"
	"strings"

	"ax/app/sched"
)

// engineWords are sentences that the engine stores in English, by what is
// stored. What a target says stays as it came.
var engineWords = map[string]string{
	sched.ReasonDisabled: msg("the task was disabled"),
	sched.ReasonArchived: msg("the task was archived"),
	sched.ReasonEdited:   msg("the schedule was changed and no longer asks for this slot"),
	sched.ReasonZone:     msg("the time zone data was changed and no longer has this slot"),

	"the node stopped working on it": msg("the node stopped working on it"),
	"the node died after it began to send; whether the target did the work is not known": msg("the node died after it began to send; whether the target did the work is not known"),
	"its node died three times: it is suspected of killing it":                           msg("its node died three times: it is suspected of killing it"),
	"no receipt came in time":                                 msg("no receipt came in time"),
	"no answer in time":                                       msg("no answer in time"),
	"no connection in time":                                   msg("no connection in time"),
	"no answer came, and its handler is stuck":                msg("no answer came, and its handler is stuck"),
	"canceled while the target was called":                    msg("canceled while the target was called"),
	"the target closed the connection without a whole answer": msg("the target closed the connection without a whole answer"),
}

// engineText translates a sentence of the engine's own; anything else is shown
// as it is.
func engineText(ctx context.Context, stored string) string {
	if said, ok := engineWords[stored]; ok {
		return t(ctx, said)
	}
	return stored
}

// errorText is an error line for people.
func errorText(ctx context.Context, stored string) string {
	if rest, ok := strings.CutPrefix(stored, "the target reported a failure: "); ok {
		return t(ctx, "the target reported a failure: %s", rest)
	}
	if header, rest, ok := strings.Cut(strings.TrimPrefix(stored, "header "), ": "); ok && strings.HasPrefix(stored, "header ") {
		return t(ctx, "header %s: %s", header, secretText(ctx, rest))
	}
	return engineText(ctx, stored)
}

// secretText says why a call got no secret.
func secretText(ctx context.Context, stored string) string {
	if name, ok := strings.CutPrefix(stored, "the team has no secret "); ok {
		return t(ctx, "the team has no secret %s", name)
	}
	if name, host, ok := strings.Cut(strings.TrimPrefix(stored, "the secret "), " is not for "); ok && strings.HasPrefix(stored, "the secret ") {
		return t(ctx, "the secret %s is not for %s", name, host)
	}
	return stored
}

// overlapWith gives the instance that an overlap reason names, or "".
func overlapWith(reason string) string {
	id, ok := strings.CutPrefix(reason, "overlap: ")
	if !ok {
		return ""
	}
	id, ok = strings.CutSuffix(id, " has not ended")
	if !ok {
		return ""
	}
	return id
}

// reasonText says why an instance was skipped or canceled.
func reasonText(ctx context.Context, reason string) string {
	if overlapWith(reason) != "" {
		return t(ctx, "another instance of the task had not ended")
	}
	if rest, ok := strings.CutPrefix(reason, "canceled by "); ok {
		who, why, _ := strings.Cut(rest, ": ")
		return canceledText(ctx, who, why)
	}
	if rest, ok := strings.CutPrefix(reason, "hook not ready: "); ok {
		return t(ctx, "the hook was not ready: %s", rest)
	}
	return engineText(ctx, reason)
}

// canceledText says who canceled an instance and why.
func canceledText(ctx context.Context, who, why string) string {
	switch {
	case who == sched.ByOverlap:
		return t(ctx, "canceled for the next slot, as the task's overlap policy says")
	case why == "":
		return t(ctx, "canceled by %s", who)
	}
	return t(ctx, "canceled by %s: %s", who, why)
}

// originWord names an origin in a filter.
func originWord(ctx context.Context, o sched.Origin) string {
	switch o {
	case sched.FromSchedule:
		return t(ctx, "schedule|origin")
	case sched.FromAPI:
		return t(ctx, "API|origin")
	case sched.FromPerson:
		return t(ctx, "by hand|origin")
	case sched.FromReplay:
		return t(ctx, "replay|origin")
	}
	return string(o)
}

// originText says who asked for an instance.
func originText(ctx context.Context, in sched.Instance) string {
	switch in.Origin {
	case sched.FromSchedule:
		return t(ctx, "by its schedule")
	case sched.FromAPI:
		return t(ctx, "asked for by %s over the API", in.RequestedBy)
	case sched.FromPerson:
		return t(ctx, "asked for by %s", in.RequestedBy)
	case sched.FromReplay:
		return t(ctx, "replay %s, by %s", number(in.Replay), in.RequestedBy)
	}
	return string(in.Origin)
}

// runOrigin says who asked for one of several runs whose names tell the rest.
func runOrigin(ctx context.Context, in sched.Instance) string {
	if in.Origin == sched.FromReplay {
		return t(ctx, "by %s", in.RequestedBy)
	}
	return originText(ctx, in)
}

// versionText says which version of a definition ran.
func versionText(ctx context.Context, ran, current int) string {
	if ran == current {
		return t(ctx, "version %s, the current one", number(ran))
	}
	return t(ctx, "version %s ran, %s is current", number(ran), number(current))
}
