-- +goose Up
-- What the target said of an attempt while it worked on it: the latest word;
-- and, of accepted work, what no word puts its deadline past.

CREATE TABLE IF NOT EXISTS attempt_progress (
    instance_id TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    percent     INTEGER,
    message     TEXT    NOT NULL DEFAULT '',
    said_at     INTEGER NOT NULL,
    signs       INTEGER NOT NULL DEFAULT 1,
    await_until INTEGER,
    PRIMARY KEY (instance_id, attempt)
);
CREATE INDEX IF NOT EXISTS attempt_progress_said ON attempt_progress (said_at);
