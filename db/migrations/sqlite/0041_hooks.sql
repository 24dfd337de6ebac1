-- +goose Up
-- Hooks of tasks: how far the questions of an instance are, and which channels
-- are told of which ends.

CREATE TABLE IF NOT EXISTS hook_probes (
    instance_id TEXT    NOT NULL PRIMARY KEY,
    address     TEXT    NOT NULL,
    asked       INTEGER NOT NULL,
    first_at    INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    next_at     INTEGER,
    give_up_at  INTEGER,
    ready_at    INTEGER,
    answers     TEXT    NOT NULL
);
CREATE INDEX IF NOT EXISTS hook_probes_last ON hook_probes (last_at);

-- The definition is one document, and no index reaches into it. A channel is
-- told of what ended since then.
CREATE TABLE IF NOT EXISTS task_hooks (
    task_id    INTEGER NOT NULL,
    channel_id TEXT    NOT NULL,
    told_on    TEXT    NOT NULL,
    since      INTEGER NOT NULL,
    PRIMARY KEY (task_id, channel_id, told_on)
);
CREATE INDEX IF NOT EXISTS task_hooks_channel ON task_hooks (channel_id, task_id);
