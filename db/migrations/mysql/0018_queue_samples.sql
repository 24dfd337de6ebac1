-- +goose Up
-- How deep each queue was, every ten seconds. due counts the ledger's rows that
-- are due and have not begun; pending are the carrier's messages, NULL when it
-- could not be asked.

CREATE TABLE IF NOT EXISTS queue_samples (
    queue   VARCHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    at      BIGINT      NOT NULL,
    due     INT         NOT NULL,
    pending INT         NULL,
    PRIMARY KEY (queue, at),
    KEY queue_samples_at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
