package sched

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"ax/app/access"
)

// taskEntry is the audit row of a task's change.
func taskEntry(by access.Actor, now time.Time, action string, old, t Task, reason string) access.Entry {
	return access.Entry{
		At: now, Actor: by, Action: action, TeamID: t.TeamID, Reason: reason,
		Object:  access.Object{Kind: "task", ID: strconv.FormatInt(t.ID, 10), Name: t.Code},
		Changes: taskChanges(old, t),
	}
}

// taskChanges lists the fields in which two definitions differ.
func taskChanges(old, t Task) []access.Change {
	var out []access.Change
	a, b := flatTask(old), flatTask(t)
	for i := range b {
		if a[i].New != b[i].New {
			out = append(out, access.Change{Field: b[i].Field, Old: a[i].New, New: b[i].New})
		}
	}
	return out
}

func flatTask(t Task) []access.Change {
	text := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			return "?"
		}
		return string(raw)
	}
	return []access.Change{
		{Field: "name", New: t.Name}, {Field: "group", New: t.Group}, {Field: "owner", New: t.Owner},
		{Field: "tags", New: text(t.Tags)}, {Field: "queue", New: t.Queue}, {Field: "labels", New: LabelsOf(t.Spec.Labels).String()},
		{Field: "enabled", New: text(t.Enabled)}, {Field: "paused_until", New: stamp(t.PausedUntil)},
		{Field: "archived_at", New: stamp(t.ArchivedAt)},
		{Field: "schedule", New: text(t.Spec.Schedule)}, {Field: "target", New: text(t.Spec.Target)},
		{Field: "policy", New: text(t.Spec.Policy)}, {Field: "payload", New: string(t.Spec.Payload)},
		{Field: "hooks", New: strings.TrimPrefix(text(t.Spec.Hooks), "null")},
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
