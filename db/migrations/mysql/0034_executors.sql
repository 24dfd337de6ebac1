-- +goose Up
-- Business services that register themselves and are called by name.

-- One row per name and address: who registers them again replaces it. address
-- is compared byte by byte; its length is bounded so that the key holds it.
CREATE TABLE IF NOT EXISTS executors (
    id            CHAR(36)     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    team_id       BIGINT       NOT NULL,
    name          VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    address       VARCHAR(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    task_types    TEXT         NOT NULL,
    weight        INT          NOT NULL,
    version       VARCHAR(50)  NOT NULL DEFAULT '',
    running       INT          NOT NULL DEFAULT 0,
    token_id      BIGINT       NOT NULL,
    token_name    VARCHAR(100) NOT NULL DEFAULT '',
    registered_at BIGINT       NOT NULL,
    beat_at       BIGINT       NOT NULL,
    closed_at     BIGINT       NULL,
    UNIQUE KEY executors_address (team_id, name, address),
    KEY executors_beat (beat_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Which executors a token may register.
CREATE TABLE IF NOT EXISTS token_executors (
    token_id BIGINT      NOT NULL,
    name     VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    PRIMARY KEY (token_id, name)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- Which tasks name an executor: the definition is one document, and no index
-- reaches into it.
CREATE TABLE IF NOT EXISTS executor_tasks (
    task_id   BIGINT      NOT NULL PRIMARY KEY,
    name      VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    task_type VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    KEY executor_tasks_name (name, task_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- What became of each part of a broadcast. outcome is NULL while it runs.
CREATE TABLE IF NOT EXISTS attempt_shards (
    instance_id CHAR(36)     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    attempt     INT          NOT NULL,
    shard       INT          NOT NULL,
    total       INT          NOT NULL,
    executor    VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    address     VARCHAR(300) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    outcome     VARCHAR(10)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    status_code INT          NOT NULL DEFAULT 0,
    error       VARCHAR(500) NOT NULL DEFAULT '',
    started_at  BIGINT       NOT NULL,
    ended_at    BIGINT       NULL,
    PRIMARY KEY (instance_id, attempt, shard),
    KEY attempt_shards_started (started_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
