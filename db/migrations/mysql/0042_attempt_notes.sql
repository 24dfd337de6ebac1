-- +goose Up
-- Words of an attempt for its log: what the target said while it worked, by
-- number; receipts that were refused; when the work was accepted. Of each
-- source the first and the last are kept.

CREATE TABLE IF NOT EXISTS attempt_notes (
    instance_id CHAR(36)     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    attempt     INT          NOT NULL,
    source      VARCHAR(10)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    seq         INT          NOT NULL,
    at          BIGINT       NOT NULL,
    body        VARCHAR(600) NOT NULL DEFAULT '',
    PRIMARY KEY (instance_id, attempt, source, seq),
    KEY attempt_notes_at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
