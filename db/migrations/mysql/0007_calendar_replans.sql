-- +goose Up
-- Tasks whose calendar has changed and whose next slot is to be found anew.
-- The row is written with the change and goes with the task's new slot, so that
-- nothing is forgotten when a process dies between.

CREATE TABLE IF NOT EXISTS calendar_replans (
    task_id BIGINT      NOT NULL,
    code    VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    PRIMARY KEY (task_id),
    KEY calendar_replans_code (code, task_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
