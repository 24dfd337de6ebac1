package app

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"ax/app/access"
	"ax/app/fault"
	"ax/app/sched"
)

// stale is a Conflict between a change and what is stored by now, with the
// fields in which the two differ.
type stale struct {
	conflict error
	differ   []ProblemDifference
}

func (s *stale) Error() string { return s.conflict.Error() }

// Unwrap gives the Conflict itself.
func (s *stale) Unwrap() error { return s.conflict }

// shownVersions bounds how far back who changed what is looked up.
const shownVersions = 50

// staleTask adds to a Conflict what differs between the definition sent and
// the one stored. What it can't find out it leaves out: the Conflict stays.
func (s *api) staleTask(ctx context.Context, by access.Actor, code string, sent sched.TaskSpec, conflict error) error {
	stored, err := s.findTask(ctx, by, code)
	if err != nil || stored.Version == sent.Version || !stored.ArchivedAt.IsZero() {
		return conflict
	}
	mine, err := sent.Resolve(stored, s.tasks.Defaults(), s.now())
	if err != nil {
		return conflict
	}
	versions, err := s.tasks.Versions(ctx, by, code, shownVersions)
	if err != nil {
		return conflict
	}
	return &stale{conflict: conflict, differ: differences(stored, mine, historySince(sent.Version, versions))}
}

// differences lists the fields in which two definitions differ, by name.
func differences(stored, mine sched.Task, since history) []ProblemDifference {
	a, b := flat(stored.Written("")), flat(mine.Written(""))
	var out []ProblemDifference
	for _, field := range slices.Sorted(maps.Keys(union(a, b))) {
		if string(a[field]) == string(b[field]) || field == "version" || field == "code" {
			continue
		}
		d := ProblemDifference{Field: field, Stored: a[field], Sent: b[field]}
		if v, ok := since.last[field]; ok {
			d.Version, d.ChangedBy, d.ChangedAt = v.Version, v.Author, new(instant(v.CreatedAt))
		}
		out = append(out, d)
	}
	return out
}

// history is what the versions after one tell.
type history struct {
	last map[string]sched.TaskVersion // by field: the last one that changed it
	// Whether a field that isn't there was changed by none of them, of the
	// definition and of what a task has besides it (name, owner and the like).
	spec, heading bool
}

// historySince looks through versions, the newest first, down to the one that
// began.
func historySince(began int, versions []sched.TaskVersion) history {
	h := history{last: map[string]sched.TaskVersion{}, heading: true}
	for i, v := range versions {
		h.heading = h.heading && v.Heading != nil
		if v.Version <= began {
			h.spec = true
			break
		}
		if i+1 == len(versions) {
			break // what it was before isn't known
		}
		h.note(versions[i+1], v)
	}
	h.heading = h.heading && h.spec
	return h
}

// note keeps what v changed, unless a later one did so too.
func (h history) note(before, v sched.TaskVersion) {
	a, b := flat(before.Spec), flat(v.Spec)
	if before.Heading != nil && v.Heading != nil {
		maps.Copy(a, flat(before.Heading))
		maps.Copy(b, flat(v.Heading))
	}
	for field := range union(a, b) {
		if _, known := h.last[field]; !known && string(a[field]) != string(b[field]) {
			h.last[field] = v
		}
	}
}

// flat is a value's JSON as its leaves, by path: schedule.cron. Lists and the
// payload are leaves.
func flat(v any) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	raw, err := json.Marshal(v)
	if err == nil {
		flatten("", raw, out)
	}
	return out
}

func flatten(path string, raw json.RawMessage, out map[string]json.RawMessage) {
	var object map[string]json.RawMessage
	if path == "payload" || json.Unmarshal(raw, &object) != nil || object == nil {
		out[path] = raw
		return
	}
	for name, part := range object {
		if path != "" {
			name = path + "." + name
		}
		flatten(name, part, out)
	}
}

func union(a, b map[string]json.RawMessage) map[string]bool {
	out := map[string]bool{}
	for _, m := range []map[string]json.RawMessage{a, b} {
		for field := range m {
			out[field] = true
		}
	}
	return out
}

// isStale finds the differences of a Conflict.
func isStale(err error) []ProblemDifference {
	if s, ok := errors.AsType[*stale](err); ok && fault.KindOf(err) == fault.KindConflict {
		return s.differ
	}
	return nil
}
