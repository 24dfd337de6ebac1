-- +goose Up
-- What an attempt printed, in stretches: the first part as it came, and from
-- seq 1000000 on the last one. skipped bytes before a stretch were not kept.

CREATE TABLE IF NOT EXISTS attempt_logs (
    instance_id TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    seq         INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    skipped     INTEGER NOT NULL DEFAULT 0,
    body        TEXT    NOT NULL,
    PRIMARY KEY (instance_id, attempt, seq)
);
CREATE INDEX IF NOT EXISTS attempt_logs_at ON attempt_logs (at);
