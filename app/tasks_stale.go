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
	return &stale{conflict: conflict, differ: differences(stored, mine, whoChanged(sent.Version, versions))}
}

// differences lists the fields in which two definitions differ, by name.
func differences(stored, mine sched.Task, who map[string]sched.TaskVersion) []ProblemDifference {
	a, b := flat(stored.Written("")), flat(mine.Written(""))
	var out []ProblemDifference
	for _, field := range slices.Sorted(maps.Keys(union(a, b))) {
		if string(a[field]) == string(b[field]) || field == "version" || field == "code" {
			continue
		}
		d := ProblemDifference{Field: field, Stored: a[field], Sent: b[field]}
		if v, ok := who[field]; ok {
			d.Version, d.ChangedBy, d.ChangedAt = v.Version, v.Author, new(instant(v.CreatedAt))
		}
		out = append(out, d)
	}
	return out
}

// whoChanged tells for each field which of the versions after began was the
// last to change it. Name, owner and the like are not in versions: of them
// nobody knows.
func whoChanged(began int, versions []sched.TaskVersion) map[string]sched.TaskVersion {
	out := map[string]sched.TaskVersion{}
	for i, v := range versions { // the newest first
		if v.Version <= began {
			break
		}
		if i+1 == len(versions) {
			continue // what it was before isn't known
		}
		a, b := flat(versions[i+1].Spec), flat(v.Spec)
		for field := range union(a, b) {
			if _, known := out[field]; !known && string(a[field]) != string(b[field]) {
				out[field] = v
			}
		}
	}
	return out
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
