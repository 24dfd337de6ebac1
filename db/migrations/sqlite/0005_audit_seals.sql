-- +goose Up
-- The hash chain over audit_log, in the order of sealing. It stands apart so
-- that a change never waits for the end of the chain, and so that rows of
-- audit_log are only ever inserted.

CREATE TABLE IF NOT EXISTS audit_seals (
    seq       INTEGER NOT NULL PRIMARY KEY,
    audit_id  INTEGER NOT NULL,
    prev_hash TEXT    NOT NULL,
    hash      TEXT    NOT NULL,
    sealed_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX IF NOT EXISTS audit_seals_audit ON audit_seals (audit_id);
