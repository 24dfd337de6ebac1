package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"ax/app/access"
)

// changedJSON is what these tests read of a task.
type changedJSON struct {
	Code, Name, Team string
	Version          int
}

func TestATaskIsRolledBackOverTheAPI(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.edited("orders.send")
	editor := h.api(access.Editor)
	const path = v1 + "/tasks/orders.send/rollback"
	for body, field := range map[string]string{
		`{}`:                              "version",
		`{"version": 0}`:                  "version",
		`{"version": 9}`:                  "version",
		`{"version": 2}`:                  "version",
		`{"version": "1"}`:                "version",
		`{"version": 1, "team": "store"}`: "team",
		`{"version": 1, "note": "\u0007 a bell"}`: "note",
	} {
		require.Equal(t, []string{field}, editor.wants(path, body, 422).fields(), body)
	}
	stale := editor.wants(path, `{"version": 1, "read_version": 1}`, 409).problem()
	require.Contains(t, stale.Detail, "changed the task meanwhile: it is at version 2, you began from 1")

	var list struct {
		Items []struct {
			Version            int
			Name, Author, Note string
			Schedule           struct{ Kind string }
		}
	}
	editor.get(v1 + "/tasks/orders.send/versions").into(&list)
	require.Len(t, list.Items, 2)
	require.Equal(t, []any{2, "Another name", "a new name", "delay"}, []any{list.Items[0].Version, list.Items[0].Name, list.Items[0].Note, list.Items[0].Schedule.Kind})
	require.Equal(t, []any{1, "Task orders.send", "manual"}, []any{list.Items[1].Version, list.Items[1].Name, list.Items[1].Schedule.Kind})
	editor.get(v1 + "/tasks/orders.send/versions?limit=1").into(&list)
	require.Len(t, list.Items, 1)

	keyed := editor.with("Idempotency-Key", "back-1")
	var got changedJSON
	keyed.wants(path, `{"version": 1, "read_version": 2, "note": "wrong hour"}`, 200).into(&got)
	require.Equal(t, changedJSON{"orders.send", "Task orders.send", "payments", 3}, got)
	again := keyed.wants(path, `{"version": 1, "read_version": 2, "note": "wrong hour"}`, 200)
	require.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	require.Equal(t, 3, h.stored("orders.send").Version, "once")
	versions, err := h.opt.Tasks.Versions(t.Context(), root, "orders.send", 1)
	require.NoError(t, err)
	require.Equal(t, "roll back to v1: wrong hour", versions[0].Note)
	require.Equal(t, "test-editor", versions[0].Author)

	require.NoError(t, ignore(h.opt.Tasks.Archive(t.Context(), root, "orders.send", "")))
	editor.wants(path, `{"version": 2}`, 409)
}

func ignore[T any](_ T, err error) error { return err }

// Once a person has moved the task, the old team's tokens have lost it and the
// new one's have it.
func TestTokensOfTheOldTeamLoseAMovedTask(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.task("orders.send")
	in := h.trigger("orders.send", "o-1")
	owner, other := h.api(access.Owner), h.otherAPI()
	const path = v1 + "/tasks/orders.send"
	require.Equal(t, 303, h.as("admin").post("/tasks/orders.send/move", "team", "store", "reason", "r").status)
	var got changedJSON
	other.get(path).into(&got)
	require.Equal(t, changedJSON{"orders.send", "Task orders.send", "store", 2}, got)
	other.wants(path+"/trigger", `{"biz_id": "o-2"}`, 202)
	require.Equal(t, "o-1", other.instance(in.ID).BizID)
	for _, p := range []string{path, v1 + "/instances/" + in.ID} {
		require.Equal(t, 404, owner.get(p).status, p)
	}
	for action, body := range map[string]string{"/trigger": "", "/disable": "", "/pause": `{"until": "2026-12-03T00:00:00Z"}`, "/rollback": `{"version": 1}`} {
		require.Equal(t, 404, owner.json("POST", path+action, body).problem().Status, action)
	}
	require.Equal(t, 404, owner.json("POST", v1+"/instances/"+in.ID+"/cancel", "").status)
	require.NotContains(t, owner.get(v1+"/instances").body, in.ID)
	require.Contains(t, other.get(v1+"/instances").body, in.ID)
	require.Contains(t, other.get(v1+"/instances?task=orders.send").body, in.ID)
}
