-- +goose Up
-- Targets that are told to stop: what is to be sent to them, and what came of
-- it.

-- A row without asked_at only knows where an attempt that was accepted can be
-- told to stop. due_at is NULL when nothing is to be sent. url is NULL where the
-- definition of the attempt's version says where.
CREATE TABLE IF NOT EXISTS cancel_calls (
    instance_id  TEXT    NOT NULL PRIMARY KEY,
    attempt      INTEGER NOT NULL,
    task_id      INTEGER NOT NULL,
    task_version INTEGER NOT NULL,
    url          TEXT    NULL,
    noted_at     INTEGER NOT NULL,
    reason       TEXT    NOT NULL DEFAULT '',
    by_whom      TEXT    NOT NULL DEFAULT '',
    asked_at     INTEGER NULL,
    due_at       INTEGER NULL,
    tries        INTEGER NOT NULL DEFAULT 0,
    status_code  INTEGER NOT NULL DEFAULT 0,
    error        TEXT    NOT NULL DEFAULT '',
    ended_at     INTEGER NULL
);
CREATE INDEX IF NOT EXISTS cancel_calls_due ON cancel_calls (due_at);
CREATE INDEX IF NOT EXISTS cancel_calls_noted ON cancel_calls (noted_at);

-- Executors that can be told to stop what they work on.
CREATE TABLE IF NOT EXISTS executor_cancels (
    executor_id TEXT NOT NULL PRIMARY KEY
);
