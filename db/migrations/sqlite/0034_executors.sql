-- +goose Up
-- Business services that register themselves and are called by name.

-- One row per name and address: who registers them again replaces it. address
-- is compared byte by byte; its length is bounded so that the key holds it.
CREATE TABLE IF NOT EXISTS executors (
    id            TEXT    NOT NULL PRIMARY KEY,
    team_id       INTEGER NOT NULL,
    name          TEXT    NOT NULL,
    address       TEXT    NOT NULL,
    task_types    TEXT    NOT NULL,
    weight        INTEGER NOT NULL,
    version       TEXT    NOT NULL DEFAULT '',
    running       INTEGER NOT NULL DEFAULT 0,
    token_id      INTEGER NOT NULL,
    token_name    TEXT    NOT NULL DEFAULT '',
    registered_at INTEGER NOT NULL,
    beat_at       INTEGER NOT NULL,
    closed_at     INTEGER NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS executors_address ON executors (team_id, name, address);
CREATE INDEX IF NOT EXISTS executors_beat ON executors (beat_at);

-- Which executors a token may register.
CREATE TABLE IF NOT EXISTS token_executors (
    token_id INTEGER NOT NULL,
    name     TEXT    NOT NULL,
    PRIMARY KEY (token_id, name)
);

-- Which tasks name an executor: the definition is one document, and no index
-- reaches into it.
CREATE TABLE IF NOT EXISTS executor_tasks (
    task_id   INTEGER NOT NULL PRIMARY KEY,
    name      TEXT    NOT NULL,
    task_type TEXT    NOT NULL
);
CREATE INDEX IF NOT EXISTS executor_tasks_name ON executor_tasks (name, task_id);

-- What became of each part of a broadcast. outcome is NULL while it runs.
CREATE TABLE IF NOT EXISTS attempt_shards (
    instance_id TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    shard       INTEGER NOT NULL,
    total       INTEGER NOT NULL,
    executor    TEXT    NOT NULL,
    address     TEXT    NOT NULL,
    outcome     TEXT    NULL,
    status_code INTEGER NOT NULL DEFAULT 0,
    error       TEXT    NOT NULL DEFAULT '',
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER NULL,
    PRIMARY KEY (instance_id, attempt, shard)
);
CREATE INDEX IF NOT EXISTS attempt_shards_started ON attempt_shards (started_at);
