-- +goose Up

-- One row per process start. Gone means closed_at or dead_at is set.
CREATE TABLE IF NOT EXISTS nodes (
    id              CHAR(36)     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    host            VARCHAR(255) NOT NULL DEFAULT '',
    address         VARCHAR(255) NOT NULL DEFAULT '',
    pid             INT          NOT NULL DEFAULT 0,
    version         VARCHAR(64)  NOT NULL DEFAULT '',
    roles           VARCHAR(100) NOT NULL DEFAULT '',
    queues          VARCHAR(500) NOT NULL DEFAULT '',
    labels          VARCHAR(500) NOT NULL DEFAULT '',
    slots           INT          NOT NULL DEFAULT 0,
    busy            INT          NOT NULL DEFAULT 0,
    clock_offset_ms BIGINT       NOT NULL DEFAULT 0,
    started_at      BIGINT       NOT NULL,
    beat_at         BIGINT       NOT NULL,
    steady_at       BIGINT       NOT NULL,
    draining        TINYINT(1)   NOT NULL DEFAULT 0,
    closed_at       BIGINT       NULL,
    dead_at         BIGINT       NULL,
    declared_by     CHAR(36)     CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- What ended in a minute, per task and state. Whole rows are replaced by the
-- roll-up, so running it twice changes nothing. Sums and maxima are in ms.
CREATE TABLE IF NOT EXISTS stats_minute (
    task_id    BIGINT      NOT NULL,
    minute_at  BIGINT      NOT NULL,
    state      VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    team_id    BIGINT      NOT NULL,
    n          INT         NOT NULL,
    run_sum_ms BIGINT      NOT NULL DEFAULT 0,
    run_max_ms BIGINT      NOT NULL DEFAULT 0,
    lag_sum_ms BIGINT      NOT NULL DEFAULT 0,
    lag_max_ms BIGINT      NOT NULL DEFAULT 0,
    PRIMARY KEY (task_id, minute_at, state),
    KEY stats_minute_minute (minute_at),
    KEY stats_minute_team (team_id, minute_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
