-- +goose Up
-- Targets that are told to stop: what is to be sent to them, and what came of
-- it.

-- A row without asked_at only knows where an attempt that was accepted can be
-- told to stop. due_at is NULL when nothing is to be sent. url is NULL where the
-- definition of the attempt's version says where.
CREATE TABLE IF NOT EXISTS cancel_calls (
    instance_id  CHAR(36)     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    attempt      INT          NOT NULL,
    task_id      BIGINT       NOT NULL,
    task_version INT          NOT NULL,
    url          VARCHAR(500) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    noted_at     BIGINT       NOT NULL,
    reason       VARCHAR(10)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    by_whom      VARCHAR(100) NOT NULL DEFAULT '',
    asked_at     BIGINT       NULL,
    due_at       BIGINT       NULL,
    tries        INT          NOT NULL DEFAULT 0,
    status_code  INT          NOT NULL DEFAULT 0,
    error        VARCHAR(500) NOT NULL DEFAULT '',
    ended_at     BIGINT       NULL,
    KEY cancel_calls_due (due_at),
    KEY cancel_calls_noted (noted_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Executors that can be told to stop what they work on.
CREATE TABLE IF NOT EXISTS executor_cancels (
    executor_id CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
