-- +goose Up
-- Tasks that need labels of a node, with the queue that they are in.

CREATE TABLE IF NOT EXISTS task_lanes (
    task_id BIGINT       NOT NULL PRIMARY KEY,
    queue   VARCHAR(32)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    labels  VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Tasks that limit the calls to their host, and a row of each such host, under
-- whose lock those limits are judged.
CREATE TABLE IF NOT EXISTS host_tasks (
    task_id BIGINT       NOT NULL PRIMARY KEY,
    host    VARCHAR(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    KEY host_tasks_host (host, task_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS host_gates (
    host VARCHAR(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
