-- +goose Up

CREATE TABLE IF NOT EXISTS tasks (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    team_id      INTEGER NOT NULL,
    code         TEXT    NOT NULL,
    name         TEXT    NOT NULL COLLATE NOCASE DEFAULT '',
    group_name   TEXT    NOT NULL COLLATE NOCASE DEFAULT '',
    owner        TEXT    NOT NULL COLLATE NOCASE DEFAULT '',
    tags         TEXT    NOT NULL DEFAULT '',
    enabled      INTEGER NOT NULL DEFAULT 0,
    archived_at  INTEGER NULL,
    version      INTEGER NOT NULL DEFAULT 1,
    kind         TEXT    NOT NULL,
    queue        TEXT    NOT NULL,
    timezone     TEXT    NOT NULL DEFAULT '',
    spec         TEXT    NOT NULL,
    anchor_at    INTEGER NULL,
    next_fire_at INTEGER NULL,
    paused_from  INTEGER NULL,
    paused_until INTEGER NULL,
    plan_error   TEXT    NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    created_by   TEXT    NOT NULL DEFAULT '',
    updated_at   INTEGER NOT NULL,
    updated_by   TEXT    NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX IF NOT EXISTS tasks_code ON tasks (code);
CREATE INDEX IF NOT EXISTS tasks_due ON tasks (enabled, next_fire_at);
CREATE INDEX IF NOT EXISTS tasks_team ON tasks (team_id, id);

CREATE TABLE IF NOT EXISTS task_versions (
    task_id    INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    spec       TEXT    NOT NULL,
    author     TEXT    NOT NULL DEFAULT '',
    note       TEXT    NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    PRIMARY KEY (task_id, version)
);

-- One row per task, made with it: only ever locked, never read for data.
CREATE TABLE IF NOT EXISTS task_gates (
    task_id INTEGER NOT NULL PRIMARY KEY
);

CREATE TABLE IF NOT EXISTS missed_ranges (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id     INTEGER NOT NULL,
    team_id     INTEGER NOT NULL,
    from_slot   INTEGER NOT NULL,
    to_slot     INTEGER NOT NULL,
    slots       INTEGER NOT NULL,
    reason      TEXT    NOT NULL,
    policy      TEXT    NOT NULL DEFAULT '',
    instance_id TEXT    NULL,
    planned_by  TEXT    NOT NULL DEFAULT '',
    created_at  INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS missed_ranges_range ON missed_ranges (task_id, reason, from_slot);
CREATE INDEX IF NOT EXISTS missed_ranges_to ON missed_ranges (task_id, to_slot);

CREATE TABLE IF NOT EXISTS plan_log (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id   TEXT    NOT NULL DEFAULT '',
    at        INTEGER NOT NULL,
    from_at   INTEGER NULL,
    to_at     INTEGER NULL,
    tasks     INTEGER NOT NULL DEFAULT 0,
    instances INTEGER NOT NULL DEFAULT 0,
    skipped   INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS plan_log_at ON plan_log (at);
