-- +goose Up
-- How deep each queue was, every ten seconds. due counts the ledger's rows that
-- are due and have not begun; pending are the carrier's messages, NULL when it
-- could not be asked.

CREATE TABLE IF NOT EXISTS queue_samples (
    queue   TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    due     INTEGER NOT NULL,
    pending INTEGER,
    PRIMARY KEY (queue, at)
);
CREATE INDEX IF NOT EXISTS queue_samples_at ON queue_samples (at);
