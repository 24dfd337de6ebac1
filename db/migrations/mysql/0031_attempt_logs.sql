-- +goose Up
-- What an attempt printed, in stretches: the first part as it came, and from
-- seq 1000000 on the last one. skipped bytes before a stretch were not kept.

CREATE TABLE IF NOT EXISTS attempt_logs (
    instance_id CHAR(36)   CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    attempt     INT        NOT NULL,
    seq         INT        NOT NULL,
    at          BIGINT     NOT NULL,
    skipped     BIGINT     NOT NULL DEFAULT 0,
    body        MEDIUMTEXT NOT NULL,
    PRIMARY KEY (instance_id, attempt, seq),
    KEY attempt_logs_at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
