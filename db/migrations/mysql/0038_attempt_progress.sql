-- +goose Up
-- What the target said of an attempt while it worked on it: the latest word;
-- and, of accepted work, what no word puts its deadline past.

CREATE TABLE IF NOT EXISTS attempt_progress (
    instance_id CHAR(36)     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    attempt     INT          NOT NULL,
    percent     INT          NULL,
    message     VARCHAR(500) NOT NULL DEFAULT '',
    said_at     BIGINT       NOT NULL,
    signs       INT          NOT NULL DEFAULT 1,
    await_until BIGINT       NULL,
    PRIMARY KEY (instance_id, attempt),
    KEY attempt_progress_said (said_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
