-- +goose Up
-- Tasks that need labels of a node, with the queue that they are in.

CREATE TABLE IF NOT EXISTS task_lanes (
    task_id INTEGER NOT NULL PRIMARY KEY,
    queue   TEXT    NOT NULL,
    labels  TEXT    NOT NULL
);

-- Tasks that limit the calls to their host, and a row of each such host, under
-- whose lock those limits are judged.
CREATE TABLE IF NOT EXISTS host_tasks (
    task_id INTEGER NOT NULL PRIMARY KEY,
    host    TEXT    NOT NULL
);
CREATE INDEX IF NOT EXISTS host_tasks_host ON host_tasks (host, task_id);

CREATE TABLE IF NOT EXISTS host_gates (
    host TEXT NOT NULL PRIMARY KEY
);
