-- +goose Up
-- Words of an attempt for its log: what the target said while it worked, by
-- number; receipts that were refused; when the work was accepted. Of each
-- source the first and the last are kept.

CREATE TABLE IF NOT EXISTS attempt_notes (
    instance_id TEXT    NOT NULL,
    attempt     INTEGER NOT NULL,
    source      TEXT    NOT NULL,
    seq         INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    body        TEXT    NOT NULL DEFAULT '',
    PRIMARY KEY (instance_id, attempt, source, seq)
);
CREATE INDEX IF NOT EXISTS attempt_notes_at ON attempt_notes (at);
