-- +goose Up

CREATE TABLE IF NOT EXISTS tasks (
    id           BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    team_id      BIGINT       NOT NULL,
    code         VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    name         VARCHAR(200) NOT NULL DEFAULT '',
    group_name   VARCHAR(100) NOT NULL DEFAULT '',
    owner        VARCHAR(200) NOT NULL DEFAULT '',
    tags         VARCHAR(500) NOT NULL DEFAULT '',
    enabled      TINYINT(1)   NOT NULL DEFAULT 0,
    archived_at  BIGINT       NULL,
    version      INT          NOT NULL DEFAULT 1,
    kind         VARCHAR(16)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    queue        VARCHAR(32)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    timezone     VARCHAR(64)  CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    spec         LONGTEXT     NOT NULL,
    anchor_at    BIGINT       NULL,
    next_fire_at BIGINT       NULL,
    paused_from  BIGINT       NULL,
    paused_until BIGINT       NULL,
    plan_error   VARCHAR(500) NOT NULL DEFAULT '',
    created_at   BIGINT       NOT NULL,
    created_by   VARCHAR(100) NOT NULL DEFAULT '',
    updated_at   BIGINT       NOT NULL,
    updated_by   VARCHAR(100) NOT NULL DEFAULT '',
    UNIQUE KEY tasks_code (code),
    KEY tasks_due (enabled, next_fire_at),
    KEY tasks_team (team_id, id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS task_versions (
    task_id    BIGINT       NOT NULL,
    version    INT          NOT NULL,
    spec       LONGTEXT     NOT NULL,
    author     VARCHAR(100) NOT NULL DEFAULT '',
    note       VARCHAR(500) NOT NULL DEFAULT '',
    created_at BIGINT       NOT NULL,
    PRIMARY KEY (task_id, version)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- One row per task, made with it: only ever locked, never read for data.
CREATE TABLE IF NOT EXISTS task_gates (
    task_id BIGINT NOT NULL PRIMARY KEY
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS missed_ranges (
    id          BIGINT      NOT NULL AUTO_INCREMENT PRIMARY KEY,
    task_id     BIGINT      NOT NULL,
    team_id     BIGINT      NOT NULL,
    from_slot   BIGINT      NOT NULL,
    to_slot     BIGINT      NOT NULL,
    slots       INT         NOT NULL,
    reason      VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    policy      VARCHAR(16) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    instance_id CHAR(36)    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL,
    planned_by  CHAR(36)    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    created_at  BIGINT      NOT NULL,
    UNIQUE KEY missed_ranges_range (task_id, reason, from_slot),
    KEY missed_ranges_to (task_id, to_slot)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

CREATE TABLE IF NOT EXISTS plan_log (
    id        BIGINT   NOT NULL AUTO_INCREMENT PRIMARY KEY,
    node_id   CHAR(36) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT '',
    at        BIGINT   NOT NULL,
    from_at   BIGINT   NULL,
    to_at     BIGINT   NULL,
    tasks     INT      NOT NULL DEFAULT 0,
    instances INT      NOT NULL DEFAULT 0,
    skipped   INT      NOT NULL DEFAULT 0,
    KEY plan_log_at (at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
