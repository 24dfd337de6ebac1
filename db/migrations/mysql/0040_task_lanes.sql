-- +goose Up
-- Tasks that need labels of a node, with the queue that they are in.

CREATE TABLE IF NOT EXISTS task_lanes (
    task_id BIGINT       NOT NULL PRIMARY KEY,
    queue   VARCHAR(32)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    labels  VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
