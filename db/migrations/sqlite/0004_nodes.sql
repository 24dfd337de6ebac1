-- +goose Up

-- One row per process start. Gone means closed_at or dead_at is set.
CREATE TABLE IF NOT EXISTS nodes (
    id              TEXT    NOT NULL PRIMARY KEY,
    host            TEXT    NOT NULL DEFAULT '',
    address         TEXT    NOT NULL DEFAULT '',
    pid             INTEGER NOT NULL DEFAULT 0,
    version         TEXT    NOT NULL DEFAULT '',
    roles           TEXT    NOT NULL DEFAULT '',
    queues          TEXT    NOT NULL DEFAULT '',
    labels          TEXT    NOT NULL DEFAULT '',
    slots           INTEGER NOT NULL DEFAULT 0,
    busy            INTEGER NOT NULL DEFAULT 0,
    clock_offset_ms INTEGER NOT NULL DEFAULT 0,
    started_at      INTEGER NOT NULL,
    beat_at         INTEGER NOT NULL,
    steady_at       INTEGER NOT NULL,
    draining        INTEGER NOT NULL DEFAULT 0,
    closed_at       INTEGER NULL,
    dead_at         INTEGER NULL,
    declared_by     TEXT    NULL
);

-- What ended in a minute, per task and state. Whole rows are replaced by the
-- roll-up, so running it twice changes nothing. Sums and maxima are in ms.
CREATE TABLE IF NOT EXISTS stats_minute (
    task_id    INTEGER NOT NULL,
    minute_at  INTEGER NOT NULL,
    state      TEXT    NOT NULL,
    team_id    INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    run_sum_ms INTEGER NOT NULL DEFAULT 0,
    run_max_ms INTEGER NOT NULL DEFAULT 0,
    lag_sum_ms INTEGER NOT NULL DEFAULT 0,
    lag_max_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (task_id, minute_at, state)
);
CREATE INDEX IF NOT EXISTS stats_minute_minute ON stats_minute (minute_at);
CREATE INDEX IF NOT EXISTS stats_minute_team ON stats_minute (team_id, minute_at);
