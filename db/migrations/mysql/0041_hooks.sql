-- +goose Up
-- Hooks of tasks: how far the questions of an instance are, and which channels
-- are told of which ends.

CREATE TABLE IF NOT EXISTS hook_probes (
    instance_id CHAR(36)      CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL PRIMARY KEY,
    address     VARCHAR(2000) NOT NULL,
    asked       INT           NOT NULL,
    first_at    BIGINT        NOT NULL,
    last_at     BIGINT        NOT NULL,
    next_at     BIGINT        NULL,
    give_up_at  BIGINT        NULL,
    ready_at    BIGINT        NULL,
    answers     TEXT          NOT NULL,
    KEY hook_probes_last (last_at)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;

-- The definition is one document, and no index reaches into it. A channel is
-- told of what ended since then.
CREATE TABLE IF NOT EXISTS task_hooks (
    task_id    BIGINT      NOT NULL,
    channel_id CHAR(32)    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    told_on    VARCHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    since      BIGINT      NOT NULL,
    PRIMARY KEY (task_id, channel_id, told_on),
    KEY task_hooks_channel (channel_id, task_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_520_ci;
