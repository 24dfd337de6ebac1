-- +goose Up
-- The hash chain over audit_log, in the order of sealing. It stands apart so
-- that a change never waits for the end of the chain, and so that rows of
-- audit_log are only ever inserted.

CREATE TABLE IF NOT EXISTS audit_seals (
    seq       BIGINT   NOT NULL PRIMARY KEY,
    audit_id  BIGINT   NOT NULL,
    prev_hash CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    hash      CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    sealed_at BIGINT   NOT NULL,
    UNIQUE KEY audit_seals_audit (audit_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
